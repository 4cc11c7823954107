"""Compares Cairn's Leiden with those of igraph and leidenalg: modularity, communities and CPU seconds.

    python3 benches/communities.py PROGRAM DATA FOLDER [SEEDS [GRAPH …]]

PROGRAM is the benchmark `communities` as built by `cargo bench --bench communities --no-run`. DATA is the folder of the
bundles; FOLDER, which is created, is for lists of edges. Needs `pip install igraph leidenalg`. Every program reads the
same list, with resolution 1, two and ten iterations, and the seeds from 1 to SEEDS (10; for large graphs 3, and without
leidenalg): one seed says little, because modularity differs more between seeds than between programs. Modularity is
computed here, by one function for all of them. Times are those of finding communities, without reading and building.
Prints a table in Markdown with means, the standard deviation of modularity, and the lowest modularity of a seed.
GRAPH is `carol-kg`, `carol-graphrag`, `redocred-kg`, `musique-openie`, or a random graph of PROGRAM, such as
`lfr:100000` and `power:100000`.
"""

import collections
import itertools
import json
import pathlib
import random
import re
import statistics
import subprocess
import sys
import time

RELATIONS = ["carol-kg", "carol-graphrag"]
MENTIONS = ["redocred-kg", "musique-openie"]
DRAWN = ["lfr:100000", "power:100000"]
LARGE = 50_000
SEEDS_OF_LARGE = 3


def rows(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def related(bundle):
    """Returns pairs of entities that a relation joins, and their weights."""
    weights = collections.Counter()
    for row in rows(bundle / "relationships.jsonl"):
        weights[tuple(sorted((row["source"], row["target"])))] += row["weight"]
    return [], weights


def mentioned_together(bundle):
    """Returns the entities, and how many passages mention both of a pair."""
    names, weights = set(), collections.Counter()
    for row in rows(bundle / "openie.jsonl"):
        entities = sorted(set(row["entities"]))
        names.update(entities)
        weights.update(itertools.combinations(entities, 2))
    return names, weights


def write(path, names, weights):
    """Writes a list of edges whose vertices are numbered in the order of their names."""
    names = sorted(set(names).union(*weights))
    numbers = {name: number for number, name in enumerate(names)}
    lines = [f"{numbers[a]} {numbers[b]} {weight:g}" for (a, b), weight in sorted(weights.items()) if a != b]
    path.write_text("\n".join([f"# {len(names)}", *lines]) + "\n")


def read(path):
    lines = path.read_text().splitlines()
    edges = [(int(a), int(b), float(weight)) for a, b, weight in map(str.split, lines[1:])]
    return int(lines[0][1:]), edges


def modularity(count, edges, labels):
    strengths, within, total = [0.0] * (count + 1), 0.0, 0.0
    for a, b, weight in edges:
        strengths[labels[a]] += weight
        strengths[labels[b]] += weight
        total += weight
        within += weight * (labels[a] == labels[b])
    return within / total - sum((strength / (2 * total)) ** 2 for strength in strengths)


def ours(program, path, iterations, seed):
    labels = path.with_suffix(".labels")
    options = [f"rounds={iterations}", f"seed={seed}", f"labels={labels}"]
    output = subprocess.run([program, path, *options], capture_output=True, text=True, check=True).stdout
    seconds = float(re.search(r"([\d.]+) CPU s, peak", output)[1])
    return list(map(int, labels.read_text().split())), seconds


def with_igraph(graph, iterations, seed):
    random.seed(seed)
    begun = time.process_time()
    found = graph.community_leiden("modularity", weights="weight", n_iterations=iterations)
    return found.membership, time.process_time() - begun


def with_leidenalg(graph, iterations, seed):
    import leidenalg

    kind = leidenalg.ModularityVertexPartition
    begun = time.process_time()
    found = leidenalg.find_partition(graph, kind, weights="weight", n_iterations=iterations, seed=seed)
    return found.membership, time.process_time() - begun


def compare(program, path, seeds):
    """Prints a line for two iterations and one for ten."""
    import igraph

    count, edges = read(path)
    graph = igraph.Graph(n=count, edges=[edge[:2] for edge in edges])
    graph.es["weight"] = [edge[2] for edge in edges]
    seeds = range(1, 1 + (min(seeds, SEEDS_OF_LARGE) if count > LARGE else seeds))
    for iterations in [2, 10]:
        finders = [lambda seed: ours(program, path, iterations, seed)]
        finders.append(lambda seed: with_igraph(graph, iterations, seed))
        if count <= LARGE:
            finders.append(lambda seed: with_leidenalg(graph, iterations, seed))
        cells = []
        for find in finders:
            found = [find(seed) for seed in seeds]
            qualities = [modularity(count, edges, labels) for labels, _ in found]
            cells.append(f"{statistics.mean(qualities):.5f} ± {statistics.pstdev(qualities):.5f}, {min(qualities):.5f}"
                         f" / {statistics.mean(seconds for _, seconds in found):.4f}")
        cells += ["–"] * (3 - len(cells))
        print(f"| {path.stem} | {count} / {len(edges)} | {iterations} | {' | '.join(cells)} |", flush=True)


def main(program, data, folder, seeds="10", *graphs):
    data, folder = pathlib.Path(data), pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    print("Modularity (mean ± deviation, least) / CPU seconds.\n")
    print("| graph | vertices / edges | iterations | Cairn | igraph | leidenalg |")
    print("|---|---|---|---|---|---|")
    for graph in graphs or [*RELATIONS, *MENTIONS, *DRAWN]:
        path = folder / f"{graph.replace(':', '-')}.edges"
        if graph in RELATIONS:
            write(path, *related(data / graph))
        elif graph in MENTIONS:
            write(path, *mentioned_together(data / graph))
        else:
            subprocess.run([program, graph, f"edges={path}"], stdout=subprocess.DEVNULL, check=True)
        compare(program, path, int(seeds))


if __name__ == "__main__":
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    main(*sys.argv[1:])
