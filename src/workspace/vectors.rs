//! `vectors.bin`: the vectors of passages, sentences and in-coming questions in 8 bits, with one scale a vector.

use std::ops::Range;
use std::path::Path;

use super::sections::{self, Sections};
use super::stamp::Stamp;
use crate::error::{Error, Result};
use crate::graph::vectors::QuantizedVectors;
use crate::store::{VectorField, Vectors};

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
