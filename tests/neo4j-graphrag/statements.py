"""What each statement that users are shown costs: database hits and milliseconds, as a Markdown table.

python tests/neo4j-graphrag/statements.py URI TITLE OTHER [RUNS]

The statements are those of docker/browser/queries, of docs/neo4j*.md, and of the link of an answer, about the documents
with these two titles, on the graph that is published there. Milliseconds are the least of five runs, or of RUNS.
"""

import re
import sys
import time
from pathlib import Path

from neo4j import GraphDatabase

ROOT = Path(__file__).parents[2]


def hits(plan):
    return plan.get("dbHits", 0) + sum(hits(child) for child in plan.get("children", []))


def statements():
    for path in sorted((ROOT / "docker/browser/queries").glob("*.cypher")):
        title, body = path.read_text().split("\n", 1)
        yield re.split(r"[:.(]", title.removeprefix("// "))[0], body
    for path in sorted((ROOT / "docs").glob("neo4j*.md")):
        for block in re.findall(r"```cypher\n(.*?)```", path.read_text(), re.S):
            for statement in filter(str.strip, block.split(";\n")):
                yield " ".join(statement.split())[:90].replace("|", "\\|"), statement


def answer(session, first, second):
    found = session.run(
        "MATCH (a:Passage {title: $a}), (b:Passage {title: $b}) RETURN a.id AS a, b.id AS b LIMIT 1", a=first, b=second
    ).single()
    text = (ROOT / "cypher/show/answer.cypher").read_text()
    steps = f"[['{found['a']}', '{found['b']}', '']]"
    return text.replace("$steps", steps).replace("$passages", f"['{found['a']}', '{found['b']}']")


def levels(session):
    """What the link of an answer by `layers` shows beside passages: four communities with their keys, and bridges."""
    found = session.run(
        "MATCH (c:Community) WHERE size(c.central) > 2 WITH c LIMIT 4 "
        "OPTIONAL MATCH (a:Entity {id: c.central[0]})-[:RELATES_TO]-(b:Entity) "
        "WITH c, collect([a.id, b.id])[..6] AS steps RETURN c.id AS id, c.central[..3] AS keys, steps"
    ).data()
    steps = [step for it in found for step in it["steps"]]
    text = (ROOT / "cypher/show/levels.cypher").read_text().split("UNION ALL\n", 1)[1]
    return text.replace("$bridges", str(steps)).replace("$communities", str([[it["id"], *it["keys"]] for it in found]))


def measure(session, statement, parameters, runs):
    statement = statement.strip().rstrip(";")
    # What is not read to its end has no profile.
    result = session.run("PROFILE " + statement, parameters)
    result.values()
    plan = result.consume().profile
    least = float("inf")
    for _ in range(runs):
        began = time.perf_counter()
        session.run(statement, parameters).consume()
        least = min(least, time.perf_counter() - began)
    return hits(plan), 1000 * least


def main(uri, first, second, runs=5):
    driver = GraphDatabase.driver(uri, auth=None, notifications_min_severity="OFF")
    parameters = {"name": first, "title": first, "from": first, "to": second, "titles": [first, second]}
    print("| statement | database hits | ms |\n|---|---:|---:|")
    with driver.session() as session:
        links = [("the link of an answer", answer(session, first, second)), ("the same of layers", levels(session))]
        shown = [*links, *statements()]
        for title, statement in shown:
            statement = statement.replace("Heron Bridge", first).replace("heron bridge", first.lower())
            statement = statement.replace("Edda Varnholt", first).replace("Sarrow", second)
            found, ms = measure(session, statement, parameters, runs)
            print(f"| {title} | {found:,} | {ms:.1f} |", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:4], *map(int, sys.argv[4:]))
