//! Archives: unpacks the files inside, one after another, within limits. Runs in a worker; parsers for the files
//! inside, and the nesting depth of archives, are decided elsewhere.

use std::borrow::Cow;
use std::io::{self, Cursor, Read};

use flate2::read::MultiGzDecoder;
use zip::ZipArchive;

use super::worker::{Give, LeftOut, Piece, Refusal};

/// Files of an archive at most.
const MEMBERS_MAX: usize = 100_000;
/// Bytes of the name of a file inside at most.
const NAME_BYTES_MAX: usize = 4_096;
/// How many times the size of an archive its contents may have in total; 64 MiB are always allowed.
const EXPANSION_MAX: u64 = 200;
const EXPANSION_BYTES_MIN: u64 = 64 << 20;

/// Passes on the files of a zip archive, in the order of their names.
pub(super) fn read_zip(bytes: &[u8], bytes_max: u64, give: &mut Give<'_>) -> Result<(), Refusal> {
    let damaged = |error: zip::result::ZipError| Refusal::damaged(format!("it cannot be unpacked: {error}"));
    let mut archive = ZipArchive::new(Cursor::new(bytes)).map_err(damaged)?;
    let mut left = Left::of(bytes);
    for (name, index) in members(&archive, give)? {
        let file = match archive.by_index(index) {
            Ok(file) => file,
            Err(zip::result::ZipError::UnsupportedArchive(reason)) => {
                let needs_password = reason.to_lowercase().contains("password");
                let reason = if needs_password {
                    "it is encrypted: unpack the archive with its password, then index what comes of it"
                } else {
                    "unsupported compression method"
                };
                give(left_out(&name, reason))?;
                continue;
            }
            Err(error) => {
                give(left_out(&name, &format!("it cannot be unpacked: {error}")))?;
                continue;
            }
        };
        unpack(file, name, bytes_max, &mut left, give)?;
    }
    Ok(())
}

/// Returns the files of an archive by name, with their places in it.
fn members(archive: &ZipArchive<Cursor<&[u8]>>, give: &mut Give<'_>) -> Result<Vec<(String, usize)>, Refusal> {
    let mut members = Vec::new();
    for index in 0..archive.len() {
        let Some(Ok(name)) = archive.name_for_index(index) else { continue };
        if name.ends_with('/') || is_passed_over(&name) {
            continue;
        }
        if let Some(left_out) = left_out_for_name(&name) {
            give(left_out)?;
            continue;
        }
        members.push((Cow::into_owned(name), index));
    }
    members.sort_unstable();
    members.dedup_by(|b, a| a.0 == b.0);
    if members.len() > MEMBERS_MAX {
        let reason = format!("{} files beyond the {MEMBERS_MAX} that an archive may have", members.len() - MEMBERS_MAX);
        give(left_out("", &reason))?;
        members.truncate(MEMBERS_MAX);
    }
    Ok(members)
}

/// Returns whether a file is hidden, or one that an operating system adds for itself.
fn is_passed_over(name: &str) -> bool {
    name.split('/').any(|part| part.starts_with('.') || part == "__MACOSX")
}

/// Passes on the file in a gzip file, or the files of the tar archive in it.
pub(super) fn read_gzip(bytes: &[u8], name: &str, bytes_max: u64, give: &mut Give<'_>) -> Result<(), Refusal> {
    let inside = inner_name(name);
    let mut left = Left::of(bytes);
    let unpacked = MultiGzDecoder::new(bytes);
    if inside.to_ascii_lowercase().ends_with(".tar") {
        return read_tar(unpacked, &mut left, bytes_max, give);
    }
    unpack(unpacked, inside, bytes_max, &mut left, give)
}

/// Passes on the files of a tar archive, in their order.
pub(super) fn read_plain_tar(bytes: &[u8], bytes_max: u64, give: &mut Give<'_>) -> Result<(), Refusal> {
    read_tar(bytes, &mut Left::of(bytes), bytes_max, give)
}

fn read_tar(packed: impl Read, left: &mut Left, bytes_max: u64, give: &mut Give<'_>) -> Result<(), Refusal> {
    // Headers and skipped files are read too; twice the limit leaves room for them.
    let mut archive = tar::Archive::new(packed.take(left.0.saturating_mul(2)));
    let damaged =
        |error: io::Error| Refusal::damaged(format!("it cannot be unpacked: {error}; the files before that were read"));
    let mut count = 0;
    for entry in archive.entries().map_err(damaged)? {
        let entry = entry.map_err(damaged)?;
        let name = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
        let name = name.trim_start_matches("./").trim_start_matches('/').to_owned();
        // Links, folders and devices have no contents; nor do folders in archives from before 1988, marked by a slash.
        if !entry.header().entry_type().is_file() || name.ends_with('/') || is_passed_over(&name) {
            continue;
        }
        count += 1;
        if count > MEMBERS_MAX {
            return give(left_out("", &format!("files beyond the {MEMBERS_MAX} that an archive may have")));
        }
        if let Some(left_out) = left_out_for_name(&name) {
            give(left_out)?;
            continue;
        }
        let left_of_it = entry.size();
        unpack(Whole { packed: entry, left: left_of_it }, name, bytes_max, left, give)?;
    }
    Ok(())
}

/// A file of a known length; if it ends earlier, that is an error.
struct Whole<R> {
    packed: R,
    left: u64,
}

impl<R: Read> Read for Whole<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.packed.read(buffer)?;
        if read == 0 && self.left > 0 && !buffer.is_empty() {
            return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "it ends too early"));
        }
        self.left = self.left.saturating_sub(read as u64);
        Ok(read)
    }
}

/// Returns the name of a file without the extension that says it is compressed.
fn inner_name(name: &str) -> String {
    let name = name.rsplit(['/', '!']).next().unwrap_or(name);
    match name.rsplit_once('.') {
        Some((rest, end)) if end.eq_ignore_ascii_case("tgz") => format!("{rest}.tar"),
        Some((rest, end)) if end.eq_ignore_ascii_case("gz") => rest.to_owned(),
        _ => name.to_owned(),
    }
}

/// Bytes that may still be unpacked from an archive.
struct Left(u64);

impl Left {
    fn of(packed: &[u8]) -> Self {
        Self((packed.len() as u64).saturating_mul(EXPANSION_MAX).max(EXPANSION_BYTES_MIN))
    }
}

fn unpack(
    packed: impl Read,
    name: String,
    bytes_max: u64,
    left: &mut Left,
    give: &mut Give<'_>,
) -> Result<(), Refusal> {
    let mut bytes = Vec::new();
    let most = bytes_max.min(left.0);
    let read = packed.take(most + 1).read_to_end(&mut bytes);
    left.0 = left.0.saturating_sub(bytes.len() as u64);
    if let Err(error) = read {
        return give(left_out(&name, &format!("it cannot be unpacked: {error}")));
    }
    if bytes.len() as u64 > most {
        if most < bytes_max {
            let reason = "it unpacks to more than 200 times its size, as if made to fill a disk; the files before \
                          that were read";
            return Err(Refusal::of_all(reason));
        }
        return give(left_out(&name, &format!("more than the {bytes_max} bytes that a document may have")));
    }
    give(Piece::Member { name, bytes })
}

/// Returns the piece that takes the place of a file whose name is too long.
fn left_out_for_name(name: &str) -> Option<Piece> {
    let reason = || format!("a name of {} bytes; it may have {NAME_BYTES_MAX}", name.len());
    (name.len() > NAME_BYTES_MAX).then(|| left_out(&name.chars().take(80).collect::<String>(), &reason()))
}

fn left_out(name: &str, reason: &str) -> Piece {
    Piece::Left(LeftOut { name: name.to_owned(), reason: reason.to_owned() })
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use flate2::Compression;
    use flate2::write::GzEncoder;

    use super::*;

    /// Makes a header of a tar archive: of a regular file, unless `kind` says otherwise.
    fn header(name: &str, bytes: usize, kind: u8) -> Vec<u8> {
        let mut block = vec![0; 512];
        block[..name.len()].copy_from_slice(name.as_bytes());
        block[124..135].copy_from_slice(format!("{bytes:011o}").as_bytes());
        block[156] = kind;
        block[257..265].copy_from_slice(b"ustar\x0000");
        block[148..156].copy_from_slice(b"        ");
        let sum: u32 = block.iter().map(|it| u32::from(*it)).sum();
        block[148..155].copy_from_slice(format!("{sum:06o}\0").as_bytes());
        block
    }

    fn entry(name: &str, content: &[u8], kind: u8) -> Vec<u8> {
        let padding = vec![0; content.len().next_multiple_of(512) - content.len()];
        [header(name, content.len(), kind), content.to_vec(), padding].concat()
    }

    fn read_files(archive: &[u8], bytes_max: u64) -> (Result<(), Refusal>, Vec<Piece>) {
        let mut pieces = Vec::new();
        let read = read_plain_tar(archive, bytes_max, &mut |piece| {
            pieces.push(piece);
            Ok(())
        });
        (read, pieces)
    }

    fn member(name: &str, bytes: &[u8]) -> Piece {
        Piece::Member { name: name.to_owned(), bytes: bytes.to_vec() }
    }

    #[test]
    fn a_tar_archive_holds_files_in_their_order() {
        let long = format!("{}/end.txt", "a".repeat(200));
        let pax = b"17 path=b/\xc3\xbc.txt\n";
        let archive = [
            entry("docs", b"", b'5'),
            entry("./docs/b.txt", b"text", b'0'),
            entry("docs/.git", b"hidden", b'0'),
            entry("docs/link", b"", b'2'),
            entry("././@LongLink", &[long.as_bytes(), b"\0"].concat(), b'L'),
            entry("cut", &[b'x'; 513], 0),
            entry("pax", pax, b'x'),
            entry("other", b"third", b'0'),
            vec![0; 1_024],
            b"what follows is not read".to_vec(),
        ]
        .concat();
        let (read, pieces) = read_files(&archive, 1_000);
        assert_eq!(read, Ok(()));
        assert_eq!(pieces, [member("docs/b.txt", b"text"), member(&long, &[b'x'; 513]), member("b/ü.txt", b"third")]);
        let mut packed = Vec::new();
        let read = read_gzip(&gzip(&archive), "a.tgz", 1_000, &mut |piece| {
            packed.push(piece);
            Ok(())
        });
        assert_eq!((read, packed), (Ok(()), pieces));
    }

    #[test]
    fn what_is_damaged_in_a_tar_archive_ends_the_reading_and_what_is_large_is_left_out() {
        let whole = [entry("a", b"text", b'0'), entry("b", &[b'y'; 600], b'0')].concat();
        let (read, pieces) = read_files(&whole, 500);
        assert_eq!(read, Ok(()));
        assert_eq!(pieces, [member("a", b"text"), left_out("b", "more than the 500 bytes that a document may have")]);
        let (read, pieces) = read_files(&whole[..whole.len() - 600], 1_000);
        assert!(read.unwrap_err().reason.contains("unexpected EOF"));
        assert!(matches!(&pieces[..], [_, Piece::Left(cut)] if cut.reason.contains("ends too early")), "{pieces:?}");
        let mut damaged = whole;
        damaged[1_024] = b'?';
        assert!(read_files(&damaged, 1_000).0.unwrap_err().reason.contains("header"));
        assert!(read_files(b"no archive", 1_000).0.is_err());
        assert_eq!(read_files(b"", 1_000), (Ok(()), Vec::new()));
        let bomb = gzip(&[header("a", 80 << 20, b'0'), vec![0; 80 << 20]].concat());
        assert!(read_gzip(&bomb, "a.tar.gz", 1 << 30, &mut |_| Ok(())).unwrap_err().reason.contains("200 times"));
    }

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut packed = GzEncoder::new(Vec::new(), Compression::best());
        packed.write_all(bytes).unwrap();
        packed.finish().unwrap()
    }

    fn read(packed: &[u8], bytes_max: u64) -> (Result<(), Refusal>, Vec<Piece>) {
        let mut pieces = Vec::new();
        let read = read_gzip(packed, "a/notes.txt.gz", bytes_max, &mut |piece| {
            pieces.push(piece);
            Ok(())
        });
        (read, pieces)
    }

    #[test]
    fn a_gzip_file_holds_a_file() {
        let (read, pieces) = read(&gzip(b"text"), 100);
        assert_eq!(read, Ok(()));
        assert_eq!(pieces, [Piece::Member { name: "notes.txt".to_owned(), bytes: b"text".to_vec() }]);
        assert_eq!(inner_name("a/b.TGZ"), "b.tar");
        assert_eq!(inner_name("docs.zip!b.gz"), "b");
    }

    #[test]
    fn what_is_too_large_or_damaged_is_left_out_with_a_reason() {
        let packed = gzip(&[b'a'; 1_000]);
        let (_, pieces) = read(&packed, 999);
        assert_eq!(pieces, [left_out("notes.txt", "more than the 999 bytes that a document may have")]);
        let (_, pieces) = read(&packed[..packed.len() - 9], 10_000);
        assert!(matches!(&pieces[..], [Piece::Left(left)] if left.reason.contains("unpacked")), "{pieces:?}");
    }

    #[test]
    fn an_archive_that_unpacks_to_too_much_ends_the_reading() {
        let packed = gzip(&vec![0; 80 << 20]);
        let (read, pieces) = read(&packed, 1 << 30);
        assert!(read.unwrap_err().reason.contains("200 times"));
        assert_eq!(pieces, []);
    }
}
