//! Mail: a message is a document, with sender, recipients and date; an attachment is a file inside it. Runs in a
//! worker: messages can be nested, and their parts can claim any length.

use std::io::Cursor;

use mail_parser::mailbox::mbox::MessageIterator;
use mail_parser::{Address, Message, MessageParser, MimeHeaders as _, PartType};

use super::blocks::{Blocks, one_line};
use super::extracted::Extracted;
use super::worker::{Give, LeftOut, Piece, Refusal};
use crate::domain::Metadata;

/// Messages of a mailbox at most.
const MESSAGES_MAX: usize = 200_000;
/// Attachments of a message at most.
const ATTACHMENTS_MAX: usize = 1_000;
/// Maximum addresses that are kept of a list.
const ADDRESSES_MAX: usize = 50;

/// Reads one message.
pub(super) fn read_message(bytes: &[u8], give: &mut Give<'_>) -> Result<(), Refusal> {
    message(bytes, "", give)
}

/// Reads the messages of a mailbox, one after another.
pub(super) fn read_mailbox(bytes: &[u8], give: &mut Give<'_>) -> Result<(), Refusal> {
    let mut count = 0;
    for found in MessageIterator::new(Cursor::new(bytes)) {
        let found = found.map_err(|error| Refusal::damaged(format!("it is not a mailbox: {error}")))?;
        count += 1;
        if count > MESSAGES_MAX {
            let reason = format!("messages beyond the {MESSAGES_MAX} that a mailbox may have");
            return give(Piece::Left(LeftOut { name: String::new(), reason }));
        }
        let within = format!("#{count}");
        if let Err(refusal) = message(found.contents(), &within, give) {
            give(Piece::Left(LeftOut { name: within, reason: refusal.reason }))?;
        }
    }
    if count == 0 { Err(Refusal::damaged("no message is found in it")) } else { Ok(()) }
}

fn message(bytes: &[u8], within: &str, give: &mut Give<'_>) -> Result<(), Refusal> {
    let message = MessageParser::default().parse(bytes).ok_or_else(|| Refusal::damaged("it is not a message"))?;
    let metadata = metadata(&message);
    let title = message.subject().map(one_line).filter(|subject| !subject.is_empty());
    let mut blocks = Blocks::default();
    if let Some(title) = &title {
        blocks.heading(1, title);
    }
    for (key, name) in [("from", "From"), ("to", "To"), ("cc", "Cc"), ("date", "Date")] {
        if let Some(value) = metadata.get(key) {
            blocks.line(&format!("{name}: {value}"));
        }
    }
    for body in 0..message.text_body_count() {
        if let Some(text) = message.body_text(body) {
            blocks.paragraph(&without_returns(&text));
        }
    }
    if blocks.len() == 0 && message.attachment_count() == 0 {
        return Err(Refusal::damaged("it is not a message, or it is empty"));
    }
    let (text, positions) = blocks.finish();
    let extracted = Extracted { title, text, media_type: "message/rfc822".to_owned(), metadata, positions };
    give(Piece::Document { within: within.to_owned(), extracted })?;
    attachments(&message, within, give)
}

fn without_returns(text: &str) -> String {
    text.replace("\r\n", "\n")
}

fn attachments(message: &Message<'_>, within: &str, give: &mut Give<'_>) -> Result<(), Refusal> {
    let inside = |name: &str| if within.is_empty() { name.to_owned() } else { format!("{within}!{name}") };
    for (at, part) in message.attachments().enumerate() {
        if at >= ATTACHMENTS_MAX {
            let reason = format!("attachments beyond the {ATTACHMENTS_MAX} that a message may have");
            return give(Piece::Left(LeftOut { name: within.to_owned(), reason }));
        }
        let is_message = matches!(part.body, PartType::Message(_));
        let kind = part.content_type();
        let is_picture = kind.is_some_and(|kind| matches!(kind.ctype(), "image" | "audio" | "video"));
        let is_signature = kind.is_some_and(|kind| kind.subtype().is_some_and(|it| it.ends_with("signature")));
        if is_picture || is_signature {
            continue;
        }
        let name = part.attachment_name().map(file_name).filter(|name| !name.is_empty());
        let name = name.unwrap_or_else(|| format!("{}{}", at + 1, extension(part, is_message)));
        let bytes = part.contents().to_vec();
        if !bytes.is_empty() {
            give(Piece::Member { name: inside(&name), bytes })?;
        }
    }
    Ok(())
}

/// Returns the last component of a file name; the rest of a path means nothing here.
fn file_name(name: &str) -> String {
    let name = name.rsplit(['/', '\\']).next().unwrap_or_default();
    one_line(name).chars().take(200).collect()
}

fn extension(part: &mail_parser::MessagePart<'_>, is_message: bool) -> &'static str {
    match &part.body {
        _ if is_message => ".eml",
        PartType::Html(_) => ".html",
        PartType::Text(_) => ".txt",
        _ => "",
    }
}

fn metadata(message: &Message<'_>) -> Metadata {
    let thread = message.in_reply_to().as_text().map(str::to_owned);
    let all = [
        ("from", message.from().map(addresses)),
        ("to", message.to().map(addresses)),
        ("cc", message.cc().map(addresses)),
        ("date", message.date().map(mail_parser::DateTime::to_rfc3339)),
        ("message_id", message.message_id().map(str::to_owned)),
        ("in_reply_to", thread),
    ];
    let said = all.into_iter().filter_map(|(key, value)| Some((key.to_owned(), one_line(&value?))));
    said.filter(|(_, value)| !value.is_empty()).collect()
}

fn addresses(all: &Address<'_>) -> String {
    let one = |it: &mail_parser::Addr<'_>| match (it.name.as_deref(), it.address.as_deref()) {
        (Some(name), Some(address)) if name != address => format!("{name} <{address}>"),
        (name, address) => address.or(name).unwrap_or_default().to_owned(),
    };
    all.iter().take(ADDRESSES_MAX).map(one).filter(|it| !it.is_empty()).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAIL: &str = "From: Anna Roe <anna@mill.example>\r\nTo: bob@mill.example\r\n\
        Subject: =?utf-8?q?The_w=C3=A4terwheel?=\r\nDate: Wed, 31 Jan 2024 12:00:00 +0100\r\nMIME-Version: 1.0\r\n\
        Content-Type: multipart/mixed; boundary=x\r\n\r\n--x\r\nContent-Type: text/plain; charset=iso-8859-1\r\n\r\n\
        It turns.\r\n> Does it turn?\r\n--x\r\nContent-Type: text/csv\r\n\
        Content-Disposition: attachment; filename=\"../../parts.csv\"\r\n\r\nname,price\r\n--x--\r\n";

    fn pieces(read: impl Fn(&mut Give<'_>) -> Result<(), Refusal>) -> Vec<Piece> {
        let mut pieces = Vec::new();
        read(&mut |piece| {
            pieces.push(piece);
            Ok(())
        })
        .unwrap();
        pieces
    }

    #[test]
    fn a_message_is_a_document_and_attachments_are_inside_it() {
        let pieces = pieces(|give| read_message(MAIL.as_bytes(), give));
        let [Piece::Document { extracted, .. }, Piece::Member { name, bytes }] = &pieces[..] else {
            panic!("{pieces:?}")
        };
        assert_eq!(extracted.title.as_deref(), Some("The wäterwheel"));
        let expect = "# The wäterwheel\n\nFrom: Anna Roe <anna@mill.example>\nTo: bob@mill.example\n\
            Date: 2024-01-31T12:00:00+01:00\n\nIt turns.\n> Does it turn?";
        assert_eq!(extracted.text, expect);
        assert_eq!(extracted.metadata["from"], "Anna Roe <anna@mill.example>");
        assert_eq!((name.as_str(), bytes.trim_ascii_end()), ("parts.csv", &b"name,price"[..]));
    }

    #[test]
    fn a_mailbox_is_one_message_after_another() {
        let mailbox = format!(
            "From anna Wed Jan 31 12:00:00 2024\r\n{MAIL}\r\nFrom bob Thu Feb 1\r\nSubject: Re\r\n\r\nYes.\r\n"
        );
        let pieces = pieces(|give| read_mailbox(mailbox.as_bytes(), give));
        let names: Vec<&str> = pieces
            .iter()
            .map(|piece| match piece {
                Piece::Document { within, .. } => within.as_str(),
                Piece::Member { name, .. } => name,
                Piece::Left(left) => &left.name,
            })
            .collect();
        assert_eq!(names, ["#1", "#1!parts.csv", "#2"]);
    }
}
