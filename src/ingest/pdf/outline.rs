//! The outline of a file: the author's section titles, and the pages on which the sections begin.

use std::collections::{BTreeMap, BTreeSet};

use pdf_extract::{Dictionary, Document, Object, ObjectId, decode_text_string};

/// Entries at most, and named places.
const ENTRIES_MAX: usize = 20_000;
const NAMES_MAX: usize = 200_000;
/// Levels at most.
const LEVELS_MAX: usize = 6;
/// Nodes above a named place at most.
const NAME_DEPTH_MAX: usize = 16;

/// An entry of an outline.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) title: String,
    /// From 1.
    pub(super) level: usize,
    /// The page that it leads to.
    pub(super) page: u32,
}

/// Returns the entries that lead to a page, in order.
pub(super) fn entries(document: &Document) -> Vec<Entry> {
    let Some(first) = document.catalog().ok().and_then(|it| dictionary(document, it.get(b"Outlines").ok()?)) else {
        return Vec::new();
    };
    let pages = document.get_pages().into_iter().map(|(number, id)| (id, number)).collect();
    let mut walk = Walk { document, pages, names: names(document), seen: BTreeSet::new(), entries: Vec::new() };
    walk.children(first, 1);
    walk.entries
}

struct Walk<'a> {
    document: &'a Document,
    pages: BTreeMap<ObjectId, u32>,
    names: BTreeMap<Vec<u8>, &'a Object>,
    /// Guards against entries that point at each other in a circle.
    seen: BTreeSet<ObjectId>,
    entries: Vec<Entry>,
}

impl<'a> Walk<'a> {
    fn children(&mut self, parent: &'a Dictionary, level: usize) {
        let mut next = parent.get(b"First").ok();
        while let Some(Object::Reference(id)) = next {
            if !self.seen.insert(*id) || self.entries.len() >= ENTRIES_MAX {
                return;
            }
            let Ok(node) = self.document.get_dictionary(*id) else { return };
            if let Some(entry) = self.entry(node, level) {
                self.entries.push(entry);
            }
            if level < LEVELS_MAX {
                self.children(node, level + 1);
            }
            next = node.get(b"Next").ok();
        }
    }

    fn entry(&self, node: &'a Dictionary, level: usize) -> Option<Entry> {
        let title = decode_text_string(self.document.dereference(node.get(b"Title").ok()?).ok()?.1).ok()?;
        let destination = match node.get(b"Dest") {
            Ok(destination) => destination,
            Err(_) => dictionary(self.document, node.get(b"A").ok()?)?.get(b"D").ok()?,
        };
        Some(Entry { title, level, page: self.page(destination)? })
    }

    fn page(&self, destination: &'a Object) -> Option<u32> {
        let destination = match self.document.dereference(destination).ok()?.1 {
            Object::Name(name) | Object::String(name, _) => self.names.get(name).copied()?,
            destination => destination,
        };
        let destination = match self.document.dereference(destination).ok()?.1 {
            Object::Dictionary(it) => self.document.dereference(it.get(b"D").ok()?).ok()?.1,
            destination => destination,
        };
        match destination.as_array().ok()?.first()? {
            Object::Reference(id) => self.pages.get(id).copied(),
            _ => None,
        }
    }
}

/// Returns the named places of a file.
fn names(document: &Document) -> BTreeMap<Vec<u8>, &Object> {
    let mut names = BTreeMap::new();
    let Ok(catalog) = document.catalog() else { return names };
    if let Some(old) = catalog.get(b"Dests").ok().and_then(|it| dictionary(document, it)) {
        names.extend(old.iter().take(NAMES_MAX).map(|(name, place)| (name.clone(), place)));
    }
    let tree = catalog.get(b"Names").ok().and_then(|it| dictionary(document, it));
    if let Some(root) = tree.and_then(|it| dictionary(document, it.get(b"Dests").ok()?)) {
        gather(document, root, NAME_DEPTH_MAX, &mut names);
    }
    names
}

fn gather<'a>(
    document: &'a Document,
    node: &'a Dictionary,
    depth_left: usize,
    names: &mut BTreeMap<Vec<u8>, &'a Object>,
) {
    let array = |key: &[u8]| {
        let value = node.get(key).ok().and_then(|it| document.dereference(it).ok());
        value.and_then(|(_, it)| it.as_array().ok()).map(Vec::as_slice).unwrap_or_default()
    };
    for pair in array(b"Names").chunks_exact(2) {
        if let Object::String(name, _) = &pair[0] {
            names.insert(name.clone(), &pair[1]);
        }
    }
    for kid in array(b"Kids") {
        if depth_left > 0
            && names.len() < NAMES_MAX
            && let Some(kid) = dictionary(document, kid)
        {
            gather(document, kid, depth_left - 1, names);
        }
    }
}

fn dictionary<'a>(document: &'a Document, object: &'a Object) -> Option<&'a Dictionary> {
    document.dereference(object).ok()?.1.as_dict().ok()
}
