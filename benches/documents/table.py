"""The table of documents.sh: table.py WORK COLLECTION ...

Hits in the first 1 / 5 of each strategy, and the difference of `trail` to the better of the others with its paired 95 %
interval (1,000 resamples of the questions).
"""

import json
import pathlib
import random
import sys

HELD_OUT = ["git", "vim", "npm", "jargon", "linux", "tiddlywiki", "mail", "german"]
STRATEGIES = ["trail", "hybrid", "lexical"]


def hits(work, name, strategy):
    """Returns for each question whether one of the first 1, and of the first 5, is gold."""
    lines = (json.loads(line) for line in (work / "results" / f"{name}.{strategy}.jsonl").read_text().splitlines())
    ranked = {line["question_id"]: line["ranked"] for line in lines}
    found = []
    for line in (work / "questions" / f"{name}.jsonl").read_text().splitlines():
        question = json.loads(line)
        labels = {f"{gold.get('document', '')}#{number}" for number, gold in enumerate(question["passages"])}
        found.append([100 * bool(labels.intersection(ranked[question["id"]][:depth])) for depth in (1, 5)])
    return found


def interval(differences):
    draws = random.Random(1)
    means = sorted(sum(draws.choices(differences, k=len(differences))) / len(differences) for _ in range(1000))
    return f"{sum(differences) / len(differences):+.1f} ({means[25]:+.1f} to {means[974]:+.1f})"


def row(label, found):
    mean = {name: [sum(it[slot] for it in values) / len(values) for slot in (0, 1)] for name, values in found.items()}
    cells = [" / ".join(f"{value:.1f}" for value in mean[name]) for name in STRATEGIES]
    for slot in (0, 1):
        better = max(STRATEGIES[1:], key=lambda name: mean[name][slot])
        cells.append(interval([a[slot] - b[slot] for a, b in zip(found["trail"], found[better])]))
    print(f"| {label} | {len(found['trail'])} | " + " | ".join(cells) + " |")


def main(work, *names):
    work = pathlib.Path(work)
    print("| collection | questions | " + " | ".join(f"`{name}`" for name in STRATEGIES)
          + " | first 1, `trail` less the better | first 5 |\n|---|---|---|---|---|---|---|")
    for half in (False, True):
        own = [name for name in names if (name in HELD_OUT) == half]
        pooled = {strategy: [] for strategy in STRATEGIES}
        for name in own:
            found = {strategy: hits(work, name, strategy) for strategy in STRATEGIES}
            for strategy in STRATEGIES:
                pooled[strategy] += found[strategy]
            row(name, found)
        if own:
            row("**held out**" if half else "**for fitting**", pooled)


if __name__ == "__main__":
    main(*sys.argv[1:])
