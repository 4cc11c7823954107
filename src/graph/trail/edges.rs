//! The edges that leave one passage along its names and mentions, each judged against the question.

use rustc_hash::FxHashMap;

use super::evidence::Evidence;
use super::weights::{EdgeFeatures, EdgeWeights};
use crate::domain::StepKind;
use crate::graph::ordinal::{
    CueOrdinal, EntityOrdinal, MentionOrdinal, Ordinal as _, Ordinals, PassageOrdinal, SentenceOrdinal,
};
use crate::graph::packed::{CUES_BEFORE, NO_CUE, PassageGraph, name_kind};

/// Maximum documents with a name for it to be followed.
pub const BEARERS_MAX: usize = 8;
/// Documents up to which a shared entity leads to every passage that mentions it.
pub const SHARED_DOCUMENTS_MAX: u32 = 25;
/// Documents up to which it leads to the question's best passages.
const POOLED_DOCUMENTS_MAX: u32 = 400;
/// Mentions beyond which even a rare entity leads to the question's best passages only: long documents repeat names.
pub const SHARED_MENTIONS_MAX: usize = 200;
/// Passages of a document up to which its name leads to all of them, beyond to the first and the question's best.
pub const NAMED_PASSAGES_MAX: usize = 16;
/// Weight of a name cut at its comma, relative to a whole one.
pub const BEFORE_COMMA_WORTH: f32 = 0.6;

/// The best edge from one passage to another.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TrailEdge {
    /// Its target.
    pub to: PassageOrdinal,
    /// The entity along which it leads.
    pub entity: EntityOrdinal,
    /// By the entity's name, or by a mention.
    pub kind: StepKind,
    /// Its value for the question: g(A, e, B).
    pub worth: f32,
}

/// An edge with what speaks for it, before anything is weighted.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct EdgeCandidate {
    /// Its target.
    pub to: PassageOrdinal,
    /// The entity along which it leads.
    pub entity: EntityOrdinal,
    /// The features, in the order of [`EdgeWeights`].
    pub features: EdgeFeatures,
    /// The first sentence of the source that mentions the entity; none if the entity is a name of that passage.
    pub source_sentence: Option<SentenceOrdinal>,
    /// The question's terms in the sentence there that covers most of it.
    pub source_terms: u64,
    /// The sentence of the target that mentions the entity; none if that passage has its name.
    pub target_sentence: Option<SentenceOrdinal>,
    /// The question's terms in that sentence, or in the whole passage.
    pub target_terms: u64,
    /// Words of the question around the mention in the target.
    pub target_cue: f32,
}

/// Everything that the edges of a question are judged with.
pub(super) struct Judge<'a> {
    pub(super) graph: PassageGraph<'a>,
    pub(super) evidence: &'a Evidence<'a>,
    pub(super) weights: &'a EdgeWeights,
    /// Whether each passage is among the question's best.
    pub(super) pool: &'a [bool],
}

/// How A speaks of an entity.
enum Mention {
    /// It is a name of A.
    Own,
    /// A mentions it: these mentions.
    At(Ordinals<MentionOrdinal>),
}

/// The shared features of the edges of one entity of A.
struct Source {
    entity: EntityOrdinal,
    is_own: bool,
    rarity: f32,
    in_question: f32,
    cue: f32,
    sentence: f32,
    first_sentence: Option<SentenceOrdinal>,
    terms: u64,
    /// The features of A and the entity, weighted.
    worth: f32,
}

/// The own features of one edge.
struct Target {
    to: PassageOrdinal,
    kind: StepKind,
    /// How B has the name; 0 if it only mentions the entity.
    name: f32,
    residual: f32,
    sentence_residual: f32,
    mention: Option<MentionOrdinal>,
}

/// The part of the question that A leaves open.
struct Residual {
    terms: u64,
    /// The larger of its idf and a quarter of the question's.
    whole: f32,
}

/// Calls `visit` with the passages that names and mentions of `from` lead to, whatever the question; a passage may come
/// several times. Where an entity leads to the question's best passages only, it is left out.
pub fn each_neighbor(graph: PassageGraph<'_>, from: PassageOrdinal, visit: &mut impl FnMut(PassageOrdinal)) {
    let own = graph.own_entity.of(graph.document_own.of(graph.passage_document[from]));
    let mentioned = graph.mention_entity.of(graph.passage_mentions.of(from));
    for (entity, is_own) in own.iter().map(|it| (*it, true)).chain(mentioned.iter().map(|it| (*it, false))) {
        let bearers = graph.entity_bearers.of(entity);
        if !is_own && bearers.len() <= BEARERS_MAX {
            for bearer in bearers {
                let passages = graph.document_passages.of(graph.bearer_document[bearer]);
                if passages.len() <= NAMED_PASSAGES_MAX {
                    passages.for_each(&mut *visit);
                } else {
                    visit(graph.bearer_passage[bearer]);
                }
            }
        }
        let postings = graph.entity_mentions.of(entity);
        let is_rare = graph.entity_documents[entity] <= SHARED_DOCUMENTS_MAX;
        if is_rare && postings.len() <= SHARED_MENTIONS_MAX {
            graph.posting_passage.of(postings).iter().for_each(|passage| visit(*passage));
        }
    }
}

impl Judge<'_> {
    /// Returns the best edge from `from` to each passage that it reaches, by ascending target, and how many were
    /// judged.
    pub(super) fn edges(&self, from: PassageOrdinal) -> (Vec<TrailEdge>, u32) {
        let mut found = Found { best: FxHashMap::default(), judged: 0 };
        self.each_edge(from, &mut |source, target| found.offer(self.weights.edge(source, target)));
        let mut edges: Vec<_> = found.best.into_values().collect();
        edges.sort_unstable_by_key(|edge| edge.to);
        (edges, found.judged)
    }

    /// Returns every edge from `from` with its features, in the order in which they are met.
    pub(super) fn candidates(&self, from: PassageOrdinal) -> Vec<EdgeCandidate> {
        let mut candidates = Vec::new();
        self.each_edge(from, &mut |source, target| {
            candidates.push(self.candidate(source, target));
        });
        candidates
    }

    fn candidate(&self, source: &Source, target: &Target) -> EdgeCandidate {
        let sentence = target.mention.map(|mention| self.graph.mention_sentence[mention]);
        let terms = |sentence: SentenceOrdinal| self.evidence.sentence_covered[sentence];
        EdgeCandidate {
            to: target.to,
            entity: source.entity,
            features: features(source, target),
            source_sentence: source.first_sentence,
            source_terms: source.terms,
            target_sentence: sentence,
            target_terms: sentence.map_or(self.evidence.passage_covered[target.to], terms),
            target_cue: target.mention.map_or(0.0, |mention| self.cue(mention)),
        }
    }

    /// Calls `visit` with every edge that leaves `from` for another passage that may be shown.
    fn each_edge(&self, from: PassageOrdinal, visit: &mut impl FnMut(&Source, &Target)) {
        let evidence = self.evidence;
        let mut visit = |source: &Source, target: &Target| {
            if target.to != from && evidence.is_allowed(target.to) {
                visit(source, target);
            }
        };
        let terms = evidence.all_terms() & !evidence.passage_covered[from];
        let whole = evidence.weight(terms).max(0.25 * evidence.weight(evidence.all_terms())).max(1e-9);
        let residual = Residual { terms, whole };
        let own = self.graph.own_entity.of(self.graph.document_own.of(self.graph.passage_document[from]));
        for &entity in own {
            self.follow(&self.source(entity, Mention::Own), &residual, &mut visit);
        }
        let mut mentions = self.graph.passage_mentions.of(from);
        for same in self.graph.mention_entity.of(mentions.clone()).chunk_by(PartialEq::eq) {
            let (of_entity, rest) = mentions.split_at(same.len());
            mentions = rest;
            if let Some(entity) = same.first().filter(|entity| !own.contains(entity)) {
                self.follow(&self.source(*entity, Mention::At(of_entity)), &residual, &mut visit);
            }
        }
    }

    /// Returns the shared features of the edges along `entity`.
    fn source(&self, entity: EntityOrdinal, mention: Mention) -> Source {
        let (is_own, mentions) = match mention {
            Mention::Own => (true, Ordinals::none()),
            Mention::At(mentions) => (false, mentions),
        };
        let documents = self.evidence.documents;
        let frequency = self.graph.entity_documents[entity] as f32;
        let rarity = (documents / (frequency + 1.0)).ln() / documents.ln().max(1e-9);
        let whole = self.evidence.weight(self.evidence.all_terms()) + 1e-9;
        let cue = mentions.clone().map(|mention| self.cue(mention)).fold(0.0, f32::max);
        let first_sentence = mentions.clone().next().map(|mention| self.graph.mention_sentence[mention]);
        let (mut sentence, mut terms) = (0.0, 0);
        for mention in mentions {
            let own = self.evidence.sentence_covered[self.graph.mention_sentence[mention]];
            let share = self.evidence.weight(own) / whole;
            if share > sentence {
                (sentence, terms) = (share, own);
            }
        }
        let in_question = flag(self.evidence.entities.contains(&entity));
        let weights = self.weights;
        let worth = weights.taken
            + weights.own * flag(is_own)
            + weights.rarity * rarity
            + weights.in_question * in_question
            + weights.cue * cue
            + weights.sentence * sentence;
        Source { entity, is_own, rarity, in_question, cue, sentence, first_sentence, terms, worth }
    }

    /// Returns how well the words around a mention meet the question's: nearer is better, before is better than after.
    fn cue(&self, mention: MentionOrdinal) -> f32 {
        let worth = |(i, cue): (usize, &CueOrdinal)| {
            let met = if *cue == NO_CUE { None } else { self.evidence.cues.get(cue) };
            let nearness = if i < CUES_BEFORE { 1.0 - 0.07 * i as f32 } else { 0.5 };
            met.map_or(0.0, |value| value * nearness)
        };
        self.graph.cues(mention).iter().enumerate().map(worth).fold(0.0, f32::max)
    }

    fn follow(&self, source: &Source, residual: &Residual, visit: &mut impl FnMut(&Source, &Target)) {
        if !source.is_own {
            self.follow_name(source, residual, visit);
        }
        self.follow_mentions(source, residual, visit);
    }

    /// To the documents with the entity's name.
    fn follow_name(&self, source: &Source, residual: &Residual, visit: &mut impl FnMut(&Source, &Target)) {
        let bearers = self.graph.entity_bearers.of(source.entity);
        let count = bearers.len();
        if count == 0 || count > BEARERS_MAX {
            return;
        }
        for bearer in bearers {
            let cut = self.graph.bearer_kind[bearer] == name_kind::BEFORE_COMMA;
            let name = if cut { BEFORE_COMMA_WORTH } else { 1.0 } / (count as f32).sqrt();
            let first = self.graph.bearer_passage[bearer];
            let passages = self.graph.document_passages.of(self.graph.bearer_document[bearer]);
            let all = passages.len() <= NAMED_PASSAGES_MAX;
            for to in passages {
                if all || to == first || self.pool[to.index()] {
                    let covered = self.residual(residual, self.evidence.passage_covered[to]);
                    let (residual, sentence_residual) = (covered, covered);
                    let kind = StepKind::Name;
                    visit(source, &Target { to, kind, name, residual, sentence_residual, mention: None });
                }
            }
        }
    }

    /// To the passages that mention the entity too.
    fn follow_mentions(&self, source: &Source, residual: &Residual, visit: &mut impl FnMut(&Source, &Target)) {
        let documents = self.graph.entity_documents[source.entity];
        if documents > POOLED_DOCUMENTS_MAX {
            return;
        }
        let postings = self.graph.entity_mentions.of(source.entity);
        let pooled = documents > SHARED_DOCUMENTS_MAX || postings.len() > SHARED_MENTIONS_MAX;
        for posting in postings {
            let to = self.graph.posting_passage[posting];
            if pooled && !self.pool[to.index()] {
                continue;
            }
            let mention = self.graph.posting_mention[posting];
            let sentence = self.graph.mention_sentence[mention];
            let target = Target {
                to,
                kind: StepKind::SharedEntity,
                name: 0.0,
                residual: self.residual(residual, self.evidence.passage_covered[to]),
                sentence_residual: self.residual(residual, self.evidence.sentence_covered[sentence]),
                mention: Some(mention),
            };
            visit(source, &target);
        }
    }

    fn residual(&self, residual: &Residual, terms: u64) -> f32 {
        self.evidence.weight(terms & residual.terms) / residual.whole
    }
}

impl EdgeWeights {
    fn edge(&self, source: &Source, target: &Target) -> TrailEdge {
        let worth = source.worth
            + self.name * target.name
            + self.name_cue * target.name * source.cue
            + self.residual * target.residual
            + self.sentence_residual * target.sentence_residual;
        TrailEdge { to: target.to, entity: source.entity, kind: target.kind, worth }
    }
}

fn flag(is: bool) -> f32 {
    if is { 1.0 } else { 0.0 }
}

/// Returns what [`EdgeWeights`] weigh, in their order.
fn features(source: &Source, target: &Target) -> EdgeFeatures {
    [
        1.0,
        target.name,
        flag(source.is_own),
        source.rarity,
        source.in_question,
        source.cue,
        source.sentence,
        target.residual,
        target.sentence_residual,
        target.name * source.cue,
    ]
}

/// The best edge to each target so far.
struct Found {
    best: FxHashMap<PassageOrdinal, TrailEdge>,
    judged: u32,
}

impl Found {
    fn offer(&mut self, edge: TrailEdge) {
        self.judged += 1;
        let best = self.best.entry(edge.to).or_insert(edge);
        if edge.worth > best.worth {
            *best = edge;
        }
    }
}
