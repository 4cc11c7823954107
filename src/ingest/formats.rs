//! The supported formats: a line here, and a file with a parser.
//!
//! The first bytes of a file decide its format; if they reveal nothing, its extension does.

use super::extracted::{Extracted, Part};
use super::worker::Format as GuardedFormat;
use super::{IngestOptions, guarded_formats, markdown, markup, notebook, plain, source};

/// Bytes at the beginning of a file that reveal its format.
pub(super) const HEAD_BYTES: usize = 4_096;

/// A file, as a parser gets it.
#[derive(Debug)]
pub(super) struct Input<'a> {
    /// Its name, starting with that of its root: `docs/guide.html`.
    pub(super) name: &'a str,
    /// Its contents.
    pub(super) bytes: Vec<u8>,
    /// Options for reading.
    #[cfg_attr(not(feature = "tables"), expect(dead_code, reason = "tables alone have options"))]
    pub(super) options: &'a IngestOptions,
    /// The media type of its format.
    pub(super) media_type: &'static str,
}

/// Turns a text into a document, or says why it cannot. Takes linear time, is bounded in depth and memory, never
/// panics.
pub(super) type ParseText = fn(String) -> Result<Extracted, String>;
/// Turns the bytes of a file into documents, or says why it cannot. Takes linear time, is bounded in depth and memory,
/// and never panics.
pub(super) type ParseBytes = fn(Input<'_>) -> Result<Vec<Part>, String>;

/// How a format is read.
#[derive(Debug, Clone, Copy)]
pub(super) enum Parser {
    /// From its whole decoded text, in this process: one document.
    Text(ParseText),
    /// From all its bytes, in this process: one document or several.
    Bytes(ParseBytes),
    /// In a process of its own, which may crash or be taken over: one document or several, and files inside.
    Guarded(GuardedFormat),
    /// By the user's own program.
    Converted,
    /// Not in this build: the feature of this crate that contains the parser is off.
    Off(&'static str),
    /// As a record or an array of records, piece by piece.
    Json,
    /// As one record per line, piece by piece.
    JsonLines,
}

/// A supported format.
#[derive(Debug)]
pub(super) struct Format {
    /// The media type of its documents, unless the parser gives another.
    pub(super) media_type: &'static str,
    /// File extensions, in lower case.
    pub(super) extensions: &'static [&'static str],
    /// Whether the first bytes of a file, after a byte order mark and white space, are certainly of this format.
    pub(super) is_recognized_by: fn(&[u8]) -> bool,
    /// How it is read.
    pub(super) parser: Parser,
}

/// Plain text, also for files without an extension. Debian packages contain a `README.Debian`.
const PLAIN: Format = text("text/plain", &["txt", "text", "debian"], plain::parse);

/// Returns a text format that is recognized by its extension only.
const fn text(media_type: &'static str, extensions: &'static [&'static str], parse: ParseText) -> Format {
    Format { media_type, extensions, is_recognized_by: |_| false, parser: Parser::Text(parse) }
}

/// Returns a language of source code.
const fn code(media_type: &'static str, extensions: &'static [&'static str]) -> Format {
    run_by(media_type, extensions, |_| false)
}

/// Returns a language of source code that can also be recognized by the first line of a file.
const fn run_by(
    media_type: &'static str,
    extensions: &'static [&'static str],
    is_recognized_by: fn(&[u8]) -> bool,
) -> Format {
    Format { media_type, extensions, is_recognized_by, parser: Parser::Bytes(source::parse) }
}

/// Files that a user's own program converts to text.
pub(super) static CONVERTED: Format =
    Format { media_type: "text/plain", extensions: &[], is_recognized_by: |_| false, parser: Parser::Converted };

/// All formats. The first that matches the first bytes of a file counts.
const FORMATS: &[Format] = &[
    PLAIN,
    text("text/markdown", &["md", "markdown", "mdx"], markdown::parse),
    text("text/x-rst", &["rst", "rest"], markup::rst),
    text("text/asciidoc", &["adoc", "asciidoc", "asc"], markup::asciidoc),
    text("text/org", &["org"], markup::org),
    text("text/x-tex", &["tex", "latex"], markup::latex),
    text("application/x-ipynb+json", &["ipynb"], notebook::parse),
    code("text/x-rust", &["rs"]),
    run_by("text/x-python", &["py", "pyi", "pyw"], |head| source::is_run_by(head, &["python", "pypy"])),
    code("text/x-c", &["c", "h"]),
    code("text/x-c++", &["cc", "cpp", "cxx", "c++", "hh", "hpp", "hxx", "h++", "ipp"]),
    code("text/x-java", &["java"]),
    run_by("text/javascript", &["js", "mjs", "cjs", "jsx"], |head| source::is_run_by(head, &["node", "deno", "bun"])),
    code("text/x-typescript", &["ts", "tsx", "mts", "cts"]),
    code("text/x-go", &["go"]),
    code("text/x-csharp", &["cs"]),
    code("text/x-kotlin", &["kt", "kts"]),
    code("text/x-swift", &["swift"]),
    run_by("text/x-php", &["php"], |head| head.starts_with(b"<?php") || source::is_run_by(head, &["php"])),
    run_by("text/x-ruby", &["rb", "rake", "gemspec"], |head| source::is_run_by(head, &["ruby"])),
    run_by("text/x-shellscript", &["sh", "bash", "zsh", "ksh"], |head| {
        source::is_run_by(head, &["sh", "bash", "dash", "ksh", "zsh"])
    }),
    code("text/x-sql", &["sql"]),
    run_by("text/x-lua", &["lua"], |head| source::is_run_by(head, &["lua", "luajit"])),
    Format {
        media_type: "text/csv",
        extensions: &["csv"],
        is_recognized_by: |_| false,
        #[cfg(feature = "tables")]
        parser: Parser::Bytes(super::table::commas),
        #[cfg(not(feature = "tables"))]
        parser: Parser::Off("tables"),
    },
    Format {
        media_type: "text/tab-separated-values",
        extensions: &["tsv", "tab"],
        is_recognized_by: |_| false,
        #[cfg(feature = "tables")]
        parser: Parser::Bytes(super::table::tabs),
        #[cfg(not(feature = "tables"))]
        parser: Parser::Off("tables"),
    },
    #[cfg(feature = "html")]
    Format {
        media_type: "text/html",
        extensions: &["html", "htm", "xhtml"],
        is_recognized_by: super::html::is_recognized_by,
        parser: Parser::Text(super::html::parse),
    },
    #[cfg(not(feature = "html"))]
    Format {
        media_type: "text/html",
        extensions: &["html", "htm", "xhtml"],
        is_recognized_by: |_| false,
        parser: Parser::Off("html"),
    },
    Format { media_type: "text/plain", extensions: &["json"], is_recognized_by: |_| false, parser: Parser::Json },
    Format {
        media_type: "text/plain",
        extensions: &["jsonl", "ndjson"],
        is_recognized_by: |_| false,
        parser: Parser::JsonLines,
    },
];

/// Returns the format of a file, by its first bytes and the extensions of its name in lower case, the last one first.
pub(super) fn find(head: &[u8], extensions: &[String]) -> Option<&'static Format> {
    let extension = |at: usize| extensions.get(at).map_or("", String::as_str);
    let start = head.strip_prefix(super::text_file::BYTE_ORDER_MARK).unwrap_or(head).trim_ascii_start();
    let all = || FORMATS.iter().chain(guarded_formats::FORMATS);
    let by_content = all().find(|it| (it.is_recognized_by)(start));
    let named = |name: &str| all().find(|it| it.extensions.contains(&name));
    // Files with `.txt` appended so that every program opens them: `os.rst.txt`.
    let inner = || named(extension(1)).filter(|_| extension(0) == "txt");
    let by_name = || inner().or_else(|| named(extension(0)));
    by_content.or_else(by_name).or_else(|| (extensions.is_empty() && is_text(head)).then_some(&PLAIN))
}

/// Returns whether bytes are the beginning of UTF-8 text without control characters.
fn is_text(head: &[u8]) -> bool {
    let valid = match std::str::from_utf8(head) {
        Ok(text) => text,
        Err(error) if error.error_len().is_none() => {
            std::str::from_utf8(&head[..error.valid_up_to()]).unwrap_or_default()
        }
        Err(_) => return false,
    };
    !valid.trim().is_empty() && !valid.contains(|it: char| it.is_control() && !it.is_whitespace())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn media_type(head: &[u8], extensions: &str) -> Option<&'static str> {
        let extensions: Vec<String> = extensions.rsplit('.').filter(|it| !it.is_empty()).map(str::to_owned).collect();
        find(head, &extensions).map(|it| it.media_type)
    }

    #[test]
    fn a_name_decides_the_format_if_the_bytes_do_not() {
        assert_eq!(media_type(b"Text", "md"), Some("text/markdown"));
        assert_eq!(media_type(b"Text", "zzz"), None);
        assert_eq!(media_type(b"", "txt"), Some("text/plain"));
        assert_eq!(media_type(b"Text", "debian"), Some("text/plain"));
        assert_eq!(media_type(b"", "rst.txt"), Some("text/x-rst"));
        assert_eq!(media_type(b"", "en.md"), Some("text/markdown"));
        assert_eq!(media_type(b"", "txt.zzz"), None);
        assert_eq!(media_type(b"fn turn() {}", "rs"), Some("text/x-rust"));
    }

    #[test]
    fn a_script_is_recognized_by_its_interpreter() {
        assert_eq!(media_type(b"#!/usr/bin/env python3\nturn()\n", ""), Some("text/x-python"));
        assert_eq!(media_type(b"#!/bin/sh -e\nturn\n", "cgi"), Some("text/x-shellscript"));
        assert_eq!(media_type(b"#!/usr/bin/make -f\n", ""), Some("text/plain"));
        assert_eq!(media_type(b"<?php turn();", "inc"), Some("text/x-php"));
    }

    #[test]
    fn the_language_of_all_source_code_is_known() {
        let parse: ParseBytes = source::parse;
        let is_code = |it: &&Format| matches!(it.parser, Parser::Bytes(other) if std::ptr::fn_addr_eq(other, parse));
        let all: Vec<&Format> = FORMATS.iter().filter(is_code).collect();
        assert!(all.len() > 10);
        assert!(all.iter().all(|it| crate::text::Language::of_media_type(it.media_type).is_some()));
    }

    #[test]
    fn a_file_without_an_extension_is_read_if_it_is_text() {
        for (head, expect) in [
            (&b"The licence of this\n"[..], Some("text/plain")),
            (b"Caf\xc3\xa9", Some("text/plain")),
            (b"cut within Caf\xc3", Some("text/plain")),
            (b"\x7fELF\x02\x01", None),
            (b"a\xffb", None),
            (b" \n", None),
            (b"", None),
        ] {
            assert_eq!(media_type(head, ""), expect, "{}", head.escape_ascii());
        }
    }

    #[test]
    fn no_two_formats_have_one_extension() {
        let mut all: Vec<&str> =
            FORMATS.iter().chain(guarded_formats::FORMATS).flat_map(|it| it.extensions).copied().collect();
        all.sort_unstable();
        assert!(all.windows(2).all(|two| two[0] != two[1]));
    }
}
