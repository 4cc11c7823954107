//! Which parser reads which format, inside a worker.

#[cfg(feature = "archives")]
use crate::ingest::archive;
#[cfg(feature = "epub")]
use crate::ingest::epub;
#[cfg(feature = "mail")]
use crate::ingest::mail;
#[cfg(feature = "office")]
use crate::ingest::office;
#[cfg(feature = "pdf")]
use crate::ingest::pdf;
#[cfg(feature = "sheets")]
use crate::ingest::sheets;

use super::message::{Format, Give, Job, Refusal};

/// How the files in a zip archive begin, and how the directory at its end does.
const ZIP: &[u8] = b"PK\x03\x04";
const ZIP_END: &[u8] = b"PK\x05\x06";
/// Maximum bytes of the end, with a comment.
const ZIP_END_BYTES_MAX: usize = 22 + 0xffff;

/// Reads the bytes of a job.
pub(super) fn parse(job: &Job, bytes: &[u8], give: &mut Give<'_>) -> Result<(), Refusal> {
    let end = &bytes[bytes.len().saturating_sub(ZIP_END_BYTES_MAX)..];
    if is_zip(job.format) && bytes.starts_with(ZIP) && !end.windows(ZIP_END.len()).any(|it| it == ZIP_END) {
        return Err(Refusal::of_all("it is cut off: its end, which lists its contents, is missing"));
    }
    match job.format {
        #[cfg(feature = "pdf")]
        Format::Pdf => pdf::read(bytes, job.parser, give),
        #[cfg(feature = "office")]
        Format::Docx | Format::Pptx => office::read_ooxml(bytes, job.parser, give),
        #[cfg(feature = "office")]
        Format::Odt => office::read_open_document(bytes, give),
        #[cfg(feature = "sheets")]
        Format::Sheets => sheets::read(bytes, job.rows, give),
        #[cfg(feature = "epub")]
        Format::Epub => epub::read(bytes, give),
        #[cfg(feature = "mail")]
        Format::Mail => mail::read_message(bytes, give),
        #[cfg(feature = "mail")]
        Format::Mbox => mail::read_mailbox(bytes, give),
        #[cfg(feature = "archives")]
        Format::Zip => archive::read_zip(bytes, job.bytes_max, give),
        #[cfg(feature = "archives")]
        Format::Gzip => archive::read_gzip(bytes, &job.name, job.bytes_max, give),
        #[cfg(feature = "archives")]
        Format::Tar => archive::read_plain_tar(bytes, job.bytes_max, give),
        #[allow(unreachable_patterns, reason = "where all features are on")]
        _ => Err(Refusal::of_all("this build of the program does not read such files")),
    }
}

/// Returns whether files of this format are zip archives, unless they are old binary office files.
const fn is_zip(format: Format) -> bool {
    matches!(format, Format::Docx | Format::Pptx | Format::Odt | Format::Sheets | Format::Epub | Format::Zip)
}

/// Returns whether a second parser reads files of this format.
pub(super) const fn has_fallback(format: Format) -> bool {
    matches!(format, Format::Pdf | Format::Docx | Format::Pptx)
}

#[cfg(test)]
mod tests {
    use super::super::message::Parser;
    use super::*;
    use crate::ingest::Rows;

    #[test]
    fn a_zip_archive_without_its_end_is_cut_off() {
        for format in [Format::Docx, Format::Pptx, Format::Odt, Format::Sheets, Format::Epub, Format::Zip] {
            let job = Job {
                format,
                parser: Parser::First,
                name: "a".to_owned(),
                rows: Rows::Together,
                bytes_max: 1 << 20,
                bytes_total_max: 1 << 20,
                cpu_seconds: 1,
            };
            let refused =
                |bytes: &[u8]| parse(&job, bytes, &mut |_| Ok(())).err().map(|it| it.reason).unwrap_or_default();
            let whole = [ZIP, &[0; 26], ZIP_END, &[0; 18]].concat();
            assert!(refused(&whole[..30]).contains("cut off"), "{format:?}");
            assert!(!refused(&whole).contains("cut off"), "{format:?}");
        }
    }
}
