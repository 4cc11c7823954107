//! Documents of which a limit left something out: a few named, all counted.

/// Documents that are named.
const SHOWN_MAX: usize = 3;

/// Documents of which a limit left something out.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Shortened {
    pub(super) count: u64,
    /// The first few, each with the parts left out.
    pub(super) shown: Vec<String>,
}

impl Shortened {
    pub(super) fn note(&mut self, source: &str, what: &str) {
        self.count += 1;
        if self.shown.len() < SHOWN_MAX {
            self.shown.push(format!("`{source}`: {what}"));
        }
    }
}
