//! Archives: the files inside of them, one after another, unpacked within limits. Runs in a worker; who reads what is
//! inside, and how deep archives may lie in each other, is not decided here.

use std::borrow::Cow;
use std::io::{Cursor, Read};

use flate2::read::MultiGzDecoder;
use zip::ZipArchive;

use super::worker::{Give, LeftOut, Piece, Refusal};

/// Files of an archive at most.
const MEMBERS_MAX: usize = 100_000;
/// Bytes of the name of a file inside at most.
const NAME_BYTES_MAX: usize = 4_096;
/// How many times as large as the archive all that it holds may be; smaller archives may hold 64 MiB.
const EXPANSION_MAX: u64 = 200;
const EXPANSION_BYTES_MIN: u64 = 64 << 20;

/// Hands on the files of a zip archive, in the order of their names.
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
                    "packed in a way that is not read"
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
        if name.len() > NAME_BYTES_MAX {
            let reason = format!("a name of {} bytes; it may have {NAME_BYTES_MAX}", name.len());
            give(left_out(name.chars().take(80).collect::<String>().as_str(), &reason))?;
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

/// Hidden files, as below a folder, and what a system adds for itself.
fn is_passed_over(name: &str) -> bool {
    name.split('/').any(|part| part.starts_with('.') || part == "__MACOSX")
}

/// Hands on the file that a gzip file holds.
pub(super) fn read_gzip(bytes: &[u8], name: &str, bytes_max: u64, give: &mut Give<'_>) -> Result<(), Refusal> {
    let inside = inner_name(name);
    unpack(MultiGzDecoder::new(bytes), inside, bytes_max, &mut Left::of(bytes), give)
}

/// Returns what a file is called without the extension that says that it is packed.
fn inner_name(name: &str) -> String {
    let name = name.rsplit(['/', '!']).next().unwrap_or(name);
    match name.rsplit_once('.') {
        Some((rest, end)) if end.eq_ignore_ascii_case("tgz") => format!("{rest}.tar"),
        Some((rest, end)) if end.eq_ignore_ascii_case("gz") => rest.to_owned(),
        _ => name.to_owned(),
    }
}

/// Bytes that may still come of an archive.
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
            let reason = "what it holds is more than 200 times as large: it may be made to fill a disk; what came \
                          before was read";
            return Err(Refusal::of_all(reason));
        }
        return give(left_out(&name, &format!("more than {bytes_max} bytes, which a document may have")));
    }
    give(Piece::Member { name, bytes })
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
        assert_eq!(pieces, [left_out("notes.txt", "more than 999 bytes, which a document may have")]);
        let (_, pieces) = read(&packed[..packed.len() - 9], 10_000);
        assert!(matches!(&pieces[..], [Piece::Left(left)] if left.reason.contains("unpacked")), "{pieces:?}");
    }

    #[test]
    fn what_grows_beyond_measure_ends_the_reading() {
        let packed = gzip(&vec![0; 80 << 20]);
        let (read, pieces) = read(&packed, 1 << 30);
        assert!(read.unwrap_err().reason.contains("200 times"));
        assert_eq!(pieces, []);
    }
}
