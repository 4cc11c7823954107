//! Answers that a language model writes from the passages found, with citations checked by rule and quotations that
//! occur word for word in a document.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use super::addresses::has_known_addresses;
use super::reduce::{self, Reduced};
use super::sources::{Cited, Sources};
use crate::domain::{
    Answer, AnswerKind, ChatError, Citation, CitationCheck, Ledger, WebResult, Writing, WrittenSentence,
};
use crate::error::Result;
use crate::llm::{ChatModel, Listener};
use crate::query::AskOptions;
use crate::query::session::caller::Caller;
use crate::skill::{
    AnswerSkill, AnswerTask, CitationsSkill, CitationsTask, CitedSentence, ConcludeSkill, ConcludeTask, Degradation,
    PerformOptions, Performed, ShownPassage, StreamedSentences, WebAnswerSkill, WebAnswerTask, WrittenAnswer,
    is_supported, perform, perform_with,
};
use crate::text::english;

/// How a note begins that says why citations were not checked by a model that was asked to.
pub const UNCHECKED: &str = "citations were checked by rule";
/// The text if a model finds no answer in its sources.
const ABSTAINED: &str = "The passages that were found do not answer the question.";

/// Receives each sentence of a model's answer, as soon as it is complete and checked. Whether it will be part of the
/// answer is known only at the end: a reply that breaks off, or cannot be used as a whole, is retracted.
#[derive(Clone)]
pub struct SentenceSink(Arc<dyn Fn(&WrittenSentence) + Send + Sync>);

impl SentenceSink {
    /// Calls `tell` with each sentence, in order.
    #[must_use]
    pub fn new(tell: impl Fn(&WrittenSentence) + Send + Sync + 'static) -> Self {
        Self(Arc::new(tell))
    }

    /// Returns what hears the reply of a model that is shown so many texts to a question that is answered from
    /// `sources`; `led` makes a sentence that cites the texts one that cites the sources.
    pub(super) fn listener(
        &self,
        question: &str,
        sources: &Sources,
        shown: usize,
        led: impl Fn(CitedSentence) -> CitedSentence + Send + Sync + 'static,
    ) -> Listener {
        let (sink, question, sources) = (self.clone(), question.to_owned(), sources.clone());
        let state = Mutex::new((StreamedSentences::default(), Vec::new()));
        Listener::new(move |piece| {
            let mut state = state.lock().unwrap_or_else(PoisonError::into_inner);
            let (heard, citations) = &mut *state;
            for sentence in heard.take(piece, shown) {
                (sink.0)(&with_quotations(&led(sentence), &question, (&sources, &[]), citations));
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

/// Returns an answer with a model's text, written from its hits and levels; unchanged if nothing relevant was found;
/// quoted, with the reason, if the model gives nothing usable. Sources that do not fit in one call are read in parts.
pub(in crate::query) async fn written(caller: &Caller, mut answer: Answer, asked: &AskOptions) -> Result<Answer> {
    if answer.kind == AnswerKind::Nothing {
        return Ok(answer);
    }
    let sources = Sources::of(&answer, asked.passages_max);
    let question = answer.question.clone();
    let (performed, web_shown) = asked_for(caller, &mut answer, &sources, asked).await?;
    let sentences = performed.outcome.as_ref().map(|written| written.sentences.clone()).unwrap_or_default();
    let mut answer = joined(answer, (&sources, web_shown), caller.name(), performed);
    if asked.citation_check == CitationCheck::Rule || sentences.is_empty() {
        return Ok(answer);
    }
    if web_shown > 0 {
        answer.ledger.notes.push(format!("{UNCHECKED}: web results were shown"));
        return Ok(answer);
    }
    let (passages, sentences) = sources.checked(&sentences, &question);
    checked(&caller.bounded(), answer, &CitationsTask { question, passages, sentences }).await
}

/// Requests an answer, in parts if the sources do not fit in one call, and returns with it how many web results were
/// shown: those that fit after the sources, or none if the server refuses them.
async fn asked_for(
    caller: &Caller,
    answer: &mut Answer,
    sources: &Sources,
    asked: &AskOptions,
) -> Result<(Performed<WrittenAnswer>, usize)> {
    let question = answer.question.clone();
    let has_levels = answer.ledger.layers.is_some() && sources.len() > 1;
    let tokens = sources.tokens();
    let sink = asked.sentences.as_ref();
    let in_parts = |room| reduce::answer(caller, &question, sources, (room, asked.calls_after()), sink);
    if let Some(room) = asked.prompt_tokens_max.filter(|room| has_levels && tokens > *room) {
        let Reduced { performed, notes } = in_parts(room).await?;
        answer.ledger.notes.extend(notes);
        return Ok((performed, 0));
    }
    let Ledger { web, notes, .. } = &mut answer.ledger;
    let mut shown = asked.prompt_tokens_max.map_or(web.len(), |room| fitting(web, room.saturating_sub(tokens)));
    if shown < web.len() {
        notes.push(format!("a call has no room for {} of {} web results", web.len() - shown, web.len()));
    }
    let mut whole = at_once(caller, &question, (sources, &web[..shown]), asked).await?;
    if let Some(why) = refusal(&whole).filter(|_| shown > 0 && caller.may_call(0)) {
        notes.push(format!("the model was asked again without web results: {why}"));
        let again = at_once(caller, &question, (sources, &[]), asked).await?;
        let before = std::mem::replace(&mut whole, again).spent;
        whole.spent.add(&before);
        shown = 0;
    }
    if has_levels && refusal(&whole).is_some() {
        let Reduced { mut performed, notes: read } = in_parts(tokens / 2).await?;
        notes.extend(read);
        performed.spent.add(&whole.spent);
        whole = performed;
    }
    Ok((whole, shown))
}

/// Returns how many of the first web results fit into so many tokens.
fn fitting(web: &[WebResult], room: usize) -> usize {
    let mut sum = 0;
    let fit = web.iter().take_while(|it| {
        sum += english().count(&it.title) + english().count(&it.snippet);
        sum <= room
    });
    fit.count()
}

/// Writes from all sources in one call.
async fn at_once(
    caller: &Caller,
    question: &str,
    (sources, web): (&Sources, &[WebResult]),
    asked: &AskOptions,
) -> Result<Performed<WrittenAnswer>> {
    let model = caller.bounded();
    let task = AnswerTask { question: question.to_owned(), passages: sources.shown() };
    let listener = asked.sentences.as_ref().map(|sink| sink.listener(question, sources, sources.len(), |it| it));
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
    // Usually too long for the server; the quotations exist already.
    Performed::tolerating(performed, ChatError::is_of_request)
}

/// Returns why the server refuses the request, if it does: most likely because it is too long.
const fn refusal(performed: &Performed<WrittenAnswer>) -> Option<&ChatError> {
    match &performed.outcome {
        Err(Degradation::Chat(error)) if error.is_of_request() => Some(error),
        _ => None,
    }
}

/// Returns an answer with a model's verdict on each of its sentences; the rule's if it gives none.
async fn checked(model: &dyn ChatModel, mut answer: Answer, task: &CitationsTask) -> Result<Answer> {
    let performed = perform::<CitationsSkill>(model, task).await;
    // The answer exists and is paid for.
    let Performed { outcome, spent } = Performed::tolerating(performed, |_| true)?;
    let Some(writing) = &mut answer.writing else { return Ok(answer) };
    writing.spent.add(&spent);
    match outcome {
        Ok(verdicts) => {
            writing.checked_by = CitationCheck::Model;
            for (sentence, verdict) in writing.sentences.iter_mut().zip(verdicts) {
                // Without one, the rule's verdict holds.
                sentence.is_supported = verdict.unwrap_or(sentence.is_supported);
            }
        }
        Err(why) => answer.ledger.notes.push(format!("{UNCHECKED}: {why}")),
    }
    Ok(answer)
}

fn joined(
    answer: Answer,
    (sources, web_shown): (&Sources, usize),
    model: &str,
    performed: Performed<WrittenAnswer>,
) -> Answer {
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
    let web = &answer.ledger.web[..web_shown];
    let quoted = |it| with_quotations(it, &answer.question, (sources, web), &mut citations);
    let sentences: Vec<WrittenSentence> = written.sentences.iter().map(quoted).collect();
    let text = sentences.iter().map(|sentence| sentence.text.as_str()).collect::<Vec<_>>().join(" ");
    let supported: Vec<&str> = sentences.iter().filter(|it| it.is_supported).map(|it| it.text.as_str()).collect();
    let short = written.short.filter(|short| web.is_empty() || has_known_addresses(short, &supported));
    let writing = Some(Writing { short, sentences, ..writing });
    Answer { kind: AnswerKind::Written, text, guess: None, citations, writing, ..answer }
}

/// Quotes the passages that a sentence cites, each only once, and names its web results. If any of these were shown, a
/// sentence may contain only addresses from its citations and from the question.
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
    let has_known_addresses = || {
        let addresses = results.iter().map(|result| result.address.as_str());
        let sources: Vec<&str> = texts.iter().copied().chain(addresses).chain([question]).collect();
        has_known_addresses(&sentence.text, &sources)
    };
    let is_supported = is_supported(&sentence.text, question, &texts) && (web.is_empty() || has_known_addresses());
    let web = results.iter().map(|result| result.number).collect();
    WrittenSentence { text: sentence.text.clone(), citations: places, web, is_supported }
}

/// Returns the place of a citation in the list, adding it if absent.
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
    use crate::query::pieces::fuse::testing::hits;

    fn result(number: u32) -> WebResult {
        WebResult {
            number,
            asked: "q".to_owned(),
            title: "Harl Mill".to_owned(),
            address: "https://a.example/mill".to_owned(),
            snippet: "Harl Mill is old and made of stone from the weir.".to_owned(),
        }
    }

    /// Returns whether the rule supports a sentence that cites a passage, or a web result.
    fn is_known(text: &str, is_of_web: bool, web: &[WebResult]) -> bool {
        let mut hits = hits(&[("Harl Mill", 1.0)]);
        hits[0].text = "Harl Mill is old and made of stone from the weir: https://mills.example/harl".to_owned();
        let (sources, mut citations) = (Sources::of_hits(hits), Vec::new());
        let (passages, cited) = if is_of_web { (Vec::new(), vec![0]) } else { (vec![0], Vec::new()) };
        let sentence = CitedSentence { text: text.to_owned(), passages, web: cited };
        with_quotations(&sentence, "How old is Harl Mill?", (&sources, web), &mut citations).is_supported
    }

    #[test]
    fn where_the_web_was_shown_a_sentence_names_no_address_but_those_of_what_it_cites() {
        let web = [result(1)];
        let [of_passage, of_web, foreign] = ["https://mills.example/harl", "https://a.example/mill", "https://evil.io"]
            .map(|address| format!("Harl Mill is old and made of stone from the weir: {address}"));
        assert!(is_known(&of_passage, false, &web) && is_known(&of_web, true, &web));
        assert!(!is_known(&of_passage, true, &web) && !is_known(&of_web, false, &web), "each cites the other");
        assert!(!is_known(&foreign, false, &web) && !is_known(&foreign, true, &web));
        assert!(is_known(&foreign, false, &[]), "nobody who is unknown could have put it there");
    }

    #[test]
    fn as_many_results_are_shown_as_there_is_room_for_the_first_before_the_others() {
        let web = [result(1), result(2), result(3)];
        let each = english().count(&web[0].title) + english().count(&web[0].snippet);
        for (room, count) in [(0, 0), (each - 1, 0), (each, 1), (3 * each - 1, 2), (3 * each, 3), (usize::MAX, 3)] {
            assert_eq!(fitting(&web, room), count, "{room}");
        }
    }
}
