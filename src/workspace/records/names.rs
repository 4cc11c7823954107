//! Merges and splits by hand: which two names are names of one entity, and which are not.

use rusqlite::types::Type;
use rusqlite::{Row, params};

use super::digest::{self, Digest};
use super::unit::note_change;
use super::{Records, damaged, kept};
use crate::domain::{NamePair, NameVerdict};
use crate::error::{Error, Result};

/// Pairs of names that an index keeps at most.
pub(crate) const NAME_PAIRS_MAX: usize = 100_000;

impl Records {
    /// Returns the merges and splits of pairs of names, by their names.
    ///
    /// # Errors
    ///
    /// If the records cannot be read.
    pub fn name_pairs(&self) -> Result<Vec<NamePair>> {
        // Both came with one format.
        if !self.has_extractions() {
            return Ok(Vec::new());
        }
        let sql = "SELECT one, other, verdict, digest FROM name_pairs ORDER BY one, other";
        let rows = self.read_all(sql, |row| Ok((read_pair(row)?, kept(row, 3)?))).map_err(Error::records("read"))?;
        let known = |(pair, kept): (NamePair, Option<Digest>)| {
            if digest::is_right(self.format, kept, || digest::name_pair(&pair)) {
                return Ok(pair);
            }
            Err(self.corrupt("a merge or split of two names is not what was written"))
        };
        rows.into_iter().map(known).collect()
    }

    /// Keeps a merge or split of two names, replacing and returning the earlier one; the next run applies it. The names
    /// are sorted.
    ///
    /// # Errors
    ///
    /// If the records cannot be written, or keep too many pairs.
    pub fn set_name_pair(&mut self, mut pair: NamePair) -> Result<Option<NameVerdict>> {
        if pair.other < pair.one {
            std::mem::swap(&mut pair.one, &mut pair.other);
        }
        let pairs = self.name_pairs()?;
        let before = pairs.iter().find(|it| (&it.one, &it.other) == (&pair.one, &pair.other)).map(|it| it.verdict);
        if before == Some(pair.verdict) {
            return Ok(before);
        }
        if before.is_none() && pairs.len() >= NAME_PAIRS_MAX {
            return Err(Error::Option {
                option: "pairs of names",
                value: (pairs.len() + 1).to_string(),
                reason: format!("an index keeps at most {NAME_PAIRS_MAX}"),
            });
        }
        self.add_name_pairs(&[pair])?;
        Ok(before)
    }

    /// Keeps merges and splits of pairs of names, each sorted, replacing earlier ones.
    ///
    /// # Errors
    ///
    /// If the records cannot be written.
    pub fn add_name_pairs(&mut self, pairs: &[NamePair]) -> Result<()> {
        const SQL: &str = "INSERT OR REPLACE INTO name_pairs (one, other, verdict, digest) VALUES (?1, ?2, ?3, ?4)";
        self.write(|transaction| {
            let mut insert = transaction.prepare(SQL)?;
            for pair in pairs {
                insert.execute(params![pair.one, pair.other, pair.verdict as u32, digest::name_pair(pair)])?;
            }
            note_change(transaction, !pairs.is_empty())
        })
    }
}

fn read_pair(row: &Row<'_>) -> rusqlite::Result<NamePair> {
    let verdict = match row.get::<_, i64>(2)? {
        0 => NameVerdict::Same,
        1 => NameVerdict::Apart,
        other => return Err(damaged(2, Type::Integer, format!("no verdict is {other}"))),
    };
    Ok(NamePair { one: row.get(0)?, other: row.get(1)?, verdict })
}
