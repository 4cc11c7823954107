//! The topics of a collection: its communities, with titles and sentences.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use super::answer::hits::unasked;
use crate::domain::{Citation, FoundByModel, SummaryLayer, Topic, TopicOptions, Topics, WrittenFinding, WrittenTopic};
use crate::error::{Error, Result};
use crate::graph::descriptions::{Descriptions, Report};
use crate::graph::hierarchy::Hierarchy;
use crate::graph::ordinal::{CommunityOrdinal, EntityOrdinal, Ordinal as _, SentenceOrdinal, SummaryOrdinal};
use crate::store::{GraphReader, sentence};
use crate::text::folded_names;

/// Minimum entities of a topic.
pub(super) const ENTITIES_MIN: usize = 3;
/// Maximum words of a name in the text that topics are to be about.
const NAME_WORDS_MAX: usize = 12;

/// Returns the topics of an index, the largest first, parts after their parent: its communities of at least three
/// entities, with the findings about each from when the index was made.
///
/// # Errors
///
/// [`Error::NoTopics`] if an earlier release made the index; whatever the store fails with.
///
/// # Complexity
///
/// A read of a passage for each sentence.
pub fn topics(reader: &dyn GraphReader, options: &TopicOptions) -> Result<Topics> {
    let hierarchy = reader.hierarchy().ok_or(Error::NoTopics)?;
    let mut parts: Vec<Vec<CommunityOrdinal>> = vec![Vec::new(); hierarchy.communities().len()];
    let mut on_top = Vec::new();
    for community in hierarchy.communities().filter(|it| hierarchy.members(*it).len() >= ENTITIES_MIN) {
        hierarchy.parent(community).map_or(&mut on_top, |parent| &mut parts[parent.index()]).push(community);
    }
    let wanted = options.about.as_deref().map(|about| of_names_in(about, reader, hierarchy));
    let mut listing = Listing { reader, hierarchy, parts, wanted, topics: Vec::new() };
    listing.add(&on_top, None)?;
    let entities: BTreeSet<EntityOrdinal> = hierarchy.relations().flat_map(|it| it.0).collect();
    Ok(Topics {
        version: reader.version(),
        entities: entities.len() as u64,
        relations: hierarchy.relation_entity.len() as u64,
        by_model: reader.descriptions().map(|it| it.found_by_model()).filter(|it| *it != FoundByModel::default()),
        layers: layers(&hierarchy),
        topics: listing.topics,
    })
}

fn layers(hierarchy: &Hierarchy<'_>) -> Vec<SummaryLayer> {
    let mut layers: Vec<SummaryLayer> = Vec::new();
    let first = hierarchy.summaries().filter(|it| hierarchy.summary_layer[*it] == 1);
    let rows = first.flat_map(|it| hierarchy.summary_members.of(it));
    let mut below = rows.map(|row| hierarchy.summary_member[row]).collect::<BTreeSet<u32>>().len();
    for same in hierarchy.summary_layer.chunk_by(PartialEq::eq) {
        let layer = same[0];
        layers.push(SummaryLayer { layer, summaries: same.len() as u64, sparsity: hierarchy.sparsity(layer, below) });
        below = same.len();
    }
    layers
}

/// Returns the communities that an entity named in a text belongs to.
fn of_names_in(text: &str, reader: &dyn GraphReader, hierarchy: Hierarchy<'_>) -> BTreeSet<CommunityOrdinal> {
    let (graph, names) = (reader.graph(), folded_names(text, NAME_WORDS_MAX));
    let entities = names.iter().flat_map(|name| graph.entities(name));
    let things = |entity| reader.resolution().map_or_else(|| vec![entity], |resolution| resolution.referents(entity));
    let entities: BTreeSet<EntityOrdinal> = entities.flat_map(things).collect();
    let has_one = |it: &CommunityOrdinal| hierarchy.members(*it).iter().any(|member| entities.contains(member));
    hierarchy.communities().filter(has_one).collect()
}

/// Topics being collected in a list.
struct Listing<'a> {
    reader: &'a dyn GraphReader,
    hierarchy: Hierarchy<'a>,
    /// The communities within each, without those that are too small.
    parts: Vec<Vec<CommunityOrdinal>>,
    /// Those that are wanted; none where all are.
    wanted: Option<BTreeSet<CommunityOrdinal>>,
    topics: Vec<Topic>,
}

impl Listing<'_> {
    /// Adds communities, and behind each those within it: the largest first.
    fn add(&mut self, communities: &[CommunityOrdinal], parent: Option<u32>) -> Result<()> {
        let is_wanted = |it: &&CommunityOrdinal| self.wanted.as_ref().is_none_or(|wanted| wanted.contains(it));
        let mut sized: Vec<CommunityOrdinal> = communities.iter().filter(is_wanted).copied().collect();
        sized.sort_by_key(|it| (Reverse(self.hierarchy.community_passages[*it]), *it));
        for community in sized {
            let place = self.topics.len() as u32;
            let topic = self.topic(community, parent)?;
            self.topics.push(topic);
            let parts = std::mem::take(&mut self.parts[community.index()]);
            self.add(&parts, Some(place))?;
        }
        Ok(())
    }

    fn topic(&self, community: CommunityOrdinal, parent: Option<u32>) -> Result<Topic> {
        let hierarchy = &self.hierarchy;
        let findings = hierarchy.findings(community).iter().filter_map(|it| quoted(self.reader, *it).transpose());
        Ok(Topic {
            level: hierarchy.community_level[community],
            parent,
            title: title(self.reader, *hierarchy, community).to_owned(),
            rating: hierarchy.rating(community),
            entities: hierarchy.members(community).len() as u64,
            passages: u64::from(hierarchy.community_passages[community]),
            findings: findings.collect::<Result<_>>()?,
            report: written(self.reader, community, |it| quoted(self.reader, it))?,
        })
    }
}

/// Returns the title of a community: that of a model's report, or else a rule's.
pub(super) fn title<'a>(reader: &'a dyn GraphReader, hierarchy: Hierarchy<'a>, community: CommunityOrdinal) -> &'a str {
    report(reader, community).map_or_else(|| hierarchy.title(community), |it| it.1.title)
}

/// Returns the sentences behind the text about a community: those that a report cites, or else those that a rule chose.
pub(super) fn behind(
    reader: &dyn GraphReader,
    hierarchy: Hierarchy<'_>,
    community: CommunityOrdinal,
) -> Vec<SentenceOrdinal> {
    let Some((descriptions, report)) = report(reader, community) else {
        return hierarchy.findings(community).to_vec();
    };
    descriptions.findings(report).flat_map(|it| it.1).copied().collect()
}

/// Returns a model's report about a community, if there is one. `quote` returns the sentences that may be cited;
/// findings of others are left out.
///
/// # Errors
///
/// Whatever `quote` fails with.
pub(super) fn written(
    reader: &dyn GraphReader,
    community: CommunityOrdinal,
    quote: impl Fn(SentenceOrdinal) -> Result<Option<Citation>>,
) -> Result<Option<WrittenTopic>> {
    let Some((descriptions, report)) = report(reader, community) else { return Ok(None) };
    let mut findings = Vec::new();
    for (text, sentences) in descriptions.findings(report) {
        let citations = sentences.iter().map(|it| quote(*it)).collect::<Result<Option<Vec<Citation>>>>()?;
        findings.extend(citations.map(|citations| WrittenFinding { text: text.to_owned(), citations }));
    }
    Ok(Some(WrittenTopic {
        title: report.title.to_owned(),
        summary: report.summary.to_owned(),
        rating: descriptions.rating(report),
        findings,
    }))
}

/// Returns the name of a summary entity, and a model's summary of it; texts citing a sentence that `quote` does not
/// return are left out.
///
/// # Errors
///
/// Whatever `quote` fails with.
pub(super) fn summarized(
    reader: &dyn GraphReader,
    hierarchy: &Hierarchy<'_>,
    summary: SummaryOrdinal,
    quote: impl Fn(SentenceOrdinal) -> Result<Option<Citation>>,
) -> Result<(String, Vec<WrittenFinding>)> {
    let (mut names, mut said) = (Vec::new(), Vec::new());
    for aspect in reader.descriptions().iter().flat_map(|it| it.aspects(summary)) {
        let citations = aspect.sentences.iter().map(|it| quote(*it)).collect::<Result<Option<Vec<Citation>>>>()?;
        let Some(citations) = citations else { continue };
        names.push(aspect.name);
        said.push(WrittenFinding { text: aspect.description.to_owned(), citations });
    }
    let name = if names.is_empty() { hierarchy.summary_name(summary).to_owned() } else { names.join("; ") };
    Ok((name, said))
}

fn report(reader: &dyn GraphReader, community: CommunityOrdinal) -> Option<(Descriptions<'_>, Report<'_>)> {
    let descriptions = reader.descriptions()?;
    Some((descriptions, descriptions.report(community)?))
}

/// Returns a sentence as it is quoted.
///
/// # Errors
///
/// If the store cannot be read.
pub(super) fn quoted(reader: &dyn GraphReader, of: SentenceOrdinal) -> Result<Option<Citation>> {
    let graph = reader.graph();
    let (text, span) = sentence(reader, &graph, of)?;
    let Some(span) = span else { return Ok(None) };
    let document = reader.document(graph.passage_document[graph.sentence_passage[of]])?;
    Ok(Some(unasked(text, document).citation(span, 1.0)))
}
