//! Sentences of a reply in progress: each as soon as it is complete and cites passages that were shown.

use serde_json::error::Category;

use super::{CitedSentence, SENTENCES_MAX, SentenceReply, cited};

/// Bytes of a reply that are looked through.
const BYTES_MAX: usize = 64 << 10;
/// The text before the list of sentences.
const LIST: &str = "\"sentences\"";

/// Reads sentences from a reply as it arrives. They are preliminary until the whole reply has been checked.
#[derive(Debug, Default)]
pub struct StreamedSentences {
    text: String,
    /// Where the next sentence begins; none before the list does.
    next: Option<usize>,
    count: usize,
    is_over: bool,
}

impl StreamedSentences {
    /// Takes the next piece of a reply, and returns the sentences that are whole now; `passages` is how many were
    /// shown.
    pub fn take(&mut self, piece: &str, passages: usize) -> Vec<CitedSentence> {
        let mut whole = Vec::new();
        if self.text.len() + piece.len() > BYTES_MAX {
            self.is_over = true;
        }
        if self.is_over {
            return whole;
        }
        self.text.push_str(piece);
        while let Some(sentence) = self.sentence() {
            match cited(&sentence, passages, 0) {
                Ok(sentence) if self.count < SENTENCES_MAX => {
                    whole.push(sentence);
                    self.count += 1;
                }
                Ok(_) => self.is_over = true,
                // It is left out of the answer too.
                Err(_) => {}
            }
            if self.is_over {
                break;
            }
        }
        whole
    }

    /// Returns the next sentence, if it is whole.
    fn sentence(&mut self) -> Option<SentenceReply> {
        let next = self.next.or_else(|| self.list())?;
        let rest = &self.text[next..];
        let start = next + rest.find(|it: char| !it.is_whitespace() && it != ',').unwrap_or(rest.len());
        self.next = Some(start);
        let rest = &self.text[start..];
        if rest.is_empty() {
            return None;
        }
        let mut values = serde_json::Deserializer::from_str(rest).into_iter::<SentenceReply>();
        match values.next()? {
            Ok(sentence) => {
                self.next = Some(start + values.byte_offset());
                Some(sentence)
            }
            Err(error) => {
                // The end of the list is none either.
                self.is_over = error.classify() != Category::Eof;
                None
            }
        }
    }

    /// Returns where the list of sentences begins.
    fn list(&self) -> Option<usize> {
        let after = self.text.find(LIST)? + LIST.len();
        let rest = &self.text[after..];
        let open = rest.find('[')?;
        rest[..open].trim().eq(":").then_some(after + open + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn heard(reply: &str, size: usize) -> Vec<(usize, String)> {
        let mut sentences = StreamedSentences::default();
        let letters: Vec<char> = reply.chars().collect();
        let pieces = letters.chunks(size).enumerate();
        let heard = pieces.flat_map(|(number, piece)| {
            let piece: String = piece.iter().collect();
            sentences.take(&piece, 2).into_iter().map(move |it| ((number + 1) * size, it.text))
        });
        heard.collect()
    }

    #[test]
    fn a_sentence_is_passed_on_as_soon_as_its_last_letter_arrives() {
        let reply = r#"Here: {"can_answer": true, "sentences" : [ {"text": "A \"[b]\" ü.", "passages": [1]},
            {"text": "C.", "passages": [2, 1]} ]} {"text": "D.", "passages": [1]}"#;
        let (first, second) = ("A \"[b]\" ü.".to_owned(), "C.".to_owned());
        let one_by_one = heard(reply, 1);
        let end = reply.chars().take_while(|it| *it != '\n').count() - 1;
        assert_eq!(one_by_one, [(end, first.clone()), (one_by_one[1].0, second.clone())]);
        for size in [7, 1_000] {
            let texts: Vec<String> = heard(reply, size).into_iter().map(|(_, text)| text).collect();
            assert_eq!(texts, [first.clone(), second.clone()]);
        }
    }

    #[test]
    fn unusable_sentences_are_not_passed_on_nor_is_anything_after_an_invalid_one() {
        for unsound in [r#"{"text": "A.", "passages": [3]}"#, r#"{"text": "A."}"#] {
            let reply = format!(r#"{{"sentences": [{unsound}, {{"text": "B.", "passages": [1]}}]}}"#);
            let texts: Vec<String> = heard(&reply, 5).into_iter().map(|(_, text)| text).collect();
            assert_eq!(texts, ["B."], "{reply}");
        }
        for reply in [
            r#"{"sentences": ["A.", {"text": "B.", "passages": [1]}]}"#,
            r#"{"answer": [{"text": "A.", "passages": [1]}]}"#,
            "no JSON",
        ] {
            assert_eq!(heard(reply, 5), [], "{reply}");
        }
        let long = r#"{"text": "A.", "passages": [1]},"#.repeat(SENTENCES_MAX + 3);
        assert_eq!(heard(&format!("{{\"sentences\": [{long}"), 9).len(), SENTENCES_MAX);
    }
}
