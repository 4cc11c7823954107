"""Asks a published graph one question by three retrievers of neo4j-graphrag, and prints what each found as lines of JSON.

python retrieve.py URI QUESTION      the password, where the server asks for one, stands in CAIRN_NEO4J_PASSWORD

docs/neo4j-graphrag.md explains it.
"""

import json
import os
import re
import sys

from neo4j import GraphDatabase
from neo4j_graphrag.embeddings import Embedder
from neo4j_graphrag.retrievers import HybridRetriever, VectorCypherRetriever, VectorRetriever
from neo4j_graphrag.types import RetrieverResultItem


def words(text):
    return " ".join(re.findall(r"\w+", text)).lower()


class NearestQuestion(Embedder):
    def __init__(self, driver):
        super().__init__()
        self.driver = driver

    def embed_query(self, text):
        found = self.driver.execute_query(
            "CALL db.index.fulltext.queryNodes('cairn_incoming_text', $words, {limit: 1}) YIELD node "
            "RETURN node.embedding AS vector",
            words=words(text),
        )
        if not found.records:
            raise LookupError("no question in the index has a word of this one")
        return found.records[0]["vector"]


def retrievers(driver, embedder, formatter):
    return {
        "VectorRetriever": VectorRetriever(
            driver,
            "cairn_passage_embedding",
            embedder,
            return_properties=["title", "text"],
            result_formatter=formatter,
        ),
        "HybridRetriever": HybridRetriever(
            driver,
            "cairn_passage_embedding",
            "cairn_passage_text",
            embedder,
            return_properties=["title", "text"],
            result_formatter=formatter,
        ),
        "VectorCypherRetriever": VectorCypherRetriever(
            driver,
            "cairn_incoming_embedding",
            "MATCH (node)-[:ANSWERED_BY]->(p:Passage) "
            "RETURN p {.title, .text, question: node.text} AS node, score",
            embedder,
            result_formatter=formatter,
        ),
    }


def as_json(record):
    return RetrieverResultItem(content=json.dumps(record["node"]), metadata={"score": record["score"]})


def main(uri, question):
    password = os.environ.get("CAIRN_NEO4J_PASSWORD", "")
    with GraphDatabase.driver(uri, auth=("neo4j", password)) as driver:
        for name, retriever in retrievers(driver, NearestQuestion(driver), as_json).items():
            for item in retriever.search(query_text=words(question), top_k=3).items:
                print(json.dumps({"retriever": name, **json.loads(item.content), **item.metadata}))


if __name__ == "__main__":
    main(*sys.argv[1:])
