//! Documents of the largest size that is read, in shapes that parsers stumble over: each is indexed or named as left
//! out, within the memory and the time that are promised.

use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{BufWriter, Write as _};
use std::path::Path;
use std::time::Duration;

use tempfile::TempDir;

use crate::Part;
use crate::program::{cairn, watch_for};
use crate::run::{Run, Tally};

/// Megabytes of a document at most, as `docs/limits.md` has it.
const MIB: u64 = 64;
/// What one may take, of memory, and of time in a build for release.
const MEMORY_BYTES_MAX: u64 = 1_000_000_000;
const TIME_MAX: Duration = Duration::from_mins(2);
/// How much longer a build with debug assertions, which is optimized a little, takes.
const DEBUG_FACTOR: u32 = 4;

pub(crate) const PART: Part = Part {
    name: "hostile",
    promise: "A document of 64 MiB of any shape is indexed, or named as left out, in 2 minutes and 1 GB of memory.",
    run,
};

/// What is written, again and again, until a document is full.
#[derive(Clone, Copy)]
enum Filling {
    /// The same.
    Same(&'static str),
    /// Something with a number in it, in the place of `{}`.
    Numbered(&'static str),
    /// Something that gets longer by itself, up to 100 KB: a depth.
    Deeper(&'static str, &'static str),
}

use Filling::{Deeper, Numbered, Same};

/// Shapes: a name, the extension, what stands before, what fills, what stands after.
#[rustfmt::skip]
const SHAPES: [(&str, &str, &str, Filling, &str); 36] = [
    ("marks of headings in one line", "md", "", Same("# "), "A."),
    ("headings", "md", "", Same("# A\n"), "Text."),
    ("headings, each its own", "md", "", Numbered("## Mill {}\n\nIt stands.\n\n"), ""),
    ("headings ever deeper", "md", "", Same("# A\n## B\n### C\n#### D\n##### E\n###### F\n\nIt.\n"), ""),
    ("one heading", "md", "# ", Same("mill "), "\n\nText."),
    ("a title without end", "txt", "", Same("mill "), "\n\nText."),
    ("one word", "txt", "", Same("a"), ""),
    ("one word of capitals", "txt", "", Same("A"), ""),
    ("spaces", "txt", "A.", Same(" "), "B."),
    ("empty lines", "txt", "A.", Same("\n"), "B."),
    ("one sentence", "txt", "Title\n\n", Same("and the mill "), "."),
    ("sentences of a letter", "txt", "", Same("A. "), ""),
    ("full stops", "txt", "", Same("."), ""),
    ("questions", "txt", "", Same("Who built it? "), ""),
    ("abbreviations", "txt", "", Same("Dr. e.g. U.S. St. "), ""),
    ("open quotation marks", "txt", "", Same("“"), ""),
    ("open brackets", "md", "", Same("["), ""),
    ("links", "md", "", Same("[a](b)"), ""),
    ("quotations in quotations", "md", "", Same("> "), "A."),
    ("lists ever deeper", "md", "", Deeper("  ", "- a\n"), ""),
    ("backticks", "md", "", Same("`"), ""),
    ("fences", "md", "", Same("```\n"), ""),
    ("one fence", "md", "```\n", Same("# a\n"), ""),
    ("a table", "md", "| a | b |\n| - | - |\n", Same("| 1 | 2 |\n"), ""),
    ("emphasis", "md", "", Same("*_"), "a"),
    ("tags", "md", "", Same("<a>"), ""),
    ("front matter", "md", "---\n", Numbered("key{}: value\n"), "---\n\nText."),
    ("marks over one letter", "txt", "a", Same("\u{301}"), ""),
    ("joined pictures", "txt", "", Same("\u{1f469}\u{200d}"), ""),
    ("marks of direction and tags", "txt", "A", Same("\u{202e}\u{e0041}"), "B."),
    ("a script without spaces", "txt", "", Same("水車は川のそばに立つ。"), ""),
    ("names, each its own", "txt", "", Numbered("Ada Lorne{} met Orn Quill{}. "), ""),
    ("words, each its own", "txt", "", Numbered("w{} "), ""),
    ("line ends of every kind", "txt", "A", Same("\r\n\u{2028}\u{85}\u{b}\0"), "B."),
    ("a record with a long title", "json", "{\"id\": 1, \"text\": \"It stands.\", \"title\": \"", Same("mill "), "\"}"),
    ("a record with much beside its text", "json", "{\"id\": 1, \"text\": \"It stands.\"",
        Numbered(", \"k{}\": [1]"), "}"),
];

fn run(run: &Run) -> Tally {
    let bytes = run.count("HOSTILE_MIB", MIB) << 20;
    let time_max = if cfg!(debug_assertions) { TIME_MAX * DEBUG_FACTOR } else { TIME_MAX };
    let mut tally = Tally::default();
    if bytes != MIB << 20 {
        tally.leave_out(format!("documents of {MIB} MiB: these had {} MiB", bytes >> 20));
    }
    if cfg!(debug_assertions) {
        tally.leave_out(format!(
            "the time of a build for release: {} minutes were allowed here",
            time_max.as_secs() / 60
        ));
    }
    for (name, extension, before, filling, after) in SHAPES {
        let folder = TempDir::new().unwrap();
        let file = format!("hostile.{extension}");
        fill(&folder.path().join(&file), bytes, before, filling, after);
        let ran = watch_for(cairn(folder.path(), &["index", &file]), time_max);
        tally.count("hostile documents", 1);
        let took = format!("{:.0} s, {} MB", ran.took.as_secs_f64(), ran.peak_bytes / 1_000_000);
        println!("  {name}: {:?}, {took}", ran.end);
        if let Some(fault) = ran.fault() {
            tally.offend(format!("{name}: {fault}"));
        } else if ran.peak_bytes > MEMORY_BYTES_MAX {
            tally.offend(format!("{name}: {took}"));
        } else if !ran.is_done() && !ran.stderr.contains("hostile.") {
            tally.offend(format!("{name}: nothing says which document it was: {}", ran.stderr.trim()));
        }
        // What was made can be read, by a program that has no more memory than others.
        if ran.is_done() {
            let read = watch_for(cairn(folder.path(), &["search", "mill"]), time_max);
            if !read.is_done() {
                tally.offend(format!("{name}: searching it ends with {:?}: {}", read.end, read.stderr.trim()));
            }
        }
    }
    tally
}

/// Writes a document of at most `bytes`.
fn fill(path: &Path, bytes: u64, before: &str, filling: Filling, after: &str) {
    let room = bytes as usize - before.len() - after.len();
    let mut file = BufWriter::new(File::create(path).unwrap());
    file.write_all(before.as_bytes()).unwrap();
    let (mut written, mut number, mut piece) = (0, 0, String::new());
    loop {
        piece.clear();
        match filling {
            Same(text) => piece.push_str(text),
            Numbered(text) => piece.push_str(&text.replace("{}", &number.to_string())),
            Deeper(indent, text) => write!(piece, "{}{text}", indent.repeat(number % 50_000)).unwrap(),
        }
        if written + piece.len() > room {
            break;
        }
        file.write_all(piece.as_bytes()).unwrap();
        written += piece.len();
        number += 1;
    }
    file.write_all(after.as_bytes()).unwrap();
    file.into_inner().unwrap().sync_data().unwrap();
    assert!(fs::metadata(path).unwrap().len() <= bytes);
}
