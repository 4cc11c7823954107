"""Compares the definitions that Cairn turns into passages with those that universal-ctags finds.

    python3 benches/source_code.py PROGRAM FOLDER [FOLDER …]

PROGRAM is `cairn`; `ctags` has to be installed. The folders are indexed without vectors into a temporary folder. Prints
a table in Markdown, with a line for each media type: files, definitions that ctags finds (functions, methods and types,
except those inside functions and those without a name), the share of them that a passage is named after, and the same
share without those whose first line shows that they have no body. `--missed` adds the missed ones.
"""

import collections
import json
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile

KINDS = {
    "function", "method", "class", "struct", "enum", "trait", "interface", "implementation", "union", "func",
    "constructor", "subroutine", "table", "trigger", "procedure", "singletonMethod", "extension", "protocol", "object",
    "record", "singleton",
}
INSIDE = {"function", "method", "subroutine", "constructor", "func"}
# Definitions without a body end their first line like this.
WITHOUT_BODY = re.compile(r";\s*(//.*|/\*.*)?$")


def passages(program, folders, index):
    """Returns, by file, the passages with a section: first line, last line, headings."""
    subprocess.run([program, "index", *folders, "--index", index, "--embedder", "none", "--json"], check=True,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    found, types = collections.defaultdict(list), {}
    exported = subprocess.run([program, "export", "--canonical", "--index", index], check=True, capture_output=True)
    for line in exported.stdout.decode().split("\n"):
        it = json.loads(line) if line else {}
        if "document" in it and isinstance(it["document"], dict):
            types[it["document"]["source_id"]] = it["document"]["media_type"]
        elif "passage" in it and it["passage"].get("line") and " › " in (it["passage"].get("section") or ""):
            it = it["passage"]
            file, *names = it["section"].split(" › ")
            found[file].append((it["line"], it["line"] + it["text"].count("\n"), names))
    return found, types


def definitions(files):
    """Returns the definitions that ctags finds: file, line, kind, name, the line's text."""
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as names:
        names.write("\n".join(files))
        names.flush()
        said = subprocess.run(["ctags", "--output-format=json", "--fields=+neKS", "-L", names.name, "-f", "-"],
                              capture_output=True).stdout.decode(errors="replace")
    seen = set()
    for line in filter(None, said.split("\n")):
        tag = json.loads(line)
        name = tag.get("name", "")
        if tag.get("_type") != "tag" or tag.get("kind") not in KINDS or tag.get("scopeKind") in INSIDE:
            continue
        if name.startswith(("__anon", "Anonymous", "anonymous", "<")) or (tag["path"], tag["line"]) in seen:
            continue
        seen.add((tag["path"], tag["line"]))
        yield tag["path"], tag["line"], tag["kind"], name


def main():
    program, folders = os.path.abspath(sys.argv[1]), [os.path.abspath(it) for it in sys.argv[2:] if it != "--missed"]
    index = tempfile.mkdtemp()
    shutil.rmtree(index)
    try:
        found, types = passages(program, folders, index)
    finally:
        shutil.rmtree(index, ignore_errors=True)
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    parents = {os.path.basename(it): os.path.dirname(it) for it in folders}
    path = lambda source: os.path.join(parents[source.split("/")[0]], source)
    sources = {path(source): source for source, kind in types.items() if source.split("/")[0] in parents}
    counts = collections.defaultdict(lambda: [0, 0, 0, 0])
    for file, line, kind, name in definitions(sorted(sources)):
        source = sources[file]
        count = counts[types[source]]
        plain = re.sub(r"\W", "", name)
        is_own = any(first <= line <= last and any(plain in re.sub(r"\W", "", it) for it in names)
                     for first, last, names in found[source])
        text = open(file, errors="replace").read().split("\n")[line - 1] if not is_own else ""
        count[0] += 1
        count[1] += is_own
        count[2] += not is_own and bool(WITHOUT_BODY.search(text))
        if not is_own and "--missed" in sys.argv:
            print(f"{source}:{line}: {kind} {name}: {text.strip()}")
    print("| media type | files | definitions | own passage | of those with a body |")
    print("|---|---:|---:|---:|---:|")
    for kind, (all_of, own, bare, _) in sorted(counts.items()):
        files = sum(it == kind for it in types.values())
        print(f"| {kind} | {files} | {all_of} | {own / all_of:.1%} | {own / max(1, all_of - bare):.1%} |")
    print(f"\nIndexing and exporting: {usage.ru_utime + usage.ru_stime:.1f} CPU s, peak {usage.ru_maxrss // 1024} MB")


if __name__ == "__main__":
    main()
