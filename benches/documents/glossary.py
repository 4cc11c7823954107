"""Writes entries of a glossary of computing: glossary.py FOLDOC.dict.dz (text | files) TARGET

Every third entry into one text, or every third from the second on into a file each. What comes from the Jargon File is
left out: that is a collection of its own.
"""

import gzip
import pathlib
import re
import sys
import textwrap

ENTRY = re.compile(r"(\S[^\n]*)\n\n(   .*)", re.DOTALL)
TEXT_MAX, FILES_MAX = 2200, 1500


def entries(path):
    with gzip.open(path, "rt", errors="replace") as file:
        parts = re.split(r"\n(?=\S[^\n]*\n\n   \S)", file.read())
    for part in parts:
        entry = ENTRY.match(part)
        if entry and "jargon" not in part.lower():
            yield entry.group(1).strip(), textwrap.dedent(re.sub("[{}]", "", entry.group(2)).strip("\n"))


def main(path, form, target):
    target = pathlib.Path(target)
    target.mkdir(parents=True, exist_ok=True)
    found = list(entries(path))
    if form == "text":
        named = [it for it in found[::3] if re.match(r"^[A-Za-z][\w' -]{2,30}$", it[0])][:TEXT_MAX]
        texts = (f"   :{name}: {textwrap.indent(body, '   ').lstrip()}\n" for name, body in named)
        (target / "foldoc.txt").write_text("A glossary of computing\n\n" + "\n".join(texts))
    else:
        for name, body in [it for it in found[1::3] if len(it[1]) > 250][:FILES_MAX]:
            file = re.sub(r"[^\w.-]", "-", name)[:60]
            (target / f"{file}.md").write_text(f"# {name}\n\n{body}\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
