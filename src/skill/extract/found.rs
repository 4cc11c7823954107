//! Checks the names of a model's reply against the passage.

use rustc_hash::FxHashMap;

use super::{EntityReply, EntityTypes, RelationReply};
use crate::domain::{
    ENTITIES_MAX, ExtractedEntity, ExtractedRelation, Extraction, Passage, RELATIONS_MAX, STRENGTH_MAX, Span,
};
use crate::skill::lenient;
use crate::text::{Places, is_stop_word, one_line, shortened, tokens};

/// Words of a name at most.
const NAME_WORDS_MAX: usize = 12;
/// Characters of a name at most.
const NAME_CHARS_MAX: usize = 200;
/// Characters of a description at most: a longer one is cut.
const DESCRIPTION_CHARS_MAX: usize = 400;
/// Places of a name in a passage that are kept.
const SPANS_MAX: usize = 8;
/// Minimum words of a quotation: shorter ones occur everywhere.
const EVIDENCE_WORDS_MIN: usize = 3;

/// A passage, and the findings in it so far.
pub(super) struct Finder<'a> {
    passage: &'a Passage,
    types: &'a EntityTypes,
    places: Places<'a>,
    /// The place of each name in the list.
    entities: FxHashMap<String, u32>,
    relations: FxHashMap<[u32; 2], usize>,
    found: Extraction,
}

impl<'a> Finder<'a> {
    pub(super) fn of(passage: &'a Passage, types: &'a EntityTypes) -> Self {
        Self {
            passage,
            types,
            places: Places::of(&passage.text),
            entities: FxHashMap::default(),
            relations: FxHashMap::default(),
            found: Extraction::default(),
        }
    }

    /// Continues from earlier findings.
    pub(super) fn with(passage: &'a Passage, types: &'a EntityTypes, found: Extraction) -> Self {
        let entities = found.entities.iter().map(|it| it.name.clone()).zip(0..).collect();
        let relations = found.relations.iter().map(|it| it.ends).zip(0..).collect();
        Self { entities, relations, found, ..Self::of(passage, types) }
    }

    /// Returns the entities whose names occur in the passage.
    ///
    /// # Errors
    ///
    /// The fault of a reply none of whose names does.
    pub(super) fn with_entities(mut self, replies: &[EntityReply]) -> Result<Extraction, String> {
        for entity in replies {
            self.add_entity(entity);
        }
        match replies.len() {
            named if named > 0 && self.found.entities.is_empty() => Err(format!(
                "none of the {named} names in `entities` stands in the passage; write each as the passage writes it"
            )),
            _ => Ok(self.found),
        }
    }

    /// Adds an entity whose name occurs in the passage; any other is counted. Of one that is named twice, the first
    /// type and the first description hold.
    pub(super) fn add_entity(&mut self, reply: &EntityReply) {
        let (name, written) = name_of(&reply.name);
        let kind = self.types.find(&reply.kind);
        let description = description(&reply.description);
        if let Some(known) = self.entities.get(&name) {
            let known = &mut self.found.entities[*known as usize];
            known.kind = known.kind.take().or(kind);
            if known.description.is_empty() {
                known.description = description;
            }
            return;
        }
        let spans = if is_name(&name) { self.spans(&name, written, SPANS_MAX) } else { Vec::new() };
        if spans.is_empty() || self.found.entities.len() >= ENTITIES_MAX {
            self.found.dropped.entities += 1;
            return;
        }
        self.entities.insert(name.clone(), self.found.entities.len() as u32);
        self.found.entities.push(ExtractedEntity { name, kind, description, spans });
    }

    /// Adds a relation between two of the entities, if the passage has the quoted words, or a sentence that names both;
    /// any other is counted. Of a pair that is named twice, the greater strength holds.
    pub(super) fn add_relation(&mut self, reply: &RelationReply) {
        let end = |name: &str| self.entities.get(&name_of(name).0).copied();
        let ends = end(&reply.source).zip(end(&reply.target)).filter(|(source, target)| source != target);
        let ends = ends.map(|(source, target)| [source.min(target), source.max(target)]);
        let Some((ends, evidence)) = ends.and_then(|ends| Some((ends, self.evidence(&reply.evidence, ends)?))) else {
            self.found.dropped.relations += 1;
            return;
        };
        let strength = lenient::nearest(reply.strength, 1, STRENGTH_MAX);
        let description = description(&reply.description);
        if let Some(known) = self.relations.get(&ends) {
            let known = &mut self.found.relations[*known];
            known.strength = known.strength.max(strength);
            if known.description.is_empty() {
                known.description = description;
            }
            return;
        }
        if self.found.relations.len() >= RELATIONS_MAX {
            self.found.dropped.relations += 1;
            return;
        }
        self.relations.insert(ends, self.found.relations.len());
        self.found.relations.push(ExtractedRelation { ends, description, strength, evidence });
    }

    pub(super) fn found(self) -> Extraction {
        self.found
    }

    /// Returns where the passage has a name.
    fn spans(&self, name: &str, written: &str, most: usize) -> Vec<Span> {
        self.places.of_name(name, written, most).into_iter().map(Span::from).collect()
    }

    /// Returns the part of the passage that says how two entities are related.
    fn evidence(&self, quoted: &str, ends: [u32; 2]) -> Option<Span> {
        let words = tokens(quoted);
        let is_long = words.len() >= EVIDENCE_WORDS_MIN || !quoted.is_ascii();
        let quoted = if is_long { self.spans(&words.join(" "), quoted.trim(), 1) } else { Vec::new() };
        quoted.first().copied().or_else(|| self.shared_sentence(ends))
    }

    fn shared_sentence(&self, ends: [u32; 2]) -> Option<Span> {
        let [first, second] = ends.map(|end| &self.found.entities[end as usize].spans);
        let has =
            |spans: &[Span], sentence: &Span| spans.iter().any(|it| (sentence.start..sentence.end).contains(&it.start));
        self.passage.sentences.iter().find(|it| has(first, it) && has(second, it)).copied()
    }
}

/// Returns the key of a name, and the name without an article in lower case.
fn name_of(written: &str) -> (String, &str) {
    let written = written.trim();
    let bare = ["the ", "a ", "an "].iter().find_map(|article| written.strip_prefix(article)).unwrap_or(written).trim();
    (tokens(bare).join(" "), bare)
}

/// Returns whether a key can be a name.
fn is_name(key: &str) -> bool {
    let words: Vec<&str> = key.split(' ').collect();
    !key.is_empty()
        && words.len() <= NAME_WORDS_MAX
        && key.chars().nth(NAME_CHARS_MAX).is_none()
        && !words.iter().all(|word| is_stop_word(word))
}

/// Returns a description on one line, cut to its limit.
fn description(said: &str) -> String {
    let line = one_line(said);
    shortened(&line, DESCRIPTION_CHARS_MAX).unwrap_or(line)
}
