//! Sources that runs leave out, grouped by reason, so that thousands of files make a short list.

use serde::{Deserialize, Serialize};

use super::Skip;

/// Sources that are named for each reason.
const EXAMPLES_MAX: usize = 5;

/// Sources that were left out for one reason.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeftOut {
    /// Why; numbers and names that differ from source to source are `…`.
    pub reason: String,
    /// How many sources.
    pub count: u64,
    /// The first of them, in the order in which they were left out.
    pub examples: Vec<String>,
}

impl Skip {
    /// Returns how many files it represents: `12 files .png` are counted, not named.
    #[must_use]
    pub fn count(&self) -> u64 {
        files(&self.source)
    }
}

impl LeftOut {
    /// Returns whether there are more sources than are named.
    #[must_use]
    pub fn has_more(&self) -> bool {
        self.count > self.examples.iter().map(|source| files(source)).sum()
    }
}

fn files(source: &str) -> u64 {
    let (number, rest) = source.split_once(' ').unwrap_or_default();
    let is_counted = rest.starts_with("file ") || rest.starts_with("files ") || rest == "files";
    number.parse().ok().filter(|_| is_counted).unwrap_or(1)
}

/// Groups sources that were left out by reason, the largest group first.
#[must_use]
pub fn left_out(skips: &[Skip]) -> Vec<LeftOut> {
    let mut groups: Vec<(String, LeftOut)> = Vec::new();
    let mut places = std::collections::BTreeMap::new();
    for skip in skips {
        let kind = kind(&skip.reason);
        let place = *places.entry(kind.clone()).or_insert(groups.len());
        if place == groups.len() {
            let group = LeftOut { reason: skip.reason.clone(), count: 0, examples: Vec::new() };
            groups.push((kind, group));
        }
        let Some((kind, group)) = groups.get_mut(place) else { continue };
        group.count += skip.count();
        if group.examples.len() < EXAMPLES_MAX {
            group.examples.push(skip.source.clone());
        }
        if group.reason != skip.reason {
            group.reason.clone_from(kind);
        }
    }
    let mut groups: Vec<LeftOut> = groups.into_iter().map(|it| it.1).collect();
    groups.sort_by(|a, b| b.count.cmp(&a.count).then_with(|| a.reason.cmp(&b.reason)));
    groups
}

/// Returns a reason without the parts that differ from source to source.
fn kind(reason: &str) -> String {
    let mut kind = String::with_capacity(reason.len());
    let (mut is_quoted, mut is_number) = (false, false);
    for it in reason.chars() {
        if it == '`' {
            kind.push_str(if is_quoted { "`" } else { "`…" });
            is_quoted = !is_quoted;
        } else if is_quoted {
        } else if it.is_ascii_digit() {
            if !is_number {
                kind.push('…');
            }
            is_number = true;
            continue;
        } else {
            kind.push(it);
        }
        is_number = false;
    }
    kind
}

#[cfg(test)]
mod tests {
    use super::*;

    fn skip(source: &str, reason: &str) -> Skip {
        Skip { source: source.to_owned(), reason: reason.to_owned() }
    }

    #[test]
    fn what_is_left_out_is_grouped_by_reason_largest_first() {
        let skips = [
            skip("a.txt", "it is empty"),
            skip("b.txt", "99 bytes; a document may have 60"),
            skip("c.txt", "70 bytes; a document may have 60"),
            skip("d.jsonl:2", "id `x` was already used by a.jsonl:1"),
            skip("12 files .png", "unsupported kind of file"),
            skip("1 file without an extension", "unsupported kind of file"),
        ];
        let groups = left_out(&skips);
        let shown: Vec<(&str, u64, usize)> =
            groups.iter().map(|it| (it.reason.as_str(), it.count, it.examples.len())).collect();
        let expect = [
            ("unsupported kind of file", 13, 2),
            ("… bytes; a document may have …", 2, 2),
            ("id `x` was already used by a.jsonl:1", 1, 1),
            ("it is empty", 1, 1),
        ];
        assert_eq!(shown, expect);
        assert!(groups.iter().all(|group| !group.has_more()));
        let many = left_out(&["a", "b", "c", "d", "2 files .e", "f"].map(|source| skip(source, "it is empty")));
        assert_eq!((many[0].examples.len(), many[0].has_more()), (EXAMPLES_MAX, true));
        assert!(left_out(&[]).is_empty());
    }

    #[test]
    fn a_source_that_counts_files_says_how_many() {
        for (source, count) in
            [("2 files .png", 2), ("3 files", 3), ("1 file .x", 1), ("2 apples.txt", 1), ("a b", 1), ("7", 1)]
        {
            assert_eq!(skip(source, "").count(), count, "{source}");
        }
    }
}
