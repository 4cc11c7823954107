//! `vectors.bin`: the vectors of passages, sentences and questions in 8 bits, with one scale per vector. Earlier
//! programs wrote none of the vectors of out-coming questions.

use std::io::Write;
use std::ops::Range;
use std::path::Path;
use std::sync::{Arc, OnceLock};

use super::sections::{self, Contents, Gather, Sections};
use super::stamp::{Blocks, Stamp};
use super::version_files::HeldFile;
use crate::error::{Error, Result};
use crate::graph::vectors::Piece;
use crate::store::{VectorField, Vectors};

/// Writes `vectors.bin`; returns its stamp and those of its parts.
pub(super) fn write(path: &Path, dimension: usize, fields: [Vectors<'_>; 4]) -> Result<(Stamp, Blocks)> {
    let pieces = fields.each_ref().map(Vectors::pieces);
    let is_whole = |(field, pieces): (&Vectors<'_>, &Vec<Piece<'_>>)| {
        field.dimension == dimension && pieces.iter().map(|(scales, _)| scales.len()).sum::<usize>() == field.len()
    };
    if !fields.iter().zip(&pieces).all(is_whole) {
        return Err(Error::Internal(format!("some vectors are missing, or do not have {dimension} values")));
    }
    let size = (dimension as u32).to_ne_bytes();
    let mut gathered: Vec<(usize, Box<Gather<'_>>)> = Vec::with_capacity(2 * fields.len());
    for (field, pieces) in fields.iter().zip(&pieces) {
        let scales = |file: &mut dyn Write| pieces.iter().try_for_each(|it| file.write_all(bytemuck::cast_slice(it.0)));
        let codes = |file: &mut dyn Write| pieces.iter().try_for_each(|it| file.write_all(bytemuck::cast_slice(it.1)));
        gathered.push((field.len() * size_of::<f32>(), Box::new(scales)));
        gathered.push((field.len() * dimension, Box::new(codes)));
    }
    let mut parts = vec![("dimension", Contents::Bytes(&size))];
    let names = NAMES.iter().flat_map(|(scales, codes)| [*scales, *codes]);
    parts.extend(names.zip(&gathered).map(|(name, (bytes, gather))| (name, Contents::Gathered(*bytes, &**gather))));
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
    /// Set once all of it was checked.
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
                return Err(sections.corrupt(format!("`{scales_name}` or `{codes_name}` lacks a vector for a text")));
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

    /// Returns the vectors of out-coming questions; no rows if they were not kept.
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
                return Err(self.sections.corrupt(format!("`{}` has a value that is not a number", field.name)));
            }
            // A concurrent caller found the same.
            let _set = field.checked.set(());
        }
        let codes = self.sections.items(field.codes.clone());
        Ok(Vectors { dimension: self.dimension, scales, codes, ..Vectors::default() })
    }
}

#[cfg(test)]
mod tests {
    use super::super::stamp::StampedFile;
    use super::super::{FileAccess, VECTORS};
    use super::*;
    use crate::error::ErrorKind;
    use crate::graph::vectors::QuantizedVectors;

    const DIMENSION: usize = 64;
    const COUNTS: [usize; 4] = [9_000, 40_000, 20_000, 20_000];

    fn field(count: usize) -> QuantizedVectors {
        let mut vectors = QuantizedVectors::new(DIMENSION);
        for row in 0..count {
            let values: Vec<f32> = (0..DIMENSION).map(|at| ((row * 7 + at) % 13) as f32 - 6.0).collect();
            vectors.push(&values);
        }
        vectors
    }

    /// A flipped bit is an error in the field that contains it, or on opening, and nowhere else.
    #[test]
    fn a_damaged_part_of_a_large_file_is_never_used() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(VECTORS);
        let fields = COUNTS.map(field);
        let (stamp, blocks) = write(&path, DIMENSION, fields.each_ref().map(QuantizedVectors::view)).unwrap();
        let due = StampedFile { path: VECTORS.to_owned(), stamp, blocks: Some(blocks) };
        let whole = std::fs::read(&path).unwrap();
        assert!(whole.len() > 5 << 20, "{} bytes are more than a few blocks", whole.len());
        let open = |access| {
            let file = Arc::new(HeldFile::open(folder.path(), &due, access)?);
            Ok::<_, Error>((VectorsFile::open(&file, DIMENSION, COUNTS)?, file))
        };
        let kinds = |file: &VectorsFile| [0, 1, 2, 3].map(|number| file.field(number).err().map(|error| error.kind()));
        let (file, held) = open(FileAccess::Auto).unwrap();
        assert_eq!(kinds(&file), [None; 4]);
        assert!(held.check().is_ok());
        for (number, field) in fields.iter().enumerate() {
            let read = file.field(number).unwrap();
            assert_eq!((read.scales, read.codes), (field.scales.as_slice(), field.codes.as_slice()));
        }
        let (mut opened_count, places) = (0, (0..whole.len()).step_by(whole.len() / 57));
        for (at, access) in places.zip([FileAccess::Auto, FileAccess::Read].into_iter().cycle()) {
            let mut changed = whole.clone();
            changed[at] ^= 1;
            std::fs::write(&path, &changed).unwrap();
            let Ok((file, held)) = open(access) else { continue };
            opened_count += 1;
            // Padding between sections may be in a block without a field, and is checked with the whole file.
            let found = kinds(&file);
            assert!(found.contains(&Some(ErrorKind::Corrupt)), "{at}: {found:?}");
            assert!(found.contains(&None), "{at}: only what lies near is refused: {found:?}");
            assert_eq!(kinds(&file), found, "{at}");
            assert_eq!(held.check().map_err(|error| error.kind()), Err(ErrorKind::Corrupt), "{at}");
        }
        assert!(opened_count > 20, "{opened_count}");
    }
}
