"""Compares the text that Cairn reads from documents with that of other extractors, file by file.

    python3 benches/formats.py PROGRAM FOLDER [FOLDER …]

PROGRAM is `cairn`. Every file below the folders with a known extension is read by one of its workers, as in `cairn
index`, and by another extractor, which has to be installed: `pdftotext` (PDF), `pandoc` (docx, odt, epub), and in Python
`python-pptx` (pptx), `openpyxl` (xlsx) and `email` (eml). Files of other kinds have no reference here and are only
timed. Prints a table in Markdown: F1 and recall of words, F1 of pairs of words, headings of the reference that are
headings here, too, CPU seconds, peak memory and the slowest file. `--files` adds a line per file.
"""

import collections
import json
import os
import re
import struct
import subprocess
import sys
import time

HELLO, JOB, BYTES, DOCUMENT, TEXT, MEMBER, LEFT, DONE, REFUSED = range(9)
FORMATS = {
    "pdf": "pdf", "docx": "docx", "doc": "docx", "pptx": "pptx", "ppt": "pptx", "odt": "odt", "odp": "odt",
    "xlsx": "sheets", "xls": "sheets", "ods": "sheets", "epub": "epub", "eml": "mail", "mbox": "mbox",
}
PANDOC = {"docx", "odt", "epub"}
WORDS_MIN = 5


def read(program, name, format_name, parser="first"):
    """Returns the text of a file, why there is none, seconds of computing and by the clock, and peak bytes."""
    data = open(name, "rb").read()
    job = {"format": format_name, "parser": parser, "name": os.path.basename(name), "rows": "together",
           "bytes_max": 64 << 20, "bytes_total_max": 1 << 30, "cpu_seconds": 20 + 2 * (len(data) >> 20)}
    began = time.time()
    worker = subprocess.Popen([program, "worker"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, env={"MALLOC_ARENA_MAX": "1"}, cwd="/")
    texts, reason = [], "it died"
    try:
        for tag, payload in [(JOB, json.dumps(job).encode()), (BYTES, data)]:
            worker.stdin.write(struct.pack("<BI", tag, len(payload)) + payload)
        worker.stdin.flush()
        while head := worker.stdout.read(5):
            tag, length = struct.unpack("<BI", head)
            payload = worker.stdout.read(length)
            if tag == TEXT:
                texts.append(payload.decode())
            elif tag == REFUSED:
                reason = json.loads(payload)["reason"]
            if tag in (DONE, REFUSED):
                reason = None if tag == DONE else reason
                break
    except BrokenPipeError:
        pass
    # The system's total at the end would include this program, from before the worker replaced it.
    status = open(f"/proc/{worker.pid}/status").read()
    peak = int((re.search(r"VmHWM:\s*(\d+)", status) or [0, 0])[1]) << 10
    worker.stdin.close()
    worker.stdout.close()
    _, _, usage = os.wait4(worker.pid, 0)
    worker.returncode = 0
    seconds = usage.ru_utime + usage.ru_stime
    if reason and parser == "first" and format_name in ("pdf", "docx", "pptx"):
        text, second, more, _, second_peak = read(program, name, format_name, "fallback")
        if second is None:
            return text, None, seconds + more, time.time() - began, max(peak, second_peak)
    return "\n".join(texts), reason, seconds, time.time() - began, peak


def reference(name, extension):
    """Returns the text that another program reads, and the headings that it finds; nothing where there is none."""
    if extension == "pdf":
        said = subprocess.run(["pdftotext", name, "-"], capture_output=True)
        return said.stdout.decode(errors="replace"), []
    if extension in IN_PYTHON:
        try:
            return IN_PYTHON[extension](name)
        except Exception:  # Test files of other projects are damaged on purpose.
            return None, []
    if extension not in PANDOC:
        return None, []
    pandoc = lambda to: subprocess.run(["pandoc", "-f", extension, "-t", to, "--wrap=none", name],
                                       capture_output=True).stdout.decode(errors="replace")
    headings = re.findall(r"^#{1,6} (.*)$", pandoc("gfm"), re.M)
    return pandoc("plain"), headings


def slides(name):
    """Returns the text of a presentation, and the titles of its slides."""
    from pptx import Presentation

    texts, titles = [], []

    def shape_text(shape):
        if shape.shape_type == 6:
            return [it for inner in shape.shapes for it in shape_text(inner)]
        if getattr(shape, "has_table", False) and shape.has_table:
            return [cell.text for row in shape.table.rows for cell in row.cells]
        return [shape.text_frame.text] if shape.has_text_frame else []

    for slide in Presentation(name).slides:
        title = slide.shapes.title
        titles += [title.text_frame.text.replace("\x0b", " ")] if title is not None and title.has_text_frame else []
        texts += [it for shape in slide.shapes for it in shape_text(shape)]
        if slide.has_notes_slide and slide.notes_slide.notes_text_frame is not None:
            texts.append(slide.notes_slide.notes_text_frame.text)
    return "\n".join(texts), titles


def cells(name):
    """Returns the text of the cells of a workbook, row by row, without numbers, which are written in many ways."""
    import openpyxl

    book = openpyxl.load_workbook(name, read_only=True, data_only=True)
    rows = [row for sheet in book.worksheets for row in sheet.iter_rows(values_only=True)]
    return "\n".join(" ".join(it for it in row if isinstance(it, str)) for row in rows), []


def message(name):
    """Returns subject, addresses and the text of a message: plain where there is plain text."""
    import email
    import email.policy

    it = email.message_from_binary_file(open(name, "rb"), policy=email.policy.default)
    body = it.get_body(("plain", "html"))
    text = body.get_content() if body else ""
    if body is not None and body.get_content_subtype() == "html":
        text = subprocess.run(["pandoc", "-f", "html", "-t", "plain", "--wrap=none"], input=text.encode(),
                              capture_output=True).stdout.decode(errors="replace")
    return "\n".join([str(it.get("subject", "")), text]), []


IN_PYTHON = {"pptx": slides, "xlsx": cells, "eml": message}


def words(text):
    return re.findall(r"\w+", text.lower())


def f1(found, expected):
    found, expected = collections.Counter(found), collections.Counter(expected)
    common = sum((found & expected).values())
    return 2 * common / max(1, found.total() + expected.total())


def recall(found, expected):
    found, expected = collections.Counter(found), collections.Counter(expected)
    return (found & expected).total() / max(1, expected.total())


def letters(text):
    text = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", text.lower())
    return re.sub(r"\W|_", "", re.sub(r"\{.*?\}|<.*?>", "", text))


def main():
    arguments = [it for it in sys.argv[1:] if it != "--files"]
    program, folders = os.path.abspath(arguments[0]), arguments[1:]
    files = sorted(os.path.join(place, name) for folder in folders for place, _, names in os.walk(folder) for name in names)
    rows = collections.defaultdict(list)
    for name in files:
        extension = name.rsplit(".", 1)[-1].lower()
        if extension not in FORMATS:
            continue
        text, reason, cpu, clock, peak = read(program, name, FORMATS[extension])
        expected, headings = reference(name, extension) if reason is None else (None, [])
        row = {"reason": reason, "cpu": cpu, "clock": clock, "peak": peak, "bytes": os.path.getsize(name)}
        if expected is not None and len(words(expected)) >= WORDS_MIN:
            ours, theirs = words(text), words(expected)
            row["words"] = f1(ours, theirs)
            row["recall"] = recall(ours, theirs)
            row["pairs"] = f1(list(zip(ours, ours[1:])), list(zip(theirs, theirs[1:])))
            kept = {letters(it) for it in re.findall(r"^\f?#{1,6} (.*)$", text, re.M)}
            wanted = [letters(it) for it in headings if letters(it)]
            row["headings"], row["kept"] = len(wanted), sum(it in kept for it in wanted)
        rows[extension].append(row)
        if "--files" in sys.argv:
            print({"file": name, **row}, flush=True)
    print("| format | files | read | compared | words | recall | pairs | headings | CPU s | slowest | peak |")
    print("|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|")
    for extension, all_rows in sorted(rows.items()):
        compared = [row for row in all_rows if "words" in row]
        mean = lambda key: f"{sum(row[key] for row in compared) / len(compared):.3f}" if compared else "–"
        headings = f"{sum(row['kept'] for row in compared)} of {sum(row['headings'] for row in compared)}"
        print(f"| {extension} | {len(all_rows)} | {sum(row['reason'] is None for row in all_rows)} | {len(compared)} "
              f"| {mean('words')} | {mean('recall')} | {mean('pairs')} | {headings if extension in PANDOC | {'pptx'} else '–'} "
              f"| {sum(row['cpu'] for row in all_rows):.1f} | {max(row['cpu'] for row in all_rows):.1f} s "
              f"| {max(row['peak'] for row in all_rows) / 1e6:.0f} MB |")
    reasons = collections.Counter((extension, row["reason"]) for extension, it in rows.items() for row in it if row["reason"])
    for (extension, reason), count in reasons.most_common():
        print(f"- {count} {extension}: {reason}")


if __name__ == "__main__":
    main()
