#!/bin/sh
# Measures how well Cairn searches documents that people have: benches/documents.sh WORK [CAIRN [COLLECTION ...]]
# Fetches collections from packages into WORK/collections, makes questions about them by rule, adds those written by hand
# in benches/documents, indexes, and prints a table. What is already in WORK is not made again. Needs apt-get and dpkg
# (Debian), npm, cargo and python3. benches/documents/README.md says what is fetched and which collections are held out.
set -eu
work=$1
cairn=${2:-target/release/cairn}
[ $# -ge 2 ] && shift 2 || shift $#
here=$(cd "$(dirname "$0")" && pwd)/documents
mkdir -p "$work/collections" "$work/fetched" "$work/questions" "$work/results"
work=$(cd "$work" && pwd)

deb() { # package: its files under fetched/PACKAGE
    [ -d "$work/fetched/$1" ] && return
    (cd "$work/fetched" && apt-get download "$1" >/dev/null 2>&1 && dpkg -x "$1"_*.deb "$1.part" && mv "$1.part" "$1")
}

npm_package() { # package, version: its files under fetched/npm-PACKAGE
    [ -d "$work/fetched/npm-$1" ] && return
    (cd "$work/fetched" && tar -xzf "$(npm pack --silent "$1${2:+@$2}")" && mv package "npm-$1")
}

crate() { # name, version: its files under fetched/crate-NAME
    [ -d "$work/fetched/crate-$1" ] && return
    scratch=$work/fetched/scratch
    rm -rf "$scratch"
    mkdir -p "$scratch/src"
    : >"$scratch/src/lib.rs"
    printf '[package]\nname = "scratch"\nversion = "0.0.0"\n[dependencies]\n%s = "=%s"\n[workspace]\n' "$1" "$2" \
        >"$scratch/Cargo.toml"
    (cd "$scratch" && cargo vendor --quiet --versioned-dirs vendor >/dev/null && mv "vendor/$1-$2" "../crate-$1")
    rm -rf "$scratch"
}

into() { # collection, folder to copy from, patterns of files: text, unpacked, with its place kept in its name
    target=$work/collections/$1
    from=$2
    shift 2
    mkdir -p "$target"
    for pattern in "$@"; do
        (cd "$from" && find . -type f -path "./$pattern" | sort) | while IFS= read -r file; do
            name=$(printf '%s' "${file#./}" | tr '/ ' '--')
            case $name in
            *.gz) gunzip -c "$from/$file" >"$target/${name%.gz}" ;;
            *) cp "$from/$file" "$target/$name" ;;
            esac
        done
    done
}

fetch() {
    case $1 in
    python)
        deb python3.11-doc
        into python "$work/fetched/python3.11-doc/usr/share/doc/python3.11/html/_sources" 'faq/*' 'howto/*' \
            'tutorial/*' 'using/*' 'library/[a-i]*'
        ;;
    policy)
        deb debian-policy
        deb developers-reference
        into policy "$work/fetched/debian-policy/usr/share/doc/debian-policy/policy.html/_sources" '*.txt'
        into policy "$work/fetched/developers-reference/usr/share/developers-reference/_sources" '*.txt'
        ;;
    crates) python3 "$here/crates.py" "$here/../.." "$work/collections/crates" ;;
    anarchism)
        deb anarchism
        into anarchism "$work/fetched/anarchism/usr/share/doc/anarchism/markdown" 'sec[A-F]*.md' 'sec[A-F]*.md.gz'
        ;;
    books)
        crate brotli 3.3.4
        into books "$work/fetched/crate-brotli/testdata" 'alice29.txt' 'asyoulik.txt'
        ;;
    cmake)
        deb cmake-doc
        into cmake "$work/fetched/cmake-doc/usr/share/doc/cmake-data/html/_sources" 'command/*.txt' 'manual/*.txt' \
            'policy/*.txt' 'guide/*.txt' 'prop_tgt/[A-I]*.txt'
        ;;
    llvm)
        deb llvm-14-doc
        into llvm "$work/fetched/llvm-14-doc/usr/share/doc/llvm-14-doc/html/_sources" 'A[a-z]*.rst.txt' 'AMDGPU[A-Z]*.rst.txt' \
            '[B-Z]*.rst.txt'
        ;;
    docutils)
        deb docutils-doc
        into docutils "$work/fetched/docutils-doc/usr/share/doc/docutils-doc" '*.txt' '*.txt.gz'
        ;;
    mercurial)
        deb mercurial-common
        into mercurial "$work/fetched/mercurial-common/usr/lib/python3/dist-packages/mercurial/helptext" '*.txt'
        ;;
    nodedocs)
        npm_package fastify 5.12.8
        npm_package joi 18.3.2
        npm_package mocha 12.0.3
        npm_package pino 10.4.0
        npm_package undici 7.30.2
        into nodedocs "$work/fetched" 'npm-fastify/docs/*.md' 'npm-joi/*.md' 'npm-mocha/README.md' \
            'npm-pino/docs/*.md' 'npm-undici/README.md' 'npm-undici/docs/docs/*.md'
        ;;
    manuals)
        deb exim4-base
        deb mutt
        into manuals "$work/fetched/exim4-base/usr/share/doc/exim4-base" 'spec.txt.gz'
        into manuals "$work/fetched/mutt/usr/share/doc/mutt" 'manual.txt.gz'
        ;;
    foldoc | foldocwiki)
        deb dict-foldoc
        form=text
        [ "$1" = foldocwiki ] && form=files
        python3 "$here/glossary.py" "$work/fetched/dict-foldoc/usr/share/dictd/foldoc.dict.dz" "$form" \
            "$work/collections/$1"
        ;;
    notes) into notes "$here/notes" '*.md' ;;
    git)
        deb git-doc
        into git "$work/fetched/git-doc/usr/share/doc/git-doc" 'git*.txt' 'user-manual.txt' 'howto/*.txt' \
            'technical/*.txt' 'RelNotes/2.[23]*.txt'
        ;;
    vim)
        deb vim-runtime
        into vim "$work/fetched/vim-runtime/usr/share/vim/vim90/doc" 'usr_*.txt' '[c-o]*.txt'
        ;;
    npm)
        npm_package npm
        into npm "$work/fetched/npm-npm" 'docs/content/*.md' 'node_modules/*README.md'
        ;;
    jargon)
        deb jargon-text
        into jargon "$work/fetched/jargon-text/usr/share/doc/jargon-text" 'jargon.txt.gz'
        ;;
    linux)
        deb linux-doc-6.1
        into linux "$work/fetched/linux-doc-6.1/usr/share/doc/linux-doc-6.1/Documentation" 'process/*.rst.gz' \
            'admin-guide/*.rst.gz' 'filesystems/*.rst.gz' 'locking/*.rst.gz'
        for file in "$work/collections/linux"/*.rst; do mv "$file" "$file.txt"; done
        ;;
    tiddlywiki)
        npm_package tiddlywiki
        into tiddlywiki "$work/fetched/npm-tiddlywiki/editions/tw5.com/tiddlers" '*.tid'
        for file in "$work/collections/tiddlywiki"/*.tid; do mv "$file" "${file%.tid}.txt"; done
        ;;
    mail)
        crate chrono-tz 0.8.6
        mkdir -p "$work/collections/mail"
        cp "$work/fetched/crate-chrono-tz/tz/NEWS" "$work/collections/mail/NEWS.txt"
        for region in africa antarctica asia australasia backzone europe northamerica southamerica; do
            # Comments, without their signs and the headings of tables.
            sed -n 's/^#[ \t]\{0,1\}//; t keep; s/^[ \t]*$//; t keep; d; :keep; /^\(Zone\|Rule\)[ \t].*NAME/d; p' \
                "$work/fetched/crate-chrono-tz/tz/$region" | cat -s >"$work/collections/mail/$region.txt"
        done
        ;;
    german)
        deb debian-faq-de
        deb debian-reference-de
        deb maint-guide-de
        into german "$work/fetched/debian-faq-de/usr/share/doc/debian/FAQ" '*.de.txt.gz'
        into german "$work/fetched/debian-reference-de/usr/share/debian-reference" '*.de.txt.gz'
        into german "$work/fetched/maint-guide-de/usr/share/doc/maint-guide-de" '*.de.txt.gz'
        ;;
    esac
}

[ $# -gt 0 ] || set -- python policy crates anarchism books notes cmake llvm docutils mercurial nodedocs manuals \
    foldoc foldocwiki git vim npm jargon linux tiddlywiki mail german
for name in "$@"; do
    [ -d "$work/collections/$name" ] || fetch "$name"
    language=en
    [ "$name" = german ] && language=de
    python3 "$here/questions.py" "$work/collections/$name" "$here/$name.jsonl" "$language" \
        >"$work/questions/$name.jsonl"
    "$cairn" index "$work/collections/$name" --index "$work/$name.cairn" >/dev/null 2>&1
    for strategy in trail hybrid lexical; do
        "$cairn" eval retrieval --questions "$work/questions/$name.jsonl" --index "$work/$name.cairn" \
            --strategy "$strategy" --output "$work/results/$name.$strategy.jsonl" --json \
            >"$work/results/$name.$strategy.json"
    done
done
python3 "$here/table.py" "$work" "$@"
