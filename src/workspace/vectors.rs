//! `vectors.bin`: the vectors of passages, sentences and questions in 8 bits, with one scale a vector. Those of
//! out-coming questions are there if they are worth keeping, all or none.

use std::ops::Range;
use std::path::Path;
use std::sync::{Arc, OnceLock};

use super::sections::{self, Contents, Sections};
use super::stamp::{Blocks, Stamp};
use super::version_files::HeldFile;
use crate::error::{Error, Result};
use crate::graph::vectors::QuantizedVectors;
use crate::store::{VectorField, Vectors};

/// Writes `vectors.bin`; returns what it holds and what its parts hold.
pub(super) fn write(path: &Path, dimension: usize, fields: [&QuantizedVectors; 4]) -> Result<(Stamp, Blocks)> {
    if fields.iter().any(|field| field.dimension != dimension) {
        return Err(Error::Internal(format!("vectors of another dimension than {dimension}")));
    }
    let dimension = (dimension as u32).to_ne_bytes();
    let mut parts = vec![("dimension", Contents::Bytes(&dimension))];
    for (field, (scales, codes)) in fields.iter().zip(NAMES) {
        parts.push((scales, Contents::Bytes(bytemuck::cast_slice(&field.scales))));
        parts.push((codes, Contents::Bytes(bytemuck::cast_slice(&field.codes))));
    }
    sections::write_with_blocks(path, &parts)
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

/// `vectors.bin`, open. Most of an index are its vectors, so that each field is checked when it is used first and not
/// when the version is opened; the first use reads all of it in any case.
#[derive(Debug)]
pub(super) struct VectorsFile {
    sections: Sections,
    dimension: usize,
    fields: [Field; 4],
}

#[derive(Debug, Default)]
struct Field {
    name: &'static str,
    scales: Range<usize>,
    codes: Range<usize>,
    /// Set once all of it was found to be what was written.
    checked: OnceLock<()>,
}

impl VectorsFile {
    /// Opens the file, which must hold `counts` vectors of `dimension` values.
    pub(super) fn open(file: &Arc<HeldFile>, dimension: usize, counts: [usize; 4]) -> Result<Self> {
        let sections = Sections::of(file)?;
        let found = sections.array::<u32>("dimension")?;
        if sections.items::<u32>(found) != [dimension as u32] {
            return Err(sections.corrupt("its vectors have another dimension than those of its index"));
        }
        let mut fields: [Field; 4] = Default::default();
        for (number, ((field, (scales_name, codes_name)), count)) in
            fields.iter_mut().zip(NAMES).zip(counts).enumerate()
        {
            let (scales, codes) = (sections.array::<f32>(scales_name)?, sections.array::<i8>(codes_name)?);
            let values = scales.len() / size_of::<f32>();
            let count = if number == OUTGOING && values == 0 { 0 } else { count };
            if values != count || codes.len() != count * dimension {
                return Err(sections.corrupt(format!("`{scales_name}` or `{codes_name}` is no vector for each text")));
            }
            *field = Field { name: scales_name, scales, codes, checked: OnceLock::new() };
        }
        Ok(Self { sections, dimension, fields })
    }

    /// Returns the vectors of a field, checked.
    pub(super) fn vectors(&self, field: VectorField) -> Result<Vectors<'_>> {
        match field {
            VectorField::Passage => self.field(0),
            VectorField::Sentence => self.field(1),
            VectorField::Incoming => self.field(2),
        }
    }

    /// Returns the vectors of out-coming questions, if they were kept.
    pub(super) fn outgoing(&self) -> Result<Vectors<'_>> {
        self.field(OUTGOING)
    }

    fn field(&self, number: usize) -> Result<Vectors<'_>> {
        let field = &self.fields[number];
        let scales = self.sections.items::<f32>(field.scales.clone());
        if field.checked.get().is_none() {
            self.sections.check(field.scales.clone())?;
            self.sections.check(field.codes.clone())?;
            if !scales.iter().all(|scale| scale.is_finite()) {
                return Err(self.sections.corrupt(format!("`{}` has a value that is no number", field.name)));
            }
            // Who was here at the same time has found the same.
            let _set = field.checked.set(());
        }
        let codes = self.sections.items(field.codes.clone());
        Ok(Vectors { dimension: self.dimension, scales, codes, rows: None })
    }
}
