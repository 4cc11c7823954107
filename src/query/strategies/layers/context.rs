//! The rows of the levels that fit in the budget of the context: whole rows, the most informative first.

use std::collections::BTreeSet;

use super::Levels;
use super::communities::{Chosen, Counted};
use crate::domain::{
    Citation, ContextLevel, ContextShare, FoundBridge, FoundCommunity, FoundEntity, FoundRelation, LayersFound,
    LayersMode, QuestionScope, WrittenFinding,
};
use crate::error::Result;
use crate::graph::bridges::Bridge;
use crate::graph::hierarchy::NONE;
use crate::graph::ordinal::{EntityOrdinal, RelationOrdinal, SentenceOrdinal};
use crate::query::session::query::Query;
use crate::query::topics::{quoted, summarized, title, written};
use crate::store::{id_of_community, spelling};
use crate::text::english;

/// A context in progress.
pub(super) struct Context<'a> {
    levels: &'a Levels<'a>,
    /// Sentences already in it.
    told: BTreeSet<SentenceOrdinal>,
    /// Unused tokens of the levels so far.
    left: usize,
    shares: Vec<ContextShare>,
}

impl<'a> Context<'a> {
    /// Returns the rows of the levels, and the tokens left for passages.
    ///
    /// # Errors
    ///
    /// If the store cannot be read.
    pub(super) fn of(levels: &'a Levels<'a>) -> Result<LayersFound> {
        let mut context = Self { levels, told: BTreeSet::new(), left: 0, shares: Vec::new() };
        let mode = levels.options.mode;
        #[expect(clippy::cast_sign_loss, reason = "no share is negative")]
        let [local, global, bridge] =
            levels.options.shares.map(|share| (share * levels.options.tokens as f32) as usize);
        let mut found =
            LayersFound { mode, entry: levels.options.entry, scope: levels.scope, ..LayersFound::default() };
        if mode.has(LayersMode::Local) {
            let entered: Vec<(Chosen, f32)> = levels.entered.clone();
            found.entities = context.rows(ContextLevel::Local, local, &entered, Self::entity)?;
        }
        if mode.has(LayersMode::Global) {
            found.communities = context.rows(ContextLevel::Global, global, &levels.communities, Self::community)?;
        }
        if mode.has(LayersMode::Bridge) {
            let query = levels.query;
            found.bridges = levels.bridges.iter().map(|it| joined(query, it)).collect::<Result<_>>()?;
            found.relations = context.rows(ContextLevel::Bridge, bridge, &levels.relations, Self::relation)?;
        }
        // Which passages are shown is known later: see `room`.
        let taken: u32 = context.shares.iter().map(|share| share.tokens).sum();
        let tokens_max = (levels.options.tokens as u32).saturating_sub(taken);
        context.shares.push(ContextShare { level: ContextLevel::Passages, tokens_max, tokens: 0, rows: 0, cut: 0 });
        found.context = context.shares;
        Ok(found)
    }

    /// Returns the first rows of a level, as many whole ones as fit in `tokens` and the unused tokens of earlier
    /// levels.
    fn rows<I, T>(
        &mut self,
        level: ContextLevel,
        tokens: usize,
        items: &[I],
        row: impl Fn(&mut Self, &I) -> Result<Option<(T, usize)>>,
    ) -> Result<Vec<T>> {
        let tokens_max = tokens + self.left;
        let (mut rows, mut taken, mut cut) = (Vec::new(), 0, 0);
        for (place, item) in items.iter().enumerate() {
            let told = self.told.clone();
            let Some((made, size)) = row(self, item)? else { continue };
            if taken + size > tokens_max {
                self.told = told;
                cut = items.len() - place;
                break;
            }
            taken += size;
            rows.push(made);
        }
        self.left = tokens_max - taken;
        let [tokens_max, tokens, rows_count, cut] = [tokens_max, taken, rows.len(), cut].map(|it| it as u32);
        self.shares.push(ContextShare { level, tokens_max, tokens, rows: rows_count, cut });
        Ok(rows)
    }

    /// Quotes a sentence, unless it is already in the context or may not be shown.
    fn quote(&mut self, sentence: SentenceOrdinal) -> Result<Option<Citation>> {
        if !self.levels.nearness.is_shown(sentence) || !self.told.insert(sentence) {
            return Ok(None);
        }
        self.cited(sentence)
    }

    /// Quotes a sentence with how near it is to the question, unless it may not be shown.
    fn cited(&self, sentence: SentenceOrdinal) -> Result<Option<Citation>> {
        if !self.levels.nearness.is_shown(sentence) {
            return Ok(None);
        }
        let nearness = self.levels.nearness.sentence(sentence);
        // Where nothing is asked about, no sentence is nearer to it than another.
        let score = if self.levels.scope == QuestionScope::Collection { 1.0 } else { nearness };
        let quoted = quoted(self.levels.query.reader.as_ref(), sentence)?;
        Ok(quoted.map(|citation| Citation { score, ..citation }))
    }

    fn entity(&mut self, (chosen, score): &(Chosen, f32)) -> Result<Option<(FoundEntity, usize)>> {
        let (reader, hierarchy) = (self.levels.query.reader.as_ref(), &self.levels.hierarchy);
        let (name, layer, summary) = match chosen {
            Chosen::Entity(entity) => (spelling(reader, *entity)?, 0, Vec::new()),
            Chosen::Summary(summary) => {
                let (name, said) = summarized(reader, hierarchy, *summary, |it| self.cited(it))?;
                (name, hierarchy.summary_layer[*summary], said)
            }
        };
        let nearest = self.levels.nearness.nearest(*chosen);
        let sentence = nearest.map(|it| self.quote(it)).transpose()?.flatten();
        let texts = summary.iter().map(|it: &WrittenFinding| it.text.as_str());
        let size = count([name.as_str()].into_iter().chain(texts), sentence.iter());
        Ok(Some((FoundEntity { name, layer, score: *score, summary, sentence }, size)))
    }

    fn community(&mut self, counted: &Counted) -> Result<Option<(FoundCommunity, usize)>> {
        let (query, hierarchy) = (self.levels.query, self.levels.hierarchy);
        let (reader, community) = (query.reader.as_ref(), counted.community);
        let report = written(reader, community, |it| self.cited(it))?;
        let by_rule = if report.is_none() { hierarchy.findings(community) } else { &[] };
        let nearest = counted.keys.iter().filter_map(|key| self.levels.nearness.nearest(Chosen::Entity(*key)));
        let is_entered = self.levels.scope != QuestionScope::Collection;
        let sentences = by_rule.iter().copied().chain(nearest.filter(|_| is_entered));
        let sentences: Vec<SentenceOrdinal> = sentences.collect();
        let findings = sentences.into_iter().map(|it| self.quote(it));
        let findings: Vec<Citation> = findings.filter_map(Result::transpose).collect::<Result<_>>()?;
        let title = title(reader, hierarchy, community).to_owned();
        // Whatever documents it was written from.
        let (summary, report) = report.map(|it| (it.summary, it.findings)).unzip();
        let (summary, report) = (summary.filter(|_| self.levels.nearness.admits_all()), report.unwrap_or_default());
        let texts = report.iter().map(|it: &WrittenFinding| it.text.as_str());
        let size = count([title.as_str()].into_iter().chain(summary.as_deref()).chain(texts), findings.iter());
        let found = FoundCommunity {
            id: id_of_community(&reader.graph(), &hierarchy, community),
            level: hierarchy.community_level[community],
            hits: counted.hits,
            rating: hierarchy.rating(community),
            keys: names(query, &counted.keys)?,
            title,
            summary,
            report,
            findings,
        };
        Ok(Some((found, size)))
    }

    /// Returns a relation with its sentence; none if the sentence is already in the context, or missing.
    fn relation(
        &mut self,
        (ends, relation): &([EntityOrdinal; 2], RelationOrdinal),
    ) -> Result<Option<(FoundRelation, usize)>> {
        let (query, hierarchy) = (self.levels.query, self.levels.hierarchy);
        let sentence = hierarchy.relation_sentence[*relation];
        if sentence.0 == NONE {
            return Ok(None);
        }
        let Some(sentence) = self.quote(sentence)? else { return Ok(None) };
        let [from, to] = both(query, *ends)?;
        let size = count([from.as_str(), to.as_str()], [&sentence].into_iter());
        let weight = hierarchy.relation_weight[*relation];
        Ok(Some((FoundRelation { from, to, weight, sentence: Some(sentence) }, size)))
    }
}

fn joined(query: &Query, bridge: &Bridge) -> Result<FoundBridge> {
    let [from, to] = both(query, bridge.ends)?;
    let paths = bridge.paths.iter().map(|path| names(query, path));
    Ok(FoundBridge { from, to, paths: paths.collect::<Result<_>>()? })
}

fn names(query: &Query, entities: &[EntityOrdinal]) -> Result<Vec<String>> {
    entities.iter().map(|entity| spelling(query.reader.as_ref(), *entity)).collect()
}

fn both(query: &Query, [one, other]: [EntityOrdinal; 2]) -> Result<[String; 2]> {
    Ok([spelling(query.reader.as_ref(), one)?, spelling(query.reader.as_ref(), other)?])
}

/// Returns the tokens of a row, as the embedder in the program counts them.
fn count<'t>(names: impl IntoIterator<Item = &'t str>, quoted: impl Iterator<Item = &'t Citation>) -> usize {
    let texts = names.into_iter().chain(quoted.map(|it| it.quote.as_str()));
    texts.map(|text| english().count(text)).sum()
}
