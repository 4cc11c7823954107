//! `vectors.bin`: the vectors of passages, sentences and questions in 8 bits, with one scale per vector. Earlier
//! programs wrote none of the vectors of out-coming questions.
//!
//! Most of an index are its vectors. If little has changed, a version therefore shares the file of the version before,
//! by a hard link, and `added-vectors.bin` has the vectors made since and the row of each text among both.

use std::io::Write;
use std::ops::Range;
use std::path::Path;
use std::ptr;
use std::sync::{Arc, OnceLock};

use super::sections::{self, Contents, Gather, Sections};
use super::stamp::StampedFile;
use super::version_files::HeldFile;
use super::{ADDED_VECTORS, VECTORS};
use crate::domain::Cancellation;
use crate::error::{Error, Result};
use crate::files;
use crate::graph::segments::CHANGED_ONE_IN;
use crate::graph::vectors::Piece;
use crate::store::{VectorField, Vectors};

/// Writes the vectors of a version to its folder, by sharing the file of the version before if little has changed since
/// that was written; returns the stamps of the files.
pub(super) fn write(
    folder: &Path,
    dimension: usize,
    fields: &[Vectors<'_>; 4],
    earlier: Option<&VectorsFile>,
) -> Result<Vec<StampedFile>> {
    if fields.iter().any(|field| field.dimension != dimension) {
        return Err(Error::Internal(format!("some vectors do not have {dimension} values")));
    }
    let Some(earlier) = earlier.filter(|it| it.dimension == dimension && it.is_worth_sharing(fields)) else {
        return Ok(vec![write_whole(folder, dimension, fields)?]);
    };
    let shared = share(&earlier.file, folder)?;
    let is_all = |field: &Vectors<'_>| field.rows.is_none() && field.added.0.is_empty();
    if fields.iter().all(is_all) {
        return Ok(vec![shared]);
    }
    Ok(vec![shared, write_added(folder, dimension, fields)?])
}

/// Links a file of another version into a folder, or copies it on a disk without links. It is synced in any case: an
/// index may have been copied.
fn share(file: &HeldFile, folder: &Path) -> Result<StampedFile> {
    let path = folder.join(&file.due().path);
    let linked = files::link_own(file.path(), &path);
    if linked.is_err() || !file.is_at(&path) {
        tracing::debug!(?linked, "the vectors are copied");
        // A network may lose the answer to a link that was made, and the name may lead to another file by now. Neither
        // is to be written to.
        files::remove_own(&path)?;
        files::write_own(&path, file.bytes())?;
    }
    files::sync(&path)?;
    Ok(file.due().clone())
}

fn write_whole(folder: &Path, dimension: usize, fields: &[Vectors<'_>; 4]) -> Result<StampedFile> {
    let pieces = fields.each_ref().map(Vectors::pieces);
    let is_whole = |(field, pieces): (&Vectors<'_>, &Vec<Piece<'_>>)| {
        pieces.iter().map(|(scales, _)| scales.len()).sum::<usize>() == field.len()
    };
    if !fields.iter().zip(&pieces).all(is_whole) {
        return Err(Error::Internal("some vectors are missing".to_owned()));
    }
    let mut gathered: Vec<(usize, Box<Gather<'_>>)> = Vec::with_capacity(2 * fields.len());
    for (field, pieces) in fields.iter().zip(&pieces) {
        let scales = |file: &mut dyn Write| pieces.iter().try_for_each(|it| file.write_all(bytemuck::cast_slice(it.0)));
        let codes = |file: &mut dyn Write| pieces.iter().try_for_each(|it| file.write_all(bytemuck::cast_slice(it.1)));
        gathered.push((field.len() * size_of::<f32>(), Box::new(scales)));
        gathered.push((field.len() * dimension, Box::new(codes)));
    }
    let names = NAMES.iter().flat_map(|names| [names.scales, names.codes]);
    let parts = names.zip(gathered.iter().map(|(bytes, gather)| Contents::Gathered(*bytes, &**gather)));
    write_parts(folder, VECTORS, &(dimension as u32).to_ne_bytes(), parts)
}

/// Writes the rows after the first ones, and the row of each item.
fn write_added(folder: &Path, dimension: usize, fields: &[Vectors<'_>; 4]) -> Result<StampedFile> {
    let rows: Vec<Vec<u32>> =
        fields.iter().map(|field| (0..field.len() as u32).map(|it| field.row(it)).collect()).collect();
    let is_row = |(field, rows): (&Vectors<'_>, &Vec<u32>)| rows.iter().all(|it| (*it as usize) < field.row_count());
    if !fields.iter().zip(&rows).all(is_row) {
        return Err(Error::Internal("some vectors are missing".to_owned()));
    }
    let parts = NAMES.iter().zip(fields).zip(&rows).flat_map(|((names, field), rows)| {
        let (scales, codes): (&[u8], &[u8]) =
            (bytemuck::cast_slice(field.added.0), bytemuck::cast_slice(field.added.1));
        let parts = [(names.rows, bytemuck::cast_slice(rows)), (names.scales, scales), (names.codes, codes)];
        parts.map(|(name, bytes)| (name, Contents::Bytes(bytes)))
    });
    write_parts(folder, ADDED_VECTORS, &(dimension as u32).to_ne_bytes(), parts)
}

fn write_parts<'c>(
    folder: &Path,
    name: &str,
    dimension: &'c [u8],
    parts: impl Iterator<Item = (&'static str, Contents<'c>)>,
) -> Result<StampedFile> {
    let all: Vec<(&str, Contents<'_>)> = [("dimension", Contents::Bytes(dimension))].into_iter().chain(parts).collect();
    let (stamp, blocks) = sections::write_with_blocks(&folder.join(name), &all)?;
    Ok(StampedFile { path: name.to_owned(), stamp, blocks: Some(blocks) })
}

/// The names of the sections of a field.
struct Names {
    scales: &'static str,
    codes: &'static str,
    /// The row of each item, of those in both files.
    rows: &'static str,
}

const NAMES: [Names; 4] = [
    Names { scales: "passage.scales", codes: "passage.codes", rows: "passage.rows" },
    Names { scales: "sentence.scales", codes: "sentence.codes", rows: "sentence.rows" },
    Names { scales: "incoming.scales", codes: "incoming.codes", rows: "incoming.rows" },
    Names { scales: "outgoing.scales", codes: "outgoing.codes", rows: "outgoing.rows" },
];
/// The field that may be left out.
const OUTGOING: usize = 3;

/// The vectors of a version, open. Most of an index are its vectors, so that each field is checked when it is used
/// first and not when the version is opened; the first use reads all of it in any case.
#[derive(Debug)]
pub(super) struct VectorsFile {
    file: Arc<HeldFile>,
    sections: Sections,
    added: Option<Sections>,
    dimension: usize,
    fields: [Field; 4],
}

#[derive(Debug, Default)]
struct Field {
    name: &'static str,
    first: Part,
    added: Option<AddedPart>,
    /// Set once all of it was checked.
    checked: OnceLock<()>,
}

/// Where the rows of a field are in a file.
#[derive(Debug, Default)]
struct Part {
    scales: Range<usize>,
    codes: Range<usize>,
}

#[derive(Debug)]
struct AddedPart {
    part: Part,
    rows: Range<usize>,
}

impl Part {
    /// Finds the rows of a field, each of `dimension` values; also returns how many there are.
    fn find(sections: &Sections, names: &Names, dimension: usize) -> Result<(Self, usize)> {
        let found = sections.array::<u32>("dimension")?;
        if sections.items::<u32>(found) != [dimension as u32] {
            return Err(sections.corrupt("its vectors have another dimension than those of its index"));
        }
        let (scales, codes) = (sections.array::<f32>(names.scales)?, sections.array::<i8>(names.codes)?);
        let count = scales.len() / size_of::<f32>();
        if codes.len() != count * dimension {
            return Err(lacks_one(sections, names));
        }
        Ok((Self { scales, codes }, count))
    }

    /// Returns the rows, after a check.
    fn rows<'s>(&self, sections: &'s Sections, name: &str) -> Result<Piece<'s>> {
        sections.check(self.scales.clone())?;
        sections.check(self.codes.clone())?;
        let (scales, codes) = self.unchecked(sections);
        if !scales.iter().all(|scale| scale.is_finite()) {
            return Err(sections.corrupt(format!("`{name}` has a value that is not a number")));
        }
        Ok((scales, codes))
    }

    fn unchecked<'s>(&self, sections: &'s Sections) -> Piece<'s> {
        (sections.items(self.scales.clone()), sections.items(self.codes.clone()))
    }
}

fn lacks_one(sections: &Sections, names: &Names) -> Error {
    sections.corrupt(format!("`{}` or `{}` lacks a vector for a text", names.scales, names.codes))
}

impl VectorsFile {
    /// Opens the file, which must hold `counts` vectors of `dimension` values, together with those added since.
    pub(super) fn open(
        file: &Arc<HeldFile>,
        added: Option<&Arc<HeldFile>>,
        dimension: usize,
        counts: [usize; 4],
    ) -> Result<Self> {
        let (sections, added) = (Sections::of(file)?, added.map(Sections::of).transpose()?);
        let mut fields: [Field; 4] = Default::default();
        for (number, ((field, names), due)) in fields.iter_mut().zip(&NAMES).zip(counts).enumerate() {
            let (first, count) = Part::find(&sections, names, dimension)?;
            let added = match &added {
                None if count == due || (number == OUTGOING && count == 0) => None,
                None => return Err(lacks_one(&sections, names)),
                Some(added) => {
                    let (part, _) = Part::find(added, names, dimension)?;
                    let rows = added.array::<u32>(names.rows)?;
                    if rows.len() / size_of::<u32>() != due {
                        return Err(added.corrupt(format!("`{}` lacks a row for a text", names.rows)));
                    }
                    Some(AddedPart { part, rows })
                }
            };
            *field = Field { name: names.scales, first, added, checked: OnceLock::new() };
        }
        Ok(Self { file: Arc::clone(file), sections, added, dimension, fields })
    }

    /// Checks the fields ahead of their use, until a stop is requested; gives back the memory of most of each.
    pub(super) fn check_ahead(&self, stop: &Cancellation) {
        for number in (0..self.fields.len()).take_while(|_| !stop.is_cancelled()) {
            // Whoever uses it finds the same.
            let _checked = self.field(number);
            self.file.release();
        }
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
        if field.checked.get().is_none() {
            self.check(field)?;
            // A concurrent caller found the same.
            let _set = field.checked.set(());
        }
        let (scales, codes) = field.first.unchecked(&self.sections);
        let vectors = Vectors { dimension: self.dimension, scales, codes, ..Vectors::default() };
        Ok(match field.added.as_ref().zip(self.added.as_ref()) {
            Some((AddedPart { part, rows }, added)) => {
                Vectors { added: part.unchecked(added), rows: Some(added.items(rows.clone())), ..vectors }
            }
            None => vectors,
        })
    }

    /// Checks a field: its bytes, that its scales are numbers, and that each item has a row.
    fn check(&self, field: &Field) -> Result<()> {
        let (first, _) = field.first.rows(&self.sections, field.name)?;
        let Some((AddedPart { part, rows }, added)) = field.added.as_ref().zip(self.added.as_ref()) else {
            return Ok(());
        };
        let count = first.len() + part.rows(added, field.name)?.0.len();
        added.check(rows.clone())?;
        if added.items::<u32>(rows.clone()).iter().any(|row| *row as usize >= count) {
            return Err(added.corrupt("a text has a vector that is not there"));
        }
        Ok(())
    }

    /// Returns whether most rows of this file are among these fields, and few others.
    fn is_worth_sharing(&self, fields: &[Vectors<'_>; 4]) -> bool {
        let (mut shared, mut changed) = (0, 0);
        for (field, own) in fields.iter().zip(&self.fields) {
            let scales = own.first.unchecked(&self.sections).0;
            if !(ptr::eq(field.scales, scales) || field.scales.is_empty() && scales.is_empty()) {
                return false;
            }
            let used = field
                .rows
                .map_or(scales.len(), |rows| rows.iter().filter(|row| (**row as usize) < scales.len()).count());
            shared += scales.len();
            changed += scales.len().saturating_sub(used) + field.added.0.len();
        }
        shared > 0 && changed * CHANGED_ONE_IN <= shared
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::super::FileAccess;
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

    fn views(fields: &[QuantizedVectors; 4]) -> [Vectors<'_>; 4] {
        fields.each_ref().map(QuantizedVectors::view)
    }

    /// A flipped bit is an error in the field that contains it, or on opening, and nowhere else.
    #[test]
    fn a_damaged_part_of_a_large_file_is_never_used() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(VECTORS);
        let fields = COUNTS.map(field);
        let files = write(folder.path(), DIMENSION, &views(&fields), None).unwrap();
        let whole = std::fs::read(&path).unwrap();
        assert!(whole.len() > 5 << 20, "{} bytes are more than a few blocks", whole.len());
        let open = |access| {
            let file = Arc::new(HeldFile::open(folder.path(), &files[0], access)?);
            Ok::<_, Error>((VectorsFile::open(&file, None, DIMENSION, COUNTS)?, file))
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

    /// A folder with the vectors of a version.
    struct Version {
        folder: tempfile::TempDir,
        files: Vec<StampedFile>,
        counts: [usize; 4],
    }

    impl Version {
        fn write(fields: &[Vectors<'_>; 4], earlier: Option<&VectorsFile>) -> Self {
            let folder = tempfile::tempdir().unwrap();
            let files = write(folder.path(), DIMENSION, fields, earlier).unwrap();
            Self { folder, files, counts: fields.each_ref().map(Vectors::len) }
        }

        fn path(&self) -> PathBuf {
            self.folder.path().join(VECTORS)
        }

        fn open(&self) -> Result<VectorsFile> {
            let held = |due| HeldFile::open(self.folder.path(), due, FileAccess::Auto).map(Arc::new);
            let held = self.files.iter().map(held).collect::<Result<Vec<_>>>()?;
            VectorsFile::open(&held[0], held.get(1), DIMENSION, self.counts)
        }

        /// Returns the vectors of a field of the open file, item by item.
        fn items(file: &VectorsFile, number: usize) -> Vec<(f32, Vec<i8>)> {
            let vectors = file.field(number).unwrap();
            (0..vectors.len() as u32).map(|it| (vectors.scale(it), vectors.codes(it).to_vec())).collect()
        }
    }

    /// Returns the rows of items if one of twenty is gone, another is new in its place, and two have changed places.
    fn changed(count: usize) -> Vec<u32> {
        let mut rows: Vec<u32> = (0..count as u32).filter(|row| row % 20 != 3).collect();
        for added in 0..count as u32 / 20 {
            rows.insert(added as usize * 20 + 3, count as u32 + added);
        }
        if count > 1 {
            rows.swap(0, 1);
        }
        rows
    }

    #[test]
    fn vectors_that_hardly_change_stay_in_the_file_of_the_version_before() {
        let counts = [100, 400, 200, 0];
        let first = Version::write(&views(&counts.map(field)), None);
        assert_eq!(first.files.len(), 1);
        let before = first.open().unwrap();
        let fields = [0, 1, 2, 3].map(|it| before.field(it).unwrap());
        // What is the same needs nothing else.
        let same = Version::write(&fields, Some(&before));
        assert_eq!(same.files, first.files);

        let (made, rows) = (counts.map(|count| field(count / 20)), counts.map(changed));
        let mut next = fields;
        for ((next, made), rows) in next.iter_mut().zip(&made).zip(&rows) {
            *next = Vectors { added: made.parts(), rows: Some(rows), ..*next };
        }
        let second = Version::write(&next, Some(&before));
        assert_eq!(second.files.iter().map(|it| it.path.as_str()).collect::<Vec<_>>(), [VECTORS, ADDED_VECTORS]);
        let whole = Version::write(&next, None);
        assert_eq!(whole.files.len(), 1);
        let [shared, made_whole] = [&second, &whole].map(|it| it.open().unwrap());
        for number in 0..4 {
            assert_eq!(Version::items(&shared, number), Version::items(&made_whole, number), "{number}");
        }
        #[cfg(unix)]
        {
            use std::os::unix::fs::MetadataExt as _;
            let file = |version: &Version| std::fs::metadata(version.path()).unwrap().ino();
            assert!(file(&second) == file(&first) && file(&whole) != file(&first));
        }

        // A version after that shares the same file, until most of it is of no use.
        let fields = [0, 1, 2, 3].map(|it| shared.field(it).unwrap());
        assert_eq!(Version::write(&fields, Some(&shared)).files, second.files);
        let half = fields.map(|field| Vectors { rows: field.rows.map(|rows| &rows[..rows.len() / 2]), ..field });
        assert_eq!(Version::write(&half, Some(&shared)).files.len(), 1);
        // Those of another file are not shared, however much alike.
        assert_eq!(Version::write(&fields, Some(&made_whole)).files.len(), 1);
    }

    /// A server may lose its answer to a link that it made, and a name may lead to another file than the one that was
    /// opened.
    #[cfg(unix)]
    #[test]
    fn sharing_writes_to_no_file_that_is_there() {
        let first = Version::write(&views(&[100, 0, 0, 0].map(field)), None);
        let before = first.open().unwrap();
        let fields = [0, 1, 2, 3].map(|it| before.field(it).unwrap());
        let bytes = std::fs::read(first.path()).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(VECTORS);
        std::fs::hard_link(first.path(), &path).unwrap();
        let files = write(folder.path(), DIMENSION, &fields, Some(&before)).unwrap();
        let inode = |path: &Path| std::os::unix::fs::MetadataExt::ino(&std::fs::metadata(path).unwrap());
        assert!(files == first.files && inode(&path) != inode(&first.path()));
        assert!([first.path(), path.clone()].iter().all(|it| std::fs::read(it).unwrap() == bytes));

        std::fs::remove_file(&path).unwrap();
        std::fs::rename(first.path(), first.folder.path().join("opened")).unwrap();
        std::fs::write(first.path(), "another").unwrap();
        let files = write(folder.path(), DIMENSION, &fields, Some(&before)).unwrap();
        assert!(files == first.files && std::fs::read(&path).unwrap() == bytes);
        assert_eq!(std::fs::read(first.path()).unwrap(), b"another");
    }

    #[test]
    fn a_file_without_vectors_or_of_another_dimension_is_not_shared() {
        let none = Version::write(&views(&[0, 0, 0, 0].map(field)), None);
        let before = none.open().unwrap();
        let folder = tempfile::tempdir().unwrap();
        let fields = [Vectors { dimension: 32, ..Vectors::default() }; 4];
        write(folder.path(), 32, &fields, Some(&before)).unwrap();
        assert!(std::fs::read(folder.path().join(VECTORS)).unwrap() != std::fs::read(none.path()).unwrap());
    }

    #[test]
    fn vectors_are_copied_where_a_file_cannot_have_two_names() {
        let first = Version::write(&views(&[100, 0, 0, 0].map(field)), None);
        let before = first.open().unwrap();
        let fields = [0, 1, 2, 3].map(|it| before.field(it).unwrap());
        // Gone, but open.
        std::fs::remove_file(first.path()).unwrap();
        let second = Version::write(&fields, Some(&before));
        assert_eq!(second.files, first.files);
        assert_eq!(Version::items(&second.open().unwrap(), 0), Version::items(&before, 0));
    }

    #[test]
    fn a_text_without_a_row_or_with_one_that_is_not_there_is_damage() {
        let first = Version::write(&views(&[8, 8, 8, 8].map(field)), None);
        let before = first.open().unwrap();
        let rows: [u32; 8] = [0, 1, 2, 3, 4, 5, 6, 8];
        let mut fields = [0, 1, 2, 3].map(|it| before.field(it).unwrap());
        let made = field(1);
        fields[2] = Vectors { added: made.parts(), rows: Some(&rows), ..fields[2] };
        let second = Version::write(&fields, Some(&before));
        assert!(second.open().unwrap().field(2).is_ok());
        let forged = |row: u32| {
            let sections = second.open().unwrap().added.unwrap();
            let forged = [0, 1, 2, 3, 4, 5, 6, row];
            let parts = sections.iter().map(|(name, bytes)| match name {
                "incoming.rows" => (name, Contents::Bytes(bytemuck::cast_slice(&forged))),
                _ => (name, Contents::Bytes(bytes)),
            });
            let parts: Vec<_> = parts.collect();
            let (stamp, blocks) =
                sections::write_with_blocks(&second.folder.path().join("forged.bin"), &parts).unwrap();
            let due = StampedFile { path: "forged.bin".to_owned(), stamp, blocks: Some(blocks) };
            let added = Arc::new(HeldFile::open(second.folder.path(), &due, FileAccess::Read).unwrap());
            let file = VectorsFile::open(&before.file, Some(&added), DIMENSION, [8; 4]).unwrap();
            file.field(2).err().map(|error| error.kind())
        };
        assert_eq!(
            (forged(8), forged(9), forged(u32::MAX)),
            (None, Some(ErrorKind::Corrupt), Some(ErrorKind::Corrupt))
        );
        let other = Version { counts: [8, 8, 9, 8], ..second };
        assert_eq!(other.open().err().map(|error| error.kind()), Some(ErrorKind::Corrupt));
        let lost = Version { files: other.files[..1].to_vec(), counts: [8, 8, 9, 8], ..first };
        assert_eq!(lost.open().err().map(|error| error.kind()), Some(ErrorKind::Corrupt));
    }
}
