//! A version as sorted JSON lines: equal indexes give equal lines, whatever made them and in which order.

use std::fmt::Write as _;

use serde::Serialize;
use serde_json::json;

use super::Snapshot;
use crate::domain::{EdgeId, Passage, PseudoQuery};
use crate::domain::{EntityId, Keywords, PassageId, QuestionEdge, QuestionId, QuestionKind};
use crate::error::{Error, Result};
use crate::graph::packed::{PassageGraph, row, text_at};
use crate::store::{DocumentText, GraphReader as _};

impl Snapshot {
    /// Returns the documents, passages, questions, mentions and edges of this version, one JSON object each under the
    /// name of its kind, sorted.
    ///
    /// # Errors
    ///
    /// If the version cannot be read.
    pub fn canonical_lines(&self) -> Result<Vec<String>> {
        let mut lines = CanonicalLines::default();
        let graph = self.graph();
        for document in 0..graph.document_count() as u32 {
            self.export_document(document, &mut lines)?;
        }
        for question in 0..graph.incoming_passage.len() as u32 {
            lines.push("question", &self.incoming_question(graph, question))?;
        }
        for question in 0..self.outgoing_passages().len() as u32 {
            lines.push("question", &self.outgoing_question(graph, question))?;
        }
        for passage in 0..graph.passage_count() as u32 {
            self.export_mentions(graph, passage, &mut lines)?;
            for edge in row(graph.passage_edges, passage) {
                lines.push("edge", &self.question_edge(graph, passage, edge as u32))?;
            }
        }
        Ok(lines.sorted())
    }

    fn export_document(&self, number: u32, lines: &mut CanonicalLines) -> Result<()> {
        let graph = self.graph();
        let document = self.document(number)?;
        lines.push_document(&document)?;
        for (passage, ordinal) in row(graph.document_passages, number).zip(0..) {
            let shown = self.passage(passage as u32)?;
            let passage = Passage {
                id: shown.passage,
                document: document.document,
                ordinal,
                span: shown.span,
                section: shown.section,
                text: shown.text,
                sentences: shown.sentences,
            };
            lines.push("passage", &passage)?;
        }
        Ok(())
    }

    fn incoming_question(&self, graph: PassageGraph<'_>, question: u32) -> PseudoQuery {
        let number = question as usize;
        PseudoQuery {
            id: self.incoming_id(question),
            passage: self.passage_id(graph.incoming_passage[number]),
            kind: QuestionKind::Incoming,
            origin: self.incoming_origin(question),
            text: self.incoming(question).to_owned(),
            keywords: keywords(graph, &graph.incoming_keyword[row(graph.incoming_keywords, question)]),
            sentence: graph.incoming_sentence[number],
        }
    }

    fn outgoing_question(&self, graph: PassageGraph<'_>, question: u32) -> PseudoQuery {
        let number = question as usize;
        PseudoQuery {
            id: self.outgoing_id(question),
            passage: self.passage_id(self.outgoing_passages()[number]),
            kind: QuestionKind::Outgoing,
            origin: self.outgoing_origin(question),
            text: self.outgoing(question).to_owned(),
            keywords: keywords(graph, &graph.outgoing_keyword[row(graph.outgoing_keywords, question)]),
            sentence: graph.outgoing_sentence[number],
        }
    }

    fn export_mentions(&self, graph: PassageGraph<'_>, passage: u32, lines: &mut CanonicalLines) -> Result<()> {
        let id = self.passage_id(passage);
        let first = graph.passage_sentences[passage as usize];
        for mention in row(graph.passage_mentions, passage) {
            let name = graph.entity_name(graph.mention_entity[mention]);
            let mention = Mention {
                entity: EntityId::of(&[name.as_bytes()]),
                name,
                passage: id,
                sentence: graph.mention_sentence[mention] - first,
            };
            lines.push("mention", &mention)?;
        }
        Ok(())
    }

    fn question_edge(&self, graph: PassageGraph<'_>, passage: u32, edge: u32) -> QuestionEdge {
        let number = edge as usize;
        let (from, to) = (self.passage_id(passage), self.passage_id(graph.edge_target[number]));
        let (incoming, outgoing): (QuestionId, QuestionId) =
            (self.incoming_id(graph.edge_incoming[number]), self.outgoing_id(graph.edge_outgoing[number]));
        QuestionEdge {
            id: EdgeId::of(&[from.as_bytes(), to.as_bytes()]),
            from,
            to,
            outgoing,
            incoming,
            question: self.incoming(graph.edge_incoming[number]).to_owned(),
            keywords: keywords(graph, &graph.edge_keyword[row(graph.edge_keywords, edge)]),
            similarity: graph.edge_similarity[number],
        }
    }
}

/// A mention of an entity in a sentence, as it is exported.
#[derive(Debug, Serialize)]
pub(crate) struct Mention<'a> {
    pub(crate) entity: EntityId,
    pub(crate) name: &'a str,
    pub(crate) passage: PassageId,
    pub(crate) sentence: u32,
}

fn keywords(graph: PassageGraph<'_>, numbers: &[u32]) -> Keywords {
    numbers.iter().map(|number| text_at(graph.keyword_ends, graph.keyword_texts, *number)).collect()
}

/// The canonical form of a version, in the making: one JSON object a line.
#[derive(Debug, Default)]
pub(crate) struct CanonicalLines(Vec<String>);

impl CanonicalLines {
    pub(crate) fn push_document(&mut self, document: &DocumentText) -> Result<()> {
        self.push(
            "document",
            &json!({
                "id": document.document,
                "source_id": document.source_id,
                "title": document.title,
                "uri": document.uri,
                "media_type": document.media_type,
                "metadata": document.metadata,
            }),
        )
    }

    /// Adds a value under the name of its kind.
    pub(crate) fn push(&mut self, kind: &str, value: &impl Serialize) -> Result<()> {
        let value = serde_json::to_string(value).map_err(|error| Error::Internal(error.to_string()))?;
        let mut line = String::with_capacity(value.len() + kind.len() + 5);
        // Writing to a string cannot fail.
        let _written = write!(line, "{{\"{kind}\":{value}}}");
        self.0.push(line);
        Ok(())
    }

    /// Returns how many there are.
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns the lines in order.
    pub(crate) fn sorted(mut self) -> Vec<String> {
        self.0.sort_unstable();
        self.0
    }
}
