//! XML events, reduced to elements and text: entities are not followed, declarations are not read.

use quick_xml::events::{BytesStart, Event};
use quick_xml::reader::Reader;

use crate::ingest::worker::Refusal;

/// Elements inside each other at most.
const DEPTH_MAX: usize = 4_096;

/// The next token of a document.
pub(super) enum Token<'a> {
    /// An element begins: its name without the prefix, and itself.
    Start(&'a str, &'a BytesStart<'a>),
    /// An element ends.
    End(&'a str),
    Text(&'a str),
}

/// Calls `visit` for each token of a document; an empty element gives a start and an end.
pub(super) fn tokens(xml: &str, visit: &mut dyn FnMut(Token<'_>)) -> Result<(), Refusal> {
    let mut reader = Reader::from_str(xml);
    reader.config_mut().check_end_names = false;
    let mut depth = 0_usize;
    loop {
        let damaged = |error: quick_xml::Error| Refusal::damaged(format!("its XML is damaged: {error}"));
        match reader.read_event().map_err(damaged)? {
            Event::Start(element) => {
                depth += 1;
                if depth > DEPTH_MAX {
                    return Err(Refusal::of_all(format!("its elements are nested more than {DEPTH_MAX} deep")));
                }
                visit(Token::Start(element.local_name().as_ref(), &element));
            }
            Event::Empty(element) => {
                visit(Token::Start(element.local_name().as_ref(), &element));
                visit(Token::End(element.local_name().as_ref()));
            }
            Event::End(element) => {
                depth = depth.saturating_sub(1);
                visit(Token::End(element.local_name().as_ref()));
            }
            Event::Text(text) => visit(Token::Text(&text)),
            Event::CData(text) => visit(Token::Text(&text)),
            Event::GeneralRef(reference) => {
                let named = quick_xml::escape::resolve_predefined_entity(&reference).map(str::to_owned);
                let char = || reference.resolve_char_ref().ok().flatten().map(String::from);
                visit(Token::Text(&named.or_else(char).unwrap_or_default()));
            }
            Event::Eof => return Ok(()),
            _ => {}
        }
    }
}

/// Returns the value of an attribute by its name without the prefix, as it is written.
pub(super) fn attribute(element: &BytesStart<'_>, name: &str) -> Option<String> {
    let attribute = element.attributes().flatten().find(|it| it.key.local_name().as_ref() == name)?;
    Some(attribute.value.into_owned())
}
