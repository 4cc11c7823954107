//! The page: its template filled with tables and lists.

use serde::Serialize;

use super::answers::{Along, Answered, Leg};
use super::around::{Around, Line, Middle, Node};
use super::contents::{Contents, Hub, MentionedName, Reason, Unanswered};
use super::html::Html;
use super::topics::{self, MappedTopic};
use super::{Listed, Shown};
use crate::domain::AnswerKind;
use crate::error::Result;
use crate::text::clipped;

const TEMPLATE: &str = include_str!("page.html");
const STYLE: &str = include_str!("style.css");
const SCRIPT: &str = include_str!("script.js");
/// Scripts of others, with their licenses before them.
const VENDORED: [(&str, &str); 2] = [
    (include_str!("vendor/graphology-LICENSE.txt"), include_str!("vendor/graphology-0.26.0.umd.min.js")),
    (include_str!("vendor/sigma-LICENSE.txt"), include_str!("vendor/sigma-3.0.3.min.js")),
];

/// Characters of a name in the drawing.
const LABEL_CHARS: usize = 32;

/// Returns the page.
pub(super) fn page(
    contents: &Contents,
    topics: &Listed<MappedTopic>,
    answers: &[Answered],
    around: Option<&Around>,
) -> Result<String> {
    let (mut style, mut script, mut vendored, mut data) = <(Html, Html, Html, Html)>::default();
    style.raw(STYLE);
    script.raw(SCRIPT);
    for (license, code) in VENDORED {
        vendored.raw("/*!\n").raw(license).raw("*/\n").raw(code).raw("\n");
    }
    data.json(&around.map(drawing))?;
    let mut program = Html::default();
    program.text(env!("CARGO_PKG_VERSION"));
    let parts = [
        ("title", title(contents)),
        ("summary", made_of(contents)),
        ("contents", contents_table(contents)),
        ("coverage", coverage_table(contents)),
        ("topics", topics::map(topics)),
        ("middle", middle(around)),
        ("graph", graph_list(around)),
        ("answers", answer_list(answers)),
        ("hubs", hubs(&contents.hubs)),
        ("names", names(&contents.names)),
        ("unanswered", unanswered(&contents.unanswered)),
        ("left-out", left_out(contents)),
        ("data", data),
        ("program", program),
    ];
    let nonce = nonce(&parts);
    let mut pieces: Vec<(&str, &Html)> = parts.iter().map(|(name, part)| (*name, part)).collect();
    pieces.extend([("style", &style), ("script", &script), ("vendored", &vendored), ("nonce", &nonce)]);
    Html::filled(TEMPLATE, &pieces)
}

/// Returns the nonce of the page's own scripts and style. It depends on everything that the page shows, so no document
/// can predict it.
fn nonce(parts: &[(&str, Html)]) -> Html {
    let mut hasher = blake3::Hasher::new();
    for (_, part) in parts {
        hasher.update(part.as_str().as_bytes());
    }
    let mut nonce = Html::default();
    nonce.text(&hasher.finalize().to_hex()[..32]);
    nonce
}

fn title(contents: &Contents) -> Html {
    let mut html = Html::default();
    counted(&mut html, contents.counts.documents, "document", "documents").raw(" in Cairn");
    html
}

pub(super) fn counted<'a>(html: &'a mut Html, count: u64, one: &'static str, many: &'static str) -> &'a mut Html {
    html.number(count).raw(" ").raw(if count == 1 { one } else { many })
}

fn made_of(contents: &Contents) -> Html {
    let counts = &contents.counts;
    let mut html = Html::default();
    html.raw("<p>Version ").number(contents.version.0).raw(" of an index");
    if let Some(created_at) = &contents.created_at {
        html.raw(", made <time>").text(created_at).raw("</time>");
    }
    html.raw(": ");
    counted(&mut html, counts.passages, "passage", "passages").raw(" that answer ");
    counted(&mut html, counts.incoming, "question", "questions").raw(" and raise ").number(counts.outgoing);
    html.raw(", joined by ");
    counted(&mut html, counts.edges, "question edge", "question edges").raw(".</p>");
    if counts.documents == 0 {
        html.raw("<p class=\"notice\">This index holds no document. Add some with <code>cairn index PATH</code>.</p>");
    }
    if contents.is_changed {
        html.raw(
            "<p class=\"notice\">Documents were added, changed or removed since this version was made: \
            <code>cairn index ",
        );
        html.raw("PATH</code> makes the next.</p>");
    }
    html
}

fn contents_table(contents: &Contents) -> Html {
    let counts = &contents.counts;
    let vectors = &contents.vectors;
    let rows: [(&'static str, u64, &'static str); 11] = [
        ("Documents", counts.documents, ""),
        ("Passages", counts.passages, "pieces of documents"),
        ("Sentences", counts.sentences, ""),
        ("In-coming questions", counts.incoming, "a passage answers them"),
        ("Out-coming questions", counts.outgoing, "a passage raises them"),
        ("Question edges", counts.edges, "from a passage that asks to one that answers"),
        ("Names", counts.entities, "of people, places and things"),
        ("Mentions", counts.mentions, "of names in sentences"),
        ("Vectors of passages", vectors.passages, ""),
        ("Vectors of sentences", vectors.sentences, ""),
        ("Vectors of in-coming questions", vectors.incoming, ""),
    ];
    let mut html = Html::default();
    html.raw(
        "<table><caption class=\"quiet\">How many of each there are</caption><thead><tr><th scope=\"col\">What</th>",
    );
    html.raw("<th scope=\"col\" class=\"number\">How many</th></tr></thead><tbody>");
    for (what, count, means) in rows {
        html.raw("<tr><th scope=\"row\">").raw(what);
        if !means.is_empty() {
            html.raw(" <span class=\"note\">").raw(means).raw("</span>");
        }
        html.raw("</th><td class=\"number\">").number(count).raw("</td></tr>");
    }
    html.raw("</tbody></table><p>");
    if contents.dimension == 0 {
        html.raw("The index was made without an embedder: it has no vectors, and is searched by words, names and ");
        html.raw("questions alone.");
    } else {
        html.raw("Vectors have ").number(contents.dimension as u64).raw(" values and are made by <code>");
        html.text(&contents.embedder).raw("</code>.");
    }
    html.raw("</p>");
    html
}

fn coverage_table(contents: &Contents) -> Html {
    let mut html = Html::default();
    html.raw("<table><caption class=\"quiet\">How many of each kind have what</caption><thead><tr>");
    html.raw("<th scope=\"col\">What</th><th scope=\"col\" class=\"number\">How many</th>");
    html.raw("<th scope=\"col\" class=\"bar\">Part</th></tr></thead><tbody>");
    for share in &contents.coverage {
        html.raw("<tr><th scope=\"row\">").raw(share.what).raw("</th><td class=\"number\">").number(share.has);
        html.raw(" <span class=\"note\">of ").number(share.of).raw("</span></td><td class=\"bar\">");
        // Rounded down, so that only all is 100 %.
        if let Some(percent) = (share.has * 100).checked_div(share.of) {
            html.raw(
                "<svg aria-hidden=\"true\" viewBox=\"0 0 100 10\" preserveAspectRatio=\"none\"><rect width=\"100\" ",
            );
            html.raw("height=\"10\" class=\"all\"/><rect height=\"10\" class=\"part\" width=\"").number(percent);
            html.raw("\"/></svg> ").number(percent).raw(" %");
        } else {
            html.raw("–");
        }
        html.raw("</td></tr>");
    }
    html.raw("</tbody></table>");
    html
}

/// Says how much of a list is shown, if not all.
pub(super) fn of_all(html: &mut Html, shown: Shown, what: &'static str) {
    if shown.shown < shown.total {
        html.raw("<p class=\"note\">").number(shown.shown).raw(" of ").number(shown.total).raw(" ").raw(what);
        html.raw(" are shown.</p>");
    }
}

fn hubs(hubs: &Listed<Hub>) -> Html {
    let mut html = Html::default();
    if hubs.items.is_empty() {
        html.raw("<p>No question edge arrives at any passage.</p>");
        return html;
    }
    html.raw(
        "<table><caption>Passages that most question edges arrive at</caption><thead><tr><th scope=\"col\">Passage",
    );
    html.raw("</th><th scope=\"col\" class=\"number\">Arrive</th><th scope=\"col\" class=\"number\">Leave</th></tr>");
    html.raw("</thead><tbody>");
    for hub in &hubs.items {
        html.raw("<tr><th scope=\"row\">").foreign(&hub.name).raw(" <span class=\"note\">").foreign(&hub.uri);
        html.raw("</span></th><td class=\"number\">").number(hub.arriving).raw("</td><td class=\"number\">");
        html.number(hub.leaving).raw("</td></tr>");
    }
    html.raw("</tbody></table>");
    of_all(&mut html, hubs.shown(), "passages at which an edge arrives");
    html
}

fn names(names: &Listed<MentionedName>) -> Html {
    let mut html = Html::default();
    if names.items.is_empty() {
        html.raw("<p>No name is mentioned in more than one document.</p>");
        return html;
    }
    html.raw("<table><caption>Names that most documents mention, in lower case as they are compared</caption>");
    html.raw("<thead><tr><th scope=\"col\">Name</th>");
    html.raw("<th scope=\"col\" class=\"number\">Documents</th><th scope=\"col\" class=\"number\">Mentions</th></tr>");
    html.raw("</thead><tbody>");
    for name in &names.items {
        html.raw("<tr><th scope=\"row\">").foreign(&name.name).raw("</th><td class=\"number\">");
        html.number(name.documents).raw("</td><td class=\"number\">").number(name.mentions).raw("</td></tr>");
    }
    html.raw("</tbody></table>");
    of_all(&mut html, names.shown(), "names that several documents mention");
    html
}

fn unanswered(unanswered: &Listed<Unanswered>) -> Html {
    let mut html = Html::default();
    if unanswered.items.is_empty() {
        html.raw("<p>Every question that a passage raises leads to another, or none raises any.</p>");
        return html;
    }
    html.raw("<table><caption>Questions that lead nowhere, those that most passages raise first</caption><thead><tr>");
    html.raw("<th scope=\"col\">Question</th><th scope=\"col\">Raised by</th></tr></thead><tbody>");
    for item in &unanswered.items {
        html.raw("<tr><th scope=\"row\">").foreign(&item.question).raw("</th><td>").foreign(&item.document);
        if item.passages > 1 {
            html.raw(" <span class=\"note\">and ");
            counted(&mut html, item.passages - 1, "more passage", "more passages").raw("</span>");
        }
        html.raw("</td></tr>");
    }
    html.raw("</tbody></table>");
    of_all(&mut html, unanswered.shown(), "questions that lead nowhere");
    html
}

fn left_out(contents: &Contents) -> Html {
    let mut html = Html::default();
    if contents.units_failed > 0 {
        html.raw("<p class=\"notice\">");
        counted(&mut html, contents.units_failed, "document", "documents").raw(" could not be worked on.</p>");
    }
    if contents.units_pending > 0 {
        html.raw("<p class=\"notice\">");
        counted(&mut html, contents.units_pending, "document waits", "documents wait")
            .raw(" for the next version.</p>");
    }
    if contents.left_out.items.is_empty() {
        html.raw("<p>The last run left out nothing.</p>");
        return html;
    }
    html.raw("<table><caption>What the last run left out, by reason</caption><thead><tr><th scope=\"col\">Reason</th>");
    html.raw("<th scope=\"col\" class=\"number\">Sources</th><th scope=\"col\">Which</th></tr></thead><tbody>");
    for Reason { reason, sources } in &contents.left_out.items {
        html.raw("<tr><th scope=\"row\">").foreign(reason).raw("</th><td class=\"number\">").number(sources.total);
        html.raw("</td><td><ul class=\"plain\">");
        for source in &sources.items {
            html.raw("<li>").foreign(source).raw("</li>");
        }
        let more = sources.total - sources.items.len() as u64;
        if more > 0 {
            html.raw("<li class=\"note\">and ").number(more).raw(" more</li>");
        }
        html.raw("</ul></td></tr>");
    }
    html.raw("</tbody></table>");
    of_all(&mut html, contents.left_out.shown(), "reasons");
    html
}

fn answer_list(answers: &[Answered]) -> Html {
    let mut html = Html::default();
    if answers.is_empty() {
        html.raw(
            "<p>No question was asked. <code>cairn report --question \"…\"</code> shows what the index answers, and ",
        );
        html.raw("the path that leads there; it may be repeated.</p>");
    }
    for answered in answers {
        html.raw("<article><h3>").foreign(&answered.question).raw("</h3>");
        if answered.kind == AnswerKind::Nothing {
            html.raw("<p>").text(&answered.text).raw("</p>");
        }
        if !answered.quotes.is_empty() {
            html.raw("<ol class=\"quotes\">");
            for quote in &answered.quotes {
                html.raw("<li><blockquote>").foreign(&quote.text).raw("</blockquote><p class=\"source\"><cite>");
                html.foreign(&quote.name).raw("</cite> <span class=\"note\">").foreign(&quote.place).raw("</span></p>");
                path(&mut html, &quote.path);
                html.raw("</li>");
            }
            html.raw("</ol>");
        }
        if let Some((text, rule)) = &answered.guess {
            html.raw("<p>Guess, by the rule <code>").text(rule).raw("</code>: <strong>").foreign(text);
            html.raw("</strong></p>");
        }
        hit_list(&mut html, answered);
        html.raw("</article>");
    }
    html
}

fn hit_list(html: &mut Html, answered: &Answered) {
    if answered.hits.is_empty() {
        return;
    }
    html.raw("<details><summary>");
    counted(html, answered.hits.len() as u64, "passage", "passages").raw(" found by <code>").text(&answered.strategy);
    html.raw("</code>, with the paths to them</summary><ol>");
    for hit in &answered.hits {
        html.raw("<li>").foreign(&hit.name).raw(" <span class=\"note\">").foreign(&hit.place).raw("</span>");
        path(html, &hit.path);
        html.raw("</li>");
    }
    html.raw("</ol></details>");
}

/// Appends a path, step by step.
fn path(html: &mut Html, legs: &[Leg]) {
    let Some(first) = legs.first() else { return };
    html.raw("<p class=\"path\"><span class=\"label\">Path:</span> ").foreign(&first.from);
    for leg in legs {
        html.raw(" <span class=\"arrow\" aria-hidden=\"true\">→</span> <span class=\"along\">");
        // A passage whose name is followed is named once.
        if !matches!(&leg.along, Along::Name(name) if *name == leg.to) {
            along(html, &leg.along);
            html.raw(",");
        }
        html.raw(" to</span> ").foreign(&leg.to);
    }
    html.raw("</p>");
}

fn along(html: &mut Html, along: &Along) {
    match along {
        Along::Question(question) => html.raw("asks <q>").foreign(question).raw("</q>"),
        Along::Name(name) => html.raw("by the name ").foreign(name),
        Along::SharedName(name) => html.raw("both mention ").foreign(name),
    };
}

fn middle(around: Option<&Around>) -> Html {
    let mut html = Html::default();
    let Some(around) = around else {
        html.raw("<p>There is nothing to draw.</p>");
        return html;
    };
    match &around.middle {
        Middle::Query(query) => html.raw("<p>Around what is found for <strong>").foreign(query),
        Middle::Document(document) => html.raw("<p>Around the document <strong>").foreign(document),
    };
    html.raw("</strong>: the passages within two steps of it, and the questions that lead from one to another.</p>");
    of_all(&mut html, around.nodes.shown(), "passages within two steps");
    of_all(&mut html, around.lines.shown(), "lines between them");
    html
}

/// The names of rings around a query, and around a document.
const RINGS: [[&str; 2]; 3] =
    [["found", "of the document"], ["one step away", "one step away"], ["two steps away", "two steps away"]];

fn graph_list(around: Option<&Around>) -> Html {
    let mut html = Html::default();
    let Some(around) = around else { return html };
    let side = usize::from(matches!(around.middle, Middle::Document(_)));
    for (at, node) in around.nodes.items.iter().enumerate() {
        html.raw("<li id=\"node-")
            .plain(at)
            .raw("\" class=\"ring-")
            .plain(node.ring.into())
            .raw("\"><h4><a href=\"#node-");
        html.plain(at)
            .raw("\" data-node=\"")
            .plain(at)
            .raw("\">")
            .foreign(&node.name)
            .raw("</a></h4><p class=\"note\">");
        html.raw(RINGS[usize::from(node.ring).min(2)][side]);
        html.raw("; ");
        counted(&mut html, node.arriving, "line arrives", "lines arrive").raw("</p><p>").foreign(&node.snippet);
        html.raw("</p>");
        let lines: Vec<&Line> = around.leaving(at).collect();
        if !lines.is_empty() {
            html.raw("<ul>");
            for line in lines {
                html.raw("<li>");
                along(&mut html, &line.along);
                html.raw(" <span aria-hidden=\"true\">→</span> <a href=\"#node-").plain(line.to).raw("\" data-node=\"");
                html.plain(line.to).raw("\">").foreign(&around.nodes.items[line.to].name).raw("</a>");
                if let Some(answered) = &line.answered {
                    html.raw(" <span class=\"note\">which answers <q>").foreign(answered).raw("</q></span>");
                }
                html.raw("</li>");
            }
            html.raw("</ul>");
        }
        html.raw("</li>");
    }
    html
}

/// The data for the script.
#[derive(Serialize)]
struct Drawing<'a> {
    nodes: Vec<Dot>,
    lines: Vec<(usize, usize, &'a str)>,
}

#[derive(Serialize)]
struct Dot {
    label: String,
    x: f32,
    y: f32,
    ring: u8,
    degree: usize,
}

fn drawing(around: &Around) -> Drawing<'_> {
    let dot = |(at, node): (usize, &Node)| Dot {
        label: clipped(&node.name, LABEL_CHARS),
        x: node.place[0] as f32,
        y: node.place[1] as f32,
        ring: node.ring,
        degree: around.degree(at),
    };
    let kind = |line: &Line| match line.along {
        Along::Question(_) => "question",
        Along::Name(_) | Along::SharedName(_) => "name",
    };
    Drawing {
        nodes: around.nodes.items.iter().enumerate().map(dot).collect(),
        lines: around.lines.items.iter().map(|it| (it.from, it.to, kind(it))).collect(),
    }
}
