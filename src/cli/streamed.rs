//! Prints sentences of a language model while it writes.

use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use super::screen::Screen;
use super::show;
use crate::domain::{Answer, WrittenSentence};
use crate::query::SentenceSink;

/// The sentences printed so far.
#[derive(Clone, Default)]
pub(super) struct Streamed(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    printed: Vec<WrittenSentence>,
    fault: Option<io::Error>,
}

impl Streamed {
    /// Returns a listener that prints each sentence as it arrives.
    pub(super) fn sink(&self, screen: Screen) -> SentenceSink {
        let streamed = self.clone();
        SentenceSink::new(move |sentence| {
            let mut state = streamed.0.lock().unwrap_or_else(PoisonError::into_inner);
            if state.fault.is_none() {
                state.fault = show::sentence(&screen, sentence).err();
                state.printed.push(sentence.clone());
            }
        })
    }

    /// Returns how many sentences of an answer were printed. If other sentences were printed, retracts them.
    ///
    /// # Errors
    ///
    /// If stdout was closed meanwhile.
    pub(super) fn ended(&self, answer: &Answer, screen: &Screen) -> io::Result<usize> {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(fault) = state.fault.take() {
            return Err(fault);
        }
        let sentences = answer.writing.as_ref().map_or(&[][..], |writing| &writing.sentences);
        if sentences.starts_with(&state.printed) {
            return Ok(state.printed.len());
        }
        screen.lines("\nIgnore the text above: the reply of the model as a whole cannot be used.\n\n")?;
        Ok(0)
    }
}
