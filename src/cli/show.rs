//! What was found, for people: passages, answers, the way that led to them.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io;

use super::screen::{Screen, Styled};
use crate::domain::{
    Answer, AnswerKind, CitationCheck, Hit, Ledger, PassageId, SkillCalls, Span, Step, StepKind, StopReason, Writing,
    WrittenSentence,
};
use crate::error::Result;
use crate::query::QueryEngine;

/// Characters of a passage in a list.
const SNIPPET_CHARS: usize = 240;
/// Columns before what belongs to the line above.
const INDENT: usize = 4;

/// What passages are called: by their document, and by their section where the list has several of a document.
pub(super) struct Names(BTreeMap<PassageId, String>);

impl Names {
    /// Returns the names of `hits`, of those on the way to them, and of whatever else `ledger` names.
    pub(super) async fn of(engine: &QueryEngine, hits: &[Hit], ledger: &Ledger) -> Result<Self> {
        let on_ways = hits.iter().flat_map(|hit| &hit.path).flat_map(|step| [step.from, step.to]);
        let mut names = engine.names(&on_ways.chain(ledger.passages()).collect()).await?;
        names.extend(Self::of_hits(hits).0);
        Ok(Self(names))
    }

    fn of_hits(hits: &[Hit]) -> Self {
        let name = |hit: &Hit| {
            let has_others = hits.iter().any(|it| it.document == hit.document && it.passage != hit.passage);
            let section = section(hit).filter(|_| has_others);
            section.map_or_else(|| hit.name.clone(), |section| format!("{} › {section}", hit.name))
        };
        Self(hits.iter().map(|hit| (hit.passage, name(hit))).collect())
    }

    pub(super) fn get(&self, passage: PassageId) -> &str {
        self.0.get(&passage).map_or("another passage", String::as_str)
    }

    /// Returns a way from passage to passage: `A → B —Anna Holt→ C —When was D born?→ D`.
    ///
    /// An arrow without a word leads to the passage of a name that stands in the one before it; a name over an arrow is
    /// one that both mention, or another name of the passage; a question over it is one that the next passage answers.
    pub(super) fn way(&self, steps: &[Step]) -> String {
        let mut way = String::new();
        for step in steps {
            let [from, to] = [step.from, step.to].map(|it| self.get(it));
            if way.is_empty() {
                way.push_str(from);
            }
            way.push_str(&arrow(step, to));
            way.push_str(to);
        }
        way
    }
}

fn arrow(step: &Step, to: &str) -> Cow<'static, str> {
    match (step.kind, &step.entity) {
        (StepKind::Name, Some(entity)) if entity == to => Cow::Borrowed(" → "),
        (StepKind::Name | StepKind::SharedEntity, Some(entity)) => Cow::Owned(format!(" —{entity}→ ")),
        _ => Cow::Owned(format!(" —{}→ ", step.question)),
    }
}

/// Returns the headings above a passage, without the document's own name.
fn section(hit: &Hit) -> Option<&str> {
    below(&hit.name, hit.section.as_deref()?)
}

fn below<'a>(name: &str, section: &'a str) -> Option<&'a str> {
    let below = section.strip_prefix(name).unwrap_or(section);
    Some(below.trim_start_matches(" › ")).filter(|below| !below.is_empty())
}

/// Returns what a passage of the document `name` is called, under the headings of `section`.
pub(super) fn titled(name: &str, section: Option<&str>) -> String {
    let below = section.and_then(|section| below(name, section));
    below.map_or_else(|| name.to_owned(), |below| format!("{name} › {below}"))
}

/// Shows passages, best first.
///
/// # Errors
///
/// If stdout is closed.
pub(super) fn hits(screen: &Screen, hits: &[Hit], names: &Names) -> io::Result<()> {
    for hit in hits {
        let section = section(hit).map_or_else(String::new, |section| format!(" › {section}"));
        let name = screen.strong(format!("{}{section}", hit.name));
        let place = screen.faint(place(hit.location(), &hit.uri, hit.span));
        screen.line(Styled::from(format!("{:>2}. ", hit.rank)).and(name).and("  ").and(place))?;
        screen.wrapped(&snippet(&hit.text), INDENT)?;
        way(screen, names, &hit.path)?;
    }
    Ok(())
}

/// Shows an answer with its quotations and, where a quotation was reached over an edge, the way to it.
///
/// # Errors
///
/// If stdout is closed.
pub(super) fn answer(screen: &Screen, answer: &Answer, names: &Names) -> io::Result<()> {
    rest_of_answer(screen, answer, names, 0)
}

/// Shows an answer of which the first `shown` sentences of a model are shown already.
///
/// # Errors
///
/// If stdout is closed.
pub(super) fn rest_of_answer(screen: &Screen, answer: &Answer, names: &Names, shown: usize) -> io::Result<()> {
    if answer.kind == AnswerKind::Nothing {
        return screen.wrapped(&answer.text, 0);
    }
    if answer.kind == AnswerKind::Written {
        let sentences = answer.writing.iter().flat_map(|writing| &writing.sentences);
        sentences.skip(shown).try_for_each(|it| sentence(screen, it))?;
        if let Some(short) = answer.writing.as_ref().and_then(|writing| writing.short.as_ref()) {
            screen.line("")?;
            screen.wrapped(&format!("In short: {short}"), 0)?;
        }
    } else {
        for (citation, number) in answer.citations.iter().zip(1..) {
            screen.wrapped(&format!("{} [{number}]", one_line(&citation.quote)), 0)?;
        }
    }
    if let Some(guess) = &answer.guess {
        screen.line("")?;
        screen.wrapped(&format!("Guess, by the rule `{}`: {}", guess.rule, one_line(&guess.text)), 0)?;
    }
    screen.line("")?;
    for (citation, number) in answer.citations.iter().zip(1..) {
        let (name, place) =
            (screen.strong(&citation.document), screen.faint(place(citation.location(), &citation.uri, citation.span)));
        screen.line(Styled::from(format!("[{number}] ")).and(name).and("  ").and(place))?;
        if answer.kind == AnswerKind::Written {
            screen.wrapped(&format!("“{}”", one_line(&citation.quote)), INDENT)?;
        }
        let path = answer.hits.iter().find(|hit| hit.passage == citation.passage).map_or(&[][..], |hit| &hit.path);
        way(screen, names, path)?;
    }
    Ok(())
}

/// Shows a sentence that a model wrote, with what it cites.
///
/// # Errors
///
/// If stdout is closed.
pub(super) fn sentence(screen: &Screen, sentence: &WrittenSentence) -> io::Result<()> {
    let cited: Vec<String> = sentence.citations.iter().map(|citation| format!("[{}]", citation + 1)).collect();
    let cited = cited.concat();
    let doubt = if sentence.is_supported { "" } else { " (not borne out by what it cites)" };
    screen.wrapped(&format!("{} {cited}{doubt}", sentence.text), 0)
}

/// Says on stderr what a model had to do with an answer.
pub(super) fn writing(screen: &Screen, answer: &Answer, writing: &Writing) {
    let Writing { model, spent, .. } = writing;
    let strategy = &answer.strategy;
    let what = match (&writing.degraded, answer.kind) {
        (Some(why), _) => {
            format!("sentences quoted word for word, found by `{strategy}`; `{model}` was of no use: {why}")
        }
        (None, AnswerKind::Nothing) => format!("`{model}` found no answer in what `{strategy}` found"),
        (None, _) => {
            let check = match writing.checked_by {
                CitationCheck::Rule => "by rule, the words of each sentence were looked for in what it cites",
                CitationCheck::Model => "it judged whether what each sentence cites bears it out",
            };
            format!("written by `{model}` from what `{strategy}` found; {check}")
        }
    };
    screen.note("");
    screen.note(format!("{what}; {spent}"));
}

/// Says on stderr what a model did while passages were looked for, and what that came to.
pub(super) fn work(screen: &Screen, ledger: &Ledger) {
    let Some(work) = &ledger.work else { return };
    if let Some(pick) = &ledger.pick {
        let said = match &pick.degraded {
            Some(why) => format!("nothing was picked, and the order is that of the search: {why}"),
            None => format!("picked {} of the {} best passages", pick.picked.len(), pick.shown),
        };
        screen.note(said);
    }
    for (skill, SkillCalls { asked, unusable, last }) in work.skills.iter().filter(|(skill, _)| *skill != "pick") {
        let why = last.as_ref().map_or_else(String::new, |last| format!(", {unusable} of no use; the last: {last}"));
        screen.note(format!("asked to {skill} {asked} times{why}"));
    }
    if work.stop != StopReason::Finished {
        screen.note(format!("asked nothing more: {}", work.stop));
    }
    screen.note(format!("`{}` found these with {}", work.model, work.spent));
}

fn way(screen: &Screen, names: &Names, path: &[Step]) -> io::Result<()> {
    if path.is_empty() { Ok(()) } else { screen.wrapped(&names.way(path), INDENT) }
}

/// Returns where to turn to, or the bytes where a file has neither pages nor lines.
fn place(location: String, uri: &str, span: Span) -> String {
    if location == uri { format!("{uri} {}–{}", span.start, span.end) } else { location }
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns how a passage begins, without the headings that its name already tells.
fn snippet(text: &str) -> String {
    let body: Vec<&str> = text.lines().skip_while(|line| line.trim().is_empty() || line.starts_with('#')).collect();
    let flat = if body.is_empty() { one_line(text) } else { one_line(&body.join(" ")) };
    match flat.char_indices().nth(SNIPPET_CHARS) {
        Some((end, _)) => format!("{}…", &flat[..end]),
        None => flat,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{DocumentId, Metadata};

    fn hit(document: &str, section: &str) -> Hit {
        Hit {
            rank: 1,
            passage: PassageId::of(&[document.as_bytes(), section.as_bytes()]),
            document: DocumentId::of(&[document.as_bytes()]),
            source_id: document.to_owned(),
            name: document.to_owned(),
            uri: document.to_owned(),
            section: Some(section.to_owned()),
            page: None,
            line: None,
            span: Span { start: 0, end: 1 },
            text: String::new(),
            score: 1.0,
            metadata: Metadata::new(),
            path: Vec::new(),
        }
    }

    #[test]
    fn a_snippet_is_cut_between_characters() {
        let text = "é\n".repeat(300);
        let cut = snippet(&text);
        assert_eq!(cut.chars().count(), SNIPPET_CHARS + 1);
        assert!(!cut.contains('\n'));
        assert_eq!(snippet("# Mill\n\n## Today\n\nIt stands."), "It stands.");
        assert_eq!(snippet("# Mill"), "# Mill");
    }

    #[test]
    fn a_way_tells_passages_of_one_document_apart_and_repeats_no_name() {
        let hits = [hit("Town", "Town › Port"), hit("Town", "Town › Mill"), hit("Anna", "Anna")];
        let step = |from: &Hit, to: &Hit, kind, entity: &str| Step {
            from: from.passage,
            to: to.passage,
            kind,
            question: "Who is Anna?".to_owned(),
            entity: Some(entity.to_owned()).filter(|it| !it.is_empty()),
            score: 1.0,
            round: 1,
        };
        let steps = [
            step(&hits[0], &hits[2], StepKind::Name, "Anna"),
            step(&hits[2], &hits[1], StepKind::SharedEntity, "Harl"),
            step(&hits[1], &hits[2], StepKind::QuestionEdge, ""),
        ];
        let way = Names::of_hits(&hits).way(&steps);
        assert_eq!(way, "Town › Port → Anna —Harl→ Town › Mill —Who is Anna?→ Anna");
    }
}
