//! Ordinals: the numbers of the elements of one version, from 0 in each kind, with a type for each kind.
//!
//! Arrays of a version hold them as the bytes of a `u32`. They mean nothing in another version and never leave the
//! program: ids do.

use std::fmt::{Display, Formatter};
use std::marker::PhantomData;
use std::ops::{Deref, Index};

use bytemuck::{Pod, Zeroable};

/// The ordinal of an element of some kind.
pub trait Ordinal: Copy + Ord + Pod {
    /// Returns the ordinal of this number.
    #[must_use]
    fn new(number: u32) -> Self;

    /// Returns its number.
    #[must_use]
    fn number(self) -> u32;

    /// Returns its place in an array that has an item for each element of the kind.
    #[must_use]
    fn index(self) -> usize {
        self.number() as usize
    }

    /// Returns the ordinal of the element at `index` of such an array.
    #[must_use]
    fn at(index: usize) -> Self {
        Self::new(index as u32)
    }

    /// Returns the ordinals of the first `count` elements.
    #[must_use]
    fn first(count: usize) -> Ordinals<Self> {
        Ordinals::between(0, count as u32)
    }
}

/// A number of no kind that others have to tell apart.
impl Ordinal for u32 {
    fn new(number: u32) -> Self {
        number
    }

    fn number(self) -> u32 {
        self
    }
}

macro_rules! ordinals {
    ($($(#[$doc:meta])* $name:ident,)*) => { $(
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Pod, Zeroable)]
        #[repr(transparent)]
        pub struct $name(pub u32);

        impl Ordinal for $name {
            fn new(number: u32) -> Self {
                Self(number)
            }

            fn number(self) -> u32 {
                self.0
            }
        }

        #[cfg(test)]
        impl PartialEq<u32> for $name {
            fn eq(&self, number: &u32) -> bool {
                self.0 == *number
            }
        }

        impl Display for $name {
            fn fmt(&self, formatter: &mut Formatter<'_>) -> std::fmt::Result {
                self.0.fmt(formatter)
            }
        }
    )* };
}

ordinals! {
    /// A document.
    DocumentOrdinal,
    /// A passage; they are numbered document by document.
    PassageOrdinal,
    /// A sentence; they are numbered passage by passage, over the whole version.
    SentenceOrdinal,
    /// An entity.
    EntityOrdinal,
    /// A mention of an entity in a sentence; they are numbered passage by passage.
    MentionOrdinal,
    /// An in-coming question; they are numbered passage by passage.
    IncomingOrdinal,
    /// An out-coming question.
    OutgoingOrdinal,
    /// A question edge; they are numbered by the passage that they leave.
    EdgeOrdinal,
    /// A keyword; they are numbered in order.
    KeywordOrdinal,
    /// A stem prefix of a word around mentions; they are numbered in order.
    CueOrdinal,
    /// A document with an entity's name, and how it has it.
    BearerOrdinal,
    /// A mention in the list of its entity's.
    PostingOrdinal,
    /// A relation between two entities; they are numbered by the first of these.
    RelationOrdinal,
    /// A community of entities; those within another come behind it.
    CommunityOrdinal,
    /// A summary entity; they are numbered layer by layer.
    SummaryOrdinal,
    /// A position in a list numbered by its own kind, or in texts stored back to back.
    Position,
}

/// Consecutive ordinals.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ordinals<K> {
    start: u32,
    end: u32,
    kind: PhantomData<K>,
}

impl<K: Ordinal> Ordinals<K> {
    /// Returns those from `start` to before `end`.
    #[must_use]
    pub fn between(start: u32, end: u32) -> Self {
        Self { start, end: end.max(start), kind: PhantomData }
    }

    /// Returns none.
    #[must_use]
    pub fn none() -> Self {
        Self::between(0, 0)
    }

    /// Divides them after the first `count`, or after all.
    #[must_use]
    pub fn split_at(&self, count: usize) -> (Self, Self) {
        let middle = self.start + count.min(self.len()) as u32;
        (Self::between(self.start, middle), Self::between(middle, self.end))
    }

    /// Returns whether `ordinal` is one of them.
    #[must_use]
    pub fn contains(&self, ordinal: K) -> bool {
        (self.start..self.end).contains(&ordinal.number())
    }

    /// Returns their places in an array.
    #[must_use]
    pub fn range(self) -> std::ops::Range<usize> {
        self.start as usize..self.end as usize
    }

    /// Returns whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.start == self.end
    }
}

impl<K: Ordinal> Iterator for Ordinals<K> {
    type Item = K;

    fn next(&mut self) -> Option<K> {
        let next = (self.start < self.end).then(|| K::new(self.start))?;
        self.start += 1;
        Some(next)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let count = (self.end - self.start) as usize;
        (count, Some(count))
    }
}

impl<K: Ordinal> DoubleEndedIterator for Ordinals<K> {
    fn next_back(&mut self) -> Option<K> {
        let last = (self.start < self.end).then(|| self.end - 1)?;
        self.end = last;
        Some(K::new(last))
    }
}

impl<K: Ordinal> ExactSizeIterator for Ordinals<K> {}

/// An array with an item for each element of a kind; only ordinals of the kind find one in it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Column<'a, K, V> {
    items: &'a [V],
    kind: PhantomData<K>,
}

impl<'a, K, V> Column<'a, K, V> {
    /// Returns the array as a column.
    #[must_use]
    pub const fn new(items: &'a [V]) -> Self {
        Self { items, kind: PhantomData }
    }

    /// Returns the array.
    #[must_use]
    pub const fn items(&self) -> &'a [V] {
        self.items
    }
}

impl<'a, K: Ordinal, V> Column<'a, K, V> {
    /// Returns the item of an element, if there is one.
    #[must_use]
    pub fn find(&self, ordinal: K) -> Option<&'a V> {
        self.items.get(ordinal.index())
    }

    /// Returns the ordinals of all elements.
    #[must_use]
    pub fn ordinals(&self) -> Ordinals<K> {
        K::first(self.items.len())
    }

    /// Returns the items of consecutive elements.
    #[must_use]
    pub fn of(&self, ordinals: Ordinals<K>) -> &'a [V] {
        &self.items[ordinals.range()]
    }
}

impl<K, V> Default for Column<'_, K, V> {
    fn default() -> Self {
        Self::new(&[])
    }
}

impl<K, V> Deref for Column<'_, K, V> {
    type Target = [V];

    fn deref(&self) -> &[V] {
        self.items
    }
}

impl<K: Ordinal, V> Index<K> for Column<'_, K, V> {
    type Output = V;

    fn index(&self, ordinal: K) -> &V {
        &self.items[ordinal.index()]
    }
}

/// Compressed rows: where the elements of kind `V` that belong to each of kind `K` begin, followed by the end of all.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rows<'a, K, V> {
    starts: &'a [u32],
    kinds: PhantomData<(K, V)>,
}

impl<'a, K, V> Rows<'a, K, V> {
    /// Returns the array as rows.
    #[must_use]
    pub const fn new(starts: &'a [u32]) -> Self {
        Self { starts, kinds: PhantomData }
    }

    /// Returns the array.
    #[must_use]
    pub const fn items(&self) -> &'a [u32] {
        self.starts
    }
}

impl<K: Ordinal, V: Ordinal> Rows<'_, K, V> {
    /// Returns the elements of `owner`.
    #[must_use]
    pub fn of(&self, owner: K) -> Ordinals<V> {
        Ordinals::between(self.starts[owner.index()], self.starts[owner.index() + 1])
    }

    /// Returns the items of consecutive owners.
    #[must_use]
    pub fn of_all(&self, owners: &Ordinals<K>) -> Ordinals<V> {
        if owners.is_empty() {
            return Ordinals::none();
        }
        Ordinals::between(self.of(K::new(owners.start)).start, self.of(K::new(owners.end - 1)).end)
    }
}

impl<K, V> Default for Rows<'_, K, V> {
    fn default() -> Self {
        Self::new(&[])
    }
}

/// Returns the ordinals of these numbers.
#[cfg(test)]
pub(crate) fn listed<K: Ordinal>(numbers: &[u32]) -> Vec<K> {
    bytemuck::cast_slice(numbers).to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_and_columns_are_walked_by_ordinal() {
        let mentions = Rows::<PassageOrdinal, MentionOrdinal>::new(&[0, 2, 2, 3]);
        let entities = [7, 8, 9].map(EntityOrdinal);
        let entity = Column::<MentionOrdinal, _>::new(&entities);
        assert_eq!(entity.of(mentions.of(PassageOrdinal(0))), [EntityOrdinal(7), EntityOrdinal(8)]);
        assert!(mentions.of(PassageOrdinal(1)).is_empty());
        let last = mentions.of(PassageOrdinal(2));
        assert_eq!(last.clone().map(|mention| entity[mention].0).collect::<Vec<_>>(), [9]);
        assert!(last.contains(MentionOrdinal(2)) && !last.contains(MentionOrdinal(3)));
        assert_eq!(entity.find(MentionOrdinal(3)), None);
        let (first, rest) = entity.ordinals().split_at(2);
        assert_eq!((first.len(), rest.rev().collect::<Vec<_>>()), (2, vec![MentionOrdinal(2)]));
    }
}
