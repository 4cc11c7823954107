//! Shows results to people: passages, answers, the paths that led to them.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io;

use super::screen::{Screen, Styled};
use super::snippet::shown_lines;
use crate::domain::{
    Answer, AnswerKind, Citation, CitationCheck, Hit, Ledger, PassageId, RerankWork, SkillCalls, Span, Spelling, Step,
    StepKind, StopReason, WebResult, WebWork, Why, Writing, WrittenSentence,
};
use crate::error::Result;
use crate::query::QueryEngine;
use crate::text::{counted, is_block_start};

/// Maximum numbers of missing words and of near-duplicate locations that are named.
const WORDS_NAMED_MAX: usize = 5;
const NEAR_NAMED_MAX: usize = 3;
/// Indentation of what belongs to the line above, in columns.
const INDENT: usize = 4;

/// Names of passages: by their document, and by their section if the list has several of a document.
pub(super) struct Names(BTreeMap<PassageId, String>);

impl Names {
    /// Returns the names of `hits`, of passages on the paths to them, and of all others in `ledger`.
    pub(super) async fn of(engine: &QueryEngine, hits: &[Hit], ledger: &Ledger) -> Result<Self> {
        let on_ways = hits.iter().flat_map(|hit| &hit.path).flat_map(|step| [step.from, step.to]);
        let mut names = engine.names(&on_ways.chain(ledger.passages()).collect()).await?;
        names.extend(Self::of_hits(hits).0);
        Ok(Self(names))
    }

    fn of_hits(hits: &[Hit]) -> Self {
        let name = |hit: &Hit| {
            let has_others = hits.iter().any(|it| it.document == hit.document && it.passage != hit.passage);
            titled(&hit.name, hit.section.as_deref().filter(|_| has_others))
        };
        Self(hits.iter().map(|hit| (hit.passage, name(hit))).collect())
    }

    pub(super) fn get(&self, passage: PassageId) -> &str {
        self.0.get(&passage).map_or("another passage", String::as_str)
    }

    /// Returns a path from passage to passage: `A → B —Anna Holt→ C —When was D born?→ D`.
    ///
    /// An arrow without a word leads to the passage of a name in the one before it; a name over an arrow is one that
    /// both mention, or another name of the passage; a question over it is one that the next passage answers.
    pub(super) fn path(&self, steps: &[Step]) -> String {
        let mut path = String::new();
        for step in steps {
            let [from, to] = [step.from, step.to].map(|it| self.get(it));
            if path.is_empty() {
                path.push_str(from);
            }
            path.push_str(&arrow(step, to));
            path.push_str(to);
        }
        path
    }
}

fn arrow(step: &Step, to: &str) -> Cow<'static, str> {
    match (step.kind, &step.entity) {
        (StepKind::Name, Some(entity)) if entity == to => Cow::Borrowed(" → "),
        (StepKind::Name | StepKind::SharedEntity, Some(entity)) => Cow::Owned(format!(" —{entity}→ ")),
        _ => Cow::Owned(format!(" —{}→ ", step.question)),
    }
}

/// Returns the headings of a section without the document's own name.
fn below<'a>(name: &str, section: &'a str) -> Option<&'a str> {
    let below = section.strip_prefix(name).unwrap_or(section);
    Some(below.trim_start_matches(" › ")).filter(|below| !below.is_empty())
}

/// Returns the name of a passage of the document `name`, under the headings of `section`.
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
        let section = hit.lines.first().map_or(&hit.section, |best| &best.section);
        let name = screen.strong(titled(&hit.name, section.as_deref()));
        let place = screen.faint(place(hit.matched_location(), &hit.uri, hit.span));
        screen.line(Styled::from(format!("{:>2}. ", hit.rank)).and(name).and("  ").and(place))?;
        for line in shown_lines(&hit.text, &hit.lines, &hit.matches) {
            screen.wrapped_marked(&line.text, &line.marks, INDENT)?;
        }
        path(screen, names, &hit.path)?;
        for said in [why(&hit.why, &hit.path), near_equal(hit)].into_iter().flatten() {
            screen.line(Styled::from(" ".repeat(INDENT)).and(screen.faint(said)))?;
        }
    }
    Ok(())
}

/// Says why a passage was found, unless that is obvious.
fn why(why: &Why, path: &[Step]) -> Option<String> {
    let Why { words, missing, is_named } = why;
    let named = is_named.then_some("named in the question");
    let counted = match (words.len(), missing.len()) {
        (0, 0) => None,
        (0, _) if path.is_empty() => Some("close in meaning, with no word of the question".to_owned()),
        (0, _) => Some("with no word of the question".to_owned()),
        (_, 0) => Some("all words of the question".to_owned()),
        (has, lacks) => {
            let lacked = missing.iter().take(WORDS_NAMED_MAX).map(String::as_str).collect::<Vec<_>>().join(", ");
            let more = if lacks > WORDS_NAMED_MAX { ", …" } else { "" };
            Some(format!("{has} of {} words of the question; not: {lacked}{more}", has + lacks))
        }
    };
    let said: Vec<String> = named.map(str::to_owned).into_iter().chain(counted).collect();
    (!said.is_empty()).then(|| said.join("; "))
}

/// Says which passages are near-duplicates of one that is shown.
fn near_equal(hit: &Hit) -> Option<String> {
    let count = hit.near_equal.len();
    let mut places: Vec<&str> = hit.near_equal.iter().map(|near| near.uri.as_str()).collect();
    places.dedup();
    let more = if places.len() > NEAR_NAMED_MAX { ", …" } else { "" };
    places.truncate(NEAR_NAMED_MAX);
    (count > 0).then(|| format!("and {}: {}{more}", counted(count, "near-duplicate"), places.join(", ")))
}

/// Reports corrected words on stderr.
pub(super) fn spellings(screen: &Screen, ledger: &Ledger) {
    for Spelling { typed, searched } in &ledger.spellings {
        screen.note(format!("searched for “{searched}” instead of “{typed}”, which is not in the index"));
    }
}

/// Shows an answer with its quotations and, where a quotation was reached over an edge, the path to it.
///
/// # Errors
///
/// If stdout is closed.
pub(super) fn answer(screen: &Screen, answer: &Answer, names: &Names) -> io::Result<()> {
    rest_of_answer(screen, answer, names, 0)
}

/// Shows an answer, of whose model-written sentences the first `shown` are shown already.
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
            if let Some(topic) = topic(answer, citation) {
                screen.line("")?;
                screen.line(screen.strong(topic))?;
            }
            quotation(screen, &citation.quote, number)?;
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
        self::path(screen, names, path)?;
    }
    Ok(())
}

/// Returns the topic for which an overview quotes a sentence.
fn topic<'a>(answer: &'a Answer, citation: &Citation) -> Option<&'a str> {
    let layers = answer.ledger.layers.as_deref().filter(|_| answer.kind == AnswerKind::Overview)?;
    let topic = layers.communities.iter().find(|topic| topic.findings.contains(citation))?;
    Some(topic.title.as_str())
}

/// Shows a quotation with its number; code and lists keep their lines.
fn quotation(screen: &Screen, quote: &str, number: usize) -> io::Result<()> {
    if !has_lines(quote) {
        return screen.wrapped(&format!("{} [{number}]", one_line(quote)), 0);
    }
    let lines: Vec<&str> = quote.lines().map(str::trim_end).filter(|line| !line.is_empty()).collect();
    for (line, left) in lines.iter().zip((0..lines.len()).rev()) {
        let end = if left == 0 { format!(" [{number}]") } else { String::new() };
        screen.line(format!("{line}{end}"))?;
    }
    Ok(())
}

/// Returns whether the lines of a text matter: it has code or list items.
fn has_lines(text: &str) -> bool {
    let is_kept = |line: &str| {
        line.starts_with("```") || line.starts_with("    ") || line.starts_with('\t') || is_block_start(line)
    };
    text.lines().skip(1).any(is_kept) || text.starts_with("```")
}

/// Shows a sentence that a model wrote, with its citations.
///
/// # Errors
///
/// If stdout is closed.
pub(super) fn sentence(screen: &Screen, sentence: &WrittenSentence) -> io::Result<()> {
    let cited: Vec<String> = sentence.citations.iter().map(|citation| format!("[{}]", citation + 1)).collect();
    let found: Vec<String> = sentence.web.iter().map(|number| format!("[w{number}]")).collect();
    let cited = cited.concat() + &found.concat();
    let doubt = if sentence.is_supported { "" } else { " (not supported by its citations)" };
    screen.wrapped(&format!("{} {cited}{doubt}", sentence.text), 0)
}

/// Shows web results with an answer: those that it cites if a model wrote it, and otherwise all.
///
/// # Errors
///
/// If stdout is closed.
pub(super) fn web(screen: &Screen, answer: &Answer) -> io::Result<()> {
    let written = answer.writing.iter().filter(|_| answer.kind == AnswerKind::Written);
    let cited: Vec<u32> = written.flat_map(|it| &it.sentences).flat_map(|it| it.web.iter().copied()).collect();
    let is_shown = |it: &&WebResult| answer.kind != AnswerKind::Written || cited.contains(&it.number);
    let shown: Vec<WebResult> = answer.ledger.web.iter().filter(is_shown).cloned().collect();
    web_results(screen, &shown)
}

/// Shows web results, which are not part of the index.
///
/// # Errors
///
/// If stdout is closed.
pub(super) fn web_results(screen: &Screen, results: &[WebResult]) -> io::Result<()> {
    if results.is_empty() {
        return Ok(());
    }
    screen.line("")?;
    screen.line("From the web, which is not part of the index:")?;
    for WebResult { number, title, address, snippet, .. } in results {
        let (title, address) = (screen.strong(title), screen.faint(address));
        screen.line(Styled::from(format!("[w{number}] ")).and(title).and("  ").and(address))?;
        if !snippet.is_empty() {
            screen.wrapped(snippet, INDENT)?;
        }
    }
    Ok(())
}

/// Reports a model's part in an answer, on stderr.
pub(super) fn writing(screen: &Screen, answer: &Answer, writing: &Writing) {
    let Writing { model, spent, .. } = writing;
    let strategy = &answer.strategy;
    let what = match (&writing.degraded, answer.kind) {
        (Some(why), _) => {
            format!("sentences quoted word for word, found by `{strategy}`; `{model}` gave no usable answer: {why}")
        }
        (None, AnswerKind::Nothing) => format!("`{model}` found no answer in the passages from `{strategy}`"),
        (None, _) => {
            let check = match writing.checked_by {
                CitationCheck::Rule => "a rule looked for the words of each sentence in the passages that it cites",
                CitationCheck::Model => "it judged whether the cited passages support each sentence",
            };
            format!("written by `{model}` from the passages of `{strategy}`; {check}")
        }
    };
    screen.note("");
    screen.note(format!("{what}; {spent}"));
}

/// Reports a model's part in the search and its cost, on stderr.
pub(super) fn work(screen: &Screen, ledger: &Ledger) {
    if let Some(RerankWork { reranker, passages, spent }) = &ledger.reranking {
        screen.note(format!("`{reranker}` scored {}; {spent}", counted(*passages, "passage")));
    }
    if let Some(WebWork { server, searches, failed }) = &ledger.web_work {
        let failed = if *failed == 0 { String::new() } else { format!(", {failed} failed") };
        let times = if *searches == 1 { "once".to_owned() } else { format!("{searches} times") };
        screen.note(format!("`{server}` was asked {times} to search the web{failed}"));
    }
    let Some(work) = &ledger.work else { return };
    if let Some(pick) = &ledger.pick {
        let said = match &pick.degraded {
            Some(why) => format!("nothing was picked, so the order is that of the search: {why}"),
            None => format!("picked {} of the {} best passages", pick.picked.len(), pick.shown),
        };
        screen.note(said);
    }
    for (skill, SkillCalls { asked, unusable, last }) in work.skills.iter().filter(|(skill, _)| *skill != "pick") {
        let why = last.as_ref().map_or_else(String::new, |last| format!(", {unusable} unusable; the last: {last}"));
        let times = if *asked == 1 { "once".to_owned() } else { format!("{asked} times") };
        screen.note(format!("asked to {skill} {times}{why}"));
    }
    if work.stop != StopReason::Finished {
        screen.note(format!("no more calls: {}", work.stop));
    }
    screen.note(format!("`{}` found these with {}", work.model, work.spent));
}

fn path(screen: &Screen, names: &Names, steps: &[Step]) -> io::Result<()> {
    if steps.is_empty() { Ok(()) } else { screen.wrapped(&names.path(steps), INDENT) }
}

/// Returns the page or line, or the bytes if a file has neither.
fn place(location: String, uri: &str, span: Span) -> String {
    if location == uri { format!("{uri} {}–{}", span.start, span.end) } else { location }
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
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
            column: None,
            span: Span { start: 0, end: 1 },
            text: String::new(),
            score: 1.0,
            matches: Vec::new(),
            lines: Vec::new(),
            why: Why::default(),
            near_equal: Vec::new(),
            metadata: Metadata::new(),
            path: Vec::new(),
        }
    }

    #[test]
    fn the_reason_for_a_passage_is_given_in_words() {
        let texts = |texts: &[&str]| texts.iter().map(|&text| text.to_owned()).collect::<Vec<_>>();
        let said = |words: &[&str], missing: &[&str], is_named| {
            why(&Why { words: texts(words), missing: texts(missing), is_named }, &[]).unwrap_or_default()
        };
        assert_eq!(said(&["a", "b"], &["c"], false), "2 of 3 words of the question; not: c");
        assert_eq!(said(&["a"], &[], true), "named in the question; all words of the question");
        assert_eq!(said(&[], &["c"], false), "close in meaning, with no word of the question");
        assert_eq!(said(&[], &[], false), "");
    }

    #[test]
    fn code_and_lists_keep_their_lines() {
        assert!(has_lines("Run:\n\n    mill stop") && has_lines("Steps:\n- one\n- two") && has_lines("```\na\n```"));
        assert!(!has_lines("One sentence\nover two lines."));
    }

    #[test]
    fn a_path_distinguishes_passages_of_one_document_and_repeats_no_name() {
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
        let path = Names::of_hits(&hits).path(&steps);
        assert_eq!(path, "Town › Port → Anna —Harl→ Town › Mill —Who is Anna?→ Anna");
    }
}
