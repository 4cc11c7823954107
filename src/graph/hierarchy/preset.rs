//! Named settings for building a hierarchy.

use super::build::HierarchyOptions;
use super::layers::{LastLayer, LayerOptions};
use crate::graph::leiden::LeidenOptions;

/// The change of cluster sparsity, as a share, up to which the paper makes no further layer (`HiRAG`, Algorithm 1).
const PAPER_SPARSITY: f64 = 0.05;
/// Maximum layers of preset `paper`; the paper has no limit, but each layer has at most a few fifths of the elements
/// below.
const PAPER_LAYERS_MAX: u32 = 16;
/// Members from which preset `paper` divides a community, as in the paper's program.
const PAPER_MEMBERS_MAX: usize = 10;

/// How a hierarchy is made, by name: an index remembers the name.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum HierarchyPreset {
    /// Layers while each has at most half as many summary entities as the one below, at most five; communities of two
    /// entities or more, parted from 25 on.
    #[default]
    Usual,
    /// As `HiRAG` (2025, arXiv:2503.10150) has it: layers until cluster sparsity changes by at most 5 %, the first in
    /// any case; communities of one entity or more, divided from 11 on.
    Paper,
}

impl HierarchyPreset {
    /// All of them.
    pub const ALL: [Self; 2] = [Self::Usual, Self::Paper];

    /// Returns its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Usual => "default",
            Self::Paper => "paper",
        }
    }

    /// Returns the preset of a name.
    #[must_use]
    pub fn of_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|it| it.name() == name)
    }

    /// Returns its options.
    #[must_use]
    pub fn options(self) -> HierarchyOptions {
        match self {
            Self::Usual => HierarchyOptions::default(),
            Self::Paper => HierarchyOptions {
                communities: LeidenOptions { members_max: PAPER_MEMBERS_MAX, ..LeidenOptions::default() },
                members_min: 1,
                layers: LayerOptions {
                    last: LastLayer::Sparsity(PAPER_SPARSITY),
                    layers_max: PAPER_LAYERS_MAX,
                    ..LayerOptions::default()
                },
                ..HierarchyOptions::default()
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_preset_is_found_by_its_name_and_differs_from_every_other() {
        for preset in HierarchyPreset::ALL {
            assert_eq!(HierarchyPreset::of_name(preset.name()), Some(preset));
        }
        assert_eq!(HierarchyPreset::of_name("papers"), None);
        assert_ne!(HierarchyPreset::Paper.options(), HierarchyPreset::Usual.options());
    }
}
