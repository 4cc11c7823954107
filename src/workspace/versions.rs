//! The folder `versions` of an index: which names in it are ours, how a version is created there, and what is removed.
//!
//! Only names of the forms written here are ever removed, one by one, and only if they are regular files or empty
//! folders. Everything else there stays, and can be listed.

use std::path::{Path, PathBuf};

use super::{
    ADDED_PASSAGE_TERMS, ADDED_SENTENCE_TERMS, ADDED_VECTORS, DESCRIPTIONS, GRAPH, HIERARCHY, MATCHES, NAMES,
    PASSAGE_TERMS, RESOLUTION, SEGMENTS, SENTENCE_TERMS, TEXT, TEXTS, VECTORS, VERSIONS,
};
use crate::domain::IndexVersion;
use crate::error::{Error, Result};
use crate::files::{self, FolderInUse, Found};

/// The prefix of a version's folder while it is written.
const UNFINISHED: &str = ".tmp-";
/// Folders of the text index that not every version has.
const ADDED: [&str; 2] = [ADDED_PASSAGE_TERMS, ADDED_SENTENCE_TERMS];
/// Ending of a file of sections while it is written.
const UNFINISHED_FILE: &str = "tmp";

/// A name in `versions` that is ours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum VersionName {
    Finished(IndexVersion),
    Unfinished,
}

impl VersionName {
    fn parse(path: &Path) -> Option<Self> {
        let name = path.file_name()?.to_str()?;
        match name.strip_prefix(UNFINISHED) {
            Some(digits) => number(digits).map(|_| Self::Unfinished),
            None => number(name).map(|it| Self::Finished(IndexVersion(it))),
        }
    }
}

/// Returns the number that is written in these digits, as we write it.
fn number(digits: &str) -> Option<u64> {
    digits.parse().ok().filter(|number: &u64| number.to_string() == digits)
}

/// A path inside the folder of a version that is ours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct VersionFile;

impl VersionFile {
    /// Parses a path with forward slashes; none if we write no file with that name.
    pub(super) fn parse(path: &str) -> Option<Self> {
        let is_ours = match path.rsplit_once('/') {
            None => is_file_of_sections(path),
            Some((PASSAGE_TERMS | SENTENCE_TERMS | ADDED_PASSAGE_TERMS | ADDED_SENTENCE_TERMS, name)) => {
                is_file_of_terms(name)
            }
            Some(_) => false,
        };
        is_ours.then_some(Self)
    }
}

fn is_file_of_sections(name: &str) -> bool {
    const OURS: [&str; 10] =
        [GRAPH, RESOLUTION, HIERARCHY, DESCRIPTIONS, MATCHES, NAMES, SEGMENTS, TEXTS, VECTORS, ADDED_VECTORS];
    OURS.iter().any(|ours| {
        let stem = ours.split_once('.').map_or(*ours, |it| it.0);
        name == *ours || name.strip_prefix(stem).and_then(|it| it.strip_prefix('.')) == Some(UNFINISHED_FILE)
    })
}

/// Names by the text index: 32 hexadecimal digits for a segment, and a few others.
fn is_file_of_terms(name: &str) -> bool {
    let is_plain = |text: &str| !text.is_empty() && text.bytes().all(|it| it.is_ascii_alphanumeric());
    let is_segment = || {
        let mut parts = name.split('.');
        let digits = parts.next().unwrap_or_default();
        let is_hex = digits.bytes().all(|it| it.is_ascii_digit() || (b'a'..=b'f').contains(&it));
        digits.len() == 32 && is_hex && name.len() > 32 && parts.all(is_plain)
    };
    let is_temporary = || name.strip_prefix(".tmp").is_some_and(is_plain);
    let known = ["meta.json", ".managed.json", ".tantivy-writer.lock", ".tantivy-meta.lock"];
    known.contains(&name) || is_segment() || is_temporary()
}

/// Checks that the folders of a version, with `folder` as the outermost, are not links.
pub(super) fn expect_folders(folder: &Path) -> Result<()> {
    let inner = [TEXT, PASSAGE_TERMS, SENTENCE_TERMS].map(|name| folder.join(name));
    let outer = [folder.parent().unwrap_or(folder), folder].map(Path::to_owned);
    for path in outer.into_iter().chain(inner) {
        if !files::expect_folder(&path)? {
            return Err(Error::Corrupt { path, reason: "it is not there".to_owned() });
        }
    }
    // If there is none, the records name no file in it.
    ADDED.iter().try_for_each(|name| files::expect_folder(&folder.join(name)).map(drop))
}

/// The folder `versions` of an index, which is not a link.
#[derive(Debug)]
pub(super) struct Versions {
    path: PathBuf,
}

impl Versions {
    /// Creates the folder in the index at `index` if missing.
    pub(super) fn make(index: &Path) -> Result<Self> {
        let path = index.join(VERSIONS);
        if !files::expect_folder(&path)? {
            files::make_own_folder(&path)?;
            files::sync(index)?;
        }
        Ok(Self { path })
    }

    /// Removes unused versions: unfinished, or not `kept`. Returns foreign files, which stay.
    pub(super) fn clear(&self, kept: &[IndexVersion]) -> Result<Vec<PathBuf>> {
        let mut foreign = Vec::new();
        for (path, found) in files::entries_of_own(&self.path)? {
            match VersionName::parse(&path) {
                Some(VersionName::Finished(version)) if kept.contains(&version) => {}
                Some(_) if found == Found::Folder => Remover { foreign: &mut foreign }.remove(&path)?,
                _ => foreign.push(path),
            }
        }
        Ok(foreign)
    }

    /// Removes versions that were begun and not finished.
    pub(super) fn clear_unfinished(&self) -> Result<()> {
        let is_unfinished = |path: &Path| VersionName::parse(path) == Some(VersionName::Unfinished);
        let entries = files::entries_of_own(&self.path)?.into_iter();
        let mut unfinished = entries.filter(|(path, found)| *found == Found::Folder && is_unfinished(path));
        unfinished.try_for_each(|(path, _)| Remover { foreign: &mut Vec::new() }.remove(&path))
    }

    /// Makes the folders of a version that is to be written.
    pub(super) fn begin(&self, version: IndexVersion) -> Result<PathBuf> {
        let folder = self.path.join(format!("{UNFINISHED}{version}"));
        // Something that could not be removed is in the way.
        for path in [self.finished(version), folder.clone()] {
            if Found::at(&path).map_err(Error::io("open", &path))? != Found::Nothing {
                return Err(Error::Foreign { path: first_foreign(&path).unwrap_or(path) });
            }
        }
        files::make_own_folder(&folder)?;
        for name in [TEXT, PASSAGE_TERMS, SENTENCE_TERMS] {
            files::make_own_folder(&folder.join(name))?;
        }
        Ok(folder)
    }

    /// Gives a version that was written its name. From then on it stays, whatever happens.
    pub(super) fn finish(&self, unfinished: &Path, version: IndexVersion) -> Result<()> {
        // The files are on the disk, but not yet the folder entries.
        for name in ADDED {
            if files::expect_folder(&unfinished.join(name))? {
                files::sync(&unfinished.join(name))?;
            }
        }
        for name in [PASSAGE_TERMS, SENTENCE_TERMS, TEXT, ""] {
            files::sync(&unfinished.join(name))?;
        }
        files::rename_own(unfinished, &self.finished(version))?;
        files::sync(&self.path)
    }

    /// Takes a version for oneself alone, to remove it; nothing where somebody opens it.
    pub(super) fn claim(&self, version: IndexVersion) -> Option<FolderInUse> {
        files::claim_folder(&self.finished(version))
    }

    fn finished(&self, version: IndexVersion) -> PathBuf {
        self.path.join(version.to_string())
    }
}

/// Creates the folders, in that of a version, for texts added since its fields were last rewritten.
pub(super) fn make_added(version: &Path) -> Result<()> {
    ADDED.iter().try_for_each(|name| files::make_own_folder(&version.join(name)))
}

/// Returns something below `path` that is not ours, or that could not be removed.
fn first_foreign(path: &Path) -> Option<PathBuf> {
    let below = files::entries_of_own(path).ok()?;
    below.into_iter().next().map(|(path, _)| first_foreign(&path).unwrap_or(path))
}

/// Removes our files of a version, and notes foreign ones.
struct Remover<'a> {
    foreign: &'a mut Vec<PathBuf>,
}

impl Remover<'_> {
    fn remove(&mut self, version: &Path) -> Result<()> {
        for (path, found) in files::entries_of_own(version)? {
            match found {
                Found::File if has_name(&path, is_file_of_sections) => clear_file(&path),
                Found::Folder if has_name(&path, |name| name == TEXT) => self.remove_text(&path)?,
                _ => self.foreign.push(path),
            }
        }
        clear_folder(version);
        Ok(())
    }

    fn remove_text(&mut self, text: &Path) -> Result<()> {
        let fields = [PASSAGE_TERMS, SENTENCE_TERMS, ADDED_PASSAGE_TERMS, ADDED_SENTENCE_TERMS];
        let fields = fields.map(|path| path.rsplit_once('/').map_or(path, |it| it.1));
        for (path, found) in files::entries_of_own(text)? {
            if found != Found::Folder || !has_name(&path, |name| fields.contains(&name)) {
                self.foreign.push(path);
                continue;
            }
            for (file, found) in files::entries_of_own(&path)? {
                if found == Found::File && has_name(&file, is_file_of_terms) {
                    clear_file(&file);
                } else {
                    self.foreign.push(file);
                }
            }
            clear_folder(&path);
        }
        clear_folder(text);
        Ok(())
    }
}

fn has_name(path: &Path, is_ours: impl Fn(&str) -> bool) -> bool {
    path.file_name().and_then(|name| name.to_str()).is_some_and(is_ours)
}

/// What cannot be removed does no harm: some systems keep files that a reader maps. The next run tries again.
fn clear_file(path: &Path) {
    if let Err(error) = files::remove_own(path) {
        tracing::debug!(%error, file = %path.display(), "a file of an old version could not be removed");
    }
}

/// As [`clear_file`]; a folder that is not empty stays.
fn clear_folder(path: &Path) {
    if let Err(error) = files::remove_own_folder(path) {
        tracing::debug!(%error, folder = %path.display(), "an old version could not be removed");
    }
}

/// Returns whether a folder holds versions of an index and nothing else; one that is not there does.
pub(super) fn holds_versions(path: &Path) -> Result<bool> {
    let is_version = |(path, found): &(PathBuf, Found)| *found == Found::Folder && VersionName::parse(path).is_some();
    Ok(files::entries_of_own(path)?.iter().all(is_version))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(path: &Path, names: &[&str]) {
        for name in names {
            let path = path.join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "x").unwrap();
        }
    }

    fn names(path: &Path) -> Vec<String> {
        let walk = walkdir::WalkDir::new(path).min_depth(1).sort_by_file_name();
        let name = |entry: walkdir::DirEntry| entry.path().strip_prefix(path).unwrap().display().to_string();
        walk.into_iter().map(|entry| name(entry.unwrap())).collect()
    }

    #[test]
    fn only_what_we_name_is_removed_and_the_rest_is_said() {
        let index = tempfile::tempdir().unwrap();
        let path = index.path().join(VERSIONS);
        let segment = "text/passages/0123456789abcdef0123456789abcdef.idx";
        let added = "text/added-sentences/meta.json";
        let whole = ["graph.bin", "texts.bin", "segments.bin", segment, "text/sentences/.managed.json", added];
        for version in ["6", "7", ".tmp-8"] {
            write(&path.join(version), &whole);
        }
        write(&path, &[".tmp-8/graph.tmp", ".tmp-8/text/passages/.tmpAb3xYz"]);
        let foreign =
            ["6/notes.txt", "6/text/passages/mine.txt", "6/text/mine/a.txt", "007/graph.bin", "old/graph.bin", "9"];
        write(&path, &foreign);
        let versions = Versions::make(index.path()).unwrap();
        let stays = versions.clear(&[IndexVersion(7)]).unwrap();
        let said: Vec<String> = stays.iter().map(|it| it.strip_prefix(&path).unwrap().display().to_string()).collect();
        assert_eq!(said, ["007", "6/notes.txt", "6/text/mine", "6/text/passages/mine.txt", "9", "old"]);
        for name in foreign {
            assert!(path.join(name).is_file(), "{name}");
        }
        assert_eq!(names(&path.join("7")).len(), 10);
        assert!(!path.join(".tmp-8").exists() && !path.join("6/graph.bin").exists());
    }

    #[test]
    fn a_version_is_not_begun_if_something_blocks_it_which_is_named() {
        let index = tempfile::tempdir().unwrap();
        let versions = Versions::make(index.path()).unwrap();
        write(&index.path().join(VERSIONS), &["8/text/mine.txt"]);
        assert!(versions.begin(IndexVersion(9)).is_ok());
        let error = versions.begin(IndexVersion(8)).unwrap_err();
        assert!(matches!(&error, Error::Foreign { path } if path.ends_with("8/text/mine.txt")), "{error}");
    }

    #[test]
    fn names_that_lead_elsewhere_are_no_files_of_a_version() {
        for path in ["graph.bin", "text/passages/meta.json", "text/sentences/.managed.json", "vectors.tmp"] {
            assert!(VersionFile::parse(path).is_some(), "{path}");
        }
        for path in
            ["", "..", "/etc/passwd", "../7/graph.bin", "text/../graph.bin", "text/passages/../x", "text/a/b", "a"]
        {
            assert!(VersionFile::parse(path).is_none(), "{path}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn nothing_is_removed_through_a_link() {
        use std::os::unix::fs::symlink;
        let (index, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        write(elsewhere.path(), &["graph.bin", "text/passages/meta.json", "6/graph.bin", "thesis.txt"]);
        let before = names(elsewhere.path());
        let path = index.path().join(VERSIONS);
        symlink(elsewhere.path(), &path).unwrap();
        let error = Versions::make(index.path()).unwrap_err();
        assert!(matches!(error, Error::Misplaced { found: "a symbolic link", needed: "a folder", .. }), "{error}");
        assert!(holds_versions(&path).is_err());

        std::fs::remove_file(&path).unwrap();
        let versions = Versions::make(index.path()).unwrap();
        std::fs::create_dir(path.join("6")).unwrap();
        for (target, link) in
            [("", "5"), ("", ".tmp-9"), ("text", "6/text"), ("graph.bin", "6/graph.bin"), ("thesis.txt", "6/texts.bin")]
        {
            symlink(elsewhere.path().join(target), path.join(link)).unwrap();
        }
        let stays = versions.clear(&[]).unwrap();
        assert_eq!(stays.len(), 5, "{stays:?}");
        assert_eq!(names(elsewhere.path()), before);
        assert!(versions.begin(IndexVersion(5)).is_err());
    }
}
