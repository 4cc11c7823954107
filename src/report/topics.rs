//! The map of topics: nested topics of the collection, each with sentences of its passages.

use super::Listed;
use super::contents::LINE_CHARS_MAX;
use super::html::Html;
use super::page::{counted, of_all};
use crate::domain::{Citation, Topic, TopicOptions, WrittenFinding};
use crate::error::{Error, Result};
use crate::query;
use crate::text::clipped;
use crate::workspace::Snapshot;

/// Topics that are part of no other.
const TOPICS_MAX: usize = 40;
/// Topics within another.
const PARTS_MAX: usize = 8;
/// Maximum characters of a language model's text about a topic, and sentences shown of each finding.
const SUMMARY_CHARS_MAX: usize = 1_000;
const QUOTES_MAX: usize = 3;
/// Levels of topics.
const LEVELS_MAX: u32 = 3;
/// Colors of topics, each with those within it.
const COLORS: [&str; 8] = ["hue-0", "hue-1", "hue-2", "hue-3", "hue-4", "hue-5", "hue-6", "hue-7"];

/// A sentence, and its location.
type Quote = (String, String);

/// A topic.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct MappedTopic {
    title: String,
    entities: u64,
    passages: u64,
    /// Its passages, of 100 of the largest topic.
    percent: u64,
    /// A language model's report, and the sentences behind it; none if there is none.
    summary: Option<String>,
    /// Its findings, each with its sentences.
    written: Vec<(String, Vec<Quote>)>,
    /// Sentences that a rule chose, if there is no report.
    findings: Vec<Quote>,
    parts: Listed<Self>,
}

/// Gathers the topics of a version, the largest first; none if an earlier release made it.
pub(super) fn gather(snapshot: &Snapshot) -> Result<Listed<MappedTopic>> {
    let topics = match query::topics(snapshot, &TopicOptions::default()) {
        Err(Error::NoTopics) => return Ok(Listed::first(Vec::new(), 0)),
        topics => topics?.topics,
    };
    let largest = topics.iter().map(|it| it.passages).max().unwrap_or(1).max(1);
    let mut within: Vec<Vec<usize>> = vec![Vec::new(); topics.len()];
    let mut on_top = Vec::new();
    for (place, topic) in topics.iter().enumerate() {
        topic.parent.map_or(&mut on_top, |parent| &mut within[parent as usize]).push(place);
    }
    Ok(mapped(&topics, &on_top, &within, largest))
}

fn mapped(topics: &[Topic], places: &[usize], within: &[Vec<usize>], largest: u64) -> Listed<MappedTopic> {
    let level = places.first().map_or(0, |place| topics[*place].level);
    let shown = if level == 0 { TOPICS_MAX } else { PARTS_MAX };
    let topic = |place: &usize| {
        let topic = &topics[*place];
        let parts = if topic.level + 1 < LEVELS_MAX { &within[*place][..] } else { &[] };
        MappedTopic {
            title: clipped(&topic.title, LINE_CHARS_MAX),
            entities: topic.entities,
            passages: topic.passages,
            percent: topic.passages * 100 / largest,
            summary: topic.report.as_ref().map(|it| clipped(&it.summary, SUMMARY_CHARS_MAX)),
            written: topic.report.iter().flat_map(|it| &it.findings).map(written).collect(),
            findings: topic.findings.iter().filter(|_| topic.report.is_none()).map(quote).collect(),
            parts: mapped(topics, parts, within, largest),
        }
    };
    Listed { items: places.iter().take(shown).map(topic).collect(), total: places.len() as u64 }
}

fn written(finding: &WrittenFinding) -> (String, Vec<Quote>) {
    let quotes = finding.citations.iter().take(QUOTES_MAX).map(quote).collect();
    (clipped(&finding.text, SUMMARY_CHARS_MAX), quotes)
}

fn quote(citation: &Citation) -> Quote {
    (clipped(&citation.quote, LINE_CHARS_MAX), clipped(&citation.location(), LINE_CHARS_MAX))
}

/// Returns the map as nested lists, which open and close by themselves.
pub(super) fn map(topics: &Listed<MappedTopic>) -> Html {
    let mut html = Html::default();
    if topics.items.is_empty() {
        html.raw("<p>There are no names that are mentioned together, or the index was made before topics were found: ");
        html.raw("<code>cairn index PATH</code> finds them.</p>");
        return html;
    }
    html.raw("<p>Names that are mentioned together, the largest topic first. Open one for sentences about it and for ");
    html.raw("the topics within it.</p>");
    list(&mut html, topics, None);
    of_all(&mut html, topics.shown(), "topics");
    html
}

fn list(html: &mut Html, topics: &Listed<MappedTopic>, color: Option<&'static str>) {
    html.raw("<ul class=\"topics\">");
    for (topic, own) in topics.items.iter().zip(COLORS.iter().cycle()) {
        let color = color.unwrap_or(own);
        html.raw("<li class=\"").raw(color).raw("\"><details><summary><span class=\"topic\">").foreign(&topic.title);
        html.raw("</span> <span class=\"note\">");
        counted(html, topic.entities, "name", "names").raw(", ");
        counted(html, topic.passages, "passage", "passages").raw("</span>");
        html.raw("<svg aria-hidden=\"true\" viewBox=\"0 0 100 4\" preserveAspectRatio=\"none\"><rect height=\"4\" ");
        html.raw("class=\"size\" width=\"").number(topic.percent.max(1)).raw("\"/></svg></summary>");
        report(html, topic);
        quotes(html, &topic.findings);
        if !topic.parts.items.is_empty() {
            list(html, &topic.parts, Some(color));
            of_all(html, topic.parts.shown(), "topics within it");
        }
        html.raw("</details></li>");
    }
    html.raw("</ul>");
}

/// Shows a language model's report about a topic.
fn report(html: &mut Html, topic: &MappedTopic) {
    let Some(summary) = &topic.summary else { return };
    html.raw("<p>").foreign(summary).raw("</p><p class=\"note\">Written by a language model, title and findings ");
    html.raw("too. Below each finding are the sentences that it cites.</p>");
    for (text, cited) in &topic.written {
        html.raw("<p>").foreign(text).raw("</p>");
        quotes(html, cited);
    }
}

fn quotes(html: &mut Html, quotes: &[Quote]) {
    if quotes.is_empty() {
        return;
    }
    html.raw("<ol class=\"quotes\">");
    for (text, place) in quotes {
        html.raw("<li><blockquote>").foreign(text).raw("</blockquote><p class=\"source\"><span class=\"note\">");
        html.foreign(place).raw("</span></p></li>");
    }
    html.raw("</ol>");
}
