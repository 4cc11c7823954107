#!/bin/sh
# Regenerates the tables of docs/figures.md: benches/figures.sh DATA [CAIRN [long]]
# DATA is the folder of the bundles; CAIRN is the program, built in release mode; `long` also fits weights, sweeps, and
# indexes 100,000 documents, for which it builds a benchmark. Needs /usr/bin/time (GNU) and python3.
set -eu
data=$1
cairn=${2:-target/release/cairn}
long=${3:-}
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

row() { # bundle, index, label, arguments of eval
    bundle=$1 index=$2 label=$3
    shift 3
    "$cairn" eval retrieval --questions "$data/$bundle/questions.jsonl" --index "$work/$index" --json "$@" \
        >"$work/report.json"
    python3 "$here/figures.py" quality "$bundle" "$label" "$work/report.json"
}

for bundle in 2wiki-hippo musique-dev hotpot-dev; do
    corpus=$data/$bundle/corpus.jsonl
    # The least of five runs: other work on the machine can only add to it.
    for run in 1 2 3 4 5; do
        rm -rf "$work/$bundle"
        /usr/bin/time -f '%U %S %M' -o "$work/index.$run" "$cairn" index "$corpus" --index "$work/$bundle" 2>/dev/null \
            >/dev/null
        /usr/bin/time -f '%e %U %S' -o "$work/again.$run" "$cairn" index "$corpus" --index "$work/$bundle" 2>/dev/null \
            >/dev/null
        /usr/bin/time -f '%e %U %S' -o "$work/search.$run" "$cairn" search "Who directed the film?" \
            --index "$work/$bundle" 2>/dev/null >/dev/null
        /usr/bin/time -f '%e %U %S' -o "$work/help.$run" "$cairn" --help >/dev/null
    done
    python3 "$here/figures.py" cost "$bundle" "$work" "$cairn"
    for strategy in lexical dense hybrid hop trail; do
        row "$bundle" "$bundle" "$strategy" --strategy "$strategy"
    done
    row "$bundle" "$bundle" 'trail --trail-ranker linear' --strategy trail --trail-ranker linear
    row "$bundle" "$bundle" 'hop --paper' --strategy hop --paper
    "$cairn" index "$corpus" --index "$work/$bundle-bare" --embedder none --title-field none 2>/dev/null >/dev/null
    for strategy in lexical hop trail; do
        row "$bundle" "$bundle-bare" "$strategy, no titles, no vectors" --strategy "$strategy"
    done
    "$cairn" index "$corpus" --index "$work/$bundle-untitled" --title-field none 2>/dev/null >/dev/null
    row "$bundle" "$bundle-untitled" 'trail, no titles' --strategy trail
    "$cairn" index "$corpus" --index "$work/$bundle-unembedded" --embedder none 2>/dev/null >/dev/null
    row "$bundle" "$bundle-unembedded" 'trail, no vectors' --strategy trail
    printf '\nanswers, %s\n' "$bundle"
    "$cairn" eval answers --questions "$data/$bundle/questions.jsonl" --index "$work/$bundle"
done

# 190,000 bytes of text in one file.
python3 "$here/figures.py" text "$data/musique-dev/corpus.jsonl" 190000 >"$work/long.txt"
/usr/bin/time -f 'a text of 190 KB: %U + %S CPU s, %M KB' "$cairn" index "$work/long.txt" --index "$work/long" 2>&1 \
    >/dev/null | tail -n 1

[ "$long" = long ] || exit 0

fit() { # label, suffix of the indexes
    printf '\nfitted, %s\n' "$1"
    "$cairn" eval fit --leave-one-out --output "$work/weights.json" \
        --questions "$data/2wiki-hippo/questions.jsonl" "$data/musique-dev/questions.jsonl" \
        "$data/hotpot-dev/questions.jsonl" \
        --index "$work/2wiki-hippo$2" "$work/musique-dev$2" "$work/hotpot-dev$2"
}

fit 'titles, no vectors' -unembedded
fit 'titles, built-in embedder' ''
fit 'no titles, no vectors' -bare
fit 'no titles, built-in embedder' -untitled

for bundle in 2wiki-hippo musique-dev hotpot-dev; do
    for strategy in hop trail; do
        printf '\nsweep, %s\n' "$bundle"
        "$cairn" eval sweep --questions "$data/$bundle/questions.jsonl" --index "$work/$bundle" --strategy "$strategy"
    done
done

# Only the three bundles go into the generated corpus.
mkdir "$work/bundles"
for bundle in 2wiki-hippo musique-dev hotpot-dev; do
    ln -s "$(cd "$data/$bundle" && pwd)" "$work/bundles/$bundle"
done
printf '\n100,000 documents\n'
cargo bench --quiet --bench scale -- "$work/bundles" "$work/scale" 100000
