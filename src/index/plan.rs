//! The plan of a run: documents that are new, changed or gone, compared by content. A document whose file could not be
//! read this time is none of these.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::{FxHashMap, FxHashSet};

use super::options::{DocumentCounts, MostGone, Sources};
use crate::domain::{DocumentId, RemovedDocument, Skip};
use crate::workspace::StoredDocument;

/// What becomes of a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    /// It is new.
    Added,
    /// Its content changed, or what its passages depend on.
    Changed,
    /// It is as it was.
    Unchanged,
    /// It is as it was, found under another root.
    Moved,
    /// It was removed by hand.
    Removed,
    /// One with the same id was added by hand.
    ByHand,
}

/// The root of documents given directly: they are in no folder, and no run over files removes them.
pub(super) const HANDED_OVER: &str = "";

/// The state of the index while sources are read.
pub(super) struct Plan {
    stored: FxHashMap<DocumentId, StoredDocument>,
    seen: FxHashSet<DocumentId>,
    /// Documents removed by hand.
    removed: FxHashSet<DocumentId>,
    /// Whether the sources are documents given directly, which undo removals.
    is_by_hand: bool,
    /// Documents that were taken back.
    pub(super) taken_back: Vec<DocumentId>,
    /// Roots that documents were found under.
    found: FxHashSet<String>,
    /// Files and folders that could not be read whole, by name.
    unread: BTreeSet<String>,
    /// Documents that were found under another root than before, by that.
    pub(super) moved: BTreeMap<String, u64>,
    fingerprint: String,
    pub(super) counts: DocumentCounts,
}

/// Why a removed document is left out.
pub(crate) const REMOVED: &str = "it was removed by hand";

/// The reason for leaving out a removed document.
pub(super) fn removed_by_hand(source: &str) -> Skip {
    Skip { source: source.to_owned(), reason: REMOVED.to_owned() }
}

/// Why a document is left out if one with its id was added by hand.
pub(crate) const ADDED: &str = "a document with this id was added by hand, and stays";

/// The reason for leaving out a document whose id one added by hand has.
pub(super) fn added_by_hand(source: &str) -> Skip {
    Skip { source: source.to_owned(), reason: ADDED.to_owned() }
}

impl Plan {
    pub(super) fn new(stored: FxHashMap<DocumentId, StoredDocument>, fingerprint: String) -> Self {
        Self {
            stored,
            seen: FxHashSet::default(),
            removed: FxHashSet::default(),
            is_by_hand: false,
            taken_back: Vec::new(),
            found: FxHashSet::default(),
            unread: BTreeSet::new(),
            moved: BTreeMap::new(),
            fingerprint,
            counts: DocumentCounts::default(),
        }
    }

    /// Leaves out documents removed or added by hand, unless they are given directly.
    pub(super) fn without(mut self, removed: &[RemovedDocument], sources: &Sources) -> Self {
        self.removed = removed.iter().map(|it| it.id).collect();
        self.is_by_hand = !matches!(sources, Sources::Paths(_));
        self
    }

    /// Says what becomes of a document, and counts it.
    pub(super) fn judge(&mut self, id: DocumentId, root: &str, content: &[u8; 32]) -> Verdict {
        self.seen.insert(id);
        if !self.found.contains(root) {
            self.found.insert(root.to_owned());
        }
        if self.removed.contains(&id) {
            if !self.is_by_hand {
                return Verdict::Removed;
            }
            self.taken_back.push(id);
        }
        let stored = self.stored.get(&id);
        if !self.is_by_hand && stored.is_some_and(|it| &*it.root == HANDED_OVER) {
            return Verdict::ByHand;
        }
        // A text given directly keeps its id.
        if let Some(stored) = stored.filter(|stored| &*stored.root != root && !self.is_by_hand) {
            *self.moved.entry(stored.root.to_string()).or_default() += 1;
        }
        let verdict = match stored {
            None => Verdict::Added,
            Some(stored)
                if stored.content != *content || stored.fingerprint.as_deref() != Some(self.fingerprint.as_str()) =>
            {
                Verdict::Changed
            }
            Some(stored) if &*stored.root != root => Verdict::Moved,
            Some(_) => Verdict::Unchanged,
        };
        match verdict {
            Verdict::Added => self.counts.added += 1,
            Verdict::Changed => self.counts.changed += 1,
            Verdict::Unchanged | Verdict::Moved => self.counts.unchanged += 1,
            Verdict::Removed | Verdict::ByHand => {}
        }
        verdict
    }

    /// Notes a file or folder that could not be read whole.
    pub(super) fn note_unread(&mut self, source: String) {
        self.unread.insert(source);
    }

    /// Returns the state of documents of these roots that were not seen.
    pub(super) fn unseen(&self, roots: &FxHashSet<String>, most_gone: MostGone) -> Unseen {
        let mut unseen = Unseen::default();
        let mut gone: BTreeMap<&str, Vec<DocumentId>> = BTreeMap::new();
        let is_unseen = |it: &&StoredDocument| roots.contains(&*it.root) && !self.seen.contains(&it.id);
        for document in self.stored.values().filter(is_unseen) {
            if let Some(source) = self.unread_source(&document.uri) {
                unseen.kept += 1;
                unseen.unread.insert(source.to_owned());
            } else {
                gone.entry(&document.root).or_default().push(document.id);
            }
        }
        for (root, documents) in gone {
            let missing = Missing { gone: documents.len() as u64, held: self.held(root) };
            if most_gone == MostGone::Keep && missing.is_most(self.found.contains(root)) {
                unseen.kept += missing.gone;
                unseen.missing.insert(root.to_owned(), missing);
            } else {
                unseen.gone.extend(documents);
            }
        }
        unseen.gone.sort_unstable();
        unseen
    }

    /// Returns the addresses of documents that the index holds, in order, and no more than `most`.
    pub(super) fn addresses(&self, documents: &[DocumentId], most: usize) -> Vec<String> {
        let known = documents.iter().filter_map(|id| self.stored.get(id));
        let mut addresses: Vec<String> = known.map(|it| it.uri.clone()).collect();
        addresses.sort_unstable();
        addresses.truncate(most);
        addresses
    }

    /// Returns how many documents of a root the index holds.
    fn held(&self, root: &str) -> u64 {
        self.stored.values().filter(|it| &*it.root == root).count() as u64
    }

    /// Returns the unreadable source of the document with this `uri`: its file, or a folder above.
    fn unread_source<'a>(&self, uri: &'a str) -> Option<&'a str> {
        let ends = uri.match_indices(['/', '#', '!', ':']).map(|(at, _)| at);
        let sources = ends.chain([uri.len(), 0]).map(|end| &uri[..end]);
        sources.into_iter().find(|source| self.unread.contains(*source))
    }
}

/// Documents that the index holds and a run did not see.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Unseen {
    /// Those that are gone, in order.
    pub(super) gone: Vec<DocumentId>,
    /// How many are kept because their source could not be read.
    pub(super) kept: u64,
    /// Names of these sources.
    pub(super) unread: BTreeSet<String>,
    /// Roots with most documents gone; these are kept too.
    pub(super) missing: BTreeMap<String, Missing>,
}

/// Missing documents of a root.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Missing {
    /// Documents that are gone.
    pub(super) gone: u64,
    /// Documents that the index holds of it.
    pub(super) held: u64,
}

impl Missing {
    /// Returns whether so many are gone that it may be an accident: all, if nothing else is there, or more than half.
    fn is_most(self, has_documents: bool) -> bool {
        !has_documents || 2 * self.gone > self.held
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stored(id: &str, root: &str) -> StoredDocument {
        StoredDocument {
            id: DocumentId::of(&[id.as_bytes()]),
            root: root.into(),
            uri: id.to_owned(),
            content: [1; 32],
            fingerprint: Some("f".into()),
        }
    }

    fn by_id(stored: Vec<StoredDocument>) -> FxHashMap<DocumentId, StoredDocument> {
        stored.into_iter().map(|it| (it.id, it)).collect()
    }

    #[test]
    fn a_document_is_judged_by_content_and_settings() {
        let [a, b] = ["a", "b"].map(|id| DocumentId::of(&[id.as_bytes()]));
        let mut plan = Plan::new(by_id(vec![stored("a", "r")]), "f".to_owned());
        assert_eq!(plan.judge(b, "r", &[1; 32]), Verdict::Added);
        assert_eq!(plan.judge(a, "r", &[1; 32]), Verdict::Unchanged);
        assert_eq!(plan.judge(a, "s", &[1; 32]), Verdict::Moved);
        assert_eq!(plan.judge(a, "r", &[2; 32]), Verdict::Changed);
        assert_eq!(plan.moved, [("r".to_owned(), 1)].into());
        let mut other = Plan::new(by_id(vec![stored("a", "r")]), "g".to_owned());
        assert_eq!(other.judge(a, "r", &[1; 32]), Verdict::Changed);
    }

    #[test]
    fn removed_documents_are_left_out_of_files_and_come_back_when_handed_over() {
        let removed = |name: &str| RemovedDocument {
            id: DocumentId::of(&[name.as_bytes()]),
            source_id: name.to_owned(),
            uri: name.to_owned(),
        };
        let [a, b] = ["a", "b"].map(|name| removed(name).id);
        let plan = |sources: &Sources| {
            let mut plan = Plan::new(by_id(vec![]), "f".to_owned()).without(&[removed("a")], sources);
            let verdicts = [a, b].map(|id| plan.judge(id, "r", &[1; 32]));
            (verdicts, plan.taken_back, plan.counts.added)
        };
        let (left_out, added) = (Verdict::Removed, Verdict::Added);
        assert_eq!(plan(&Sources::folder("r")), ([left_out, added], vec![], 1));
        assert_eq!(plan(&Sources::documents([])), ([added, added], vec![a], 2));
    }

    #[test]
    fn added_texts_are_neither_replaced_by_files_nor_removed_with_them() {
        let [a, b] = ["a", "b"].map(|id| DocumentId::of(&[id.as_bytes()]));
        let stored = || vec![stored("a", HANDED_OVER), stored("b", "r")];
        let plan = |sources: &Sources| {
            let mut plan = Plan::new(by_id(stored()), "f".to_owned()).without(&[], sources);
            let root = if matches!(sources, Sources::Paths(_)) { "r" } else { HANDED_OVER };
            let verdicts = [a, b].map(|id| plan.judge(id, root, &[2; 32]));
            (verdicts, plan.counts.changed)
        };
        assert_eq!(plan(&Sources::folder("r")), ([Verdict::ByHand, Verdict::Changed], 1));
        assert_eq!(plan(&Sources::documents([])), ([Verdict::Changed; 2], 2));
        let mut plan = Plan::new(by_id(stored()), "f".to_owned()).without(&[], &Sources::folder("r"));
        plan.judge(DocumentId::of(&[b"c"]), "r", &[1; 32]);
        assert_eq!(plan.unseen(&["r".to_owned()].into_iter().collect(), MostGone::Remove).gone, [b]);
    }

    #[test]
    fn only_documents_of_the_roots_that_were_read_can_be_gone() {
        let plan = Plan::new(by_id(vec![stored("a", "r"), stored("b", "s")]), "f".to_owned());
        let roots: FxHashSet<String> = ["r".to_owned()].into_iter().collect();
        let gone = plan.unseen(&roots, MostGone::Remove).gone;
        assert_eq!(gone, [DocumentId::of(&[b"a"])]);
        let all = [b"b", b"a", b"c"].map(|id| DocumentId::of(&[id]));
        assert_eq!(plan.addresses(&all, 9), ["a", "b"]);
        assert_eq!(plan.addresses(&all, 1), ["a"]);
    }

    /// Returns how many documents of a root that had `held` are gone and how many are kept, if `seen` are seen again.
    fn gone_of(held: u64, seen: u64, is_other_there: bool, most_gone: MostGone) -> (usize, u64) {
        let names: Vec<String> = (0..held).map(|number| format!("r/{number}")).collect();
        let mut plan = Plan::new(by_id(names.iter().map(|name| stored(name, "r")).collect()), "f".to_owned());
        for name in names.iter().take(seen as usize) {
            plan.judge(DocumentId::of(&[name.as_bytes()]), "r", &[1; 32]);
        }
        if is_other_there {
            plan.judge(DocumentId::of(&[b"new"]), "r", &[1; 32]);
        }
        let unseen = plan.unseen(&["r".to_owned()].into_iter().collect(), most_gone);
        assert_eq!(unseen.missing.len(), usize::from(unseen.kept > 0));
        (unseen.gone.len(), unseen.kept)
    }

    #[test]
    fn most_of_a_root_is_removed_only_on_request() {
        for (held, seen, other, expect) in [
            // An empty root has lost all, however few.
            (1, 0, false, (0, 1)),
            (2, 0, false, (0, 2)),
            (1, 0, true, (0, 1)),
            // Up to half of them may go.
            (2, 1, false, (1, 0)),
            (20, 10, false, (10, 0)),
            // More may not.
            (3, 1, false, (0, 2)),
            (11, 1, false, (0, 10)),
            (20, 9, false, (0, 11)),
            (20, 0, true, (0, 20)),
        ] {
            assert_eq!(gone_of(held, seen, other, MostGone::Keep), expect, "{seen} of {held}");
            assert_eq!(gone_of(held, seen, other, MostGone::Remove), ((held - seen) as usize, 0));
        }
    }

    #[test]
    fn nothing_goes_of_a_root_that_has_no_document_any_more() {
        let documents = ["r/a.jsonl#1", "r/a.jsonl#2", "r/a.jsonl#3", "r/b.txt"];
        let mut plan = Plan::new(by_id(documents.map(|uri| stored(uri, "r")).into()), "f".to_owned());
        plan.note_unread("r/a.jsonl".to_owned());
        let roots = ["r".to_owned()].into_iter().collect();
        // One of four is less than half, but nothing shows that this is still the same folder.
        let unseen = plan.unseen(&roots, MostGone::Keep);
        assert_eq!((unseen.gone.len(), unseen.kept), (0, 4));
        assert_eq!(plan.unseen(&roots, MostGone::Remove).gone, [DocumentId::of(&[b"r/b.txt"])]);
    }

    #[test]
    fn a_document_whose_file_or_folder_could_not_be_read_is_kept() {
        let documents = [
            "n/a.txt",
            "n/a.txt.txt",
            "n/b.jsonl#1",
            "n/b.jsonl#x/y",
            "n/b.jsonl:7#2",
            "n/c/d.txt",
            "n/cc.txt",
            "m/e.txt",
        ];
        let unseen = |unread: &[&str]| {
            let mut plan = Plan::new(by_id(documents.map(|uri| stored(uri, "r")).into()), "f".to_owned());
            for source in unread {
                plan.note_unread((*source).to_owned());
            }
            let unseen = plan.unseen(&["r".to_owned()].into_iter().collect(), MostGone::Remove);
            let is_kept = |uri: &&str| !unseen.gone.contains(&DocumentId::of(&[uri.as_bytes()]));
            let kept: Vec<&str> = documents.into_iter().filter(is_kept).collect();
            assert_eq!(kept.len() as u64, unseen.kept);
            (kept, unseen.unread.into_iter().collect::<Vec<String>>())
        };
        assert_eq!(unseen(&[]), (vec![], vec![]));
        assert_eq!(unseen(&["n/a.txt", "n/z.txt"]), (vec!["n/a.txt"], vec!["n/a.txt".to_owned()]));
        assert_eq!(unseen(&["n/b.jsonl"]).0, ["n/b.jsonl#1", "n/b.jsonl#x/y", "n/b.jsonl:7#2"]);
        assert_eq!(unseen(&["n/c"]).0, ["n/c/d.txt"]);
        assert_eq!(unseen(&["n"]).0, documents[..7]);
        assert_eq!(unseen(&[""]).0, documents);
    }
}
