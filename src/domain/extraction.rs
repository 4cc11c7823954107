//! A language model's extraction from a passage: entities, and relations between them (`HiRAG`, section on `HiIndex`).

use serde::{Deserialize, Serialize};

use super::Span;

/// Entities of a passage at most.
pub const ENTITIES_MAX: usize = 32;
/// Relations of a passage at most.
pub const RELATIONS_MAX: usize = 48;
/// Strength of a relation at most; at least it is 1.
pub const STRENGTH_MAX: u8 = 10;

/// Who found something: rules, a language model, or both.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Origin {
    /// Rules alone.
    Rule,
    /// A language model alone.
    Model,
    /// Rules and a language model.
    Both,
}

impl Origin {
    /// Returns the origin of something that these found; none if neither did.
    #[must_use]
    pub const fn of(by_rule: bool, by_model: bool) -> Option<Self> {
        match (by_rule, by_model) {
            (true, false) => Some(Self::Rule),
            (false, true) => Some(Self::Model),
            (true, true) => Some(Self::Both),
            (false, false) => None,
        }
    }

    /// Returns whether a language model found it, alone or not.
    #[must_use]
    pub const fn has_model(self) -> bool {
        matches!(self, Self::Model | Self::Both)
    }

    /// Returns the origin of a name.
    #[must_use]
    pub fn of_name(name: &str) -> Option<Self> {
        [Self::Rule, Self::Model, Self::Both].into_iter().find(|it| it.name() == name)
    }

    /// Returns its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Rule => "rule",
            Self::Model => "model",
            Self::Both => "both",
        }
    }
}

/// A language model's extraction from a passage. All of it occurs there: see [`Extraction::is_of`].
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Extraction {
    /// The entities, each name once.
    pub entities: Vec<ExtractedEntity>,
    /// The relations, each pair of entities once.
    pub relations: Vec<ExtractedRelation>,
    /// Findings that are not in the passage.
    #[serde(default)]
    pub dropped: Dropped,
}

/// An entity in a passage.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExtractedEntity {
    /// Its name, as words folded and joined by one space.
    pub name: String,
    /// Its type, if it has one of those requested.
    #[serde(default, rename = "type", skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// Its description in the passage, in the model's words; may be empty.
    #[serde(default)]
    pub description: String,
    /// The spans of the name in the passage's text, in order; at least one.
    pub spans: Vec<Span>,
}

/// A relation between two entities of a passage.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExtractedRelation {
    /// The entities, by their places in the list, the lower first.
    pub ends: [u32; 2],
    /// How they are related, in the model's words; may be empty.
    #[serde(default)]
    pub description: String,
    /// How closely, from 1 to [`STRENGTH_MAX`].
    pub strength: u8,
    /// The part of the passage's text that says so.
    pub evidence: Span,
}

/// How much of a reply was left out.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Dropped {
    /// Entities whose name does not occur in the passage, or that are too many.
    pub entities: u32,
    /// Relations of missing entities, without support in the passage, or beyond the limit.
    pub relations: u32,
}

impl Dropped {
    /// Adds what another reply left out.
    pub const fn add(&mut self, other: Self) {
        self.entities = self.entities.saturating_add(other.entities);
        self.relations = self.relations.saturating_add(other.relations);
    }
}

impl Extraction {
    /// Returns whether it is a valid extraction from a passage with this text: within the limits, every span inside the
    /// text, every end of a relation an entity of the list.
    #[must_use]
    pub fn is_of(&self, text: &str) -> bool {
        let is_within = |span: &Span| span.start < span.end && text.get(span.range()).is_some();
        let is_entity = |it: &ExtractedEntity| {
            !it.name.is_empty() && !it.spans.is_empty() && it.spans.is_sorted() && it.spans.iter().all(is_within)
        };
        let count = self.entities.len() as u32;
        let is_relation = |it: &ExtractedRelation| {
            let [first, second] = it.ends;
            first < second && second < count && (1..=STRENGTH_MAX).contains(&it.strength) && is_within(&it.evidence)
        };
        self.entities.len() <= ENTITIES_MAX
            && self.relations.len() <= RELATIONS_MAX
            && self.entities.iter().all(is_entity)
            && self.relations.iter().all(is_relation)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn extraction() -> Extraction {
        let entity = |name: &str, start, end| ExtractedEntity {
            name: name.to_owned(),
            kind: None,
            description: String::new(),
            spans: vec![Span { start, end }],
        };
        let evidence = Span { start: 0, end: 17 };
        Extraction {
            entities: vec![entity("ada", 0, 3), entity("vell", 13, 17)],
            relations: vec![ExtractedRelation { ends: [0, 1], description: String::new(), strength: 4, evidence }],
            dropped: Dropped::default(),
        }
    }

    #[test]
    fn an_extraction_outside_the_passage_or_with_dangling_ends_does_not_belong_to_it() {
        type Damage = fn(&mut Extraction);
        let text = "Ada lives in Vell";
        assert!(extraction().is_of(text) && Extraction::default().is_of(""));
        assert!(!extraction().is_of("Ada lives") && !extraction().is_of("Ada lives in Vel€"));
        let damages: [Damage; 7] = [
            |it| it.relations[0].ends = [1, 1],
            |it| it.relations[0].ends = [0, 2],
            |it| it.relations[0].strength = 11,
            |it| it.relations[0].strength = 0,
            |it| it.entities[0].spans.clear(),
            |it| it.entities[0].name.clear(),
            |it| it.entities = vec![it.entities[0].clone(); ENTITIES_MAX + 1],
        ];
        for (number, damage) in damages.iter().enumerate() {
            let mut other = extraction();
            damage(&mut other);
            assert!(!other.is_of(text), "{number}");
        }
    }

    #[test]
    fn an_origin_is_that_of_those_who_found_something() {
        let all = [(true, false), (false, true), (true, true), (false, false)].map(|(a, b)| Origin::of(a, b));
        assert_eq!(all, [Some(Origin::Rule), Some(Origin::Model), Some(Origin::Both), None]);
    }
}
