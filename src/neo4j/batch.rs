//! Batches of rows, bounded in number and in bytes, halved if the server has too little memory.

use std::collections::VecDeque;

use neo4rs::BoltType;

use super::kinds::Kind;
use super::lease::Lease;
use super::retry::Remedy;
use super::session::Failed;
use super::statement::Statement;
use crate::error::{Error, Result};

/// Rows of a batch without vectors.
const ROWS_MAX: usize = 5_000;
/// Rows of a batch with vectors.
const ROWS_WITH_VECTORS_MAX: usize = 1_000;
/// Bytes of a batch on the wire, about.
const BYTES_MAX: usize = 8 << 20;
/// Bytes of a message up to which the driver surely hands it to the system whole: it does so below 8 KiB. The rest of
/// a longer one waits, up to 40 ms on Linux, until the server acknowledges its beginning, since the driver leaves
/// Nagle's algorithm on.
const MESSAGE_BYTES_MAX: usize = 7 << 10;
/// Messages that the rows of a statement are sent in rather than in a long one: each is answered before the next.
const MESSAGES_MAX: usize = 4;

/// A row, and about how many bytes it is on the wire.
pub(super) type SizedRow = (BoltType, usize);

/// The part of each row that is written.
#[derive(Debug, Clone, Copy)]
pub(super) struct Work {
    pub(super) action: &'static str,
    pub(super) text: &'static str,
    rows_max: usize,
    counts: Counted,
}

/// The meaning of the number that a statement returns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Counted {
    /// It returns none.
    Nothing,
    /// Of rows that it has written: fewer where an end is missing.
    Rows,
    /// Relationships of others that were deleted together with an element.
    Torn,
}

impl Work {
    /// Elements of a kind to be written.
    pub(super) fn write(kind: Kind) -> Self {
        Self {
            action: "write the graph",
            text: &kind.statements().write,
            rows_max: if kind.has_vectors() { ROWS_WITH_VECTORS_MAX } else { ROWS_MAX },
            counts: if kind.ends().is_some() { Counted::Rows } else { Counted::Nothing },
        }
    }

    /// Elements of a kind to be marked as retired, or not.
    pub(super) fn mark(kind: Kind) -> Self {
        Self {
            action: "retire what is gone",
            text: &kind.statements().mark,
            rows_max: ROWS_MAX,
            counts: Counted::Nothing,
        }
    }

    /// Elements of a kind to be deleted.
    pub(super) fn delete(kind: Kind) -> Self {
        let counts = if kind.ends().is_some() { Counted::Nothing } else { Counted::Torn };
        Self { action: "delete what is gone", text: &kind.statements().delete, rows_max: ROWS_MAX, counts }
    }

    /// Returns how many relationships of others were deleted, from the number that the statement returned.
    fn torn(&self, count: i64) -> u64 {
        if self.counts == Counted::Torn { count.max(0).cast_unsigned() } else { 0 }
    }

    /// Returns the rows of each statement: as many as fit into a message, and in one all that are longer by themselves;
    /// or all rows in one where that would be too many messages.
    fn messages(&self, rows: Vec<SizedRow>) -> Vec<Vec<BoltType>> {
        let room = MESSAGE_BYTES_MAX.saturating_sub(self.text.len());
        let (mut message_of, mut count, mut left) = (Vec::with_capacity(rows.len()), 0, 0);
        for (_, bytes) in &rows {
            let is_long = *bytes > room;
            if !is_long && *bytes > left {
                (count, left) = (count + 1, room);
            }
            left -= if is_long { 0 } else { *bytes };
            // The first message is that of long rows.
            message_of.push(if is_long { 0 } else { count });
        }
        if count > MESSAGES_MAX {
            return vec![bare(rows)];
        }
        let mut messages = vec![Vec::new(); count + 1];
        for ((row, _), message) in rows.into_iter().zip(message_of) {
            messages[message].push(row);
        }
        messages.retain(|rows| !rows.is_empty());
        messages
    }

    /// Returns the statement for rows.
    pub(super) fn statement(&self, rows: Vec<BoltType>) -> Statement {
        let (count, statement) = (rows.len(), Statement::new(self.action, self.text).with_rows(rows));
        if self.counts == Counted::Rows { statement.with_due(count) } else { statement }
    }
}

pub(super) fn bare(rows: Vec<SizedRow>) -> Vec<BoltType> {
    rows.into_iter().map(|(row, _)| row).collect()
}

/// A batch in flight, during which the next one is prepared.
struct Sent {
    rows: Vec<BoltType>,
    answer: tokio::task::JoinHandle<Result<Option<Vec<i64>>, Failed>>,
}

/// Rows of one kind of work being written to the database.
pub(super) struct Rows<'a> {
    lease: &'a mut Lease,
    work: Work,
    waiting: Vec<BoltType>,
    bytes: usize,
    sent: Option<Sent>,
    torn: u64,
}

/// The result of writing rows.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Finished {
    /// Rows that are known to be committed since the last of [`Rows::push`].
    pub(super) rows: usize,
    /// Relationships of others that were deleted together with an element.
    pub(super) torn: u64,
}

impl<'a> Rows<'a> {
    pub(super) fn new(lease: &'a mut Lease, work: Work) -> Self {
        Self { lease, work, waiting: Vec::new(), bytes: 0, sent: None, torn: 0 }
    }

    /// Adds a row of about `bytes`; returns how many rows are known to be committed by it.
    pub(super) async fn push(&mut self, row: BoltType, bytes: usize) -> Result<usize> {
        let mut done = 0;
        if !self.waiting.is_empty() && (self.waiting.len() >= self.work.rows_max || self.bytes + bytes > BYTES_MAX) {
            done = self.send().await?;
        }
        self.waiting.push(row);
        self.bytes += bytes;
        Ok(done)
    }

    /// Sends the rest and waits for all of it.
    pub(super) async fn finish(mut self) -> Result<Finished> {
        let rows = self.send().await? + self.settle().await?;
        Ok(Finished { rows, torn: self.torn })
    }

    /// Sends a batch once the one before it is committed.
    async fn send(&mut self) -> Result<usize> {
        let done = self.settle().await?;
        let rows = std::mem::take(&mut self.waiting);
        self.bytes = 0;
        if !rows.is_empty() {
            let batch = self.lease.batch(vec![self.work.statement(rows.clone())]);
            self.sent = Some(Sent { rows, answer: tokio::spawn(batch.send()) });
        }
        Ok(done)
    }

    async fn settle(&mut self) -> Result<usize> {
        let Some(Sent { rows, answer }) = self.sent.take() else { return Ok(0) };
        let answer = answer.await.map_err(|error| Error::Internal(error.to_string()))?;
        let count = rows.len();
        match answer {
            Ok(counts) => self.count(counts.as_deref()),
            Err(failed) if failed.remedy == Remedy::Split && count > 1 => self.send_halves(rows).await?,
            Err(failed) => return Err(failed.error),
        }
        Ok(count)
    }

    /// Sends rows in halves if they were too many at once, repeatedly.
    async fn send_halves(&mut self, rows: Vec<BoltType>) -> Result<()> {
        let mut parts = VecDeque::from(halves(rows));
        while let Some(part) = parts.pop_front() {
            let count = part.len();
            tracing::debug!(rows = count, "a batch is sent in parts");
            match self.lease.batch(vec![self.work.statement(part.clone())]).send().await {
                Ok(counts) => self.count(counts.as_deref()),
                Err(failed) if failed.remedy == Remedy::Split && count > 1 => {
                    halves(part).into_iter().rev().for_each(|half| parts.push_front(half));
                }
                Err(failed) => return Err(failed.error),
            }
        }
        Ok(())
    }

    fn count(&mut self, counts: Option<&[i64]>) {
        self.torn += counts.and_then(<[i64]>::first).map_or(0, |count| self.work.torn(*count));
    }
}

/// Sends rows of several kinds of work in one transaction, with one more statement; returns how many relationships of
/// others were deleted together with an element.
pub(super) async fn send_at_once(
    lease: &mut Lease,
    parts: Vec<(Work, Vec<SizedRow>)>,
    last: Statement,
) -> Result<u64, Failed> {
    let messages = |(work, rows): (Work, _)| work.messages(rows).into_iter().map(move |rows| (work, rows));
    let parts: Vec<(Work, Vec<BoltType>)> = parts.into_iter().flat_map(messages).collect();
    let works: Vec<Work> = parts.iter().map(|(work, _)| *work).collect();
    let statements = parts.into_iter().map(|(work, rows)| work.statement(rows)).chain([last]);
    let counts = lease.batch(statements.collect()).send().await?.unwrap_or_default();
    Ok(works.into_iter().zip(counts).map(|(work, count)| work.torn(count)).sum())
}

fn halves(mut rows: Vec<BoltType>) -> [Vec<BoltType>; 2] {
    let second = rows.split_off(rows.len() / 2);
    [rows, second]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_are_all_of_it_in_order() {
        let rows: Vec<BoltType> = (0..5_i64).map(Into::into).collect();
        let [first, second] = halves(rows.clone());
        assert_eq!((first.len(), second.len()), (2, 3));
        assert_eq!([first, second].concat(), rows);
    }

    #[test]
    fn a_message_is_short_unless_there_were_too_many() {
        let work = Work::delete(Kind::Passage);
        let parts = |sizes: &[usize]| -> Vec<Vec<i64>> {
            let number = |row: BoltType| match row {
                BoltType::Integer(number) => number.value,
                _ => unreachable!("rows are numbers here"),
            };
            let rows = (0..).zip(sizes).map(|(number, bytes): (i64, _)| (number.into(), *bytes)).collect();
            work.messages(rows).into_iter().map(|rows| rows.into_iter().map(number).collect()).collect()
        };
        assert!(parts(&[]).is_empty());
        assert_eq!(parts(&[3_000, 3_000, 3_000]), [vec![0, 1], vec![2]]);
        // Rows that are longer than a message by themselves go together.
        assert_eq!(parts(&[9_000, 100, 9_000, 100]), [vec![0, 2], vec![1, 3]]);
        assert_eq!(parts(&[4_000; MESSAGES_MAX]).len(), MESSAGES_MAX);
        assert_eq!(parts(&[4_000; MESSAGES_MAX + 1]).len(), 1);
        let text = work.text.len();
        assert_eq!(parts(&[MESSAGE_BYTES_MAX - text, 1]).len(), 2);
    }
}
