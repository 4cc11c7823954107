//! A version as sorted JSON lines: equal indexes give equal lines, however they were made.

mod descriptions;
mod hierarchy;

use std::fmt::Write as _;

use serde::Serialize;
use serde_json::json;

use super::Snapshot;
use crate::domain::{EdgeId, Origin, Passage, PseudoQuery};
use crate::domain::{EntityId, Keywords, PassageId, QuestionEdge, QuestionId, QuestionKind};
use crate::error::{Error, Result};
use crate::graph::ordinal::{
    DocumentOrdinal, EdgeOrdinal, IncomingOrdinal, KeywordOrdinal, OutgoingOrdinal, PassageOrdinal,
};
use crate::graph::packed::{PassageGraph, text_at};
use crate::store::{DocumentText, GraphReader as _};
pub(crate) use descriptions::{
    CommunityReport, DescribedEntity, ExportedAspect, RelationDescription, ReportedFinding, SummaryDescription,
};
pub(crate) use hierarchy::{Community, Member, Membership, Relation, SentencePlace, Summary};

impl Snapshot {
    /// Returns the documents, passages, questions, mentions and edges of this version and the hierarchy over its
    /// entities, one JSON object each under the name of its kind, sorted.
    ///
    /// # Errors
    ///
    /// If the version cannot be read.
    pub fn canonical_lines(&self) -> Result<Vec<String>> {
        let mut lines = CanonicalLines::default();
        let graph = self.graph();
        for document in graph.documents() {
            self.export_document(document, &mut lines)?;
        }
        for question in graph.incoming_passage.ordinals() {
            lines.push("question", &self.incoming_question(graph, question))?;
        }
        for question in self.outgoing_passages().ordinals() {
            lines.push("question", &self.outgoing_question(graph, question))?;
        }
        self.export_descriptions(&mut lines)?;
        for passage in graph.passages() {
            self.export_mentions(graph, passage, &mut lines)?;
            for edge in graph.passage_edges.of(passage) {
                lines.push("edge", &self.question_edge(graph, passage, edge))?;
            }
        }
        self.export_hierarchy(&mut lines)?;
        Ok(lines.sorted())
    }

    fn export_document(&self, number: DocumentOrdinal, lines: &mut CanonicalLines) -> Result<()> {
        let graph = self.graph();
        let document = self.document(number)?;
        lines.push_document(&document)?;
        for (passage, ordinal) in graph.document_passages.of(number).zip(0..) {
            let shown = self.passage(passage)?;
            let passage = Passage {
                id: shown.passage,
                document: document.document,
                ordinal,
                span: shown.span,
                section: shown.section,
                page: shown.page,
                line: shown.line,
                column: shown.column,
                text: shown.text,
                sentences: shown.sentences,
            };
            lines.push("passage", &passage)?;
        }
        Ok(())
    }

    fn incoming_question(&self, graph: PassageGraph<'_>, question: IncomingOrdinal) -> PseudoQuery {
        PseudoQuery {
            id: self.incoming_id(question),
            passage: self.passage_id(graph.incoming_passage[question]),
            kind: QuestionKind::Incoming,
            origin: self.incoming_origin(question),
            text: self.incoming(question).to_owned(),
            keywords: keywords(graph, graph.incoming_keyword.of(graph.incoming_keywords.of(question))),
            sentence: graph.incoming_sentence[question],
        }
    }

    fn outgoing_question(&self, graph: PassageGraph<'_>, question: OutgoingOrdinal) -> PseudoQuery {
        PseudoQuery {
            id: self.outgoing_id(question),
            passage: self.passage_id(self.outgoing_passages()[question]),
            kind: QuestionKind::Outgoing,
            origin: self.outgoing_origin(question),
            text: self.outgoing(question).to_owned(),
            keywords: keywords(graph, graph.outgoing_keyword.of(graph.outgoing_keywords.of(question))),
            sentence: graph.outgoing_sentence[question],
        }
    }

    fn export_mentions(
        &self,
        graph: PassageGraph<'_>,
        passage: PassageOrdinal,
        lines: &mut CanonicalLines,
    ) -> Result<()> {
        let id = self.passage_id(passage);
        let sentences = graph.passage_sentences.of(passage).range();
        for mention in graph.passage_mentions.of(passage) {
            let name = graph.entity_name(graph.mention_entity[mention]);
            let mention = Mention {
                entity: EntityId::of(&[name.as_bytes()]),
                name,
                passage: id,
                sentence: graph.mention_sentence[mention].0 - sentences.start as u32,
                origin: self.descriptions().map(|it| it.mention_origin(mention)),
            };
            lines.push("mention", &mention)?;
        }
        Ok(())
    }

    fn question_edge(&self, graph: PassageGraph<'_>, passage: PassageOrdinal, edge: EdgeOrdinal) -> QuestionEdge {
        let (from, to) = (self.passage_id(passage), self.passage_id(graph.edge_target[edge]));
        let (incoming, outgoing): (QuestionId, QuestionId) =
            (self.incoming_id(graph.edge_incoming[edge]), self.outgoing_id(graph.edge_outgoing[edge]));
        QuestionEdge {
            id: EdgeId::of(&[from.as_bytes(), to.as_bytes()]),
            from,
            to,
            outgoing,
            incoming,
            question: self.incoming(graph.edge_incoming[edge]).to_owned(),
            keywords: keywords(graph, graph.edge_keyword.of(graph.edge_keywords.of(edge))),
            similarity: graph.edge_similarity[edge],
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
    /// Who found it, if a model was asked too.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) origin: Option<Origin>,
}

fn keywords(graph: PassageGraph<'_>, numbers: &[KeywordOrdinal]) -> Keywords {
    let texts = graph.keyword_texts.items();
    numbers.iter().map(|keyword| text_at(&graph.keyword_ends, texts, *keyword)).collect()
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
