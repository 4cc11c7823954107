//! A streamed reply: assembles a server's events into the reply that it would have sent whole.

use serde::Deserialize;
use serde_json::{Value, json};

use super::request::Listener;
use super::thinking::Thinking;
use super::wire::{lenient, words};
use crate::domain::ChatError;

/// What an event's data begin with.
const DATA: &str = "data:";
/// What the name of an event begins with, and the name of one that says that the server has a fault.
const EVENT: &str = "event:";
const FAULT: &str = "error";
/// The data of the last event.
const DONE: &str = "[DONE]";

/// The pieces of a reply that came so far.
#[derive(Debug, Default)]
pub(super) struct Pieces {
    /// The begin of a line that is not whole yet.
    line: Vec<u8>,
    model: Option<String>,
    text: String,
    refusal: String,
    /// What a function is called with, in the place of a text.
    called: String,
    finish: Option<String>,
    usage: Option<Value>,
    is_done: bool,
    /// Whether the event that comes is named a fault.
    is_fault: bool,
    /// What of the text is not told, since the model only thinks it.
    thinking: Thinking,
}

/// An event as it comes; nothing is required of it, and `null` is as good as nothing.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Piece {
    #[serde(deserialize_with = "lenient")]
    model: Option<String>,
    #[serde(deserialize_with = "lenient")]
    choices: Option<Vec<PieceChoice>>,
    #[serde(deserialize_with = "lenient")]
    usage: Option<Value>,
    #[serde(deserialize_with = "lenient")]
    error: Option<Value>,
    #[serde(deserialize_with = "lenient")]
    object: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct PieceChoice {
    delta: Option<Delta>,
    #[serde(deserialize_with = "lenient")]
    finish_reason: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Delta {
    content: Option<String>,
    #[serde(deserialize_with = "lenient")]
    refusal: Option<String>,
    #[serde(deserialize_with = "lenient")]
    tool_calls: Option<Vec<Value>>,
}

impl Pieces {
    /// Takes the next bytes, and tells `told` what the model says in them. What comes after all is said makes nothing
    /// unsaid.
    ///
    /// # Errors
    ///
    /// [`ChatError::Malformed`] for an event that is none of a reply, [`ChatError::Interrupted`] for one that says that
    /// the server has a fault.
    pub(super) fn take(&mut self, bytes: &[u8], told: &Listener) -> Result<(), ChatError> {
        for part in bytes.split_inclusive(|byte| *byte == b'\n') {
            self.line.extend_from_slice(part);
            if part.ends_with(b"\n") {
                self.line(told)?;
            }
        }
        // Some servers end with it, and leave the line and the connection open.
        let rest = self.line.trim_ascii().strip_prefix(DATA.as_bytes());
        self.is_done |= rest.is_some_and(|data| data.trim_ascii() == DONE.as_bytes());
        Ok(())
    }

    /// Takes what came of a line that the server did not end.
    pub(super) fn end(&mut self, told: &Listener) {
        // What does not read as an event was cut in the middle, and says nothing.
        let _cut = self.line(told);
    }

    fn line(&mut self, told: &Listener) -> Result<(), ChatError> {
        let line = std::mem::take(&mut self.line);
        let was_finished = self.is_finished();
        self.event(&String::from_utf8_lossy(&line), told)
            .or_else(|error| if was_finished { Ok(()) } else { Err(error) })
    }

    fn event(&mut self, line: &str, told: &Listener) -> Result<(), ChatError> {
        let Some(piece) = self.piece(line.trim())? else { return Ok(()) };
        self.model = self.model.take().or(piece.model);
        self.usage = piece.usage.filter(|usage| !usage.is_null()).or(self.usage.take());
        let Some(choice) = piece.choices.into_iter().flatten().next() else { return Ok(()) };
        self.finish = choice.finish_reason.or(self.finish.take());
        let delta = choice.delta.unwrap_or_default();
        self.refusal.push_str(&delta.refusal.unwrap_or_default());
        let called = delta.tool_calls.unwrap_or_default();
        if let Some(arguments) = called.first().and_then(|call| call.pointer("/function/arguments")?.as_str()) {
            told.tell(arguments);
            self.called.push_str(arguments);
        }
        if let Some(said) = delta.content.filter(|said| !said.is_empty()) {
            let heard = self.thinking.take(&said);
            if !heard.is_empty() {
                told.tell(&heard);
            }
            self.text.push_str(&said);
        }
        Ok(())
    }

    /// Returns what a line says of the reply, if anything.
    fn piece(&mut self, line: &str) -> Result<Option<Piece>, ChatError> {
        // What else there is, says that the server lives; but some say a fault without the form of an event.
        let is_bare = line.starts_with('{');
        let Some(data) = line.strip_prefix(DATA).or(is_bare.then_some(line)).filter(|_| !self.is_done) else {
            if let Some(event) = line.strip_prefix(EVENT) {
                self.is_fault = event.trim() == FAULT;
            } else if line.is_empty() {
                self.is_fault = false;
            }
            return Ok(None);
        };
        let data = data.trim();
        if data == DONE {
            self.is_done = true;
            return Ok(None);
        }
        let fault = |said: &Value| Err(ChatError::Interrupted { reason: format!("the server says: {}", words(said)) });
        match serde_json::from_str::<Piece>(data) {
            Ok(Piece { error: Some(error), .. }) => fault(&error),
            Ok(piece) if self.is_fault || piece.object.as_deref() == Some("error") => {
                fault(&serde_json::from_str(data).unwrap_or_default())
            }
            Ok(piece) => Ok(Some(piece).filter(|_| !is_bare)),
            Err(_) if self.is_fault => fault(&data.into()),
            Err(_) if is_bare => Ok(None),
            Err(error) => Err(ChatError::Malformed { reason: format!("a piece of it is none: {error}") }),
        }
    }

    /// Returns whether the last event came: nothing more is waited for.
    pub(super) const fn is_done(&self) -> bool {
        self.is_done
    }

    /// Returns whether all that the model says came: what may follow are counts.
    pub(super) const fn is_finished(&self) -> bool {
        self.is_done || self.finish.is_some()
    }

    /// Returns the reply in one piece.
    ///
    /// # Errors
    ///
    /// [`ChatError::Interrupted`] if the last piece did not come.
    pub(super) fn whole(self) -> Result<Vec<u8>, ChatError> {
        if !self.is_finished() {
            return Err(ChatError::Interrupted { reason: "its last piece did not come".to_owned() });
        }
        let refusal = Some(self.refusal).filter(|refusal| !refusal.is_empty());
        let mut message = json!({ "content": self.text, "refusal": refusal });
        if !self.called.is_empty() {
            message["tool_calls"] = json!([{ "function": { "arguments": self.called } }]);
        }
        let choice = json!({ "message": message, "finish_reason": self.finish });
        Ok(json!({ "model": self.model, "choices": [choice], "usage": self.usage }).to_string().into_bytes())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use super::*;

    fn listener() -> (Listener, Arc<Mutex<Vec<String>>>) {
        let heard = Arc::new(Mutex::new(Vec::new()));
        let writer = Arc::clone(&heard);
        (Listener::new(move |said| writer.lock().unwrap().push(said.to_owned())), heard)
    }

    #[test]
    fn pieces_are_passed_on_as_they_arrive_wherever_they_are_cut() {
        let events = "event: x\r\ndata: {\"model\":\"m\",\"choices\":[{\"delta\":{\"content\":\"Ä\"}}]}\r\n\r\n:\n\n\
            data: {\"choices\":[{\"delta\":{\"content\":\"b\"},\"finish_reason\":\"length\"}]}\n\n\
            data: {\"choices\":[],\"usage\":{\"prompt_tokens\":3}}\n\ndata: [DONE]\n\n";
        for size in [1, 7, events.len()] {
            let (told, heard) = listener();
            let mut pieces = Pieces::default();
            events.as_bytes().chunks(size).for_each(|bytes| pieces.take(bytes, &told).unwrap());
            assert_eq!(*heard.lock().unwrap(), ["Ä", "b"]);
            let whole: Value = serde_json::from_slice(&pieces.whole().unwrap()).unwrap();
            let message = json!({ "content": "Äb", "refusal": null });
            let choice = json!({ "message": message, "finish_reason": "length" });
            assert_eq!(whole, json!({ "model": "m", "choices": [choice], "usage": { "prompt_tokens": 3 } }));
        }
    }

    #[test]
    fn a_piece_that_says_nothing_of_choices_or_words_is_empty() {
        let (told, heard) = listener();
        let mut pieces = Pieces::default();
        for piece in [
            r#"{"choices":[{"delta":{"content":"a","refusal":null}}],"usage":null,"error":null}"#,
            r#"{"choices":[{"delta":null,"finish_reason":"stop"}]}"#,
            r#"{"model":null,"choices":null,"usage":{"prompt_tokens":3}}"#,
        ] {
            pieces.take(format!("data: {piece}\n\n").as_bytes(), &told).unwrap();
        }
        assert_eq!(*heard.lock().unwrap(), ["a"]);
        let whole: Value = serde_json::from_slice(&pieces.whole().unwrap()).unwrap();
        assert_eq!(
            (&whole["choices"][0]["message"]["content"], &whole["choices"][0]["finish_reason"]),
            (&json!("a"), &json!("stop"))
        );
        assert_eq!(whole["usage"], json!({ "prompt_tokens": 3 }));
    }

    #[test]
    fn a_reply_without_its_last_piece_or_with_a_fault_is_invalid() {
        let of = |events: &str| {
            let mut pieces = Pieces::default();
            pieces.take(events.as_bytes(), &listener().0).and_then(|()| pieces.whole())
        };
        assert!(matches!(
            of("data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\n"),
            Err(ChatError::Interrupted { .. })
        ));
        for error in [r#"{"message":"full"}"#, r#""full""#] {
            let fault = of(&format!("data: {{\"error\":{error}}}\n\n"));
            assert!(matches!(fault, Err(ChatError::Interrupted { reason }) if reason == "the server says: full"));
        }
        for event in [
            "event: error\ndata: {\"message\":\"full\"}\n\n",
            "event:error\nid: 7\ndata: full\n\n",
            "{\"error\":{\"message\":\"full\"}}\n",
            "data: {\"object\":\"error\",\"message\":\"full\"}\n\n",
        ] {
            let fault = of(event);
            assert!(
                matches!(&fault, Err(ChatError::Interrupted { reason }) if reason == "the server says: full"),
                "{event}: {fault:?}"
            );
        }
        assert!(matches!(of("data: {\n\n"), Err(ChatError::Malformed { .. })));
        assert!(of("data: [DONE]\n\n").is_ok());
    }

    #[test]
    fn a_fault_after_the_end_of_a_reply_does_not_invalidate_it() {
        let said = "data: {\"choices\":[{\"delta\":{\"content\":\"a\"},\"finish_reason\":\"stop\"}]}";
        for after in [
            "",
            "\n\ndata: {\"error\":\"full\"}\n\n",
            "\n\ndata: {\n\n",
            "\n\ndata: {\"choices\":{},\"usage\":{\"prompt_tokens\":3}}\n\n",
        ] {
            let mut pieces = Pieces::default();
            pieces.take(format!("{said}{after}").as_bytes(), &listener().0).unwrap();
            pieces.end(&listener().0);
            let whole: Value = serde_json::from_slice(&pieces.whole().unwrap()).unwrap();
            assert_eq!(whole["choices"][0]["message"]["content"], "a", "{after}");
            assert_eq!(whole["usage"].is_object(), after.contains("usage"), "{after}");
        }
        let mut pieces = Pieces::default();
        pieces.take(b"data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\ndata: [DONE]", &listener().0).unwrap();
        assert!(pieces.is_done(), "a server need not end its last line");
    }
}
