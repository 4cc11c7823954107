//! A model's work, passage by passage: its questions, as separate units, and the totals.

use std::collections::BTreeMap;

use rusqlite::{Connection, OptionalExtension as _, Params, Row, params};

use super::digest::Digest;
use super::unit::{
    DESCRIBED, EXTRACTED, FAILED, InsertMark, InsertQuestion, Mark, REPORTED, SUMMARIZED, UNDESCRIBED, UNEXTRACTED,
    UNREPORTED, UNSUMMARIZED, UNWRITTEN, WRITTEN, note_change,
};
use super::{Records, bytes, digest, kept};
use crate::domain::{Cost, DocumentId, PassageId, PseudoQuery, QuestionOrigin, Skip, Spent, Usage};
use crate::error::{Error, Result};

/// The suffix of a model's name in its row of calls that ended without a reply.
const LOST: &str = " (no reply)";

/// The tasks of a model: about passages, or about entities, clusters and communities, one by one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ModelStage {
    /// The questions that a passage answers and raises.
    Questions,
    /// The entities of a passage, and relations between them.
    Entities,
    /// Merged descriptions of entities with many of them.
    Descriptions,
    /// Summaries of clusters of entities.
    Summaries,
    /// Reports about communities of entities.
    Reports,
}

impl ModelStage {
    /// All stages.
    pub const ALL: [Self; 5] = [Self::Questions, Self::Entities, Self::Descriptions, Self::Summaries, Self::Reports];
    /// The separator between the title of a topic or cluster and the reason for a failure, which no title contains.
    pub const AFTER_TITLE: char = '\n';

    /// Returns the stage of units that are done.
    pub(super) const fn done(self) -> &'static str {
        match self {
            Self::Questions => WRITTEN,
            Self::Entities => EXTRACTED,
            Self::Descriptions => DESCRIBED,
            Self::Summaries => SUMMARIZED,
            Self::Reports => REPORTED,
        }
    }

    /// Returns the stage of units for which a model gave nothing that can be used.
    pub(super) const fn failed(self) -> &'static str {
        match self {
            Self::Questions => UNWRITTEN,
            Self::Entities => UNEXTRACTED,
            Self::Descriptions => UNDESCRIBED,
            Self::Summaries => UNSUMMARIZED,
            Self::Reports => UNREPORTED,
        }
    }
}

/// The questions of one passage after a model was asked for them.
#[derive(Debug, Clone, PartialEq)]
pub struct WrittenQuestions {
    /// The passage.
    pub passage: PassageId,
    /// Its questions from now on, or why the model gave none: then those that it has stay.
    pub questions: Result<Vec<PseudoQuery>, String>,
}

/// How many passages a model was asked about.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct WrittenCounts {
    /// Those with a usable reply.
    pub written: u64,
    /// Those for which it gave nothing that can be used.
    pub failed: u64,
}

impl Records {
    /// Returns passages about which `writer`, a digest of model and prompt, has not written in a stage, document by
    /// document.
    ///
    /// # Errors
    ///
    /// If the records cannot be read.
    pub fn unwritten(&self, stage: ModelStage, writer: &str) -> Result<Vec<(DocumentId, Vec<PassageId>)>> {
        const SQL: &str = "SELECT d.id, p.id FROM documents d JOIN passages p ON p.document = d.document \
             LEFT JOIN units u ON u.stage = ?1 AND u.key = p.id \
             WHERE u.fingerprint IS NOT ?2 ORDER BY d.source_id, p.ordinal";
        self.passages_by_document(SQL, params![stage.done(), writer])
    }

    /// Returns passages whose questions `writer` wrote, and that have none of rules though they should, or some though
    /// they should not.
    ///
    /// # Errors
    ///
    /// If the records cannot be read.
    pub fn written_otherwise(&self, writer: &str, with_rules: bool) -> Result<Vec<(DocumentId, Vec<PassageId>)>> {
        const SQL: &str = "SELECT d.id, p.id FROM documents d JOIN passages p ON p.document = d.document \
             JOIN units u ON u.stage = ?1 AND u.key = p.id AND u.fingerprint = ?2 \
             WHERE ?3 <> EXISTS (SELECT 1 FROM questions q WHERE q.passage = p.passage AND q.origin = ?4) \
             ORDER BY d.source_id, p.ordinal";
        self.passages_by_document(SQL, params![WRITTEN, writer, with_rules, QuestionOrigin::Rule.code()])
    }

    /// Returns whether `writer` wrote about any passage in a stage.
    ///
    /// # Errors
    ///
    /// If the records cannot be read.
    pub fn is_written_by(&self, stage: ModelStage, writer: &str) -> Result<bool> {
        const SQL: &str = "SELECT EXISTS (SELECT 1 FROM units WHERE stage = ?1 AND fingerprint = ?2)";
        self.connection.query_row(SQL, [stage.done(), writer], |row| row.get(0)).map_err(Error::records("read"))
    }

    /// Returns the keys of the units for which `writer` gave nothing that can be used: those of passages are their ids.
    ///
    /// # Errors
    ///
    /// If the records cannot be read.
    pub fn failed_by(&self, stage: ModelStage, writer: &str) -> Result<Vec<[u8; 16]>> {
        let read = || {
            let mut statement =
                self.connection.prepare("SELECT key FROM units WHERE stage = ?1 AND fingerprint = ?2 ORDER BY key")?;
            let rows = statement.query_map([stage.failed(), writer], |row| bytes(row, 0))?;
            rows.collect::<rusqlite::Result<_>>()
        };
        read().map_err(Error::records("read"))
    }

    fn passages_by_document(&self, sql: &str, params: impl Params) -> Result<Vec<(DocumentId, Vec<PassageId>)>> {
        let read = || {
            let mut documents: Vec<(DocumentId, Vec<PassageId>)> = Vec::new();
            let mut statement = self.connection.prepare(sql)?;
            let mut rows = statement.query(params)?;
            while let Some(row) = rows.next()? {
                let document = DocumentId::from_bytes(bytes(row, 0)?);
                let passage = PassageId::from_bytes(bytes(row, 1)?);
                match documents.last_mut().filter(|(last, _)| *last == document) {
                    Some((_, passages)) => passages.push(passage),
                    None => documents.push((document, vec![passage])),
                }
            }
            Ok(documents)
        };
        read().map_err(Error::records("read"))
    }

    /// Keeps a model's questions, in one transaction. Passages that are gone are ignored.
    ///
    /// # Errors
    ///
    /// If the records cannot be written; then nothing has changed.
    pub fn write_questions(&mut self, written: &[WrittenQuestions], writer: &str) -> Result<()> {
        self.write(|transaction| {
            let mut find = transaction.prepare("SELECT passage FROM passages WHERE id = ?1")?;
            let mut remove = transaction.prepare("DELETE FROM questions WHERE passage = ?1")?;
            let mut insert = InsertQuestion::new(transaction)?;
            let mut seal = transaction.prepare("UPDATE passages SET digest = ?2 WHERE passage = ?1")?;
            let mut mark = InsertMark::new(transaction)?;
            let mut unmark = transaction.prepare("DELETE FROM units WHERE stage = ?1 AND key = ?2")?;
            for WrittenQuestions { passage, questions } in written {
                let key = passage.as_bytes();
                let Some(row) = find.query_row([key], |row| row.get::<_, i64>(0)).optional()? else { continue };
                match questions {
                    Ok(questions) => {
                        remove.execute([row])?;
                        questions.iter().try_for_each(|question| insert.of(row, question))?;
                        seal.execute(params![row, digest::questions(*passage, Some(writer), questions)])?;
                        mark.of(&Mark::done(WRITTEN, key, writer))?;
                        unmark.execute(params![UNWRITTEN, key])?;
                    }
                    Err(reason) => {
                        let (state, reason) = (FAILED, Some(reason.as_str()));
                        mark.of(&Mark { state, reason, ..Mark::done(UNWRITTEN, key, writer) })?;
                    }
                }
            }
            note_change(transaction, written.iter().any(|it| it.questions.is_ok()))
        })
    }

    /// Adds to the cost of a model. It survives any end of the process; if the machine crashes, the last entries may be
    /// lost, since waiting for the disk at each call would delay the next.
    ///
    /// # Errors
    ///
    /// If the records cannot be written.
    pub fn add_spending(&mut self, model: &str, spent: &Spent) -> Result<()> {
        // One unknown price makes the sum unknown, but calls that cost nothing leave it as it is.
        const SQL: &str = "INSERT INTO spending VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, x'') \
             ON CONFLICT (model) DO UPDATE SET \
             cost = CASE WHEN excluded.calls = 0 THEN cost WHEN calls = 0 THEN excluded.cost \
                         WHEN currency IS excluded.currency THEN cost + excluded.cost END, \
             currency = CASE WHEN excluded.calls = 0 THEN currency WHEN calls = 0 THEN excluded.currency \
                             WHEN currency IS excluded.currency THEN currency END, \
             calls = calls + excluded.calls, cached = cached + excluded.cached, \
             input_tokens = input_tokens + excluded.input_tokens, \
             output_tokens = output_tokens + excluded.output_tokens, \
             is_estimated = max(is_estimated, excluded.is_estimated)";
        let Spent { calls, cached, lost, .. } = spent;
        if *calls + *cached + *lost == 0 {
            return Ok(());
        }
        let lost = (format!("{model}{LOST}"), Spent { calls: *lost, ..Spent::default() });
        let rows = [(model, spent), (&lost.0, &lost.1)].into_iter().filter(|(_, it)| it.calls + it.cached > 0);
        let sync = |records: &Self, mode| {
            records.connection.pragma_update(None, "synchronous", mode).map_err(Error::records("write"))
        };
        // Earlier damage must not get a valid digest.
        self.spending()?;
        sync(self, "NORMAL")?;
        let added = self.write(|transaction| {
            for (model, Spent { calls, cached, usage, cost, .. }) in rows {
                let signed = |count: &u64| count.cast_signed();
                let amount = cost.as_ref().map(|it| it.amount);
                let currency = cost.as_ref().map(|it| it.currency.as_str());
                let (input, output) = (signed(&usage.input_tokens), signed(&usage.output_tokens));
                let counted = (signed(calls), signed(cached));
                let row = params![model, counted.0, counted.1, input, output, usage.is_estimated, amount, currency];
                transaction.execute(SQL, row)?;
            }
            seal_spending(transaction)
        });
        sync(self, "FULL")?;
        added
    }

    /// Returns whether a model wrote anything about a passage.
    ///
    /// # Errors
    ///
    /// If the records cannot be read.
    pub fn has_written(&self) -> Result<bool> {
        const SQL: &str = "SELECT EXISTS (SELECT 1 FROM units WHERE stage IN (?1, ?2))";
        let stages = [ModelStage::Questions, ModelStage::Entities].map(ModelStage::done);
        self.connection.query_row(SQL, stages, |row| row.get(0)).map_err(Error::records("read"))
    }

    /// Returns how many passages a model was asked about.
    ///
    /// # Errors
    ///
    /// If the records cannot be read.
    pub fn written_counts(&self, stage: ModelStage) -> Result<WrittenCounts> {
        const SQL: &str = "SELECT count(*) FILTER (WHERE stage = ?1), count(*) FILTER (WHERE stage = ?2) FROM units";
        let counts = self.connection.query_row(SQL, [stage.done(), stage.failed()], |row| {
            let count = |column| row.get::<_, i64>(column).map(i64::cast_unsigned);
            Ok(WrittenCounts { written: count(0)?, failed: count(1)? })
        });
        counts.map_err(Error::records("read"))
    }

    /// Returns the passages for which a model gave nothing that can be used, and why.
    ///
    /// # Errors
    ///
    /// If the records cannot be read.
    pub fn unwritten_reasons(&self, stage: ModelStage) -> Result<Vec<Skip>> {
        const SQL: &str = "SELECT d.uri, p.ordinal, u.reason FROM units u JOIN passages p ON p.id = u.key \
             JOIN documents d ON d.document = p.document WHERE u.stage = ?1 \
             ORDER BY d.uri, p.ordinal";
        let reason = |row: &Row<'_>| {
            let (uri, ordinal): (String, u32) = (row.get(0)?, row.get(1)?);
            let reason: Option<String> = row.get(2)?;
            Ok(Skip { source: format!("{uri}, passage {}", ordinal + 1), reason: reason.unwrap_or_default() })
        };
        let read = || -> rusqlite::Result<Vec<Skip>> {
            self.connection.prepare(SQL)?.query_map([stage.failed()], reason)?.collect()
        };
        read().map_err(Error::records("read"))
    }

    /// Returns the entities, clusters or communities for which a model gave nothing that can be used, by what rules
    /// call them, and why.
    ///
    /// # Errors
    ///
    /// If the records cannot be read.
    pub fn unreported_reasons(&self, stage: ModelStage) -> Result<Vec<Skip>> {
        const SQL: &str = "SELECT reason FROM units WHERE stage = ?1 ORDER BY reason, key";
        let what = match stage {
            ModelStage::Descriptions => "entity",
            ModelStage::Summaries => "cluster",
            _ => "topic",
        };
        let reason = |row: &Row<'_>| {
            let reason: String = row.get::<_, Option<String>>(0)?.unwrap_or_default();
            let (title, why) = reason.split_once(ModelStage::AFTER_TITLE).unwrap_or(("", &reason));
            Ok(Skip { source: format!("the {what} `{title}`"), reason: why.to_owned() })
        };
        let read = || -> rusqlite::Result<Vec<Skip>> {
            self.connection.prepare(SQL)?.query_map([stage.failed()], reason)?.collect()
        };
        read().map_err(Error::records("read"))
    }

    /// Returns the cost of the index, by model.
    ///
    /// # Errors
    ///
    /// If the records cannot be read.
    pub fn spending(&self) -> Result<Vec<(String, Spent)>> {
        let sql = if self.has_digests() {
            "SELECT * FROM spending ORDER BY model"
        } else {
            "SELECT *, NULL FROM spending ORDER BY model"
        };
        let rows = self.read_all(sql, read_spending).map_err(Error::records("read"))?;
        let known = |(model, spent, kept): (String, Spent, Option<Digest>)| {
            if digest::is_right(self.format, kept, || digest::spending(&model, &spent)) {
                return Ok((model, spent));
            }
            Err(self.corrupt(format!("what was spent on `{model}` is not what was written")))
        };
        let mut by_model: BTreeMap<String, Spent> = BTreeMap::new();
        for row in rows {
            let (model, spent) = known(row)?;
            match model.strip_suffix(LOST) {
                Some(model) => by_model.entry(model.to_owned()).or_default().lost = spent.calls,
                None => by_model.entry(model).or_default().add(&spent),
            }
        }
        Ok(by_model.into_iter().collect())
    }
}

/// Gives the cost of each model its digest.
pub(super) fn seal_spending(connection: &Connection) -> rusqlite::Result<()> {
    let mut statement = connection.prepare("SELECT * FROM spending")?;
    let rows = statement.query_map([], read_spending)?.collect::<rusqlite::Result<Vec<_>>>()?;
    let mut update = connection.prepare("UPDATE spending SET digest = ?2 WHERE model = ?1")?;
    rows.iter()
        .try_for_each(|(model, spent, _)| update.execute(params![model, digest::spending(model, spent)]).map(drop))
}

fn read_spending(row: &Row<'_>) -> rusqlite::Result<(String, Spent, Option<Digest>)> {
    let count = |column| row.get::<_, i64>(column).map(i64::cast_unsigned);
    let (amount, currency): (Option<f64>, Option<String>) = (row.get(6)?, row.get(7)?);
    let usage = Usage { input_tokens: count(3)?, output_tokens: count(4)?, is_estimated: row.get(5)? };
    let cost = amount.zip(currency).map(|(amount, currency)| Cost { amount, currency });
    Ok((row.get(0)?, Spent { calls: count(1)?, cached: count(2)?, lost: 0, usage, cost }, kept(row, 8)?))
}
