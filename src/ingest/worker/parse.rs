//! Which parser reads which format, inside of a worker.

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

/// Reads the bytes of a job.
pub(super) fn parse(job: &Job, bytes: &[u8], give: &mut Give<'_>) -> Result<(), Refusal> {
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

/// Returns whether a second parser reads files of this format.
pub(super) const fn has_fallback(format: Format) -> bool {
    matches!(format, Format::Pdf | Format::Docx | Format::Pptx)
}
