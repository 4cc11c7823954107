//! The files of a lexical field as the text index sees them: those of one version, opened, checked and read-only. It
//! neither opens a path nor maps a file itself.

use std::collections::BTreeMap;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tantivy::directory::error::{DeleteError, OpenReadError, OpenWriteError};
use tantivy::directory::{FileHandle, OwnedBytes, WatchCallback, WatchHandle, WritePtr};
use tantivy::{Directory, HasLen};

use super::version_files::HeldFile;

/// The files of one field, by name.
#[derive(Debug, Clone)]
pub(super) struct TextFiles(pub(super) Arc<BTreeMap<PathBuf, Arc<HeldFile>>>);

impl TextFiles {
    fn file(&self, path: &Path) -> Result<&Arc<HeldFile>, OpenReadError> {
        self.0.get(path).ok_or_else(|| OpenReadError::FileDoesNotExist(path.to_owned()))
    }
}

/// One of the files.
#[derive(Debug)]
struct TextFile(Arc<HeldFile>);

impl HasLen for TextFile {
    fn len(&self) -> usize {
        self.0.bytes().len()
    }
}

impl FileHandle for TextFile {
    /// Copies, since reads are small: the list of terms once, and then one term's texts at a time.
    fn read_bytes(&self, range: Range<usize>) -> io::Result<OwnedBytes> {
        let bytes = self.0.bytes().get(range).ok_or(io::ErrorKind::UnexpectedEof)?;
        Ok(OwnedBytes::new(bytes.to_vec()))
    }
}

impl Directory for TextFiles {
    fn get_file_handle(&self, path: &Path) -> Result<Arc<dyn FileHandle>, OpenReadError> {
        self.file(path).map(|file| Arc::new(TextFile(Arc::clone(file))) as Arc<dyn FileHandle>)
    }

    fn exists(&self, path: &Path) -> Result<bool, OpenReadError> {
        Ok(self.0.contains_key(path))
    }

    fn atomic_read(&self, path: &Path) -> Result<Vec<u8>, OpenReadError> {
        self.file(path).map(|file| file.bytes().to_vec())
    }

    fn delete(&self, path: &Path) -> Result<(), DeleteError> {
        Err(DeleteError::IoError { io_error: Arc::new(immutable()), filepath: path.to_owned() })
    }

    fn open_write(&self, path: &Path) -> Result<WritePtr, OpenWriteError> {
        Err(OpenWriteError::wrap_io_error(immutable(), path.to_owned()))
    }

    fn atomic_write(&self, _path: &Path, _data: &[u8]) -> io::Result<()> {
        Err(immutable())
    }

    fn sync_directory(&self) -> io::Result<()> {
        Ok(())
    }

    fn watch(&self, _callback: WatchCallback) -> tantivy::Result<WatchHandle> {
        Ok(WatchHandle::empty())
    }
}

fn immutable() -> io::Error {
    io::Error::new(io::ErrorKind::ReadOnlyFilesystem, "a version is immutable")
}
