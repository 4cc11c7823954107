//! `vectors.bin`: the vectors of passages, sentences and questions in 8 bits, with one scale a vector. Those of
//! out-coming questions are there if they are worth keeping, all or none.

use std::ops::Range;
use std::path::Path;

use super::sections::{self, Contents, Sections};
use super::stamp::Stamp;
use crate::error::{Error, Result};
use crate::graph::vectors::QuantizedVectors;
use crate::store::{VectorField, Vectors};

/// Writes `vectors.bin`.
pub(super) fn write(path: &Path, dimension: usize, fields: [&QuantizedVectors; 4]) -> Result<Stamp> {
    if fields.iter().any(|field| field.dimension != dimension) {
        return Err(Error::Internal(format!("vectors of another dimension than {dimension}")));
    }
    let dimension = (dimension as u32).to_ne_bytes();
    let mut parts = vec![("dimension", Contents::Bytes(&dimension))];
    for (field, (scales, codes)) in fields.iter().zip(NAMES) {
        parts.push((scales, Contents::Bytes(bytemuck::cast_slice(&field.scales))));
        parts.push((codes, Contents::Bytes(bytemuck::cast_slice(&field.codes))));
    }
    sections::write(path, &parts)
}

/// Names of the sections of each field: scales, codes.
const NAMES: [(&str, &str); 4] = [
    ("passage.scales", "passage.codes"),
    ("sentence.scales", "sentence.codes"),
    ("incoming.scales", "incoming.codes"),
    ("outgoing.scales", "outgoing.codes"),
];
/// The field that may be left out.
const OUTGOING: usize = 3;

/// `vectors.bin`, mapped.
#[derive(Debug)]
pub(super) struct VectorsFile {
    sections: Sections,
    dimension: usize,
    fields: [(Range<usize>, Range<usize>); 4],
}

impl VectorsFile {
    /// Opens the file, which must hold `counts` vectors of `dimension` values.
    pub(super) fn open(path: &Path, dimension: usize, counts: [usize; 4]) -> Result<Self> {
        let sections = Sections::open(path)?;
        let found = sections.array::<u32>("dimension")?;
        if sections.items::<u32>(found) != [dimension as u32] {
            return Err(sections.corrupt("its vectors have another dimension than those of its index"));
        }
        let mut fields = [const { (0..0, 0..0) }; 4];
        for (number, ((field, (scales_name, codes_name)), count)) in
            fields.iter_mut().zip(NAMES).zip(counts).enumerate()
        {
            let (scales, codes) = (sections.array::<f32>(scales_name)?, sections.array::<i8>(codes_name)?);
            let values = sections.items::<f32>(scales.clone());
            let count = if number == OUTGOING && values.is_empty() { 0 } else { count };
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
        match field {
            VectorField::Passage => self.field(0),
            VectorField::Sentence => self.field(1),
            VectorField::Incoming => self.field(2),
        }
    }

    /// Returns the vectors of out-coming questions, if they were kept.
    pub(super) fn outgoing(&self) -> Vectors<'_> {
        self.field(OUTGOING)
    }

    fn field(&self, number: usize) -> Vectors<'_> {
        let (scales, codes) = &self.fields[number];
        Vectors {
            dimension: self.dimension,
            scales: self.sections.items(scales.clone()),
            codes: self.sections.items(codes.clone()),
            rows: None,
        }
    }
}
