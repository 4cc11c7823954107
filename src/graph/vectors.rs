//! Vectors in 8 bits, and their cosines.

use rayon::prelude::*;

use super::scan::{dot, dots};

/// Rows that one thread compares at a time.
const ROWS_PER_TASK: usize = 4_096;

/// In [`Vectors::rows`]: this item has no vector here.
pub const NO_ROW: u32 = u32::MAX;

/// Rows of unit vectors in 8 bits: value = `scales[row]` · `codes[row · dimension + i]`.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Vectors<'a> {
    /// Values per vector; 0 without an embedder.
    pub dimension: usize,
    /// One scale a row.
    pub scales: &'a [f32],
    /// `dimension` codes a row.
    pub codes: &'a [i8],
    /// Scales and codes of more rows, of the same dimension, which are numbered after those.
    pub added: (&'a [f32], &'a [i8]),
    /// The row of each item, or [`NO_ROW`] if it has none; without this, item `i` has row `i`.
    pub rows: Option<&'a [u32]>,
}

/// Scales and codes of rows that lie together.
pub(crate) type Piece<'a> = (&'a [f32], &'a [i8]);

/// Rows of unit vectors in 8 bits, owned.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct QuantizedVectors {
    /// Values a vector.
    pub dimension: usize,
    /// One scale a row.
    pub scales: Vec<f32>,
    /// `dimension` codes a row.
    pub codes: Vec<i8>,
}

impl QuantizedVectors {
    /// Returns an empty list of vectors of `dimension` values.
    #[must_use]
    pub const fn new(dimension: usize) -> Self {
        Self { dimension, scales: Vec::new(), codes: Vec::new() }
    }

    /// Returns an empty list with room for so many vectors of `dimension` values.
    #[must_use]
    pub fn with_room(dimension: usize, rows: usize) -> Self {
        Self { dimension, scales: Vec::with_capacity(rows), codes: Vec::with_capacity(rows * dimension) }
    }

    /// Appends a vector: its scale is its largest magnitude over 127, so that each value is off by at most half of
    /// that.
    pub fn push(&mut self, values: &[f32]) {
        let largest = values.iter().fold(0.0f32, |largest, value| largest.max(value.abs()));
        let scale = if largest > 0.0 { largest / 127.0 } else { 1.0 };
        self.scales.push(scale);
        self.codes.extend(values.iter().map(|value| rounded(value / scale)));
    }

    /// Appends a row as it is kept: a scale in four bytes, the least first, and `dimension` codes.
    pub fn push_bytes(&mut self, row: &[u8]) {
        let (scale, codes) = row.split_at(size_of::<f32>());
        let mut bytes = [0; size_of::<f32>()];
        bytes.copy_from_slice(scale);
        self.scales.push(f32::from_le_bytes(bytes));
        self.codes.extend(codes.iter().map(|code| code.cast_signed()));
    }

    /// Appends a row: that of an item of other vectors of the same dimension, as it is.
    pub fn push_row(&mut self, other: &Vectors<'_>, item: u32) {
        self.scales.push(other.scale(item));
        self.codes.extend_from_slice(other.codes(item));
    }

    /// Returns the values of a row; none without an embedder.
    #[must_use]
    pub fn values(&self, row: u32) -> Vec<f32> {
        let view = self.view();
        if view.is_empty() {
            return Vec::new();
        }
        view.codes(row).iter().map(|code| f32::from(*code) * self.scales[row as usize]).collect()
    }

    /// Returns how many rows there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.scales.len()
    }

    /// Returns whether there is no row.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.scales.is_empty()
    }

    /// Returns the scales and codes of all rows.
    pub(crate) fn parts(&self) -> (&[f32], &[i8]) {
        (&self.scales, &self.codes)
    }

    /// Returns the vectors as a reader sees them.
    #[must_use]
    pub fn view(&self) -> Vectors<'_> {
        Vectors { dimension: self.dimension, scales: &self.scales, codes: &self.codes, ..Vectors::default() }
    }

    /// Puts the cosines of all rows with an item of `others`, of the same dimension, into `cosines`; none without an
    /// embedder.
    pub fn put_cosines(&self, (others, item): (&Vectors<'_>, u32), cosines: &mut Vec<f32>) {
        cosines.clear();
        if self.view().is_empty() {
            return;
        }
        let (mut sums, scale) = (Vec::new(), others.scale(item));
        dots(&self.codes, others.codes(item), &mut sums);
        cosines.extend(sums.iter().zip(&self.scales).map(|(sum, other)| *sum as f32 * scale * other));
    }
}

/// Rounds a number, halves away from zero. Adding a half is exact in 64 bits; `f32::round` is a call for each value
/// where a program runs on every processor.
fn rounded(value: f32) -> i8 {
    (f64::from(value) + 0.5_f64.copysign(f64::from(value))) as i8
}

impl<'a> Vectors<'a> {
    /// Returns how many items there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.rows.map_or_else(|| self.row_count(), <[u32]>::len)
    }

    /// Returns whether there is nothing to compare.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0 || self.dimension == 0
    }

    /// Returns how many rows there are, of items or not.
    pub(crate) fn row_count(&self) -> usize {
        self.scales.len() + self.added.0.len()
    }

    /// Returns the row of an item, or [`NO_ROW`].
    pub(crate) fn row(&self, item: u32) -> u32 {
        self.rows.map_or(item, |rows| rows[item as usize])
    }

    /// Returns the row of an item among the first ones, if it is one of these.
    pub(crate) fn first_row(&self, item: u32) -> Option<u32> {
        let row = self.row(item);
        (row != NO_ROW && (row as usize) < self.scales.len()).then_some(row)
    }

    /// Returns the first rows alone, each an item.
    pub(crate) fn first_rows(&self) -> Self {
        Self { added: Piece::default(), rows: None, ..*self }
    }

    /// Returns the scale and codes of an item; none if it has no vector here, and without an embedder.
    pub(crate) fn at(&self, item: u32) -> Option<(f32, &'a [i8])> {
        if self.dimension == 0 {
            return None;
        }
        let row = self.row(item);
        if row == NO_ROW {
            return None;
        }
        let (scales, codes, row) = self.part(row as usize);
        Some((scales[row], &codes[row * self.dimension..][..self.dimension]))
    }

    /// Returns the scales and codes among which a row is, and its place there.
    fn part(&self, row: usize) -> (&'a [f32], &'a [i8], usize) {
        match row.checked_sub(self.scales.len()) {
            Some(row) => (self.added.0, self.added.1, row),
            None => (self.scales, self.codes, row),
        }
    }

    /// Returns the scale of an item; 0 if it has no vector here.
    #[must_use]
    pub fn scale(&self, item: u32) -> f32 {
        self.at(item).map_or(0.0, |it| it.0)
    }

    /// Returns the codes of an item; none if it has no vector here.
    #[must_use]
    pub fn codes(&self, item: u32) -> &'a [i8] {
        self.at(item).map_or(&[], |it| it.1)
    }

    /// Returns the scales and codes of all items that have a vector, in order, in as few pieces as they lie in.
    pub(crate) fn pieces(&self) -> Vec<Piece<'a>> {
        let rows = match self.rows {
            Some(rows) => rows,
            None if self.added.0.is_empty() => return vec![(self.scales, self.codes)],
            None => &(0..self.row_count() as u32).collect::<Vec<_>>(),
        };
        let first_added = self.scales.len() as u32;
        let follows = |row: &u32, next: &u32| *row != NO_ROW && *next == *row + 1 && *next != first_added;
        let runs = rows.chunk_by(follows).filter(|run| run[0] != NO_ROW);
        let piece = |run: &[u32]| {
            let (scales, codes, row) = self.part(run[0] as usize);
            (&scales[row..][..run.len()], &codes[row * self.dimension..][..run.len() * self.dimension])
        };
        runs.map(piece).collect()
    }

    /// Returns the cosine of an item of these and one of `other`, of the same dimension; 0 without an embedder, and if
    /// one has no vector here.
    #[must_use]
    pub fn cosine(&self, item: u32, other: &Vectors<'_>, other_item: u32) -> f32 {
        let Some(((scale, codes), (other_scale, other_codes))) = self.at(item).zip(other.at(other_item)) else {
            return 0.0;
        };
        dot(codes, other_codes) as f32 * scale * other_scale
    }

    /// Returns the cosine of every item with item 0 of `query`, 0 if it has no vector here; empty without an embedder.
    #[must_use]
    pub fn cosines(&self, query: &Vectors<'_>) -> Vec<f32> {
        if self.is_empty() || query.is_empty() {
            return Vec::new();
        }
        let query = (query.codes(0), query.scale(0));
        let mut cosines = vec![0.0; self.row_count()];
        let (own, more) = cosines.split_at_mut(self.scales.len());
        put_all(query, (self.scales, self.codes), own);
        put_all(query, self.added, more);
        let Some(items) = self.rows else { return cosines };
        items.iter().map(|row| cosines.get(*row as usize).copied().unwrap_or(0.0)).collect()
    }
}

/// Puts the cosines of a query's codes, which have this scale, with rows of as many codes each into `cosines`.
fn put_all((codes, scale): (&[i8], f32), (scales, rows): (&[f32], &[i8]), cosines: &mut [f32]) {
    let rows = rows.par_chunks(ROWS_PER_TASK * codes.len());
    let rows = cosines.par_chunks_mut(ROWS_PER_TASK).zip(scales.par_chunks(ROWS_PER_TASK)).zip(rows);
    rows.for_each_init(Vec::new, |sums, ((cosines, scales), rows)| {
        dots(rows, codes, sums);
        for ((cosine, sum), row) in cosines.iter_mut().zip(sums).zip(scales) {
            *cosine = *sum as f32 * row * scale;
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_rounded_as_the_standard_library_rounds_them() {
        let halves = (-256_i16..=256).map(|it| f32::from(it) / 2.0);
        let near = halves.flat_map(|it| [it, it.next_up(), it.next_down()]).chain([f32::NAN, 0.499_999_97, -0.0]);
        for value in near.chain((0..9_999).map(|it| (it as f32).sin() * 127.0)) {
            assert_eq!(rounded(value), value.round() as i8, "{value}");
        }
    }

    #[test]
    fn an_item_without_a_vector_is_close_to_nothing() {
        let mut vectors = QuantizedVectors::new(2);
        vectors.push(&[0.6, 0.8]);
        let (dense, rows) = (vectors.view(), [NO_ROW, 0]);
        let some = Vectors { rows: Some(&rows), ..dense };
        assert_eq!(some.len(), 2);
        assert_eq!(some.cosines(&dense), [0.0, dense.cosines(&dense)[0]]);
        assert_eq!(some.cosine(0, &dense, 0).to_bits(), 0);
        assert_eq!(some.cosine(1, &dense, 0).to_bits(), dense.cosine(0, &dense, 0).to_bits());
        let none = [NO_ROW; 3];
        let nothing = Vectors { dimension: 2, rows: Some(&none), ..Vectors::default() };
        assert_eq!(nothing.cosines(&dense), [0.0; 3]);
    }

    #[test]
    fn items_lie_among_rows_of_two_lists_in_any_order() {
        let made = |rows: std::ops::Range<i8>| {
            let mut vectors = QuantizedVectors::new(2);
            rows.for_each(|row| vectors.push(&[f32::from(row), 1.0]));
            vectors
        };
        let (earlier, added) = (made(0..4), made(4..7));
        let rows = [0, 1, 5, 3, 4, 6, 2, NO_ROW];
        let joined = Vectors { added: added.parts(), rows: Some(&rows), ..earlier.view() };
        let mut due = QuantizedVectors::new(2);
        for row in &rows[..7] {
            let (list, row) = if *row < 4 { (&earlier, *row) } else { (&added, *row - 4) };
            due.push_row(&list.view(), row);
        }
        let all = due.view();
        assert_eq!(joined.len(), 8);
        for item in 0..7 {
            assert_eq!(
                (joined.scale(item).to_bits(), joined.codes(item)),
                (all.scale(item).to_bits(), all.codes(item))
            );
        }
        assert_eq!((joined.scale(7).to_bits(), joined.codes(7)), (0, &[][..]));
        let query = made(9..10);
        assert_eq!(joined.cosines(&query.view()), [all.cosines(&query.view()), vec![0.0]].concat());
        let pieces = joined.pieces();
        let lengths: Vec<usize> = pieces.iter().map(|(scales, _)| scales.len()).collect();
        assert_eq!(lengths, [2, 1, 1, 1, 1, 1], "rows of one list that follow each other are one piece");
        let (scales, codes): (Vec<&[f32]>, Vec<&[i8]>) = pieces.into_iter().unzip();
        assert_eq!((scales.concat(), codes.concat()), (due.scales.clone(), due.codes.clone()));
        // Without an order of their own, those of the second list come after those of the first.
        let both = Vectors { added: added.parts(), ..earlier.view() };
        assert_eq!((both.len(), both.pieces().len(), both.codes(5)), (7, 2, added.view().codes(1)));
        let mut cosines = Vec::new();
        due.put_cosines((&both, 5), &mut cosines);
        assert_eq!(cosines, (0..7).map(|row| both.cosine(5, &all, row)).collect::<Vec<_>>());
    }

    #[test]
    fn a_cosine_in_eight_bits_is_close_to_the_exact_one() {
        let mut vectors = QuantizedVectors::new(3);
        vectors.push(&[0.6, 0.8, 0.0]);
        vectors.push(&[0.0, 0.6, -0.8]);
        vectors.push(&[0.0, 0.0, 0.0]);
        let view = vectors.view();
        assert!((view.cosine(0, &view, 1) - 0.48).abs() < 0.01);
        assert!(view.cosine(0, &view, 2).abs() < f32::EPSILON);
        assert!((view.cosines(&view)[0] - 1.0).abs() < 0.01);
    }
}
