//! Files and folders: the only place that opens, creates, renames and removes them.
//!
//! There are two kinds of paths. A path that a user *names* (a folder of an index, a file of settings, an output) may
//! lead through links, as everywhere. A path of *ours* (a file or folder whose name this program chose, inside a named
//! folder) must not: a link there is an error and is never followed, so nothing outside the named folder is read,
//! changed or removed, whatever somebody put into it.
//!
//! No function here removes a folder with its contents. Files are removed by name and only if they are regular files,
//! folders only if they are empty. Only regular files are read, and they are opened without blocking: a named pipe or a
//! device in the place of a file is an immediate error.

mod kind;
mod system;

use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind, Read as _, Write as _};
use std::path::{Path, PathBuf};

pub(crate) use kind::Found;
use serde::de::DeserializeOwned;
use system::Links;
pub(crate) use system::is_on_local_disk;

use crate::error::{Error, Result};

/// The permissions of a new file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Readers {
    /// The user's default permissions.
    Usual,
    /// The user alone.
    Owner,
}

/// Opens a file that the user named, to read it.
pub(crate) fn open(path: &Path) -> Result<File> {
    open_to("open", path)
}

fn open_to(action: &'static str, path: &Path) -> Result<File> {
    regular(action, path, to_read(Links::Followed).open(path))
}

/// Reads a file that the user named.
pub(crate) fn read(path: &Path) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open_to("read", path)?.read_to_end(&mut bytes).map_err(Error::io("read", path))?;
    Ok(bytes)
}

/// Reads a file that the user named; none if it has more than `limit` bytes.
pub(crate) fn read_up_to(path: &Path, limit: u64) -> Result<Option<Vec<u8>>> {
    let mut bytes = Vec::new();
    // A file may grow while it is read.
    open_to("read", path)?.take(limit.saturating_add(1)).read_to_end(&mut bytes).map_err(Error::io("read", path))?;
    Ok((bytes.len() as u64 <= limit).then_some(bytes))
}

/// Reads a value from a file of JSON that the user named, of at most `limit` bytes.
///
/// # Errors
///
/// [`Error::Io`] if the file cannot be read; [`Error::Line`] if it has more bytes, or holds something else.
pub(crate) fn read_json<T: DeserializeOwned>(path: &Path, limit: u64) -> Result<T> {
    let refused = |line: usize, reason: String| Error::Line { path: path.to_owned(), line, reason };
    let bytes = read_up_to(path, limit)?.ok_or_else(|| refused(1, format!("the file has more than {limit} bytes")))?;
    serde_json::from_slice(&bytes).map_err(|error| refused(error.line().max(1), error.to_string()))
}

/// Reads a text file that the user named; none if it has more than `limit` bytes.
pub(crate) fn read_text_up_to(path: &Path, limit: u64) -> Result<Option<String>> {
    let text = read_up_to(path, limit)?.map(String::from_utf8).transpose();
    let broken = |_| std::io::Error::new(ErrorKind::InvalidData, "it is not UTF-8 text");
    text.map_err(broken).map_err(Error::io("read", path))
}

/// Reads a file of text that the user named.
pub(crate) fn read_text(path: &Path) -> Result<String> {
    let mut text = String::new();
    open_to("read", path)?.read_to_string(&mut text).map_err(Error::io("read", path))?;
    Ok(text)
}

/// Reads a secret from a file that the user named. It may be a named pipe, as used by password managers.
pub(crate) fn read_secret(path: &Path) -> Result<String> {
    if Found::through_links(path).map_err(Error::io("read", path))? == Found::Pipe {
        return std::fs::read_to_string(path).map_err(Error::io("read", path));
    }
    read_text(path)
}

/// Opens a file of ours for reading; none if it does not exist.
pub(crate) fn open_own(path: &Path) -> Result<Option<File>> {
    match regular("open", path, to_read(Links::Refused).open(path)) {
        Err(error) if is_missing(&error) => Ok(None),
        opened => opened.map(Some),
    }
}

/// Returns the size of a file of ours in bytes; 0 if it does not exist.
pub(crate) fn bytes_of_own(path: &Path) -> Result<u64> {
    match std::fs::symlink_metadata(path) {
        Ok(metadata) => Ok(metadata.len()),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(0),
        Err(error) => Err(Error::io("open", path)(error)),
    }
}

/// Reads a file of ours; none if it does not exist.
pub(crate) fn read_own(path: &Path) -> Result<Option<Vec<u8>>> {
    let Some(mut file) = open_own(path)? else { return Ok(None) };
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes).map_err(Error::io("read", path))?;
    Ok(Some(bytes))
}

/// Opens or creates a file that the user named, for writing from its beginning. It need not be a regular file: an
/// output may go to a pipe.
pub(crate) fn create(path: &Path) -> Result<File> {
    File::create(path).map_err(Error::io("write", path))
}

/// Writes a file that the user named, as [`create`].
pub(crate) fn write(path: &Path, contents: impl AsRef<[u8]>) -> Result<()> {
    create(path)?.write_all(contents.as_ref()).map_err(Error::io("write", path))
}

/// Makes a file that must not be there yet.
pub(crate) fn create_new(path: &Path, readers: Readers) -> Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    system::for_readers(options, readers).open(path).map_err(Error::io("make", path))
}

/// Opens a file of ours to write into it from its beginning, or makes it.
pub(crate) fn create_own(path: &Path) -> Result<File> {
    let mut options = OpenOptions::new();
    options.write(true);
    let file = open_own_to_write(path, options, Readers::Usual)?;
    // Only now is it known which file would be truncated.
    file.set_len(0).map_err(Error::io("write", path))?;
    Ok(file)
}

/// Writes a file of ours, as [`create_own`].
pub(crate) fn write_own(path: &Path, contents: impl AsRef<[u8]>) -> Result<()> {
    create_own(path)?.write_all(contents.as_ref()).map_err(Error::io("write", path))
}

/// Opens a file of ours to write at its end, or makes it.
pub(crate) fn append_own(path: &Path, readers: Readers) -> Result<File> {
    let mut options = OpenOptions::new();
    options.append(true);
    open_own_to_write(path, options, readers)
}

/// Opens a file of ours to write at its end, or makes it, and keeps `bytes` of it.
pub(crate) fn append_own_after(path: &Path, bytes: u64) -> Result<File> {
    let file = append_own(path, Readers::Usual)?;
    file.set_len(bytes).map_err(Error::io("write", path))?;
    Ok(file)
}

fn open_own_to_write(path: &Path, mut options: OpenOptions, readers: Readers) -> Result<File> {
    options.create(true);
    let options = system::for_readers(system::unwaiting(options, Links::Refused), readers);
    regular("write", path, options.open(path))
}

fn to_read(links: Links) -> OpenOptions {
    let mut options = OpenOptions::new();
    options.read(true);
    system::unwaiting(options, links)
}

/// Replaces a file of ours, or creates it: readers see either the old or the new one completely.
pub(crate) fn replace_own(path: &Path, contents: impl AsRef<[u8]>) -> Result<()> {
    expect_file(path)?;
    let mut name = path.as_os_str().to_owned();
    // Several programs may write concurrently.
    name.push(format!(".{}.new", std::process::id()));
    let unfinished = PathBuf::from(name);
    let written = write_own(&unfinished, contents).and_then(|()| sync(&unfinished));
    let replaced = written.and_then(|()| rename_own(&unfinished, path));
    if replaced.is_err() {
        // The incomplete file is useless; the error says what happened.
        let _gone = remove_own(&unfinished);
    }
    replaced
}

/// Gives a file or folder of ours another name. A file takes the place of a file; nothing takes that of anything else.
pub(crate) fn rename_own(from: &Path, to: &Path) -> Result<()> {
    match (Found::at(from).map_err(Error::io("name", from))?, Found::at(to).map_err(Error::io("name", to))?) {
        (Found::File, Found::Nothing | Found::File) | (Found::Folder | Found::Nothing, Found::Nothing) => {
            std::fs::rename(from, to).map_err(Error::io("name", to))
        }
        (Found::File, found) => Err(misplaced(to, found, "a file")),
        (Found::Folder | Found::Nothing, found) => Err(misplaced(to, found, "nothing")),
        (found, _) => Err(misplaced(from, found, "a file")),
    }
}

/// Gives a file of ours a second name, where nothing is.
pub(crate) fn link_own(from: &Path, to: &Path) -> Result<()> {
    expect_file(from)?;
    std::fs::hard_link(from, to).map_err(Error::io("name", to))
}

/// Returns what tells an open file from every other one, if the system has that.
pub(crate) fn identity(file: &File) -> Option<(u64, u64)> {
    file.metadata().ok().and_then(|it| system::identity(&it))
}

/// Returns what tells a file of ours from every other one, if it is there and the system has that.
pub(crate) fn identity_of_own(path: &Path) -> Option<(u64, u64)> {
    std::fs::symlink_metadata(path).ok().and_then(|it| system::identity(&it))
}

/// Removes a file of ours; returns whether there was one.
pub(crate) fn remove_own(path: &Path) -> Result<bool> {
    if !expect_file(path)? {
        return Ok(false);
    }
    match std::fs::remove_file(path) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
        Err(error) => Err(Error::io("remove", path)(error)),
    }
}

/// Removes a folder of ours if it is empty; returns whether it is gone.
pub(crate) fn remove_own_folder(path: &Path) -> Result<bool> {
    if !expect_folder(path)? {
        return Ok(true);
    }
    match std::fs::remove_dir(path) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(true),
        Err(error) if error.kind() == ErrorKind::DirectoryNotEmpty => Ok(false),
        Err(error) => Err(Error::io("remove", path)(error)),
    }
}

/// Makes a folder that the user named, and those above it.
pub(crate) fn make_folder(path: &Path) -> Result<()> {
    std::fs::create_dir_all(path).map_err(Error::io("make", path))
}

/// Creates a folder of ours if missing; its parent must exist.
pub(crate) fn make_own_folder(path: &Path) -> Result<()> {
    if expect_folder(path)? {
        return Ok(());
    }
    std::fs::create_dir(path).map_err(Error::io("make", path))
}

/// Returns whether a file of ours exists; anything else in its place is an error.
pub(crate) fn expect_file(path: &Path) -> Result<bool> {
    match Found::at(path).map_err(Error::io("open", path))? {
        Found::File => Ok(true),
        Found::Nothing => Ok(false),
        found => Err(misplaced(path, found, "a file")),
    }
}

/// Returns whether a folder of ours exists; anything else in its place is an error.
pub(crate) fn expect_folder(path: &Path) -> Result<bool> {
    match Found::at(path).map_err(Error::io("open", path))? {
        Found::Folder => Ok(true),
        Found::Nothing => Ok(false),
        found => Err(misplaced(path, found, "a folder")),
    }
}

/// Returns the contents of a folder of ours, by name; none if it does not exist.
pub(crate) fn entries_of_own(path: &Path) -> Result<Vec<(PathBuf, Found)>> {
    if !expect_folder(path)? {
        return Ok(Vec::new());
    }
    let read = || -> io::Result<Vec<(PathBuf, Found)>> {
        let entry = |entry: io::Result<std::fs::DirEntry>| {
            let path = entry?.path();
            Found::at(&path).map(|found| (path, found))
        };
        let mut entries = std::fs::read_dir(path)?.map(entry).collect::<io::Result<Vec<_>>>()?;
        // One that went meanwhile is none.
        entries.retain(|(_, found)| *found != Found::Nothing);
        entries.sort_unstable_by(|a, b| a.0.cmp(&b.0));
        Ok(entries)
    };
    read().map_err(Error::io("read", path))
}

/// A folder of ours that is in use, as other processes see it, until this is dropped.
#[derive(Debug)]
pub(crate) struct FolderInUse(File);

impl Drop for FolderInUse {
    /// A process that another thread is starting may hold the file a little longer.
    fn drop(&mut self) {
        let _lifted = self.0.unlock();
    }
}

/// Says that a folder is in use, beside others who use it; nothing where somebody has it alone, or where the system
/// cannot lock folders.
pub(crate) fn use_folder(path: &Path) -> Option<FolderInUse> {
    let folder = to_read(Links::Refused).open(path).ok()?;
    folder.try_lock_shared().ok().map(|()| FolderInUse(folder))
}

/// Takes a folder for oneself alone; nothing where somebody else uses it, or where the system cannot tell: on a
/// network, a lock on a folder may hold for this machine alone.
pub(crate) fn claim_folder(path: &Path) -> Option<FolderInUse> {
    let folder = to_read(Links::Refused).open(path).ok().filter(is_on_local_disk)?;
    folder.try_lock().ok().map(|()| FolderInUse(folder))
}

/// Makes sure that a file or folder is on the disk.
pub(crate) fn sync(path: &Path) -> Result<()> {
    // Windows opens no folder as a file, and needs none to be synced.
    if cfg!(windows) && path.is_dir() {
        return Ok(());
    }
    File::open(path).and_then(|file| file.sync_all()).map_err(Error::io("sync", path))
}

/// Returns whether an error says that a file is not there.
pub(crate) fn is_missing(error: &Error) -> bool {
    let is_missing = |kind| matches!(kind, ErrorKind::NotFound | ErrorKind::NotADirectory);
    matches!(error, Error::Io { source, .. } if is_missing(source.kind()))
}

/// Accepts a regular file, and reports anything else.
fn regular(action: &'static str, path: &Path, opened: io::Result<File>) -> Result<File> {
    match opened {
        Ok(file) => match Found::of(&file.metadata().map_err(Error::io(action, path))?) {
            Found::File => Ok(file),
            found => Err(misplaced(path, found, "a file")),
        },
        // A link that is not to be followed, a pipe that nobody reads, a socket: the system's words say little.
        Err(error) => match Found::at(path) {
            Ok(Found::File | Found::Nothing) | Err(_) => Err(Error::io(action, path)(error)),
            Ok(Found::Link) if error.kind() == ErrorKind::NotFound => Err(Error::io(action, path)(error)),
            Ok(found) => Err(misplaced(path, found, "a file")),
        },
    }
}

fn misplaced(path: &Path, found: Found, needed: &'static str) -> Error {
    Error::Misplaced { path: path.to_owned(), found: found.name(), needed }
}

#[cfg(test)]
mod tests;
