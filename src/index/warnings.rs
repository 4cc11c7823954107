//! Warnings about a successful run.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use rustc_hash::FxHashSet;

use super::plan::{ADDED, Missing, Plan, REMOVED, Unseen};
use super::shortened::Shortened;
use crate::chunk::Cuts;
use crate::domain::{Counts, LeftOut, Skip, left_out};
use crate::ingest::IGNORED;

/// Files that could not be read and are named.
const UNREAD_SHOWN_MAX: usize = 3;

/// Warns if the index has no question edges.
pub(super) fn of_counts(counts: &Counts) -> Option<String> {
    (counts.passages > 1 && counts.edges == 0)
        .then(|| "no passage answers a question that another passage raises; only `hop` needs that".to_owned())
}

/// Extensions of files that belong to pages and programs and are not documents, so leaving them out needs no warning.
const NO_DOCUMENTS: &[&str] = &[
    "png", "jpg", "jpeg", "gif", "svg", "ico", "webp", "bmp", "css", "scss", "less", "js", "mjs", "map", "woff",
    "woff2", "ttf", "otf", "eot", "mp3", "mp4", "webm", "ogg", "wav", "inv", "nojekyll", "lock",
];
/// Reasons named in the warning that most files were not read.
const REASONS_SHOWN_MAX: usize = 4;

/// What helps if many files are left out.
pub(crate) const CONVERTED: &str = "docs/formats.md lists the supported formats and says how to convert other files";
/// What becomes of documents of a root if most of them are gone.
pub(crate) const UNMOUNTED: &str = "they are kept, because an unmounted folder looks the same";

/// Warns that most of the files found were not read, why, and what helps: `read` documents were.
fn of_left_out(skips: &[Skip], read: u64) -> Option<String> {
    let counted = |skip: &Skip| skip.source.split_once(" .").map(|(_, extension)| extension.to_owned());
    let is_document = |skip: &&Skip| {
        ![IGNORED, REMOVED, ADDED].contains(&skip.reason.as_str())
            && counted(skip).is_none_or(|it| !NO_DOCUMENTS.contains(&it.as_str()))
    };
    let left: Vec<Skip> = skips.iter().filter(is_document).cloned().collect();
    let groups = left_out(&left);
    let count: u64 = groups.iter().map(|it| it.count).sum();
    if count <= read {
        return None;
    }
    let shown = |group: &LeftOut| {
        let examples = group.examples.iter().take(2).cloned().collect::<Vec<String>>().join(", ");
        format!("{} {} ({examples})", group.count, group.reason)
    };
    let reasons = groups.iter().take(REASONS_SHOWN_MAX).map(shown).collect::<Vec<String>>().join("; ");
    Some(format!(
        "less than half of what was found was read, {read} of {}; left out: {reasons}; {CONVERTED}",
        read + count
    ))
}

/// Warns about foreign files among the versions of the index.
pub(super) fn of_foreign(foreign: &[PathBuf]) -> Option<String> {
    let first = foreign.first()?;
    let more = match foreign.len() - 1 {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    Some(format!("`{}`{more} is not part of the index and was left as it was; move it elsewhere", first.display()))
}

/// Warns about documents that were read and that were not: `seen` documents of `roots` were.
pub(super) fn of_reading(
    (plan, unseen): (&Plan, &Unseen),
    roots: &FxHashSet<String>,
    (skips, seen): (&[Skip], u64),
) -> Vec<String> {
    let of_unseen = of_kept(unseen).into_iter().chain(of_missing(unseen));
    of_unseen.chain(of_moved(&plan.moved, roots)).chain(of_left_out(skips, seen)).collect()
}

/// Says which documents were not seen and are kept.
fn of_kept(unseen: &Unseen) -> Option<String> {
    let missing: u64 = unseen.missing.values().map(|missing| missing.gone).sum();
    let kept = unseen.kept.saturating_sub(missing);
    if kept == 0 {
        return None;
    }
    let name = |source: &String| if source.is_empty() { "some files".to_owned() } else { format!("`{source}`") };
    let sources = unseen.unread.iter().take(UNREAD_SHOWN_MAX).map(name).collect::<Vec<String>>().join(", ");
    let more = match unseen.unread.len().saturating_sub(UNREAD_SHOWN_MAX) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let documents = counted(kept, "is", "are");
    Some(format!(
        "{documents} kept from an earlier run: {sources}{more} could not be read completely; repair or remove these \
         files, then index again"
    ))
}

/// Warns about roots with most documents gone, and says what happens to them.
fn of_missing(unseen: &Unseen) -> Vec<String> {
    let warn = |(root, Missing { gone, held }): (&String, &Missing)| {
        format!("{gone} of the {held} documents indexed from `{root}` are gone; {UNMOUNTED}")
    };
    unseen.missing.iter().map(warn).collect()
}

/// Warns about documents that reached a limit.
pub(super) fn of_shortened(shortened: &Shortened) -> Option<String> {
    let shown = shortened.shown.join("; ");
    let more = match shortened.count.saturating_sub(shortened.shown.len() as u64) {
        0 => String::new(),
        more => format!("; and {more} more"),
    };
    (shortened.count > 0).then(|| format!("limits were reached, but no text is left out: {shown}{more}"))
}

/// Says what limits left out of the passages of a document, and of their questions.
pub(super) fn of_cuts(cuts: &Cuts, are_questions_cut: bool) -> Option<String> {
    let mut parts = Vec::new();
    let mut add = |count: u64, what: &str| parts.extend((count > 0).then(|| format!("{count} {what}")));
    add(cuts.headings, "headings are shortened in the sections of passages");
    add(cuts.coarse, "passages are divided by size, not by headings and sentences");
    add(cuts.sentences, "sentences are joined to the sentence before");
    if are_questions_cut {
        parts.push("its many passages have fewer questions each".to_owned());
    }
    (!parts.is_empty()).then(|| parts.join(", "))
}

/// Says which documents took the place of others: of such from a root that is still there, and neither is part of one
/// that was read nor holds one.
fn of_moved(moved: &BTreeMap<String, u64>, roots: &FxHashSet<String>) -> Vec<String> {
    let is_in = |inner: &str, outer: &str| Path::new(inner).starts_with(outer);
    let is_apart = |other: &str| !roots.iter().any(|root| is_in(other, root) || is_in(root, other));
    let others = moved.iter().filter(|(other, _)| is_apart(other) && Path::new(other).exists());
    let warn = |(other, count): (&String, &u64)| {
        let documents = counted(*count, "has", "have");
        format!(
            "{documents} the id of one from `{other}` and took its place; to keep both, give them other ids, or index \
             a folder above both"
        )
    };
    others.map(warn).collect()
}

fn counted(count: u64, one: &str, several: &str) -> String {
    if count == 1 { format!("1 document {one}") } else { format!("{count} documents {several}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_of_which_most_is_not_read_says_so() {
        let skip = |source: &str, reason: &str| Skip { source: source.to_owned(), reason: reason.to_owned() };
        let kind = "unsupported kind of file";
        let skips = [skip("5 files .djvu", kind), skip("90 files .png", kind), skip("a.html", "it is empty")];
        assert_eq!(of_left_out(&skips, 6), None);
        let said = of_left_out(&skips, 5).unwrap();
        assert!(
            said.starts_with("less than half of what was found was read, 5 of 11; left out: 5 unsupported kind"),
            "{said}"
        );
        assert!(said.contains("(5 files .djvu); 1 it is empty (a.html)"), "{said}");
    }

    #[test]
    fn documents_that_are_kept_are_counted_and_a_few_of_their_files_named() {
        let unseen = |kept, unread: &[&str]| {
            let unread = unread.iter().map(|it| (*it).to_owned()).collect();
            of_kept(&Unseen { kept, unread, ..Unseen::default() })
        };
        assert_eq!(unseen(0, &[]), None);
        let one = unseen(1, &["a.txt"]).unwrap();
        assert!(
            one.starts_with("1 document is kept from an earlier run: `a.txt` could not be read completely"),
            "{one}"
        );
        let many = unseen(7, &["", "a", "b", "c", "d"]).unwrap();
        assert!(
            many.starts_with("7 documents are kept from an earlier run: some files, `a`, `b` and 2 more"),
            "{many}"
        );
    }

    #[test]
    fn what_is_not_part_of_an_index_is_named_and_counted() {
        let said = |paths: &[&str]| of_foreign(&paths.iter().map(PathBuf::from).collect::<Vec<_>>());
        assert_eq!(said(&[]), None);
        assert!(said(&["versions/a"]).unwrap().starts_with("`versions/a` is not part of the index"));
        assert!(said(&["versions/a", "b", "c"]).unwrap().starts_with("`versions/a` and 2 more is not part"));
    }

    #[test]
    fn what_is_missing_of_a_root_is_told_and_kept() {
        let missing = [("/notes".to_owned(), Missing { gone: 20, held: 21 })].into();
        let unseen = Unseen { kept: 20, missing, ..Unseen::default() };
        assert_eq!(of_kept(&unseen), None);
        let said = of_missing(&unseen);
        assert!(said[0].starts_with("20 of the 21 documents indexed from `/notes` are gone"), "{said:?}");
        assert!(said[0].ends_with(UNMOUNTED), "{said:?}");
    }

    #[test]
    fn what_limits_left_out_is_told_of_a_few_documents() {
        assert_eq!(of_shortened(&Shortened::default()), None);
        let mut shortened = Shortened::default();
        (0..5).for_each(|number| shortened.note(&format!("{number}.md"), "x"));
        let said = of_shortened(&shortened).unwrap();
        assert!(said.ends_with("`0.md`: x; `1.md`: x; `2.md`: x; and 2 more"), "{said}");
    }

    #[test]
    fn only_a_root_that_is_there_and_apart_can_lose_documents() {
        let folder = tempfile::tempdir().unwrap();
        let name = |below: &str| folder.path().join(below).to_str().unwrap().to_owned();
        std::fs::create_dir_all(name("a/b")).unwrap();
        let moved = |from: &str, to: &str| of_moved(&[(name(from), 2)].into(), &[name(to)].into_iter().collect());
        assert_eq!(moved("a/b", "c").len(), 1);
        assert_eq!(moved("a/b", "a"), [""; 0]);
        assert_eq!(moved("a", "a/b"), [""; 0]);
        assert_eq!(moved("gone", "c"), [""; 0]);
        assert_eq!(of_moved(&[(String::new(), 2)].into(), &FxHashSet::default()), [""; 0]);
    }
}
