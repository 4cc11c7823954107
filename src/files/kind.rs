//! What is at a path.

use std::fs::Metadata;
use std::io;
use std::path::Path;

/// What is at a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Found {
    /// Nothing.
    Nothing,
    /// A regular file.
    File,
    /// A folder.
    Folder,
    /// A symbolic link, wherever it leads; on Windows any other name for another place too.
    Link,
    /// A named pipe.
    Pipe,
    /// A socket.
    Socket,
    /// A device.
    Device,
}

impl Found {
    /// Inspects a path without following a link there.
    pub(crate) fn at(path: &Path) -> io::Result<Self> {
        Self::looked(std::fs::symlink_metadata(path))
    }

    /// Inspects the target of a path.
    pub(super) fn through_links(path: &Path) -> io::Result<Self> {
        Self::looked(std::fs::metadata(path))
    }

    fn looked(metadata: io::Result<Metadata>) -> io::Result<Self> {
        match metadata {
            Ok(metadata) => Ok(Self::of(&metadata)),
            // Below a file there is nothing.
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
                Ok(Self::Nothing)
            }
            Err(error) => Err(error),
        }
    }

    /// Returns the kind of an opened or inspected file.
    pub(super) fn of(metadata: &Metadata) -> Self {
        let kind = metadata.file_type();
        if kind.is_symlink() {
            Self::Link
        } else if kind.is_file() {
            Self::File
        } else if kind.is_dir() {
            Self::Folder
        } else {
            special(kind)
        }
    }

    /// Returns its name.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Nothing => "nothing",
            Self::File => "a file",
            Self::Folder => "a folder",
            Self::Link => "a symbolic link",
            Self::Pipe => "a named pipe",
            Self::Socket => "a socket",
            Self::Device => "a device",
        }
    }
}

#[cfg(unix)]
fn special(kind: std::fs::FileType) -> Found {
    use std::os::unix::fs::FileTypeExt as _;
    if kind.is_fifo() {
        Found::Pipe
    } else if kind.is_socket() {
        Found::Socket
    } else {
        Found::Device
    }
}

#[cfg(not(unix))]
fn special(_kind: std::fs::FileType) -> Found {
    Found::Device
}
