//! Lightens documents for pdf-extract, which reads each font again on each page, and slowly, which takes most of the
//! time for a file set by TeX. The same parsers evaluate each font once here, and the result is stored where
//! pdf-extract reads it fast.

use std::collections::{BTreeMap, BTreeSet};

use pdf_extract::{Dictionary, Document, Object, ObjectId};

use super::guarded;

/// Maximum depth of fonts in an object: a page has resources, which have fonts.
const DEPTH_MAX: usize = 8;

/// Shortens the fonts of a document and leaves out what is not text; the text of its pages does not change. A font on
/// which the parsers fail is kept as it is.
pub(super) fn lighten(document: &mut Document) {
    // Links and notes take half of the memory of some files.
    document.objects.retain(|_, object| !object.as_dict().is_ok_and(|it| it.has_type(b"Annot")));
    shorten_maps(document);
    encode(document);
}

/// Rewrites the maps from codes to Unicode with as few entries as possible.
fn shorten_maps(document: &mut Document) {
    let mut maps = BTreeSet::new();
    for object in document.objects.values_mut() {
        visit(object, DEPTH_MAX, &mut |dictionary| maps.extend(reference(dictionary, b"ToUnicode")));
    }
    for id in maps {
        let Some(Object::Stream(stream)) = document.objects.get_mut(&id) else { continue };
        let Ok(plain) = stream.get_plain_content() else { continue };
        let Some(Ok(map)) = guarded(|| adobe_cmap_parser::get_unicode_map(&plain)) else { continue };
        let short = written(&map.into_iter().collect());
        if short.len() < plain.len() {
            stream.set_plain_content(short);
        }
    }
}

/// Writes the encodings built into Type 1 fonts as encodings of the file, and leaves out font programs.
fn encode(document: &mut Document) {
    let built_in: BTreeMap<ObjectId, Vec<Object>> = document
        .objects
        .iter()
        .filter_map(|(id, object)| {
            let descriptor = object.as_dict().ok().filter(|it| !is_of_icons(it))?;
            let program = document.get_object(reference(descriptor, b"FontFile")?).ok()?.as_stream().ok()?;
            let plain = program.get_plain_content().ok()?;
            let names = guarded(|| type1_encoding_parser::get_encoding_map(&plain))?.ok()?;
            let names: BTreeMap<u32, Vec<u8>> = names.into_iter().collect();
            let pairs = names.into_iter().flat_map(|(code, name)| [Object::Integer(code.into()), Object::Name(name)]);
            Some((*id, pairs.collect()))
        })
        .collect();
    for object in document.objects.values_mut() {
        visit(object, DEPTH_MAX, &mut |font| {
            let is_type1 = font.get(b"Subtype").is_ok_and(|it| matches!(it, Object::Name(name) if name == b"Type1"));
            if is_type1
                && !font.has(b"Encoding")
                && let Some(names) = reference(font, b"FontDescriptor").and_then(|id| built_in.get(&id))
            {
                let differences = (b"Differences".to_vec(), Object::Array(names.clone()));
                font.set("Encoding", Dictionary::from_iter([differences]));
            }
        });
    }
    for (id, object) in &mut document.objects {
        let Ok(descriptor) = object.as_dict_mut() else { continue };
        if built_in.contains_key(id) {
            descriptor.remove(b"FontFile");
        }
        // pdf-extract would unpack it on each page without using it.
        descriptor.remove(b"FontFile2");
    }
}

/// Returns whether this is an icon font: with its encoding written out, pdf-extract fails on names that it does not
/// know.
fn is_of_icons(descriptor: &Dictionary) -> bool {
    const NAME: &[u8] = b"FontAwesome";
    let is_it = |name: &[u8]| name.windows(NAME.len()).any(|it| it == NAME);
    matches!(descriptor.get(b"FontName"), Ok(Object::Name(name)) if is_it(name))
}

fn reference(dictionary: &Dictionary, key: &[u8]) -> Option<ObjectId> {
    dictionary.get(key).ok()?.as_reference().ok()
}

/// Passes on the dictionaries in an object.
fn visit(object: &mut Object, depth_left: usize, take: &mut impl FnMut(&mut Dictionary)) {
    let dictionary = match object {
        Object::Dictionary(dictionary) => dictionary,
        Object::Stream(stream) => &mut stream.dict,
        Object::Array(objects) if depth_left > 0 => {
            return objects.iter_mut().for_each(|object| visit(object, depth_left - 1, take));
        }
        _ => return,
    };
    take(dictionary);
    if depth_left > 0 {
        dictionary.iter_mut().for_each(|(_, object)| visit(object, depth_left - 1, take));
    }
}

/// Writes a map, with ranges for successive codes that stand for successive characters.
fn written(map: &BTreeMap<u32, Vec<u8>>) -> Vec<u8> {
    let single = |text: &[u8]| <[u8; 2]>::try_from(text).ok().map(u16::from_be_bytes);
    let mut ranges: Vec<(u32, u32, &[u8])> = Vec::new();
    for (code, text) in map {
        if let Some((first, last, begin)) = ranges.last_mut()
            && last.checked_add(1) == Some(*code)
            && let (Some(begin), Some(text)) = (single(begin), single(text))
            && u32::from(text) == u32::from(begin) + (code - *first)
        {
            *last = *code;
        } else {
            ranges.push((*code, *code, text));
        }
    }
    // The parser is fastest on byte strings.
    let string = |bytes: &[u8]| {
        let escaped = bytes
            .iter()
            .flat_map(|byte| matches!(byte, b'(' | b')' | b'\\').then_some(b'\\').into_iter().chain([*byte]));
        [b"(".as_slice(), &escaped.collect::<Vec<u8>>(), b")"].concat()
    };
    let number = |code: &u32| match u8::try_from(*code) {
        Ok(code) => string(&[code]),
        Err(_) => string(&code.to_be_bytes()),
    };
    let (chars, ranges): (Vec<_>, Vec<_>) = ranges.into_iter().partition(|(first, last, _)| first == last);
    let chars_written: Vec<u8> =
        chars.iter().flat_map(|(code, _, text)| [number(code), string(text)].concat()).collect();
    let ranges_written: Vec<u8> =
        ranges.iter().flat_map(|(first, last, text)| [number(first), number(last), string(text)].concat()).collect();
    let begin = |count: usize, what: &str| format!("{count} begin{what}").into_bytes();
    [begin(chars.len(), "bfchar"), chars_written, begin(ranges.len(), "bfrange"), ranges_written].concat()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::ingest::pdf::characters::Characters;
    use pdf_extract::{Stream, output_doc};

    proptest! {
        #[test]
        fn a_shortened_map_is_equivalent(
            mut map in prop::collection::btree_map(0..90_000_u32, prop::collection::vec(any::<u8>(), 0..6), 0..40),
            runs in prop::collection::vec((0..300_u32, any::<u16>(), 0..40_u16), 0..4),
        ) {
            for (code, begin, length) in runs {
                let text = |at: u16| begin.wrapping_add(at).to_be_bytes().to_vec();
                map.extend((0..length).map(|at| (code + u32::from(at), text(at))));
            }
            let read = adobe_cmap_parser::get_unicode_map(&written(&map)).unwrap();
            prop_assert_eq!(read.into_iter().collect::<BTreeMap<_, _>>(), map);
        }
    }

    fn dictionary(entries: &[(&str, Object)]) -> Dictionary {
        entries.iter().map(|(key, value)| (key.as_bytes().to_vec(), value.clone())).collect()
    }

    fn name(name: &str) -> Object {
        Object::Name(name.as_bytes().to_vec())
    }

    /// A page that shows codes in two fonts: one has an encoding of its own, the other a map to Unicode.
    fn document() -> Document {
        let program = b"/Encoding 256 array 0 1 255 {1 index exch /.notdef put} for\n\
            dup 1 /M put dup 2 /i put dup 3 /l put readonly def currentfile eexec \xff\xfe";
        let map = b"/CIDInit /ProcSet findresource begin begincmap 3 beginbfchar <01> <0054> <02> <0061>\n\
            <03> <0072006e> endbfchar endcmap";
        let mut document = Document::with_version("1.5");
        let mut stream = |content: &[u8]| document.add_object(Stream::new(Dictionary::new(), content.to_vec()));
        let (program, map) = (stream(program), stream(map));
        let content = stream(b"BT /A 12 Tf 9 9 Td <010203> Tj /B 12 Tf 99 0 Td <010203> Tj ET");
        let widths: (Object, Object, Object) = (1.into(), 3.into(), vec![Object::Integer(500); 3].into());
        let descriptor = document.add_object(dictionary(&[("FontFile", program.into())]));
        let font = |more: (&str, Object)| {
            let widths =
                [("FirstChar", widths.0.clone()), ("LastChar", widths.1.clone()), ("Widths", widths.2.clone())];
            let font = [("Type", name("Font")), ("Subtype", name("Type1")), ("BaseFont", name("X")), more];
            dictionary(&[font.as_slice(), &widths].concat())
        };
        let a = Object::Dictionary(font(("FontDescriptor", descriptor.into())));
        let b = document.add_object(font(("ToUnicode", map.into())));
        let fonts = dictionary(&[("A", a), ("B", b.into())]);
        let pages = document.new_object_id();
        let page = document.add_object(dictionary(&[
            ("Type", name("Page")),
            ("Parent", pages.into()),
            ("Contents", content.into()),
            ("MediaBox", vec![Object::Integer(0), 0.into(), 600.into(), 800.into()].into()),
            ("Resources", dictionary(&[("Font", fonts.into())]).into()),
        ]));
        let kids = Object::Array(vec![page.into()]);
        let tree = dictionary(&[("Type", name("Pages")), ("Kids", kids), ("Count", 1.into())]);
        document.objects.insert(pages, tree.into());
        let catalog = document.add_object(dictionary(&[("Type", name("Catalog")), ("Pages", pages.into())]));
        document.trailer.set("Root", catalog);
        document
    }

    fn text(document: &Document) -> String {
        let mut characters = Characters::default();
        output_doc(document, &mut characters).unwrap();
        characters.finish()[0].lines.iter().map(|line| line.text.clone()).collect()
    }

    #[test]
    fn a_lightened_document_shows_the_same_text() {
        let mut document = document();
        let before = text(&document);
        assert_eq!(before, "Mil Tarn");
        lighten(&mut document);
        let whole = format!("{:?}", document.objects);
        assert!(!whole.contains("FontFile") && !whole.contains("findresource"), "{whole}");
        assert_eq!(text(&document), before);
    }

    #[test]
    fn a_font_that_no_parser_reads_is_left_unchanged() {
        let mut document = document();
        for object in document.objects.values_mut() {
            if let Object::Stream(stream) = object
                && !stream.content.starts_with(b"BT")
            {
                stream.set_plain_content(b"\xff(".to_vec());
            }
        }
        let before = document.objects.clone();
        lighten(&mut document);
        assert_eq!(document.objects, before);
    }
}
