"""The share of the documents that a question needs which each retriever finds among the best 2 and 5.

python tests/neo4j-graphrag/recall.py URI QUESTIONS.jsonl [LIMIT]

Questions are lines of {"question", "supporting"}: the ids that the sources give to the documents that answer them.
"""

import json
import sys

from neo4j import GraphDatabase
from retrieve import NearestQuestion, as_json, retrievers, words


def ranked(retriever, question):
    # More than five, since several passages may be of one document.
    items = retriever.search(query_text=words(question), top_k=10).items
    return list(dict.fromkeys(json.loads(item.content)["source"] for item in items))


def main(uri, path, limit=None):
    questions = [json.loads(line) for line in open(path)][: int(limit) if limit else None]
    driver = GraphDatabase.driver(uri, auth=None)
    for name, retriever in retrievers(driver, NearestQuestion(driver), as_json).items():
        sums = {2: 0.0, 5: 0.0}
        for it in questions:
            found, due = ranked(retriever, it["question"]), set(it["supporting"])
            for k in sums:
                sums[k] += len(due & set(found[:k])) / len(due)
        figures = " | ".join(f"{100 * value / len(questions):.1f}" for value in sums.values())
        print(f"| {name} | {figures} |", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
