//! Decodes bytes to text, in any encoding: by the byte order mark, as UTF-8, by a page's declaration, or by a guess.

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE};

/// Bytes at the beginning of a page that may say its encoding.
const DECLARED_WITHIN: usize = 4_096;
/// How many characters per thousand may be ones that no text contains.
const STRAYS_PER_THOUSAND_MAX: usize = 5;

/// A text, and the name of the encoding that it was in, unless that is UTF-8.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Decoded {
    pub(super) text: String,
    pub(super) encoding: Option<&'static str>,
}

/// Decodes bytes to text.
///
/// # Errors
///
/// If they are not text: they contain zero bytes, or many other characters that no text contains.
pub(super) fn decode(bytes: Vec<u8>) -> Result<Decoded, String> {
    if let Some((encoding, mark_bytes)) = Encoding::for_bom(&bytes) {
        let bytes = bytes.get(mark_bytes..).unwrap_or_default();
        let (text, _) = encoding.decode_without_bom_handling(bytes);
        let name = (encoding != UTF_8).then_some(encoding.name());
        return checked(Decoded { text: text.into_owned(), encoding: name });
    }
    let bytes = match String::from_utf8(bytes) {
        Ok(text) => return Ok(Decoded { text, encoding: None }),
        Err(error) => error.into_bytes(),
    };
    let encoding = declared(&bytes).or_else(|| without_mark(&bytes)).unwrap_or_else(|| guessed(&bytes));
    let (text, _) = encoding.decode_without_bom_handling(&bytes);
    checked(Decoded { text: text.into_owned(), encoding: Some(encoding.name()) })
}

/// Returns the encoding that a page declares. If it declares UTF-8 and is not UTF-8, the encoding is guessed.
fn declared(bytes: &[u8]) -> Option<&'static Encoding> {
    let head = bytes.get(..DECLARED_WITHIN).unwrap_or(bytes).to_ascii_lowercase();
    let is_page = head.trim_ascii_start().starts_with(b"<");
    let find = |what: &[u8]| head.windows(what.len()).position(|it| it == what).map(|at| at + what.len());
    let at = find(b"charset=").or_else(|| find(b"encoding=")).filter(|_| is_page)?;
    let rest = head.get(at..)?.trim_ascii_start();
    let rest = rest.strip_prefix(b"\"").or_else(|| rest.strip_prefix(b"'")).unwrap_or(rest);
    let end = rest.iter().position(|it| !it.is_ascii_alphanumeric() && !b"-_:.".contains(it)).unwrap_or(rest.len());
    let found = Encoding::for_label(rest.get(..end)?)?;
    // The declaration was readable as ASCII, so it is not in UTF-16.
    (found != UTF_8 && found != UTF_16LE && found != UTF_16BE).then_some(found)
}

/// Detects UTF-16 without a byte order mark by its zero bytes, which are every second one.
fn without_mark(bytes: &[u8]) -> Option<&'static Encoding> {
    let head = bytes.get(..DECLARED_WITHIN).unwrap_or(bytes);
    let zeros = |first: usize| head.iter().skip(first).step_by(2).filter(|it| **it == 0).count();
    let (even, odd) = (zeros(0), zeros(1));
    let is_most = |zeros: usize| zeros * 2 > head.len() / 2;
    match (is_most(even), is_most(odd)) {
        (true, false) if odd == 0 => Some(UTF_16BE),
        (false, true) if even == 0 => Some(UTF_16LE),
        _ => None,
    }
}

fn guessed(bytes: &[u8]) -> &'static Encoding {
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Allow);
    detector.feed(bytes, true);
    detector.guess(None, Utf8Detection::Deny)
}

fn checked(decoded: Decoded) -> Result<Decoded, String> {
    let is_stray = |it: char| it == char::REPLACEMENT_CHARACTER || (it.is_control() && !it.is_whitespace());
    let (mut all, mut strays, mut zeros) = (0, 0, 0);
    for it in decoded.text.chars() {
        all += 1;
        strays += usize::from(is_stray(it));
        zeros += usize::from(it == '\0');
    }
    if zeros > 0 || strays * 1_000 > all * STRAYS_PER_THOUSAND_MAX {
        return Err("it is not text".to_owned());
    }
    Ok(decoded)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(bytes: &[u8], text: &str, encoding: Option<&str>) {
        let decoded = decode(bytes.to_vec()).unwrap();
        assert_eq!((decoded.text.as_str(), decoded.encoding), (text, encoding), "{}", bytes.escape_ascii());
    }

    #[test]
    fn text_is_read_in_the_encoding_that_it_is_in() {
        check("Zoë".as_bytes(), "Zoë", None);
        check(b"\xef\xbb\xbfText", "Text", None);
        check(b"\xff\xfeZ\0o\0\xeb\0", "Zoë", Some("UTF-16LE"));
        check(b"\xfe\xff\0Z\0o\0\xeb", "Zoë", Some("UTF-16BE"));
        check(b"Z\0o\0\xeb\0 \0i\0s\0", "Zoë is", Some("UTF-16LE"));
        check(
            b"<meta charset=\"iso-8859-5\"><p>\xbc\xd8\xe0",
            "<meta charset=\"iso-8859-5\"><p>Мир",
            Some("ISO-8859-5"),
        );
        check(
            b"<?xml encoding='iso-8859-2'?><p>\xb3\xf3d\xbc",
            "<?xml encoding='iso-8859-2'?><p>łódź",
            Some("ISO-8859-2"),
        );
        check(b"Le caf\xe9 est ferm\xe9 \xe0 cette heure.", "Le café est fermé à cette heure.", Some("windows-1252"));
    }

    #[test]
    fn what_a_page_says_wrongly_is_not_believed() {
        check(
            b"<meta charset=utf-8><p>Le caf\xe9 est ferm\xe9 \xe0 cette heure.",
            "<meta charset=utf-8><p>Le café est fermé à cette heure.",
            Some("windows-1252"),
        );
    }

    #[test]
    fn binary_files_are_not_text() {
        for bytes in
            [&b"\x7fELF\x02\x01\0\0\xff\xfe\x80"[..], b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\xff", &[0xff, 0, 0, 0xff, 1, 2]]
        {
            assert_eq!(decode(bytes.to_vec()), Err("it is not text".to_owned()), "{}", bytes.escape_ascii());
        }
    }
}
