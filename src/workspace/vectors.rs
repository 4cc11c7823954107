//! `vectors.bin`: the vectors of passages, sentences and in-coming questions in 8 bits, with one scale a vector.

use std::ops::Range;
use std::path::Path;

use super::sections::{self, Sections};
use super::stamp::Stamp;
use crate::error::{Error, Result};
use crate::store::{VectorField, Vectors};

/// The largest code; codes lie in ±127, so that negation stays inside.
const CODE_MAX: f32 = 127.0;

/// Vectors in 8 bits, owned: what a run fills.
#[derive(Debug, Clone, PartialEq)]
pub struct QuantizedVectors {
    dimension: usize,
    scales: Vec<f32>,
    codes: Vec<i8>,
}

impl QuantizedVectors {
    /// Returns none yet, with room for `count`.
    #[must_use]
    pub fn with_capacity(dimension: usize, count: usize) -> Self {
        Self { dimension, scales: Vec::with_capacity(count), codes: Vec::with_capacity(count * dimension) }
    }

    /// Adds a vector: its largest value becomes ±127, the others follow.
    ///
    /// # Errors
    ///
    /// If it has another dimension, or a value is not finite.
    pub fn push(&mut self, values: &[f32]) -> Result<()> {
        let largest = values.iter().fold(0.0_f32, |largest, value| largest.max(value.abs()));
        if values.len() != self.dimension || !values.iter().all(|value| value.is_finite()) {
            return Err(Error::Internal(format!("a vector of {} values cannot be stored", values.len())));
        }
        let scale = largest / CODE_MAX;
        let by = if scale > 0.0 { scale.recip() } else { 0.0 };
        self.scales.push(scale);
        self.codes.extend(values.iter().map(|value| (value * by).round().clamp(-CODE_MAX, CODE_MAX) as i8));
        Ok(())
    }

    /// Adds vector `row` of `others` as it is.
    ///
    /// # Errors
    ///
    /// If there is no such row, or it has another dimension.
    pub fn push_row(&mut self, others: Vectors<'_>, row: u32) -> Result<()> {
        let start = row as usize * others.dimension;
        let found = others.scales.get(row as usize).zip(others.codes.get(start..start + others.dimension));
        let Some((scale, codes)) = found.filter(|_| others.dimension == self.dimension) else {
            return Err(Error::Internal(format!("there is no vector {row} of {} values", self.dimension)));
        };
        self.scales.push(*scale);
        self.codes.extend_from_slice(codes);
        Ok(())
    }

    /// Returns how many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.scales.len()
    }

    /// Returns whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.scales.is_empty()
    }

    /// Returns them as a reader sees them.
    #[must_use]
    pub fn view(&self) -> Vectors<'_> {
        Vectors { dimension: self.dimension, scales: &self.scales, codes: &self.codes }
    }
}

/// Writes `vectors.bin`.
pub(super) fn write(path: &Path, dimension: usize, fields: [&QuantizedVectors; 3]) -> Result<Stamp> {
    if fields.iter().any(|field| field.dimension != dimension) {
        return Err(Error::Internal(format!("vectors of another dimension than {dimension}")));
    }
    let dimension = (dimension as u32).to_ne_bytes();
    let mut parts: Vec<(&str, &[u8])> = vec![("dimension", &dimension)];
    for (field, (scales, codes)) in fields.iter().zip(NAMES) {
        parts.push((scales, bytemuck::cast_slice(&field.scales)));
        parts.push((codes, bytemuck::cast_slice(&field.codes)));
    }
    sections::write(path, &parts)
}

/// Names of the sections of each field: scales, codes.
const NAMES: [(&str, &str); 3] =
    [("passage.scales", "passage.codes"), ("sentence.scales", "sentence.codes"), ("incoming.scales", "incoming.codes")];

/// `vectors.bin`, mapped.
#[derive(Debug)]
pub(super) struct VectorsFile {
    sections: Sections,
    dimension: usize,
    fields: [(Range<usize>, Range<usize>); 3],
}

impl VectorsFile {
    /// Opens the file, which must hold `counts` vectors of `dimension` values.
    pub(super) fn open(path: &Path, dimension: usize, counts: [usize; 3]) -> Result<Self> {
        let sections = Sections::open(path)?;
        let found = sections.array::<u32>("dimension")?;
        if sections.items::<u32>(found) != [dimension as u32] {
            return Err(sections.corrupt("its vectors have another dimension than those of its index"));
        }
        let mut fields = [const { (0..0, 0..0) }; 3];
        for ((field, (scales_name, codes_name)), count) in fields.iter_mut().zip(NAMES).zip(counts) {
            let (scales, codes) = (sections.array::<f32>(scales_name)?, sections.array::<i8>(codes_name)?);
            let values = sections.items::<f32>(scales.clone());
            if values.len() != count || codes.len() != count * dimension {
                return Err(sections.corrupt(format!("`{scales_name}` or `{codes_name}` is no vector for each text")));
            }
            if !values.iter().all(|scale| scale.is_finite()) {
                return Err(sections.corrupt(format!("`{scales_name}` has a value that is no number")));
            }
            *field = (scales, codes);
        }
        Ok(Self { sections, dimension, fields })
    }

    /// Returns the vectors of a field.
    pub(super) fn vectors(&self, field: VectorField) -> Vectors<'_> {
        let (scales, codes) = match field {
            VectorField::Passage => &self.fields[0],
            VectorField::Sentence => &self.fields[1],
            VectorField::Incoming => &self.fields[2],
        };
        Vectors {
            dimension: self.dimension,
            scales: self.sections.items(scales.clone()),
            codes: self.sections.items(codes.clone()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_vector_comes_back_within_half_a_step() {
        let mut vectors = QuantizedVectors::with_capacity(4, 2);
        let values = [0.5, -1.0, 0.001, 0.25];
        vectors.push(&values).unwrap();
        vectors.push(&[0.0; 4]).unwrap();
        let view = vectors.view();
        for (value, code) in values.iter().zip(view.codes) {
            assert!((value - view.scales[0] * f32::from(*code)).abs() <= view.scales[0] / 2.0 + 1e-6);
        }
        assert_eq!(view.codes[4..], [0; 4]);
        assert_eq!(view.scales[1].to_bits(), 0.0_f32.to_bits());
    }

    #[test]
    fn a_vector_is_taken_over_as_it_is() {
        let mut old = QuantizedVectors::with_capacity(2, 2);
        old.push(&[1.0, 0.5]).unwrap();
        old.push(&[0.25, -1.0]).unwrap();
        let mut new = QuantizedVectors::with_capacity(2, 1);
        new.push_row(old.view(), 1).unwrap();
        assert_eq!((new.view().scales, new.view().codes), (&old.view().scales[1..], &old.view().codes[2..]));
        assert!(new.push_row(old.view(), 2).is_err());
    }

    #[test]
    fn what_is_no_vector_is_refused() {
        let mut vectors = QuantizedVectors::with_capacity(2, 1);
        assert!(vectors.push(&[1.0]).is_err());
        assert!(vectors.push(&[f32::NAN, 1.0]).is_err());
        assert!(vectors.push(&[f32::INFINITY, 1.0]).is_err());
        assert!(vectors.is_empty());
    }
}
