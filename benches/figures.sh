#!/bin/sh
# Regenerates the tables of docs/figures.md: benches/figures.sh DATA [CAIRN]
# DATA is the folder of the bundles; CAIRN is the program, built in release mode. Needs /usr/bin/time (GNU) and python3.
set -eu
data=$1
cairn=${2:-target/release/cairn}
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
    # The least of five runs: other work on the machine only adds.
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
    row "$bundle" "$bundle" 'hop --paper' --strategy hop --paper
    "$cairn" index "$corpus" --index "$work/$bundle-bare" --embedder none --title-field none 2>/dev/null >/dev/null
    for strategy in lexical hop trail; do
        row "$bundle" "$bundle-bare" "$strategy, no titles, no vectors" --strategy "$strategy"
    done
    "$cairn" index "$corpus" --index "$work/$bundle-untitled" --title-field none 2>/dev/null >/dev/null
    row "$bundle" "$bundle-untitled" 'trail, no titles' --strategy trail
    "$cairn" index "$corpus" --index "$work/$bundle-unembedded" --embedder none 2>/dev/null >/dev/null
    row "$bundle" "$bundle-unembedded" 'trail, no vectors' --strategy trail
done
