//! Answers that a language model writes: from the passages that were found, with citations that are checked by rule and
//! quotations that stand word for word in a document.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use super::reduce::{self, Reduced};
use super::sources::{Cited, Sources};
use crate::domain::{Answer, AnswerKind, ChatError, Citation, CitationCheck, WebResult, Writing, WrittenSentence};
use crate::error::Result;
use crate::llm::{ChatModel, Listener};
use crate::query::AskOptions;
use crate::query::session::caller::Caller;
use crate::skill::{
    AnswerSkill, AnswerTask, CitationsSkill, CitationsTask, CitedSentence, ConcludeSkill, ConcludeTask, Degradation,
    PerformOptions, Performed, ShownPassage, StreamedSentences, WebAnswerSkill, WebAnswerTask, WrittenAnswer,
    is_supported, perform, perform_with,
};

/// How a note begins that says why citations were not checked by a model that was asked to.
pub const UNCHECKED: &str = "citations were checked by rule";
/// What is said when a model finds no answer in what it was shown.
const ABSTAINED: &str = "The passages that were found do not answer the question.";

/// Receives each sentence of an answer that a model writes, as soon as it is whole and checked. Whether it will be part
/// of the answer is known only when that is there: what a model breaks off, or cannot be used as a whole, is not.
#[derive(Clone)]
pub struct SentenceSink(Arc<dyn Fn(&WrittenSentence) + Send + Sync>);

impl SentenceSink {
    /// Calls `tell` with each sentence, in order.
    #[must_use]
    pub fn new(tell: impl Fn(&WrittenSentence) + Send + Sync + 'static) -> Self {
        Self(Arc::new(tell))
    }

    /// Returns what hears the reply to a question that is answered from `sources`.
    fn listener(&self, question: &str, sources: &Sources) -> Listener {
        let (sink, question, sources) = (self.clone(), question.to_owned(), sources.clone());
        let state = Mutex::new((StreamedSentences::default(), Vec::new()));
        Listener::new(move |piece| {
            let mut state = state.lock().unwrap_or_else(PoisonError::into_inner);
            let (heard, citations) = &mut *state;
            for sentence in heard.take(piece, sources.len()) {
                (sink.0)(&with_quotations(&sentence, &question, (&sources, &[]), citations));
            }
        })
    }
}

impl PartialEq for SentenceSink {
    /// Returns whether they are one.
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl fmt::Debug for SentenceSink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SentenceSink")
    }
}

/// Returns an answer with what a model writes from its hits and its levels; as it is where nothing relevant was found,
/// and quoted, with the reason, where the model gives nothing that can be used.
/// What is more than a call has room for is read in parts.
pub(in crate::query) async fn written(caller: &Caller, mut answer: Answer, asked: &AskOptions) -> Result<Answer> {
    if answer.kind == AnswerKind::Nothing {
        return Ok(answer);
    }
    let sources = Sources::of(&answer, asked.passages_max);
    let question = answer.question.clone();
    let has_levels = answer.ledger.layers.is_some() && sources.len() > 1;
    let tokens = sources.tokens();
    let room = asked.prompt_tokens_max.filter(|room| has_levels && tokens > *room);
    let in_parts = |room| reduce::answer(caller, &question, &sources, (room, asked.calls_after()));
    let performed = if let Some(room) = room {
        let Reduced { performed, notes } = in_parts(room).await?;
        answer.ledger.notes.extend(notes);
        performed
    } else {
        let whole = at_once(caller, &question, (&sources, &answer.ledger.web), asked).await?;
        if has_levels && is_too_long(&whole) {
            let Reduced { mut performed, notes } = in_parts(tokens / 2).await?;
            answer.ledger.notes.extend(notes);
            performed.spent.add(&whole.spent);
            performed
        } else {
            whole
        }
    };
    let sentences = performed.outcome.as_ref().map(|written| written.sentences.clone()).unwrap_or_default();
    let answer = joined(answer, &sources, caller.name(), performed);
    if asked.citation_check == CitationCheck::Rule || sentences.is_empty() {
        return Ok(answer);
    }
    if sentences.iter().any(|sentence| !sentence.web.is_empty()) {
        let mut answer = answer;
        answer.ledger.notes.push(format!("{UNCHECKED}: some are of results of the web"));
        return Ok(answer);
    }
    let (passages, sentences) = sources.checked(&sentences, &question);
    checked(&caller.bounded(), answer, &CitationsTask { question, passages, sentences }).await
}

/// Writes from all that there is in one call.
async fn at_once(
    caller: &Caller,
    question: &str,
    (sources, web): (&Sources, &[WebResult]),
    asked: &AskOptions,
) -> Result<Performed<WrittenAnswer>> {
    let model = caller.bounded();
    let task = AnswerTask { question: question.to_owned(), passages: sources.shown() };
    let listener = asked.sentences.as_ref().map(|sink| sink.listener(question, sources));
    let options = PerformOptions { listener, ..PerformOptions::default() };
    let notes = sources.notes.clone();
    let performed = if !web.is_empty() {
        let shown = |it: &WebResult| ShownPassage { name: it.title.clone(), text: it.snippet.clone() };
        let task = WebAnswerTask { asked: task, notes, web: web.iter().map(shown).collect() };
        Box::pin(perform_with::<WebAnswerSkill>(&model, &task, PerformOptions::default())).await
    } else if notes.is_empty() {
        perform_with::<AnswerSkill>(&model, &task, options).await
    } else {
        perform_with::<ConcludeSkill>(&model, &ConcludeTask { asked: task, notes }, options).await
    };
    // Too long for the server, most of all: what is quoted is there.
    Performed::tolerating(performed, ChatError::is_of_request)
}

/// Returns whether the server refuses what is asked, most likely because it is too long.
const fn is_too_long(performed: &Performed<WrittenAnswer>) -> bool {
    matches!(&performed.outcome, Err(Degradation::Chat(error)) if error.is_of_request())
}

/// Returns an answer with a model's verdict on each of its sentences; with the rule's where it gives none.
async fn checked(model: &dyn ChatModel, mut answer: Answer, task: &CitationsTask) -> Result<Answer> {
    let performed = perform::<CitationsSkill>(model, task).await;
    // The answer is there, and paid for.
    let Performed { outcome, spent } = Performed::tolerating(performed, |_| true)?;
    let Some(writing) = &mut answer.writing else { return Ok(answer) };
    writing.spent.add(&spent);
    match outcome {
        Ok(verdicts) => {
            writing.checked_by = CitationCheck::Model;
            for (sentence, verdict) in writing.sentences.iter_mut().zip(verdicts) {
                // Where there is none, that of the rule holds.
                sentence.is_supported = verdict.unwrap_or(sentence.is_supported);
            }
        }
        Err(why) => answer.ledger.notes.push(format!("{UNCHECKED}: {why}")),
    }
    Ok(answer)
}

fn joined(answer: Answer, sources: &Sources, model: &str, performed: Performed<WrittenAnswer>) -> Answer {
    let writing = Writing {
        model: model.to_owned(),
        short: None,
        sentences: Vec::new(),
        checked_by: CitationCheck::Rule,
        degraded: performed.outcome.as_ref().err().map(Degradation::to_string),
        spent: performed.spent,
    };
    let Ok(written) = performed.outcome else { return Answer { writing: Some(writing), ..answer } };
    if written.sentences.is_empty() {
        let text = ABSTAINED.to_owned();
        let (guess, citations) = (None, Vec::new());
        return Answer { kind: AnswerKind::Nothing, text, guess, citations, writing: Some(writing), ..answer };
    }
    let mut citations = Vec::new();
    let sentences = written.sentences.iter();
    let sentences: Vec<WrittenSentence> = sentences
        .map(|it| with_quotations(it, &answer.question, (sources, &answer.ledger.web), &mut citations))
        .collect();
    let text = sentences.iter().map(|sentence| sentence.text.as_str()).collect::<Vec<_>>().join(" ");
    let writing = Some(Writing { short: written.short, sentences, ..writing });
    Answer { kind: AnswerKind::Written, text, guess: None, citations, writing, ..answer }
}

/// Quotes what a sentence cites of passages; what is quoted already is not quoted again. Of the web it names the
/// results.
fn with_quotations(
    sentence: &CitedSentence,
    question: &str,
    (sources, web): (&Sources, &[WebResult]),
    citations: &mut Vec<Citation>,
) -> WrittenSentence {
    let cited = sentence.passages.iter().filter_map(|it| sources.cited(*it, &sentence.text, question));
    let (quotes, texts): (Vec<_>, Vec<_>) = cited.map(|Cited { quotes, texts }| (quotes, texts)).unzip();
    let mut places: Vec<usize> = quotes.into_iter().flatten().map(|citation| place(citation, citations)).collect();
    places.sort_unstable();
    places.dedup();
    let results: Vec<&WebResult> = sentence.web.iter().filter_map(|place| web.get(*place)).collect();
    let found = results.iter().flat_map(|result| [result.title.as_str(), result.snippet.as_str()]);
    let texts: Vec<&str> = texts.iter().flatten().map(String::as_str).chain(found).collect();
    let is_supported = is_supported(&sentence.text, question, &texts) && has_own_addresses(&sentence.text, &results);
    let web = results.iter().map(|result| result.number).collect();
    WrittenSentence { text: sentence.text.clone(), citations: places, web, is_supported }
}

/// Returns whether a sentence that cites results of the web names no address but theirs.
fn has_own_addresses(text: &str, results: &[&WebResult]) -> bool {
    let is_end = |it: char| it.is_whitespace() || "<>()[]{}\"'“”".contains(it);
    let words = text.split(is_end).map(|word| word.trim_end_matches(['.', ',', ';', ':', '!', '?', '/']));
    let mut named = words.filter(|word| !results.is_empty() && word.contains("://"));
    named.all(|word| results.iter().any(|result| result.address.trim_end_matches('/') == word))
}

/// Returns where a citation is in the list, adding it where it is not.
fn place(citation: Citation, citations: &mut Vec<Citation>) -> usize {
    let same = |it: &Citation| it.passage == citation.passage && it.span == citation.span;
    citations.iter().position(same).unwrap_or_else(|| {
        citations.push(citation);
        citations.len() - 1
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sentence_from_the_web_names_no_address_that_was_not_returned() {
        let result = WebResult {
            number: 1,
            asked: "q".to_owned(),
            title: "t".to_owned(),
            address: "https://a.example/mill".to_owned(),
            snippet: String::new(),
        };
        let own = |text: &str| has_own_addresses(text, &[&result]);
        assert!(own("It is at https://a.example/mill.") && own("See (https://a.example/mill/)!") && own("It is old."));
        assert!(!own("It is at https://b.example/mill.") && !own("See javascript://x and https://a.example/mill"));
        assert!(has_own_addresses("It is at https://b.example.", &[]), "a passage may name any");
    }
}
