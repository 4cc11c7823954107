//! Layers of summary entities: soft clusters of entities, and of clusters again (`HiRAG`, section on `HiIndex`).

use std::borrow::Cow;

use rayon::prelude::*;

use super::carried::{Below, Carried};
use super::naming::Central;
use super::told::sentences_of;
use super::untouched::{Untouched, Words};
use super::wording::Wording;
use super::{NONE, PackedHierarchy};
use crate::domain::Cancellation;
use crate::error::Result;
use crate::graph::mixture::{MixtureOptions, SoftClusters, soft_clusters};
use crate::graph::ordinal::{EntityOrdinal, Ordinal as _};
use crate::graph::packed::{PassageGraph, back_to_back};
use crate::graph::vectors::Vectors;

/// When a layer is the last.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum LastLayer {
    /// When the next would have more than half as many summary entities, or this has at most twelve.
    Halving,
    /// When its cluster sparsity differs from that of the layer below by at most this share of it: the paper has 0.05.
    Sparsity(f64),
}

impl LastLayer {
    /// Returns whether to stop before a layer above one of `below` elements, which would have `count` summary entities
    /// and this sparsity, while the layer below has the sparsity `before`.
    #[must_use]
    pub fn ends(self, (below, count): (usize, usize), (before, sparsity): (Option<f64>, f64)) -> bool {
        match self {
            Self::Halving => below <= LAYER_MIN || 2 * count > below,
            Self::Sparsity(share) => before.is_some_and(|before| (sparsity - before).abs() <= share * before.abs()),
        }
    }
}

/// How layers are made.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LayerOptions {
    /// How clusters are found.
    pub mixture: MixtureOptions,
    /// When a layer is the last.
    pub last: LastLayer,
    /// Layers at most.
    pub layers_max: u32,
}

impl Default for LayerOptions {
    fn default() -> Self {
        Self { mixture: MixtureOptions::default(), last: LastLayer::Halving, layers_max: 5 }
    }
}

/// Summary entities of a layer that no other layer is made of.
const LAYER_MIN: usize = 12;
/// Scales up to which no sum of values can exceed what a number holds.
const SCALE_MAX: f32 = 1e30;
/// Entities that are looked through together.
const BLOCK: usize = 4_096;
/// Entities that a summary entity is named after, and its sentences chosen by, at most.
pub(super) const CENTRAL_MAX: usize = 24;

/// The elements to cluster: entities on the first layer, summary entities above it.
struct Layer<'l> {
    /// Their numbers.
    numbers: Vec<u32>,
    elements: Elements<'l>,
    /// Whether something else is now said of each than in an earlier version.
    is_touched: Vec<bool>,
}

/// What elements of a layer are like.
enum Elements<'l> {
    /// Entities, whose vectors are made whenever they are asked for: there may be millions.
    Entities(EntityVectors<'l>),
    /// Summary entities: their vectors, back to back, and the entities that each represents, the most central first.
    Summaries { vectors: Vec<f32>, central: Vec<Vec<Central>> },
}

/// Makes vectors of entities: the mean of those of the sentences that mention one.
#[derive(Clone, Copy)]
struct EntityVectors<'l> {
    sentences: &'l Vectors<'l>,
    graph: &'l PassageGraph<'l>,
}

impl EntityVectors<'_> {
    /// Makes the vector of an entity, not scaled; returns whether it has one.
    fn fill(&self, entity: EntityOrdinal, vector: &mut [f32]) -> bool {
        vector.fill(0.0);
        for sentence in sentences_of(self.graph, entity) {
            let Some((scale, codes)) = self.sentences.at(sentence.0) else { continue };
            vector.iter_mut().zip(codes).for_each(|(sum, code)| *sum += f32::from(*code) * scale);
        }
        vector.iter().all(|value| value.is_finite()) && vector.iter().any(|value| *value != 0.0)
    }

    /// Returns whether an entity has a vector, as [`Self::fill`] does: usually, its first value says so.
    fn has_one(&self, entity: EntityOrdinal, vector: &mut [f32]) -> bool {
        let told = sentences_of(self.graph, entity);
        let rows: Vec<(f32, &[i8])> =
            told.iter().map(|it| (self.sentences.scale(it.0), self.sentences.codes(it.0))).collect();
        if rows.iter().any(|(scale, _)| !scale.is_finite() || scale.abs() > SCALE_MAX) {
            return self.fill(entity, vector);
        }
        let code = |codes: &[i8], column: usize| f32::from(codes.get(column).copied().unwrap_or_default());
        let value = |column| rows.iter().fold(0.0, |sum, (scale, codes)| sum + code(codes, column) * scale);
        (0..self.sentences.dimension).any(|column| value(column) != 0.0)
    }
}

impl Layer<'_> {
    /// Puts the vector of the element at `place` into `vector`.
    fn put(&self, place: usize, vector: &mut [f32]) {
        match &self.elements {
            Elements::Entities(entities) => {
                let _all_have_one = entities.fill(EntityOrdinal(self.numbers[place]), vector);
            }
            Elements::Summaries { vectors, .. } => {
                let dimension = vector.len();
                vector.copy_from_slice(&vectors[place * dimension..][..dimension]);
            }
        }
    }

    /// Returns all vectors, back to back.
    fn vectors(&self, dimension: usize) -> Cow<'_, [f32]> {
        if let Elements::Summaries { vectors, .. } = &self.elements {
            return Cow::Borrowed(vectors);
        }
        let mut all = vec![0.0; self.numbers.len() * dimension];
        all.par_chunks_mut(dimension).enumerate().for_each(|(place, vector)| self.put(place, vector));
        Cow::Owned(all)
    }

    /// Adds the entities that an element represents, with their weights times `share`.
    fn add_central(&self, place: usize, share: f64, found: &mut Vec<Central>) {
        match &self.elements {
            Elements::Entities(EntityVectors { graph, .. }) => {
                let entity = EntityOrdinal(self.numbers[place]);
                found.push((entity, f64::from(graph.entity_documents[entity]).ln_1p() * share));
            }
            Elements::Summaries { central, .. } => {
                found.extend(central[place].iter().map(|(entity, weight)| (*entity, weight * share)));
            }
        }
    }
}

/// What is kept of an earlier version: its clusters, and what it says of those that are as they were, if that is known.
pub(super) type Kept<'k, 'a> = (&'k mut Carried<'a>, Option<&'k Untouched<'a>>);

/// Adds the layers over `entities` to a hierarchy. The vector of an entity is the mean of those of the sentences that
/// mention it, or else of those that open the passages that it names; entities without one are in no layer.
///
/// # Errors
///
/// [`Error::Cancelled`](crate::error::Error::Cancelled) if a stop was asked for.
pub(super) fn pack_layers(
    sentences: &Vectors<'_>,
    entities: &[EntityOrdinal],
    wording: &Wording<'_>,
    (options, mut kept): (&LayerOptions, Option<Kept<'_, '_>>),
    cancellation: &Cancellation,
    packed: &mut PackedHierarchy,
) -> Result<()> {
    let untouched = kept.as_ref().and_then(|it| it.1);
    let is_touched = |entity: EntityOrdinal| {
        untouched.is_none_or(|it| it.is_touched(entity, || sentences_of(&wording.graph, entity)))
    };
    let clustered = kept.as_ref().map(|it| it.0.clustered(wording.graph.entity_documents.len()));
    // One that was in a cluster has a vector, unless something else is now said of it.
    let has_one =
        |entity: EntityOrdinal| clustered.as_ref().is_some_and(|it| it[entity.index()]) && !is_touched(entity);
    let mut layer = entity_layer((sentences, &wording.graph), entities, has_one, cancellation)?;
    layer.is_touched = layer.numbers.iter().map(|number| is_touched(EntityOrdinal(*number))).collect();
    let (mut names, mut sparsity_below) = (Vec::new(), None);
    for number in 1..=options.layers_max {
        cancellation.check()?;
        let clusters = if let Some((carried, _)) = &mut kept {
            let below = Below {
                numbers: &layer.numbers,
                dimension: sentences.dimension,
                put: &|place, vector| layer.put(place, vector),
            };
            let Some(clusters) = carried.clusters(number, &below, packed.summary_layer.len() as u32) else { break };
            clusters
        } else {
            let vectors = layer.vectors(sentences.dimension);
            soft_clusters(&vectors, sentences.dimension, &options.mixture, cancellation)?
        };
        let members = Members::of(&clusters, &layer);
        let sparsity = cluster_sparsity(members.0.iter().map(Vec::len), layer.numbers.len());
        let may_end = kept.is_none() && number > 1;
        if may_end && options.last.ends((layer.numbers.len(), clusters.count), (sparsity_below, sparsity)) {
            break;
        }
        let form = (sentences.dimension, cancellation);
        let kept = kept.as_ref().and_then(|(carried, untouched)| Some((&**carried, (*untouched)?)));
        layer = pack_layer((&layer, &members), form, (number, wording), kept, &mut names, packed)?;
        sparsity_below = Some(sparsity);
        if layer.numbers.len() < 2 {
            break;
        }
    }
    if !packed.summary_layer.is_empty() {
        packed.summary_members.insert(0, 0);
        packed.summary_sentences.insert(0, 0);
    }
    (packed.summary_name_ends, packed.summary_names) = back_to_back(&names);
    Ok(())
}

/// Returns the share of pairs of `count` elements that no cluster joins: `1 − Σ |S|(|S| − 1) / (count · (count − 1))`,
/// the paper's `CS`; below 0 where clusters overlap much.
#[must_use]
pub fn cluster_sparsity(sizes: impl Iterator<Item = usize>, count: usize) -> f64 {
    let pairs = |size: usize| size as f64 * (size as f64 - 1.0);
    if count < 2 { 0.0 } else { 1.0 - sizes.map(pairs).sum::<f64>() / pairs(count) }
}

/// Returns the entities that have a vector; one for which `has_one` is true is known to have it.
fn entity_layer<'l>(
    (sentences, graph): (&'l Vectors<'l>, &'l PassageGraph<'l>),
    entities: &[EntityOrdinal],
    has_one: impl Fn(EntityOrdinal) -> bool + Sync,
    cancellation: &Cancellation,
) -> Result<Layer<'l>> {
    let vectors = EntityVectors { sentences, graph };
    let with_one = |entities: &[EntityOrdinal]| {
        cancellation.check()?;
        let mut vector = vec![0.0; sentences.dimension];
        let with_one = entities.iter().filter(|it| has_one(**it) || vectors.has_one(**it, &mut vector));
        Ok(with_one.map(|entity| entity.0).collect())
    };
    let numbers = entities.par_chunks(BLOCK).map(with_one).collect::<Result<Vec<Vec<u32>>>>()?.concat();
    Ok(Layer { numbers, elements: Elements::Entities(vectors), is_touched: Vec::new() })
}

/// The members of each cluster, by their places in the layer, each with how much of it belongs there.
struct Members(Vec<Vec<(usize, f32)>>);

impl Members {
    fn of(clusters: &SoftClusters, layer: &Layer<'_>) -> Self {
        let mut members = vec![Vec::new(); clusters.count];
        for place in 0..layer.numbers.len() {
            let row = clusters.rows[place] as usize..clusters.rows[place + 1] as usize;
            for at in row {
                members[clusters.cluster[at] as usize].push((place, clusters.weight[at]));
            }
        }
        Self(members)
    }
}

/// The vector of a summary entity, and the entities that it represents, the most central first.
pub(super) struct Represented {
    pub(super) mean: Vec<f32>,
    pub(super) central: Vec<Central>,
}

/// Adds the entities that a summary entity represents to a hierarchy.
fn add_central(central: &[Central], packed: &mut PackedHierarchy) {
    let none = (EntityOrdinal(NONE), 0.0);
    for (entity, weight) in central.iter().copied().chain(std::iter::repeat(none)).take(CENTRAL_MAX) {
        packed.summary_central.push(entity);
        packed.summary_centrality.push(weight);
    }
}

/// A summary entity.
struct Summary {
    mean: Vec<f32>,
    central: Vec<Central>,
    /// Whether its words are not those of an earlier version.
    is_touched: bool,
    words: Words,
}

/// Adds a summary entity for each cluster, and returns them as the elements of the next layer.
fn pack_layer<'l>(
    (below, members): (&Layer<'l>, &Members),
    (dimension, cancellation): (usize, &Cancellation),
    (number, wording): (u32, &Wording<'_>),
    kept: Option<(&Carried<'_>, &Untouched<'_>)>,
    names: &mut Vec<String>,
    packed: &mut PackedHierarchy,
) -> Result<Layer<'l>> {
    let first = packed.summary_layer.len() as u32;
    let summary = |buffer: &mut Vec<f32>, (at, members): (usize, &Vec<(usize, f32)>)| {
        cancellation.check()?;
        let summary = first + at as u32;
        let known = kept.and_then(|kept| known(kept, summary, below, members));
        let is_touched = known.is_none();
        let stored = kept.filter(|_| !is_touched).and_then(|(it, untouched)| untouched.represented(it.before(summary)));
        let Represented { mean, central } = stored.unwrap_or_else(|| {
            let vectors = MemberVectors::of(below, members, dimension, buffer);
            let mean = vectors.mean(members);
            Represented { central: vectors.central(below, members, &mean), mean }
        });
        let words = known.unwrap_or_else(|| (wording.title(&central), wording.findings(&central)));
        Ok(Summary { mean, central, is_touched, words })
    };
    let summaries = members.0.par_iter().enumerate().map_init(Vec::new, summary).collect::<Result<Vec<Summary>>>()?;
    let (mut numbers, mut is_now_touched) = (Vec::new(), Vec::new());
    let (mut vectors, mut all_central) = (Vec::new(), Vec::new());
    for (members, Summary { mean, central, is_touched, words: (title, sentences) }) in members.0.iter().zip(summaries) {
        numbers.push(packed.summary_layer.len() as u32);
        packed.summary_layer.push(number);
        packed.summary_member.extend(members.iter().map(|(place, _)| below.numbers[*place]));
        packed.summary_weight.extend(members.iter().map(|(_, weight)| *weight));
        packed.summary_members.push(packed.summary_member.len() as u32);
        packed.summary_sentence.extend(sentences);
        packed.summary_sentences.push(packed.summary_sentence.len() as u32);
        names.push(title);
        packed.summary_vector.extend(&mean);
        add_central(&central, packed);
        vectors.extend(mean);
        all_central.push(central);
        is_now_touched.push(is_touched);
    }
    let elements = Elements::Summaries { vectors, central: all_central };
    Ok(Layer { numbers, elements, is_touched: is_now_touched })
}

/// Returns what an earlier version says of a summary entity, if nothing that this depends on has changed.
fn known(
    (carried, untouched): (&Carried<'_>, &Untouched<'_>),
    summary: u32,
    below: &Layer<'_>,
    members: &[(usize, f32)],
) -> Option<Words> {
    if members.iter().any(|(place, _)| below.is_touched[*place]) {
        return None;
    }
    let now = members.iter().map(|(place, weight)| (below.numbers[*place], *weight));
    untouched.words(carried.before(summary), now, |before| carried.now(before))
}

/// The vectors of the members of a cluster, back to back, and their lengths.
struct MemberVectors<'b> {
    vectors: &'b [f32],
    norms: Vec<f32>,
    dimension: usize,
}

impl<'b> MemberVectors<'b> {
    fn of(below: &Layer<'_>, members: &[(usize, f32)], dimension: usize, buffer: &'b mut Vec<f32>) -> Self {
        buffer.resize(members.len() * dimension, 0.0);
        for ((place, _), vector) in members.iter().zip(buffer.chunks_mut(dimension)) {
            below.put(*place, vector);
        }
        Self { norms: buffer.chunks(dimension).map(norm).collect(), vectors: buffer, dimension }
    }

    fn each(&self) -> impl Iterator<Item = (&[f32], f32)> {
        self.vectors.chunks(self.dimension).zip(self.norms.iter().copied())
    }

    /// Returns the mean of the members' vectors, each of unit length and counted by how much of it belongs there.
    fn mean(&self, members: &[(usize, f32)]) -> Vec<f32> {
        let mut mean = vec![0.0; self.dimension];
        for ((_, weight), (vector, norm)) in members.iter().zip(self.each()) {
            let share = weight / norm.max(f32::MIN_POSITIVE);
            mean.iter_mut().zip(vector).for_each(|(sum, value)| *sum += value * share);
        }
        mean
    }

    /// Returns the entities that members represent, the most central first: those of the members nearest to the mean.
    fn central(&self, below: &Layer<'_>, members: &[(usize, f32)], mean: &[f32]) -> Vec<Central> {
        let mut found: Vec<Central> = Vec::new();
        let length = norm(mean);
        for ((place, weight), (vector, norm)) in members.iter().zip(self.each()) {
            let nearness = product(vector, mean) / (norm * length).max(f32::MIN_POSITIVE);
            below.add_central(*place, f64::from(nearness.max(0.0) * weight), &mut found);
        }
        // An entity counts once, with its largest weight.
        found.sort_by(|a, b| a.0.cmp(&b.0).then(b.1.total_cmp(&a.1)));
        found.dedup_by_key(|it| it.0);
        found.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        found.truncate(CENTRAL_MAX);
        found
    }
}

/// Values that are multiplied at once.
const LANES: usize = 8;

/// Returns the inner product of two vectors, summed in an order that depends on their length alone.
pub(super) fn product(a: &[f32], b: &[f32]) -> f32 {
    let ((a, a_rest), (b, b_rest)) = (a.as_chunks::<LANES>(), b.as_chunks::<LANES>());
    let mut sums = [0.0; LANES];
    for (a, b) in a.iter().zip(b) {
        sums.iter_mut().zip(a.iter().zip(b)).for_each(|(sum, (a, b))| *sum += a * b);
    }
    sums.into_iter().chain(a_rest.iter().zip(b_rest).map(|(a, b)| a * b)).sum()
}

pub(super) fn norm(vector: &[f32]) -> f32 {
    product(vector, vector).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_product_is_of_all_values_whatever_their_number() {
        for length in [0, 1, 7, 8, 9, 16, 43] {
            let (a, b): (Vec<f32>, Vec<f32>) = (0..length).map(|at| (at as f32 - 3.0, (at * at) as f32)).unzip();
            // Of small whole numbers, sums are exact in any order.
            let expect = (0..length).map(|at| (at - 3) * at * at).sum::<i32>();
            assert_eq!(product(&a, &b).to_bits(), (expect as f32).to_bits(), "{length}");
        }
        assert_eq!(norm(&[3.0, 4.0]).to_bits(), 5.0_f32.to_bits());
    }

    #[test]
    fn sparsity_is_the_share_of_pairs_that_no_cluster_joins() {
        assert!((cluster_sparsity([2, 2].into_iter(), 4) - (1.0 - 4.0 / 12.0)).abs() < 1e-12);
        assert!((cluster_sparsity([1, 1, 1].into_iter(), 3) - 1.0).abs() < 1e-12);
        assert!((cluster_sparsity([3].into_iter(), 3)).abs() < 1e-12);
        assert!(cluster_sparsity([].into_iter(), 1).abs() < 1e-12);
    }

    #[test]
    fn layers_end_where_they_no_longer_halve_or_the_papers_sparsity_no_longer_changes() {
        let ends = |below, count| LastLayer::Halving.ends((below, count), (None, 0.0));
        assert!(ends(12, 3) && ends(100, 51) && !ends(13, 6) && !ends(100, 50));
        let ends = |before, sparsity| LastLayer::Sparsity(0.05).ends((100, 10), (before, sparsity));
        assert!(ends(Some(0.995), 0.997) && !ends(Some(0.903), 0.995) && !ends(None, 0.9));
    }
}
