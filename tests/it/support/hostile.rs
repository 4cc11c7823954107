//! Documents of every shape that an attacker might try, of any size: they show whether time and memory are linear. It
//! does not use the program, so that other tests can include this file.

use std::fmt::{Arguments, Write as _};
use std::path::{Path, PathBuf};

/// A shape of document.
#[derive(Clone, Copy)]
pub(crate) struct Shape {
    /// Its name.
    pub(crate) name: &'static str,
    /// Its file extension: `md`, `txt`, `json` or `jsonl`.
    pub(crate) extension: &'static str,
    make: fn(usize) -> String,
}

impl Shape {
    /// Returns a file of this shape of about `bytes` bytes, never more.
    pub(crate) fn contents(&self, bytes: usize) -> String {
        let mut text = (self.make)(bytes);
        if text.len() > bytes && !self.extension.starts_with("json") {
            let end = (0..=bytes).rev().find(|at| text.is_char_boundary(*at)).unwrap_or_default();
            text.truncate(end);
        }
        text
    }

    /// Writes it into a folder and returns the file.
    pub(crate) fn write(&self, folder: &Path, bytes: usize) -> std::io::Result<PathBuf> {
        let path = folder.join(format!("{}.{}", self.name, self.extension));
        std::fs::write(&path, self.contents(bytes))?;
        Ok(path)
    }
}

/// Repeats a piece of text.
fn repeated(piece: &str, bytes: usize) -> String {
    piece.repeat(bytes / piece.len())
}

/// Repeats a piece that depends on its number.
fn numbered(bytes: usize, mut piece: impl FnMut(&mut String, usize)) -> String {
    let mut text = String::with_capacity(bytes + 256);
    let mut number = 0;
    while text.len() < bytes {
        piece(&mut text, number);
        number += 1;
    }
    text
}

/// Appends formatted text.
fn put(text: &mut String, formatted: Arguments<'_>) {
    // Writing to a string cannot fail.
    let _always = text.write_fmt(formatted);
}

fn put_line(text: &mut String, formatted: Arguments<'_>) {
    put(text, formatted);
    text.push('\n');
}

/// Returns a lower-case word that stands for a number.
fn word(mut number: usize) -> String {
    let mut word = String::from("b");
    for _ in 0..6 {
        word.push(char::from(b'a' + (number % 26) as u8));
        number /= 26;
    }
    word
}

fn capitalized(number: usize) -> String {
    word(number).replacen('b', "N", 1)
}

fn base64(bytes: usize) -> String {
    const LETTERS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut state = 7_u64;
    numbered(bytes, |text, _| {
        for _ in 0..76 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            text.push(char::from(LETTERS[(state >> 58) as usize]));
        }
        text.push('\n');
    })
}

/// A record whose field `text` is short, and whose field `x` is `inside`.
fn record_with(inside: &str) -> String {
    format!(r#"{{"id":"a","title":"A","text":"The mill stands by the river.","x":{inside}}}"#)
}

fn json_deep(bytes: usize) -> String {
    let depth = bytes.saturating_sub(80) / 2;
    record_with(&("[".repeat(depth) + &"]".repeat(depth)))
}

fn json_string(bytes: usize) -> String {
    format!(r#"{{"id":"a","text":"{}"}}"#, repeated("The mill stands by the river Tarn. ", bytes.saturating_sub(20)))
}

fn json_array(bytes: usize) -> String {
    record_with(&format!("[{}1]", repeated("1,", bytes.saturating_sub(80))))
}

fn json_keys(bytes: usize) -> String {
    let fields = numbered(bytes.saturating_sub(100), |text, number| {
        put(text, format_args!("\"k{number}\":1,"));
    });
    record_with(&format!("{{{fields}\"k\":1}}"))
}

fn json_same_key(bytes: usize) -> String {
    let fields = repeated("\"k\":1,", bytes.saturating_sub(100));
    record_with(&format!("{{{fields}\"k\":1}}"))
}

fn json_metadata(bytes: usize) -> String {
    let fields = numbered(bytes.saturating_sub(100), |text, number| {
        put(text, format_args!("\"field{number}\":\"value\","));
    });
    format!(r#"{{{fields}"id":"a","text":"The mill stands."}}"#)
}

fn json_title(bytes: usize) -> String {
    let half = bytes.saturating_sub(40) / 2;
    let (title, text) = (repeated("Mill ", half), repeated("The mill stands. ", half));
    format!(r#"{{"id":"a","title":"{title}","text":"{text}"}}"#)
}

fn json_id(bytes: usize) -> String {
    format!(r#"{{"id":"{}","text":"The mill stands."}}"#, repeated("i", bytes.saturating_sub(40)))
}

fn jsonl_line(bytes: usize) -> String {
    json_string(bytes.saturating_sub(1)) + "\n"
}

fn long_title_sections(bytes: usize) -> String {
    let heading = format!("# {}\n\n", repeated("Mill ", bytes / 4));
    let rest = bytes.saturating_sub(heading.len());
    heading + &numbered(rest, |text, number| put(text, format_args!("## S{number}\n\nIt stands.\n\n")))
}

fn heading_signs(bytes: usize) -> String {
    let head = repeated("#", bytes / 2);
    head + &repeated("\na", bytes / 2)
}

fn fenced(bytes: usize) -> String {
    "```\n".to_owned() + &repeated("\u{b}\n", bytes.saturating_sub(4))
}

fn front_matter(bytes: usize) -> String {
    "---\n".to_owned()
        + &numbered(bytes.saturating_sub(4), |text, number| put_line(text, format_args!("key{number}: value")))
}

fn mixed(bytes: usize) -> String {
    let parts: Vec<&Shape> = SHAPES.iter().filter(|it| it.extension == "md" && it.name != "mixed").collect();
    let each = bytes / parts.len();
    parts.iter().map(|shape| shape.contents(each)).collect::<Vec<String>>().join("\n\n")
}

const fn shape(name: &'static str, extension: &'static str, make: fn(usize) -> String) -> Shape {
    Shape { name, extension, make }
}

/// All shapes.
pub(crate) const SHAPES: &[Shape] = &[
    shape("signs", "md", |bytes| repeated("#", bytes)),
    shape("signs-and-spaces", "md", |bytes| repeated("# ", bytes)),
    shape("signs-then-lines", "md", heading_signs),
    shape("empty-headings", "md", |bytes| repeated("# \n", bytes)),
    shape("headings", "md", |bytes| numbered(bytes, |text, number| put_line(text, format_args!("# H{number}")))),
    shape("tiny-sections", "md", |bytes| repeated("# a\nb\n", bytes)),
    shape("nested-headings", "md", |bytes| {
        numbered(bytes, |text, number| put(text, format_args!("{} N{number}\n\nText.\n\n", "#".repeat(number % 6 + 1))))
    }),
    shape("long-heading-over-sections", "md", long_title_sections),
    shape("setext", "md", |bytes| repeated("Mill\n====\n\nText.\n\n", bytes)),
    shape("one-line", "txt", |bytes| repeated("the mill stands by the river and ", bytes)),
    shape("one-word", "txt", |bytes| repeated("x", bytes)),
    shape("punctuation", "txt", |bytes| repeated("!,;-?", bytes)),
    shape("full-stops", "txt", |bytes| repeated(".", bytes)),
    shape("line-breaks", "txt", |bytes| "a".to_owned() + &repeated("\n", bytes.saturating_sub(2)) + "b"),
    shape("spaces", "txt", |bytes| "a".to_owned() + &repeated(" ", bytes.saturating_sub(2)) + "b"),
    shape("tabs", "txt", |bytes| repeated("\ta", bytes)),
    shape("vertical-tabs-in-a-fence", "md", fenced),
    shape("quotes", "txt", |bytes| repeated("\"'", bytes)),
    shape("brackets", "md", |bytes| repeated("[(", bytes)),
    shape("backticks", "md", |bytes| repeated("`", bytes)),
    shape("one-letter-sentences", "txt", |bytes| repeated("A. ", bytes)),
    shape("lower-case-stops", "txt", |bytes| repeated("a. ", bytes)),
    shape("one-letter-paragraphs", "txt", |bytes| repeated("a\n\n", bytes)),
    shape("one-long-name", "txt", |bytes| repeated("A B C ", bytes)),
    shape("one-name-again", "txt", |bytes| repeated("Ada Lorne, ", bytes)),
    shape("distinct-names", "txt", |bytes| {
        numbered(bytes, |text, number| put(text, format_args!("{}, ", capitalized(number))))
    }),
    shape("joined-names", "txt", |bytes| {
        numbered(bytes, |text, number| put(text, format_args!("{} and the ", capitalized(number))))
    }),
    shape("numbers", "txt", |bytes| numbered(bytes, |text, number| put(text, format_args!("{number} ")))),
    shape("dates", "txt", |bytes| {
        numbered(bytes, |text, number| {
            put(text, format_args!("On {} May {} it came. ", number % 28 + 1, 1000 + number % 999));
        })
    }),
    shape("marks-of-direction", "txt", |bytes| repeated("\u{202e}a\u{200f} ", bytes)),
    shape("zalgo", "txt", |bytes| "e".to_owned() + &repeated("\u{301}\u{316}", bytes.saturating_sub(1))),
    shape("joined-emoji", "txt", |bytes| repeated("👩\u{200d}👩\u{200d}👧\u{200d}👦", bytes)),
    shape("ideographs", "txt", |bytes| repeated("東京大阪京都", bytes)),
    shape("ideograph-sentences", "txt", |bytes| repeated("東。", bytes)),
    shape("controls", "txt", |bytes| repeated("\u{0}\u{1}\u{7f}a", bytes)),
    shape("table", "md", |bytes| repeated("| a | b |\n", bytes)),
    shape("list", "md", |bytes| repeated("- a\n", bytes)),
    shape("front-matter-without-end", "md", front_matter),
    shape("one-sentence-again", "txt", |bytes| repeated("The mill of Ada Lorne stands by the Tarn. ", bytes)),
    shape("distinct-sentences", "txt", |bytes| {
        numbered(bytes, |text, number| put(text, format_args!("The {} runs {}. ", word(number), word(number + 99))))
    }),
    shape("one-passage-again", "md", |bytes| repeated("# Mill\n\nIt stands by the river.\n\n", bytes)),
    shape("prose", "txt", |bytes| {
        numbered(bytes, |text, number| {
            let names = [capitalized(number % 500), capitalized(number % 777 + 900)];
            let words = [word(number % 4_000), word(number % 2_999), word(number % 1_777)];
            let _ =
                write!(text, "{} met {} at the {} and {} of {}. ", names[0], names[1], words[0], words[1], words[2]);
            if number % 6 == 5 {
                text.push_str("\n\n");
            }
        })
    }),
    shape("addresses", "txt", |bytes| {
        numbered(bytes, |text, number| {
            put_line(text, format_args!("https://example.org/{}/{number}?q=a&b=c#d", word(number)));
        })
    }),
    shape("base64", "txt", base64),
    shape("hex", "txt", |bytes| {
        numbered(bytes, |text, number| {
            put_line(text, format_args!("{:08x}: {:08x} {:08x}", number * 16, number * 77, number * 99));
        })
    }),
    shape("json-deep", "json", json_deep),
    shape("json-one-string", "json", json_string),
    shape("json-array", "json", json_array),
    shape("json-keys", "json", json_keys),
    shape("json-one-key-again", "json", json_same_key),
    shape("json-metadata", "json", json_metadata),
    shape("json-title", "json", json_title),
    shape("json-id", "json", json_id),
    shape("jsonl-one-line", "jsonl", jsonl_line),
    shape("jsonl-tiny-lines", "jsonl", |bytes| {
        numbered(bytes.saturating_sub(40), |text, number| {
            put_line(text, format_args!(r#"{{"id":{number},"text":"a"}}"#));
        })
    }),
    shape("html-deep", "html", |bytes| repeated("<div><b>a", bytes)),
    shape("html-lists", "html", |bytes| repeated("<ul><li>a", bytes)),
    shape("html-cells", "html", |bytes| "<table><tr>".to_owned() + &repeated("<td>a", bytes.saturating_sub(11))),
    shape("html-ends", "html", |bytes| "<p>a".to_owned() + &repeated("</p></i>", bytes.saturating_sub(4))),
    shape("html-attributes", "html", |bytes| {
        "<p ".to_owned()
            + &numbered(bytes.saturating_sub(8), |text, number| put(text, format_args!("a{number} ")))
            + ">a"
    }),
    shape("mixed", "md", mixed),
];
