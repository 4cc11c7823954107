//! Vectors in 8 bits, copied into the order in which the processor multiplies them by many others.

use std::ops::Range;

use super::scan::{PANEL_BLOCK, PANEL_CODES, PANEL_ROWS, dots, has_panels, panel_dots, put_scaled};
use super::vectors::{QuantizedVectors, Vectors};

/// Items whose cosines are computed together: their codes and products stay in the caches.
const ITEMS_AT_ONCE: usize = 8;

/// Rows of unit vectors in 8 bits, to be compared with many others.
#[derive(Debug, Clone, Default)]
pub(crate) struct Panels {
    dimension: usize,
    scales: Vec<f32>,
    codes: Codes,
}

/// The codes, as the processor multiplies them best.
#[derive(Debug, Clone)]
enum Codes {
    /// Row by row.
    Rows(Vec<i8>),
    /// By panels ([`panel_dots`]), the last filled up.
    Panels(Vec<[u8; PANEL_BLOCK]>),
}

impl Default for Codes {
    fn default() -> Self {
        Self::Rows(Vec::new())
    }
}

/// The workspace of a thread for cosines.
#[derive(Debug, Default)]
pub(crate) struct CosineRoom {
    sums: Vec<i32>,
    cosines: Vec<f32>,
}

impl Panels {
    /// Copies these rows of `vectors`, in this order.
    pub(crate) fn of(vectors: &Vectors<'_>, rows: &[u32]) -> Self {
        let dimension = vectors.dimension;
        let scales = rows.iter().map(|row| vectors.scale(*row)).collect();
        let is_in_panels = has_panels() && dimension > 0 && dimension.is_multiple_of(PANEL_CODES);
        let codes = if is_in_panels {
            Codes::Panels(panels(vectors, rows))
        } else {
            let mut codes = Vec::with_capacity(rows.len() * dimension);
            for row in rows {
                codes.extend_from_slice(vectors.codes(*row));
            }
            Codes::Rows(codes)
        };
        Self { dimension, scales, codes }
    }

    /// Copies all rows.
    pub(crate) fn of_all(vectors: &QuantizedVectors) -> Self {
        let rows: Vec<u32> = (0..vectors.len() as u32).collect();
        Self::of(&vectors.view(), &rows)
    }

    /// Returns how many rows there are.
    pub(crate) fn len(&self) -> usize {
        self.scales.len()
    }

    /// Returns the scale of each row.
    pub(crate) fn scales(&self) -> &[f32] {
        &self.scales
    }

    /// Calls `visit` for each of `items` in turn, with its place among them and its products with `rows`; for none
    /// where vectors have no dimension.
    pub(crate) fn each_product(
        &self,
        (vectors, items): (&Vectors<'_>, &[u32]),
        rows: Range<usize>,
        sums: &mut Vec<i32>,
        mut visit: impl FnMut(usize, &[i32]),
    ) {
        if self.dimension == 0 {
            return;
        }
        if rows.is_empty() {
            return (0..items.len()).for_each(|place| visit(place, &[]));
        }
        match &self.codes {
            Codes::Rows(codes) => {
                let codes = &codes[rows.start * self.dimension..rows.end * self.dimension];
                for (place, item) in items.iter().enumerate() {
                    dots(codes, vectors.codes(*item), sums);
                    visit(place, sums);
                }
            }
            Codes::Panels(panels) => {
                let depth = self.dimension / PANEL_CODES;
                let read = rows.start / PANEL_ROWS..rows.end.div_ceil(PANEL_ROWS);
                let panels = &panels[read.start * depth..read.end * depth];
                let first = rows.start - read.start * PANEL_ROWS;
                for (at, items) in (0..items.len()).step_by(ITEMS_AT_ONCE).zip(items.chunks(ITEMS_AT_ONCE)) {
                    let queries: Vec<&[i8]> = items.iter().map(|item| vectors.codes(*item)).collect();
                    sums.resize(queries.len() * read.len() * PANEL_ROWS, 0);
                    panel_dots(panels, &queries, sums);
                    for (place, sums) in (at..at + items.len()).zip(sums.chunks_exact(read.len() * PANEL_ROWS)) {
                        visit(place, &sums[first..first + rows.len()]);
                    }
                }
            }
        }
    }

    /// As [`Self::each_product`], with cosines.
    pub(crate) fn each_cosine(
        &self,
        (vectors, items): (&Vectors<'_>, &[u32]),
        rows: Range<usize>,
        CosineRoom { sums, cosines }: &mut CosineRoom,
        mut visit: impl FnMut(usize, &[f32]),
    ) {
        let scales = &self.scales[rows.clone()];
        self.each_product((vectors, items), rows, sums, |place, sums| {
            put_scaled(sums, (vectors.scale(items[place]), scales), cosines);
            visit(place, cosines);
        });
    }
}

/// Returns rows of `vectors` by panels.
fn panels(vectors: &Vectors<'_>, rows: &[u32]) -> Vec<[u8; PANEL_BLOCK]> {
    let depth = vectors.dimension / PANEL_CODES;
    let mut panels = vec![[0; PANEL_BLOCK]; rows.len().div_ceil(PANEL_ROWS) * depth];
    for (panel, rows) in panels.chunks_exact_mut(depth).zip(rows.chunks(PANEL_ROWS)) {
        for (lane, row) in rows.iter().enumerate() {
            for (block, codes) in panel.iter_mut().zip(vectors.codes(*row).as_chunks::<PANEL_CODES>().0) {
                // Turning the sign bit adds 128.
                block.as_chunks_mut::<PANEL_CODES>().0[lane] = codes.map(|code| code.cast_unsigned() ^ 0x80);
            }
        }
    }
    panels
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn panels_give_the_cosines_of_rows(
            dimension in 1usize..80,
            rows_count in 1usize..70,
            items in prop::collection::vec(0u32..70, 0..21),
            (start, len) in (0usize..70, 0usize..70),
        ) {
            let mut vectors = QuantizedVectors::new(dimension);
            for row in 0..70 {
                let values: Vec<f32> = (0..dimension).map(|i| ((row * 37 + i * i) as f32).sin()).collect();
                vectors.push(&values);
            }
            let rows: Vec<u32> = (0..rows_count as u32).rev().collect();
            let (view, panels) = (vectors.view(), Panels::of(&vectors.view(), &rows));
            let range = start.min(rows_count)..(start + len).min(rows_count).max(start.min(rows_count));
            let (mut room, mut seen) = (CosineRoom::default(), 0);
            panels.each_cosine((&view, &items), range.clone(), &mut room, |place, cosines| {
                let cosine = |row: &u32| view.cosine(items[place], &view, *row);
                let expect: Vec<f32> = rows[range.clone()].iter().map(cosine).collect();
                assert_eq!((place, cosines), (seen, &expect[..]));
                seen += 1;
            });
            prop_assert_eq!(seen, items.len());
        }
    }

    #[test]
    fn without_an_embedder_there_is_nothing_to_compare() {
        let panels = Panels::of_all(&QuantizedVectors::default());
        let visit = |_, _: &[f32]| unreachable!("there are no vectors");
        panels.each_cosine((&Vectors::default(), &[]), 0..0, &mut CosineRoom::default(), visit);
        assert_eq!(panels.len(), 0);
    }
}
