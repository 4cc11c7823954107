//! What an earlier version says of a relation, a community or a cluster, where nothing that it depends on has changed
//! since: the members, their mentions, documents and relations, and of a cluster also their vectors.

use std::cmp::Ordering;

use rayon::prelude::*;
use rustc_hash::FxHashSet;

use super::build::Report;
use super::carried::Earlier;
use super::layers::{CENTRAL_MAX, Represented};
use super::{Hierarchy, NONE};
use crate::graph::ordinal::{
    BearerOrdinal, CommunityOrdinal, DocumentOrdinal, EntityOrdinal, Ordinal, PassageOrdinal, RelationOrdinal,
    SentenceOrdinal, SummaryOrdinal,
};
use crate::graph::packed::PassageGraph;
use crate::graph::relations::{KnownRelations, Relation};
use crate::graph::resolution::{EntityGraph, Resolution};
use crate::graph::vectors::Vectors;

/// What the passages and sentences of an earlier version are now, ascending; [`NONE`] if they are gone.
#[derive(Debug, Clone, Copy)]
pub struct Moved<'a> {
    /// For each passage.
    pub passages: &'a [u32],
    /// For each sentence.
    pub sentences: &'a [u32],
}

/// Title and sentences of a group.
pub(super) type Words = (String, Vec<SentenceOrdinal>);

/// The groups of an earlier version that are as they were.
pub(super) struct Untouched<'a> {
    hierarchy: Hierarchy<'a>,
    moved: Moved<'a>,
    /// What each entity of the earlier version is now.
    entities: Vec<Option<EntityOrdinal>>,
    /// Whether something else is now said of each entity.
    is_touched: Vec<bool>,
    /// The sentences that were there before with another vector.
    revised: FxHashSet<SentenceOrdinal>,
    /// Values of a vector.
    dimension: usize,
}

impl<'a> Untouched<'a> {
    /// Compares the relations of `entities` and the vectors of sentences as well with those of the earlier version.
    pub(super) fn of(
        compared: Compared<'a>,
        (entities, related): (&[EntityOrdinal], &[Relation]),
        sentences: &Vectors<'_>,
        earlier: &Earlier<'a>,
    ) -> Self {
        let Compared { comparing, mut is_touched, .. } = compared;
        let moved = comparing.moved;
        let (relations, revised) = rayon::join(
            || comparing.relations(&earlier.hierarchy, entities, related),
            || revised(sentences, earlier, moved),
        );
        for entity in relations.entities {
            is_touched[entity.index()] = true;
        }
        let (hierarchy, dimension) = (earlier.hierarchy, sentences.dimension);
        Self { hierarchy, moved, entities: comparing.entities, is_touched, revised, dimension }
    }

    /// Returns the report about a community of the earlier version, if these are its members, in order, and none of
    /// them is touched.
    pub(super) fn report(&self, community: CommunityOrdinal, members: &[EntityOrdinal]) -> Option<Report> {
        if members.iter().any(|it| self.is_touched[it.index()]) {
            return None;
        }
        let central: Vec<EntityOrdinal> =
            self.hierarchy.members(community).iter().map(|it| self.entities[it.index()]).collect::<Option<_>>()?;
        let mut before = central.clone();
        before.sort_unstable();
        Some(Report {
            title: (before == members).then(|| self.hierarchy.title(community).to_owned())?,
            members: central,
            passages: self.hierarchy.community_passages[community],
            findings: self.sentences(self.hierarchy.findings(community))?,
        })
    }

    /// Returns whether the clusters of an entity may have other words now: something else is said of it, or it has
    /// another vector, which is made of those of its `sentences`.
    pub(super) fn is_touched(&self, entity: EntityOrdinal, sentences: impl FnOnce() -> Vec<SentenceOrdinal>) -> bool {
        let is_revised = || !self.revised.is_empty() && sentences().iter().any(|it| self.revised.contains(it));
        self.is_touched[entity.index()] || is_revised()
    }

    /// Returns the title and the sentences of a summary entity of the earlier version, which has these `members` now,
    /// none of which is touched: what each of the layer below was comes from `now`.
    pub(super) fn words(
        &self,
        summary: SummaryOrdinal,
        members: impl Iterator<Item = (u32, f32)>,
        now: impl Fn(u32) -> Option<u32>,
    ) -> Option<Words> {
        let is_of_entities = self.hierarchy.summary_layer[summary] == 1;
        let before = self.hierarchy.summarized(summary).map(|(member, weight)| {
            let member = if is_of_entities { self.entities[member as usize].map(|it| it.0) } else { now(member) };
            (member, weight.to_bits())
        });
        let is_same = before.eq(members.map(|(member, weight)| (Some(member), weight.to_bits())));
        let sentences = self.sentences(self.hierarchy.sentences(summary)).filter(|_| is_same)?;
        Some((self.hierarchy.summary_name(summary).to_owned(), sentences))
    }

    /// Returns the vector of a summary entity of the earlier version, of which nothing is touched, and the entities
    /// that it represents, if they are kept there.
    pub(super) fn represented(&self, summary: SummaryOrdinal) -> Option<Represented> {
        let Hierarchy { summary_central, summary_centrality, .. } = self.hierarchy;
        let mean = self.hierarchy.mean(summary, self.dimension)?.to_vec();
        let entities = summary_central.items().chunks_exact(CENTRAL_MAX).nth(summary.index())?;
        let weights = summary_centrality.items().chunks_exact(CENTRAL_MAX).nth(summary.index())?;
        let central = entities.iter().zip(weights).take_while(|(entity, _)| entity.0 != NONE);
        let now = |(entity, weight): (&EntityOrdinal, &f64)| Some((self.entities[entity.index()]?, *weight));
        Some(Represented { mean, central: central.map(now).collect::<Option<_>>()? })
    }

    fn sentences(&self, before: &[SentenceOrdinal]) -> Option<Vec<SentenceOrdinal>> {
        before.iter().map(|it| now(self.moved.sentences, *it)).collect()
    }
}

/// Returns the sentences that an earlier version has with another vector: embedding may have failed for a while, or not
/// always give the same.
fn revised(vectors: &Vectors<'_>, earlier: &Earlier<'_>, moved: Moved<'_>) -> FxHashSet<SentenceOrdinal> {
    let before = &earlier.sentences;
    let all = 0..moved.sentences.len() as u32;
    let stay =
        all.into_par_iter().filter_map(|it| Some((SentenceOrdinal(it), now(moved.sentences, SentenceOrdinal(it))?)));
    if before.dimension != vectors.dimension || before.len() != moved.sentences.len() {
        return stay.map(|(_, now)| now).collect();
    }
    let has_same = |before_at: SentenceOrdinal, now: SentenceOrdinal| {
        let (old, new) = (before.codes(before_at.0), vectors.codes(now.0));
        // A vector that both read from one file is not compared with itself.
        std::ptr::eq(old, new) || (before.scale(before_at.0).to_bits() == vectors.scale(now.0).to_bits() && old == new)
    };
    stay.filter(|(before, now)| !has_same(*before, *now)).map(|(_, now)| now).collect()
}

/// Returns what an element of an earlier version is now.
fn now<K: Ordinal>(moved: &[u32], before: K) -> Option<K> {
    moved.get(before.index()).filter(|it| **it != NONE).map(|it| K::at(*it as usize))
}

/// A version compared with an earlier one: what is said of entities, but for relations.
pub(super) struct Compared<'a> {
    comparing: Comparing<'a>,
    is_touched: Vec<bool>,
    /// See [`KnownRelations`].
    passages: Vec<bool>,
    documents: Vec<bool>,
}

impl<'a> Compared<'a> {
    /// Compares a graph with that of an earlier version; none if it is not known what became of the passages of that.
    pub(super) fn of(now: &EntityGraph<'a>, earlier: &Earlier<'a>) -> Option<Self> {
        let comparing = Comparing::of(now, earlier, earlier.moved?);
        let ((mentions, names), bearers) =
            rayon::join(|| (comparing.mentions(), comparing.names()), || comparing.bearers());
        let mut is_touched = vec![false; now.names.entity_documents.len()];
        let (mut passages, mut documents) =
            (vec![false; now.names.passage_count()], vec![false; now.names.document_count()]);
        for touched in [mentions, names, bearers] {
            touched.entities.iter().for_each(|it| is_touched[it.index()] = true);
            touched.passages.iter().for_each(|it| passages[it.index()] = true);
            touched.documents.iter().for_each(|it| documents[it.index()] = true);
        }
        let mut compared = Self { comparing, is_touched, passages, documents };
        compared.spread(&now.entities);
        Some(compared)
    }

    /// Marks where touched entities may matter otherwise: in the documents that bear them, and where those are
    /// mentioned that may not have been among the entities that can have relations. Those that are mentioned in two
    /// passages that are as they were are among them now and were before.
    fn spread(&mut self, entities: &PassageGraph<'_>) {
        let mut uncertain = Vec::new();
        for entity in entities.entity_documents.ordinals().filter(|it| self.is_touched[it.index()]) {
            let borne = entities.entity_bearers.of(entity).map(|it| entities.bearer_document[it]);
            borne.for_each(|document| self.documents[document.index()] = true);
            let mentioning = entities.entity_mentions.of(entity).map(|it| entities.posting_passage[it]);
            let mut kept = mentioning.clone().filter(|it| !self.passages[it.index()]);
            let first = kept.next();
            if first.is_none() || kept.all(|it| Some(it) == first) {
                uncertain.extend(mentioning);
            }
        }
        for passage in uncertain {
            self.passages[passage.index()] = true;
        }
    }

    /// Calls `find` with what the earlier version says of relations.
    pub(super) fn with_relations<T>(
        &self,
        hierarchy: &Hierarchy<'_>,
        find: impl FnOnce(&KnownRelations<'_>) -> T,
    ) -> T {
        let Comparing { entities, moved, .. } = &self.comparing;
        let mut was = vec![NONE; self.is_touched.len()];
        for (before, now) in (0..).zip(entities) {
            if let Some(now) = now {
                was[now.index()] = before;
            }
        }
        let before = |entity: EntityOrdinal| {
            let before = Some(EntityOrdinal(was[entity.index()])).filter(|it| it.0 != NONE)?;
            let relation = |at: RelationOrdinal| {
                let sentence = hierarchy.relation_sentence[at];
                let sentence = if sentence.0 == NONE { None } else { Some(now(moved.sentences, sentence)?) };
                Some((entities[hierarchy.relation_entity[at].index()]?, hierarchy.relation_weight[at], sentence))
            };
            hierarchy.entity_relations.of(before).map(relation).collect()
        };
        let Self { is_touched, passages, documents, .. } = self;
        find(&KnownRelations { is_touched, passages, documents, before: &before })
    }
}

/// What is said otherwise in the later of two versions.
#[derive(Default)]
struct Touched {
    entities: Vec<EntityOrdinal>,
    /// Passages that are new, or mention something else, and documents that bear other names.
    passages: Vec<PassageOrdinal>,
    documents: Vec<DocumentOrdinal>,
}

/// Two versions.
struct Comparing<'a> {
    now: EntityGraph<'a>,
    before: PassageGraph<'a>,
    resolution: Option<Resolution<'a>>,
    moved: Moved<'a>,
    /// What each entity of the earlier version is now.
    entities: Vec<Option<EntityOrdinal>>,
}

impl<'a> Comparing<'a> {
    fn of(now: &EntityGraph<'a>, earlier: &Earlier<'a>, moved: Moved<'a>) -> Self {
        let Earlier { graph: before, resolution, .. } = *earlier;
        Self { now: *now, before, resolution, moved, entities: now.names.entities_of(&before) }
    }

    /// Touches what entities of the earlier version are now.
    fn touch_before(&self, touched: &mut Touched, entities: impl IntoIterator<Item = EntityOrdinal>) {
        touched.entities.extend(entities.into_iter().filter_map(|entity| self.entities[entity.index()]));
    }

    /// Touches all that a name stands for now, and all that it stood for.
    fn touch_referents(&self, touched: &mut Touched, name: Option<EntityOrdinal>, before: Option<EntityOrdinal>) {
        let referents =
            |resolution: Option<Resolution<'_>>, name| resolution.map_or(vec![name], |it| it.referents(name));
        touched.entities.extend(name.into_iter().flat_map(|name| referents(self.now.resolution, name)));
        self.touch_before(touched, before.into_iter().flat_map(|name| referents(self.resolution, name)));
    }

    fn document(&self, before: DocumentOrdinal) -> Option<DocumentOrdinal> {
        let passage = self.before.document_passages.of(before).next()?;
        Some(self.now.names.passage_document[now(self.moved.passages, passage)?])
    }

    /// Returns the documents that bore a name, as far as they are there.
    fn bore(&self, before: EntityOrdinal) -> impl Iterator<Item = DocumentOrdinal> {
        let documents = self.before.entity_bearers.of(before).map(|it| self.before.bearer_document[it]);
        documents.filter_map(|document| self.document(document))
    }

    /// Touches the entities of passages whose mentions are others now, that are new, or that are gone.
    fn mentions(&self) -> Touched {
        let (names, before, both) = (self.now.names, self.before, self.now);
        let mut touched = Touched::default();
        let mut was = vec![None; names.passage_count()];
        for passage in before.passages() {
            match now(self.moved.passages, passage) {
                Some(now) => was[now.index()] = Some(passage),
                None => self.touch_mentioned_before(&mut touched, passage),
            }
        }
        for (passage, was) in names.passages().zip(was) {
            let mentions = names.passage_mentions.of(passage);
            let mentions = mentions.map(|it| (Some(names.mention_entity[it]), Some(names.mention_sentence[it])));
            let earlier = was.into_iter().flat_map(|it| before.passage_mentions.of(it));
            let earlier = earlier.map(|it| {
                let (entity, sentence) = (before.mention_entity[it], before.mention_sentence[it]);
                (self.entities[entity.index()], now(self.moved.sentences, sentence))
            });
            if was.is_none() || !mentions.eq(earlier) {
                touched.passages.push(passage);
                if let Some(was) = was {
                    self.touch_mentioned_before(&mut touched, was);
                }
                let document = names.passage_document[passage];
                let mentioned = names.passage_mentions.of(passage).map(|it| names.mention_entity[it]);
                // A name is spelled as it is mentioned, also where it stands for another entity.
                touched.entities.extend(mentioned.flat_map(|name| [name, both.canonical(name, document)]));
            }
        }
        touched
    }

    fn touch_mentioned_before(&self, touched: &mut Touched, passage: PassageOrdinal) {
        let (before, resolution) = (self.before, self.resolution);
        let document = before.passage_document[passage];
        let names = before.passage_mentions.of(passage).map(|it| before.mention_entity[it]);
        let thing = |name| resolution.map_or(name, |it: Resolution<'_>| it.canonical(name, document));
        self.touch_before(touched, names.flat_map(|name| [name, thing(name)]));
    }

    /// Touches the entities of names that stand for other ones now.
    fn names(&self) -> Touched {
        let mut touched = Touched::default();
        for before in EntityOrdinal::first(self.entities.len()) {
            let Some(name) = self.entities[before.index()] else {
                self.touch_referents(&mut touched, None, Some(before));
                touched.documents.extend(self.bore(before));
                continue;
            };
            if !self.is_same_name(before, name) {
                self.touch_referents(&mut touched, Some(name), Some(before));
                let names = self.now.names;
                touched.passages.extend(names.entity_mentions.of(name).map(|it| names.posting_passage[it]));
                touched.documents.extend(names.entity_bearers.of(name).map(|it| names.bearer_document[it]));
            }
        }
        touched
    }

    fn is_same_name(&self, before: EntityOrdinal, name: EntityOrdinal) -> bool {
        let everywhere =
            |resolution: Option<Resolution<'_>>, name| resolution.map_or(name, |it| it.entity_canonical[name]);
        let thing = self.entities[everywhere(self.resolution, before).index()];
        let scoped = |resolution: Option<Resolution<'a>>, name| {
            let rows = resolution.into_iter().flat_map(move |it| it.entity_scoped.of(name).map(move |at| (it, at)));
            rows.map(|(it, at)| (it.scoped_document[at], it.scoped_canonical[at]))
        };
        let earlier = scoped(self.resolution, before)
            .map(|(document, thing)| (self.document(document), self.entities[thing.index()]));
        let now = scoped(self.now.resolution, name).map(|(document, thing)| (Some(document), Some(thing)));
        thing == Some(everywhere(self.now.resolution, name)) && earlier.eq(now)
    }

    /// Touches the entities of names that other documents have now, or have in another way.
    fn bearers(&self) -> Touched {
        let (names, before) = (self.now.names, self.before);
        let mut touched = Touched::default();
        let mut was = vec![None; names.entity_documents.len()];
        for (earlier, now) in EntityOrdinal::first(self.entities.len()).zip(&self.entities) {
            if let Some(now) = now {
                was[now.index()] = Some(earlier);
            }
        }
        let row = |graph: &PassageGraph<'_>, it: BearerOrdinal| {
            (graph.bearer_document[it], graph.bearer_passage[it], graph.bearer_kind[it])
        };
        for (name, was) in names.entity_documents.ordinals().zip(was) {
            let rows = names.entity_bearers.of(name).map(|it| row(&names, it));
            let rows = rows.map(|(document, passage, kind)| (Some(document), Some(passage), kind));
            let earlier = was.into_iter().flat_map(|it| before.entity_bearers.of(it)).map(|it| row(&before, it));
            let earlier = earlier
                .map(|(document, passage, kind)| (self.document(document), now(self.moved.passages, passage), kind));
            if !rows.eq(earlier) {
                touched.documents.extend(names.entity_bearers.of(name).map(|it| names.bearer_document[it]));
                touched.documents.extend(was.into_iter().flat_map(|it| self.bore(it)));
                self.touch_referents(&mut touched, Some(name), was);
            }
        }
        touched
    }

    /// Touches the ends of relations that weigh something else now, that are new, or that are gone.
    fn relations(&self, hierarchy: &Hierarchy<'_>, entities: &[EntityOrdinal], related: &[Relation]) -> Touched {
        let mut touched = Touched::default();
        let now = |it: &Relation| (it.ends.map(|place| entities[place as usize]), it.weight);
        let mut related = related.iter().map(now).peekable();
        for (before, weight, _) in hierarchy.relations() {
            let [first, second] = before.map(|end| self.entities[end.index()]);
            let (Some(first), Some(second)) = (first, second) else {
                self.touch_before(&mut touched, before);
                continue;
            };
            let mut is_there = false;
            while let Some((ends, now)) = related.next_if(|it| it.0 <= [first, second]) {
                match ends.cmp(&[first, second]) {
                    Ordering::Equal => is_there = now.to_bits() == weight.to_bits(),
                    _ => touched.entities.extend(ends),
                }
            }
            if !is_there {
                touched.entities.extend([first, second]);
            }
        }
        touched.entities.extend(related.flat_map(|it| it.0));
        touched
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::elements::postings;
    use crate::graph::hierarchy::PackedHierarchy;
    use crate::graph::ordinal::listed;
    use crate::graph::packed::PackedGraph;
    use crate::graph::resolution::{Merge, PackedResolution, Reason};

    /// One document of one passage, which mentions these of three names, each of which is an entity.
    fn packed(mentioned: &[u32]) -> PackedGraph {
        let packed = PackedGraph {
            document_passages: vec![0, 1],
            passage_document: listed(&[0]),
            passage_sentences: vec![0, 1],
            sentence_passage: listed(&[0]),
            entity_name_ends: vec![1, 2, 3],
            entity_names: b"abc".to_vec(),
            entity_documents: vec![1, 1, 1],
            entity_bearers: vec![0; 4],
            passage_mentions: vec![0, mentioned.len() as u32],
            mention_entity: listed(mentioned),
            mention_sentence: listed(&vec![0; mentioned.len()]),
            ..PackedGraph::default()
        };
        postings(3, &packed.view()).or(packed)
    }

    #[test]
    fn a_mention_touches_its_name_and_what_that_stands_for_there() {
        let of = |mentioned, [before, now]: [&[u32]; 2]| {
            let [before, now] = [before, now].map(packed);
            let [name, entity] = [0, 1].map(EntityOrdinal);
            let merge =
                Merge { name, entity, beside: entity, document: Some(DocumentOrdinal(0)), reason: Reason::Asked };
            let resolution = PackedResolution::of_merges(3, vec![merge]).unwrap();
            let resolution = Some(resolution.view());
            let hierarchy = PackedHierarchy::without_relations(3);
            let (passages, sentences) = (vec![mentioned], vec![mentioned]);
            let earlier = Earlier {
                graph: before.view(),
                hierarchy: hierarchy.view(),
                resolution,
                sentences: Vectors::default(),
                is_by_rule: true,
                moved: Some(Moved { passages: &passages, sentences: &sentences }),
            };
            let now = EntityGraph { names: now.view(), entities: now.view(), resolution };
            let compared = Compared::of(&now, &earlier).unwrap();
            Untouched::of(compared, (&[], &[]), &Vectors::default(), &earlier).is_touched
        };
        let there = 0;
        assert_eq!(of(there, [&[0], &[0]]), [false, false, false]);
        assert_eq!(of(there, [&[0], &[]]), [true, true, false]);
        assert_eq!(of(there, [&[], &[0, 2]]), [true, true, true]);
        assert_eq!(of(NONE, [&[0], &[2]]), [true, true, true]);
    }
}
