//! Layers of summary entities: soft clusters of entities, and of clusters again (`HiRAG`, section on `HiIndex`).

use rayon::prelude::*;

use super::PackedHierarchy;
use super::carried::Carried;
use super::naming::Central;
use super::told::sentences_of;
use super::wording::Wording;
use crate::domain::Cancellation;
use crate::error::Result;
use crate::graph::mixture::{MixtureOptions, SoftClusters, soft_clusters};
use crate::graph::ordinal::{EntityOrdinal, Ordinal as _, SentenceOrdinal};
use crate::graph::packed::back_to_back;
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
/// Entities whose vectors are made together.
const BLOCK: usize = 4_096;
/// Entities that a summary entity is named after, and its sentences chosen by, at most.
const CENTRAL_MAX: usize = 24;

/// The elements to cluster: entities on the first layer, summary entities above it.
struct Layer {
    /// Their numbers.
    numbers: Vec<u32>,
    /// Their vectors, back to back.
    vectors: Vec<f32>,
    /// The entities that each represents, the most central first.
    central: Vec<Vec<Central>>,
}

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
    (options, mut carried): (&LayerOptions, Option<&mut Carried<'_>>),
    cancellation: &Cancellation,
    packed: &mut PackedHierarchy,
) -> Result<()> {
    let mut layer = entity_layer(sentences, entities, wording, cancellation)?;
    let (mut names, mut sparsity_below) = (Vec::new(), None);
    for number in 1..=options.layers_max {
        cancellation.check()?;
        let clusters = match &mut carried {
            Some(carried) => {
                let below = (layer.numbers.as_slice(), layer.vectors.as_slice(), sentences.dimension);
                let Some(clusters) = carried.clusters(number, below, packed.summary_layer.len() as u32) else { break };
                clusters
            }
            None => soft_clusters(&layer.vectors, sentences.dimension, &options.mixture, cancellation)?,
        };
        let members = Members::of(&clusters, &layer);
        let sparsity = cluster_sparsity(members.0.iter().map(Vec::len), layer.numbers.len());
        let may_end = carried.is_none() && number > 1;
        if may_end && options.last.ends((layer.numbers.len(), clusters.count), (sparsity_below, sparsity)) {
            break;
        }
        let form = (sentences.dimension, cancellation);
        layer = pack_layer(&layer, &members, form, (number, wording), &mut names, packed)?;
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

fn entity_layer(
    sentences: &Vectors<'_>,
    entities: &[EntityOrdinal],
    wording: &Wording<'_>,
    cancellation: &Cancellation,
) -> Result<Layer> {
    let graph = &wording.graph;
    let mut layer = Layer { numbers: Vec::new(), vectors: Vec::new(), central: Vec::new() };
    let vector = |entity: &EntityOrdinal| {
        let mut vector = vec![0.0; sentences.dimension];
        for sentence in sentences_of(graph, *entity) {
            let scale = sentences.scales[sentence.index()];
            for (sum, code) in vector.iter_mut().zip(sentences.codes(sentence.0)) {
                *sum += f32::from(*code) * scale;
            }
        }
        let is_one = vector.iter().all(|value: &f32| value.is_finite()) && vector.iter().any(|value| *value != 0.0);
        is_one.then_some((*entity, vector))
    };
    for entities in entities.chunks(BLOCK) {
        cancellation.check()?;
        for (entity, vector) in entities.par_iter().filter_map(vector).collect::<Vec<_>>() {
            layer.numbers.push(entity.0);
            layer.vectors.extend(vector);
            layer.central.push(vec![(entity, f64::from(graph.entity_documents[entity]).ln_1p())]);
        }
    }
    Ok(layer)
}

/// The members of each cluster, by their places in the layer, each with how much of it belongs there.
struct Members(Vec<Vec<(usize, f32)>>);

impl Members {
    fn of(clusters: &SoftClusters, layer: &Layer) -> Self {
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

/// A summary entity.
struct Summary {
    mean: Vec<f32>,
    central: Vec<Central>,
    findings: Vec<SentenceOrdinal>,
    title: String,
}

/// Adds a summary entity for each cluster, and returns them as the elements of the next layer.
fn pack_layer(
    below: &Layer,
    members: &Members,
    (dimension, cancellation): (usize, &Cancellation),
    (number, wording): (u32, &Wording<'_>),
    names: &mut Vec<String>,
    packed: &mut PackedHierarchy,
) -> Result<Layer> {
    let mut layer = Layer { numbers: Vec::new(), vectors: Vec::new(), central: Vec::new() };
    let norms: Vec<f32> = below.vectors.par_chunks(dimension).map(norm).collect();
    let summary = |members: &Vec<(usize, f32)>| {
        cancellation.check()?;
        let mean = mean((below, &norms), members, dimension);
        let central = central((below, &norms), members, &mean, dimension);
        Ok(Summary { findings: wording.findings(&central), title: wording.title(&central), mean, central })
    };
    let summaries = members.0.par_iter().map(summary).collect::<Result<Vec<Summary>>>()?;
    for (members, Summary { mean, central, findings, title }) in members.0.iter().zip(summaries) {
        layer.numbers.push(packed.summary_layer.len() as u32);
        packed.summary_layer.push(number);
        packed.summary_member.extend(members.iter().map(|(place, _)| below.numbers[*place]));
        packed.summary_weight.extend(members.iter().map(|(_, weight)| *weight));
        packed.summary_members.push(packed.summary_member.len() as u32);
        packed.summary_sentence.extend(findings);
        packed.summary_sentences.push(packed.summary_sentence.len() as u32);
        names.push(title);
        layer.vectors.extend(mean);
        layer.central.push(central);
    }
    Ok(layer)
}

/// Returns the mean of the members' vectors, each of unit length and counted by how much of it belongs there.
fn mean((below, norms): (&Layer, &[f32]), members: &[(usize, f32)], dimension: usize) -> Vec<f32> {
    let mut mean = vec![0.0; dimension];
    for (place, weight) in members {
        let vector = &below.vectors[place * dimension..(place + 1) * dimension];
        let share = weight / norms[*place].max(f32::MIN_POSITIVE);
        mean.iter_mut().zip(vector).for_each(|(sum, value)| *sum += value * share);
    }
    mean
}

pub(super) fn norm(vector: &[f32]) -> f32 {
    vector.iter().map(|value| value * value).sum::<f32>().sqrt()
}

/// Returns the entities that members represent, the most central first: those of the members nearest to the mean.
fn central((below, norms): (&Layer, &[f32]), members: &[(usize, f32)], mean: &[f32], dimension: usize) -> Vec<Central> {
    let mut found: Vec<Central> = Vec::new();
    let length = norm(mean);
    for (place, weight) in members {
        let vector = &below.vectors[place * dimension..(place + 1) * dimension];
        let product: f32 = vector.iter().zip(mean).map(|(a, b)| a * b).sum();
        let nearness = product / (norms[*place] * length).max(f32::MIN_POSITIVE);
        let share = f64::from(nearness.max(0.0) * weight);
        found.extend(below.central[*place].iter().map(|(entity, weight)| (*entity, weight * share)));
    }
    // An entity counts once, with its largest weight.
    found.sort_by(|a, b| a.0.cmp(&b.0).then(b.1.total_cmp(&a.1)));
    found.dedup_by_key(|it| it.0);
    found.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    found.truncate(CENTRAL_MAX);
    found
}

#[cfg(test)]
mod tests {
    use super::*;

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
