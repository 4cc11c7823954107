"""Lines of the tables of docs/figures.md, from what figures.sh measured."""

import json
import pathlib
import sys


def quality(bundle, label, path):
    report = json.loads(pathlib.Path(path).read_text())
    mean = lambda name: f"{report['metrics'][name]['mean']:.1f}"
    recall = " / ".join(mean(f"recall@{k}") for k in (2, 5, 10))
    time = report["time_ms"]
    print(f"| {bundle} | {label} | {recall} / {mean('all-gold@5')} | "
          + " / ".join(f"{time[name]:.1f}" for name in ("p50", "p95", "p99")) + " |", flush=True)


def cost(bundle, work, cairn):
    work = pathlib.Path(work)
    runs = lambda name: [list(map(float, path.read_text().split()[-3:])) for path in work.glob(f"{name}.?")]
    indexing = runs("index")
    seconds = min(user + system for user, system, _ in indexing)
    peak = max(kilobytes for _, _, kilobytes in indexing) / 1024
    disk = sum(path.stat().st_size for path in (work / bundle).rglob("*") if path.is_file()) / 1e6
    wall = lambda name: min(elapsed for elapsed, _, _ in runs(name))
    size = pathlib.Path(cairn).stat().st_size / 1e6
    print(f"{bundle}: index {seconds:.2f} CPU s, peak {peak:.0f} MB, disk {disk:.0f} MB; unchanged {wall('again'):.2f} s; "
          f"search process {wall('search'):.2f} s; help {wall('help'):.2f} s; program {size:.1f} MB", flush=True)


def text(corpus, size):
    texts = []
    for line in pathlib.Path(corpus).read_text().splitlines():
        texts.append(json.loads(line)["text"] + "\n\n")
        if sum(len(it.encode()) for it in texts) > int(size):
            break
    print("".join(texts))


if __name__ == "__main__":
    {"quality": quality, "cost": cost, "text": text}[sys.argv[1]](*sys.argv[2:])
