//! What must hold of a packed graph so that whoever walks it may index without looking: rows that bound what they say,
//! numbers below the count of what they name, names that are text.

use crate::graph::packed::{CUES, NO_CUE, PassageGraph};

/// An array that breaks a rule, by the name of its section, and the rule.
type Check = Result<(), (&'static str, &'static str)>;

const LENGTH: &str = "has another length than it should";
const ROWS: &str = "does not bound its rows";
const RANGE: &str = "names something that is not there";
const TEXT: &str = "is not text";

/// Checks a graph whose edges name `outgoing` out-coming questions.
pub(crate) fn check(graph: &PassageGraph<'_>, outgoing: usize) -> Check {
    check_passages(graph)?;
    check_entities(graph)?;
    check_mentions(graph)?;
    check_questions(graph)?;
    check_edges(graph, outgoing)
}

fn check_passages(graph: &PassageGraph<'_>) -> Check {
    let (documents, passages) = (graph.document_count(), graph.passage_count());
    let sentences = graph.sentence_count();
    rows("document.passages", graph.document_passages, documents, passages)?;
    below("passage.document", graph.passage_document, documents)?;
    rows("passage.sentences", graph.passage_sentences, passages, sentences)?;
    below("sentence.passage", graph.sentence_passage, passages)?;
    length("passage.length", graph.passage_length, passages)?;
    length("sentence.length", graph.sentence_length, sentences)
}

fn check_entities(graph: &PassageGraph<'_>) -> Check {
    let (documents, passages) = (graph.document_count(), graph.passage_count());
    let (entities, bearers) = (graph.entity_name_ends.len(), graph.bearer_document.len());
    texts("entity.name-ends", graph.entity_name_ends, graph.entity_names)?;
    length("entity.documents", graph.entity_documents, entities)?;
    length("entity.flags", graph.entity_flags, entities)?;
    rows("entity.bearers", graph.entity_bearers, entities, bearers)?;
    below("bearer.document", graph.bearer_document, documents)?;
    length("bearer.passage", graph.bearer_passage, bearers)?;
    below("bearer.passage", graph.bearer_passage, passages)?;
    length("bearer.kind", graph.bearer_kind, bearers)?;
    rows("document.own", graph.document_own, documents, graph.own_entity.len())?;
    below("own.entity", graph.own_entity, entities)
}

fn check_mentions(graph: &PassageGraph<'_>) -> Check {
    let (entities, passages) = (graph.entity_name_ends.len(), graph.passage_count());
    let (mentions, cues) = (graph.mention_entity.len(), graph.cue_ends.len());
    rows("passage.mentions", graph.passage_mentions, passages, mentions)?;
    below("mention.entity", graph.mention_entity, entities)?;
    length("mention.sentence", graph.mention_sentence, mentions)?;
    below("mention.sentence", graph.mention_sentence, graph.sentence_count())?;
    length("mention.cues", graph.mention_cues, mentions * CUES)?;
    let is_cue = |cue: &u32| *cue == NO_CUE || (*cue as usize) < cues;
    holds("mention.cues", RANGE, graph.mention_cues.iter().all(is_cue))?;
    rows("entity.mentions", graph.entity_mentions, entities, graph.posting_mention.len())?;
    below("posting.mention", graph.posting_mention, mentions)?;
    length("posting.passage", graph.posting_passage, graph.posting_mention.len())?;
    below("posting.passage", graph.posting_passage, passages)?;
    texts("cue.ends", graph.cue_ends, graph.cue_prefixes)
}

fn check_questions(graph: &PassageGraph<'_>) -> Check {
    let (passages, keywords) = (graph.passage_count(), graph.keyword_ends.len());
    let incoming = graph.incoming_passage.len();
    rows("passage.incoming", graph.passage_incoming, passages, incoming)?;
    below("incoming.passage", graph.incoming_passage, passages)?;
    rows("incoming.keywords", graph.incoming_keywords, incoming, graph.incoming_keyword.len())?;
    below("incoming.keyword", graph.incoming_keyword, keywords)?;
    length("incoming.sentence", graph.incoming_sentence, incoming)?;
    texts("keyword.ends", graph.keyword_ends, graph.keyword_texts)?;
    rows("passage.keywords", graph.passage_keywords, passages, graph.passage_keyword.len())?;
    below("passage.keyword", graph.passage_keyword, keywords)
}

fn check_edges(graph: &PassageGraph<'_>, outgoing: usize) -> Check {
    let (passages, edges) = (graph.passage_count(), graph.edge_target.len());
    rows("passage.edges", graph.passage_edges, passages, edges)?;
    below("edge.target", graph.edge_target, passages)?;
    length("edge.incoming", graph.edge_incoming, edges)?;
    below("edge.incoming", graph.edge_incoming, graph.incoming_passage.len())?;
    length("edge.outgoing", graph.edge_outgoing, edges)?;
    below("edge.outgoing", graph.edge_outgoing, outgoing)?;
    length("outgoing.sentence", graph.outgoing_sentence, outgoing)?;
    rows("outgoing.keywords", graph.outgoing_keywords, outgoing, graph.outgoing_keyword.len())?;
    below("outgoing.keyword", graph.outgoing_keyword, graph.keyword_ends.len())?;
    length("edge.similarity", graph.edge_similarity, edges)?;
    rows("edge.keywords", graph.edge_keywords, edges, graph.edge_keyword.len())?;
    below("edge.keyword", graph.edge_keyword, graph.keyword_ends.len())
}

fn holds(name: &'static str, rule: &'static str, is_kept: bool) -> Check {
    if is_kept { Ok(()) } else { Err((name, rule)) }
}

fn length<T>(name: &'static str, items: &[T], count: usize) -> Check {
    holds(name, LENGTH, items.len() == count)
}

fn below(name: &'static str, items: &[u32], count: usize) -> Check {
    // The largest first, compared once: a loop without a branch.
    let largest = items.iter().copied().max();
    holds(name, RANGE, largest.is_none_or(|largest| (largest as usize) < count))
}

/// Rows of nothing may be left out whole: an empty index has none.
fn rows(name: &'static str, rows: &[u32], count: usize, items: usize) -> Check {
    if rows.is_empty() && count == 0 {
        return holds(name, ROWS, items == 0);
    }
    length(name, rows, count + 1)?;
    let is_bounded = rows.first() == Some(&0) && rows.last().is_some_and(|last| *last as usize == items);
    holds(name, ROWS, is_bounded && rows.is_sorted())
}

/// Checks texts that lie back to back.
fn texts(name: &'static str, ends: &[u32], texts: &[u8]) -> Check {
    holds(name, ROWS, ends.is_sorted() && ends.last().map_or(0, |last| *last as usize) == texts.len())?;
    let Ok(all) = std::str::from_utf8(texts) else { return Err((name, TEXT)) };
    holds(name, TEXT, ends.iter().all(|end| all.is_char_boundary(*end as usize)))
}
