//! The room that the levels of a context leave for passages.

use crate::domain::{ContextLevel, Hit, Ledger};
use crate::text::english;

/// Counts how many of the first `passages_max` hits fit in the context of a ledger, whole and in order, and notes how
/// many are cut. At least one is shown.
pub(in crate::query) fn divide(ledger: &mut Ledger, hits: &[Hit], passages_max: usize) {
    let context = ledger.layers.iter_mut().flat_map(|layers| &mut layers.context);
    let Some(share) = context.into_iter().find(|share| share.level == ContextLevel::Passages) else { return };
    let hits = &hits[..hits.len().min(passages_max)];
    (share.tokens, share.rows) = (0, 0);
    for hit in hits {
        let tokens = share.tokens + (english().count(&hit.name) + english().count(&hit.text)) as u32;
        if share.rows > 0 && tokens > share.tokens_max {
            break;
        }
        (share.tokens, share.rows) = (tokens, share.rows + 1);
    }
    share.cut = hits.len() as u32 - share.rows;
    if share.cut > 0 {
        ledger.notes.push(format!("the context has no room for {} of {} passages", share.cut, hits.len()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{ContextShare, DocumentId, LayersFound, Metadata, PassageId, Span};
    use crate::query::answer::hits::unasked;
    use crate::store::{DocumentText, PassageText};

    fn hit(text: &str) -> Hit {
        let passage = PassageText {
            passage: PassageId::of(&[text.as_bytes()]),
            span: Span { start: 0, end: 1 },
            section: None,
            page: None,
            line: None,
            column: None,
            text: text.to_owned(),
            sentences: Vec::new(),
        };
        let document = DocumentText {
            document: DocumentId::of(&[b"a"]),
            source_id: "name".to_owned(),
            title: None,
            uri: String::new(),
            media_type: String::new(),
            metadata: Metadata::default(),
            duplicate_of: None,
        };
        unasked(passage, document)
    }

    #[test]
    fn as_many_hits_are_counted_as_fit_and_one_at_least() {
        let hits = [hit("one two three four"), hit("one two three four"), hit("five")];
        let each = (english().count(&hits[0].name) + english().count(&hits[0].text)) as u32;
        for (tokens_max, passages_max, rows, cut) in
            [(0, 3, 1, 2), (each, 3, 1, 2), (2 * each, 2, 2, 0), (3 * each, 3, 3, 0), (3 * each, 1, 1, 0)]
        {
            let context = vec![ContextShare { level: ContextLevel::Passages, tokens_max, tokens: 0, rows: 0, cut: 0 }];
            let layers = Some(Box::new(LayersFound { context, ..LayersFound::default() }));
            let mut ledger = Ledger { layers, ..Ledger::default() };
            divide(&mut ledger, &hits, passages_max);
            let share = ledger.layers.unwrap().context[0];
            assert_eq!((share.rows, share.cut), (rows, cut), "{tokens_max} {passages_max}");
            assert_eq!(ledger.notes.len(), usize::from(cut > 0));
        }
        let mut plain = Ledger::default();
        divide(&mut plain, &hits, 3);
        assert_eq!(plain, Ledger::default());
    }
}
