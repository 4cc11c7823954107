//! The formats that workers read: a line here, a format in `worker/message.rs`, and a parser named in
//! `worker/parse.rs`.

use super::formats::{Format, Parser};
use super::worker::Format as Guarded;

/// How a zip archive begins.
const ZIP: &[u8] = b"PK\x03\x04";

/// Returns the parser of a format, if the feature that contains it is on.
const fn in_worker(format: Guarded, feature: &'static str, is_on: bool) -> Parser {
    if is_on { Parser::Guarded(format) } else { Parser::Off(feature) }
}

/// The formats that workers read.
pub(super) const FORMATS: &[Format] = &[
    Format {
        media_type: "application/pdf",
        extensions: &["pdf"],
        is_recognized_by: |head| head.starts_with(b"%PDF-"),
        parser: in_worker(Guarded::Pdf, "pdf", cfg!(feature = "pdf")),
    },
    Format {
        media_type: "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
        extensions: &["docx", "docm", "dotx", "doc"],
        is_recognized_by: |head| is_ooxml(head, b"word/"),
        parser: in_worker(Guarded::Docx, "office", cfg!(feature = "office")),
    },
    Format {
        media_type: "application/vnd.openxmlformats-officedocument.presentationml.presentation",
        extensions: &["pptx", "pptm", "ppsx", "ppt"],
        is_recognized_by: |head| is_ooxml(head, b"ppt/"),
        parser: in_worker(Guarded::Pptx, "office", cfg!(feature = "office")),
    },
    Format {
        media_type: "application/vnd.oasis.opendocument.text",
        extensions: &["odt", "ott", "odp"],
        is_recognized_by: |head| {
            is_typed(head, b"application/vnd.oasis.opendocument.text")
                || is_typed(head, b"application/vnd.oasis.opendocument.presentation")
        },
        parser: in_worker(Guarded::Odt, "office", cfg!(feature = "office")),
    },
    Format {
        media_type: "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
        extensions: &["xlsx", "xlsm", "xlsb", "xls", "ods"],
        is_recognized_by: |head| {
            is_ooxml(head, b"xl/") || is_typed(head, b"application/vnd.oasis.opendocument.spreadsheet")
        },
        parser: in_worker(Guarded::Sheets, "sheets", cfg!(feature = "sheets")),
    },
    Format {
        media_type: "application/epub+zip",
        extensions: &["epub"],
        is_recognized_by: |head| is_typed(head, b"application/epub+zip"),
        parser: in_worker(Guarded::Epub, "epub", cfg!(feature = "epub")),
    },
    Format {
        media_type: "message/rfc822",
        extensions: &["eml"],
        is_recognized_by: is_message,
        parser: in_worker(Guarded::Mail, "mail", cfg!(feature = "mail")),
    },
    Format {
        media_type: "message/rfc822",
        extensions: &["mbox"],
        is_recognized_by: |head| {
            let (line, rest) = head.split_at(head.iter().position(|byte| *byte == b'\n').unwrap_or(head.len()));
            line.starts_with(b"From ") && is_message(rest.trim_ascii_start())
        },
        parser: in_worker(Guarded::Mbox, "mail", cfg!(feature = "mail")),
    },
    Format {
        media_type: "application/zip",
        extensions: &["zip"],
        is_recognized_by: |_| false,
        parser: in_worker(Guarded::Zip, "archives", cfg!(feature = "archives")),
    },
    Format {
        media_type: "application/gzip",
        extensions: &["gz", "tgz"],
        is_recognized_by: |_| false,
        parser: in_worker(Guarded::Gzip, "archives", cfg!(feature = "archives")),
    },
    Format {
        media_type: "application/x-tar",
        extensions: &["tar"],
        is_recognized_by: |head| head.get(257..262) == Some(b"ustar"),
        parser: in_worker(Guarded::Tar, "archives", cfg!(feature = "archives")),
    },
];

fn is_ooxml(head: &[u8], folder: &[u8]) -> bool {
    head.starts_with(ZIP) && contains(head, b"[Content_Types].xml") && contains(head, folder)
}

/// Such files begin with their type, uncompressed.
fn is_typed(head: &[u8], media_type: &[u8]) -> bool {
    let typed = [b"mimetype", media_type].concat();
    head.starts_with(ZIP) && contains(&head[..head.len().min(200)], &typed)
}

/// A message begins with header lines, some of which every message has.
fn is_message(head: &[u8]) -> bool {
    const FIRST: [&[u8]; 6] =
        [b"Return-Path:", b"Received:", b"Delivered-To:", b"Message-ID:", b"MIME-Version:", b"From:"];
    FIRST.iter().any(|it| head.starts_with(it)) && contains(head, b"\nSubject:") && contains(head, b"\nDate:")
}

fn contains(head: &[u8], wanted: &[u8]) -> bool {
    head.windows(wanted.len()).any(|it| it == wanted)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn recognized(head: &[u8]) -> Vec<&'static str> {
        FORMATS.iter().filter(|it| (it.is_recognized_by)(head)).map(|it| it.extensions[0]).collect()
    }

    #[test]
    fn a_format_is_recognized_by_the_first_bytes() {
        let zip = |rest: &[u8]| [ZIP, &[0; 26], rest].concat();
        for (head, expect) in [
            (b"%PDF-1.4\n".to_vec(), vec!["pdf"]),
            (zip(b"[Content_Types].xml, word/document.xml"), vec!["docx"]),
            (zip(b"[Content_Types].xml, xl/workbook.xml"), vec!["xlsx"]),
            (zip(b"mimetypeapplication/epub+zip"), vec!["epub"]),
            (zip(b"mimetypeapplication/vnd.oasis.opendocument.presentation"), vec!["odt"]),
            (zip(b"notes/word/a.txt"), vec![]),
            (b"Received: a\nSubject: b\nDate: c\n\n".to_vec(), vec!["eml"]),
            (b"From anna Wed\nFrom: a\nSubject: b\nDate: c\n\n".to_vec(), vec!["mbox"]),
            (b"From here on it is text.\n".to_vec(), vec![]),
        ] {
            assert_eq!(recognized(&head), expect, "{}", head.escape_ascii());
        }
    }
}
