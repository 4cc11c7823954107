"""Asks a published graph one question by four retrievers of neo4j-graphrag, and prints what each found as lines of JSON.

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
from neo4j_graphrag.retrievers.base import Retriever
from neo4j_graphrag.types import RawSearchResult, RetrieverResultItem


def words(text):
    return " ".join(re.findall(r"\w+", text)).lower()


ALONG_NAMES = """
CALL db.index.fulltext.queryNodes('cairn_passage_text', $words, {limit: 50}) YIELD node, score
WITH collect({passage: node, score: score}) AS found
CALL (found) {
  UNWIND found AS it
  RETURN it.passage AS p, it.score AS score
UNION ALL
  UNWIND found[..3] AS it
  WITH it.passage AS seed, it.score AS score
  MATCH (seed)<-[:MENTIONED_IN]-(e:Entity)-[:NAMES]->(p:Passage)
  WHERE e.bearers <= 3 AND p <> seed
  RETURN p, max(score) * 0.7 AS score
}
WITH p, sum(score) AS score
ORDER BY score DESC LIMIT $top_k
RETURN p {.title, .section, .source, .text} AS node, score
"""


class AlongNames(Retriever):
    VERIFY_NEO4J_VERSION = False

    def __init__(self, driver, formatter):
        super().__init__(driver)
        self.result_formatter = formatter

    def get_search_results(self, query_text, top_k=5):
        found = self.driver.execute_query(ALONG_NAMES, words=words(query_text), top_k=top_k)
        return RawSearchResult(records=found.records)


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
        "AlongNames": AlongNames(driver, formatter),
        "VectorRetriever": VectorRetriever(
            driver,
            "cairn_passage_embedding",
            embedder,
            return_properties=["title", "source", "text"],
            result_formatter=formatter,
        ),
        "HybridRetriever": HybridRetriever(
            driver,
            "cairn_passage_embedding",
            "cairn_passage_text",
            embedder,
            return_properties=["title", "source", "text"],
            result_formatter=formatter,
        ),
        "VectorCypherRetriever": VectorCypherRetriever(
            driver,
            "cairn_incoming_embedding",
            "MATCH (node)-[:ANSWERED_BY]->(p:Passage) "
            "RETURN p {.title, .source, .text, question: node.name} AS node, score",
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
