//! The positions of a passage and its sentences, and the number of terms of each: one property, which only our readers
//! use.

use super::element::Value;
use crate::domain::Span;

/// Bytes of a number.
const NUMBER: usize = size_of::<u32>();

/// Byte positions of a passage and its sentences, and the number of terms of each.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Spans {
    /// The position of the passage in its document.
    pub(super) own: Span,
    /// How many terms it has.
    pub(super) length: u32,
    /// The position of each sentence in the passage.
    pub(super) sentences: Vec<Span>,
    /// How many terms each sentence has.
    pub(super) sentence_lengths: Vec<u32>,
}

impl Spans {
    /// Returns the value of the property.
    pub(super) fn to_value(&self) -> Value {
        let sentences = self.sentences.iter().zip(&self.sentence_lengths);
        let own = [self.own.start, self.own.end, self.length];
        let numbers = own.into_iter().chain(sentences.flat_map(|(span, length)| [span.start, span.end, *length]));
        Value::Bytes(numbers.flat_map(u32::to_le_bytes).collect())
    }

    /// Parses the property; none if it is invalid.
    pub(super) fn read(bytes: &[u8]) -> Option<Self> {
        let (numbers, []) = bytes.as_chunks::<NUMBER>() else { return None };
        let numbers: Vec<u32> = numbers.iter().map(|it| u32::from_le_bytes(*it)).collect();
        let ([[start, end, length], sentences @ ..], []) = numbers.as_chunks::<3>() else { return None };
        Some(Self {
            own: Span { start: *start, end: *end },
            length: *length,
            sentences: sentences.iter().map(|[start, end, _]| Span { start: *start, end: *end }).collect(),
            sentence_lengths: sentences.iter().map(|it| it[2]).collect(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_come_back_as_they_were_and_nothing_else_is_taken_for_some() {
        let span = |start, end| Span { start, end };
        let spans = Spans { own: span(7, 90), length: 12, sentences: vec![span(0, 83)], sentence_lengths: vec![14] };
        let Value::Bytes(bytes) = spans.to_value() else { panic!("no bytes") };
        assert_eq!(Spans::read(&bytes), Some(spans));
        assert_eq!(Spans::read(&bytes[..5]), None);
        assert_eq!(Spans::read(&bytes[..4]), None);
        assert_eq!(Spans::read(&[]), None);
    }
}
