//! Differences between systems: how a file is opened without waiting and without following a link, who may read a new
//! one, and which file systems are local.

use std::fs::{File, OpenOptions};

use super::Readers;

/// Whether a link at the end of a path is followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Links {
    /// It is.
    Followed,
    /// It is an error.
    Refused,
}

/// Returns `options` with which opening does not block, neither on a named pipe nor on a device. Regular files are not
/// affected.
#[cfg(unix)]
pub(super) fn unwaiting(mut options: OpenOptions, links: Links) -> OpenOptions {
    use rustix::fs::OFlags;
    use std::os::unix::fs::OpenOptionsExt as _;
    let flags = match links {
        Links::Followed => OFlags::NONBLOCK,
        Links::Refused => OFlags::NONBLOCK | OFlags::NOFOLLOW,
    };
    // A flag is one of the low bits.
    options.custom_flags(flags.bits().cast_signed());
    options
}

/// Returns `options` with which a link itself is opened if it must not be followed, so that it can be detected.
#[cfg(windows)]
pub(super) fn unwaiting(mut options: OpenOptions, links: Links) -> OpenOptions {
    use std::os::windows::fs::OpenOptionsExt as _;
    const OPEN_REPARSE_POINT: u32 = 0x0020_0000;
    if links == Links::Refused {
        options.custom_flags(OPEN_REPARSE_POINT);
    }
    options
}

/// Returns `options` with which a file that is made is for `readers`.
#[cfg(unix)]
pub(super) fn for_readers(mut options: OpenOptions, readers: Readers) -> OpenOptions {
    if readers == Readers::Owner {
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    }
    options
}

/// Returns `options`: there is no such mode here.
#[cfg(not(unix))]
pub(super) fn for_readers(options: OpenOptions, _readers: Readers) -> OpenOptions {
    options
}

/// Returns what tells a file from every other one, if the system has that.
#[cfg(unix)]
#[expect(clippy::unnecessary_wraps, reason = "other systems have nothing")]
pub(super) fn identity(metadata: &std::fs::Metadata) -> Option<(u64, u64)> {
    use std::os::unix::fs::MetadataExt as _;
    Some((metadata.dev(), metadata.ino()))
}

/// Returns nothing: the standard library does not tell.
#[cfg(not(unix))]
pub(super) fn identity(_: &std::fs::Metadata) -> Option<(u64, u64)> {
    None
}

/// Returns whether a file is on a local file system, where only programs of this machine can change it. An unknown one
/// counts as remote.
#[cfg(target_os = "linux")]
pub(crate) fn is_on_local_disk(file: &File) -> bool {
    // Numbers have 32 bits, in a type that is another on other processors, signed or not.
    let is_local = |kind: i128| LOCAL.iter().any(|it| i128::from(*it) == kind & 0xffff_ffff);
    rustix::fs::fstatfs(file).is_ok_and(|system| is_local(i128::from(system.f_type)))
}

/// Returns true: file systems cannot be distinguished here, and the option to read instead of mapping remains.
#[cfg(not(target_os = "linux"))]
pub(crate) fn is_on_local_disk(_file: &File) -> bool {
    true
}

/// Numbers by which Linux names the file systems of its own disks and memory (statfs(2)).
#[cfg(target_os = "linux")]
const LOCAL: [u32; 16] = [
    0xef53,      // ext2, ext3, ext4
    0x5846_5342, // xfs
    0x9123_683e, // btrfs
    0x2fc1_2fc1, // zfs
    0xca45_1a4e, // bcachefs
    0xf2f5_2010, // f2fs
    0x5265_4973, // reiserfs
    0x3153_464a, // jfs
    0x0102_1994, // tmpfs
    0x8584_58f6, // ramfs
    0x794c_7630, // overlayfs
    0x7371_7368, // squashfs
    0xe0f5_e1e2, // erofs
    0x4d44,      // vfat
    0x2011_bab0, // exfat
    0x7366_746e, // ntfs3
];

#[cfg(test)]
mod tests {
    #[cfg(target_os = "linux")]
    #[test]
    fn a_file_system_that_is_not_known_is_taken_for_a_foreign_one() {
        let file = std::fs::File::open("/proc/self/status").unwrap();
        assert!(!super::is_on_local_disk(&file));
    }
}
