//! Forged files of a version: every section, the table of sections and the header, each in many variants, with matching
//! checksums in the records.

use std::fs;
use std::path::Path;

use rusqlite::Connection;
use serde_json::{Value, json};

use super::{chosen, templates, withstands};
use crate::run::{Run, Tally};
use crate::support::Random;
use crate::support::forged::Parts;
use crate::template::Template;

const HEADER_BYTES: usize = 24;
const NAME_BYTES: usize = 32;
const ENTRY_BYTES: usize = NAME_BYTES + 16;

/// A forgery of a file. Each number is an index into what it counts.
#[derive(Debug, Clone, Copy)]
enum Forgery {
    /// The contents of a section.
    Section(usize, usize),
    /// The entry of a section in the table.
    Entry(usize, usize),
    /// Two sections are swapped in the table.
    Swapped(usize, usize),
    /// The header, or the file as a whole.
    Whole(usize),
    /// Bytes of a file that has no sections.
    Plain(usize),
}

/// What may be put into a section, by name.
const SECTION_WAYS: [&str; 22] = [
    "nothing",
    "a byte less",
    "half of it",
    "an item more",
    "twice itself",
    "zeros",
    "ones",
    "first number: the largest",
    "last number: the largest",
    "one number: the largest",
    "one number: one more",
    "one number: one less",
    "first number: 1",
    "last number: one more",
    "numbers in reverse",
    "numbers shuffled",
    "numbers at random",
    "not a number",
    "infinite",
    "huge and negative",
    "a byte that is no text",
    "escapes and marks of direction",
];
const ENTRY_WAYS: [&str; 8] = [
    "8 bytes longer",
    "8 bytes shorter",
    "of the largest length",
    "at the largest offset",
    "not aligned",
    "over the header",
    "without a name",
    "with a name that is no text",
];
const WHOLE_WAYS: [&str; 14] = [
    "no magic",
    "an older format",
    "a newer format",
    "the other byte order",
    "no sections",
    "one section",
    "as many sections as are allowed",
    "more sections than are allowed",
    "the largest number of sections",
    "empty",
    "shorter than the header",
    "cut in half",
    "a megabyte longer",
    "at random",
];
const PLAIN_WAYS: [&str; 9] = [
    "empty",
    "a byte less",
    "cut in half",
    "twice itself",
    "zeros",
    "at random",
    "numbers in text grown",
    "a byte changed",
    "the last 64 bytes changed",
];

pub(super) fn run(run: &Run) -> Tally {
    let templates = templates();
    let mut cases: Vec<(&Template, String, Forgery)> = Vec::new();
    for template in &templates {
        for file in template.index_files() {
            let Ok(name) = file.strip_prefix(template.version_name()) else { continue };
            let name = name.to_str().unwrap().to_owned();
            let bytes = fs::read(template.version().join(&name)).unwrap();
            cases.extend(forgeries(&bytes).into_iter().map(|it| (template, name.clone(), it)));
        }
    }
    let cases = chosen(run, cases);
    run.each("crafted-files", cases.len() as u64, |number, random, tally| {
        let (template, file, forgery) = &cases[number as usize];
        try_one(template, file, *forgery, random, tally);
    })
}

fn forgeries(bytes: &[u8]) -> Vec<Forgery> {
    if !bytes.starts_with(b"CAIRNSEC") {
        return (0..PLAIN_WAYS.len()).map(Forgery::Plain).collect();
    }
    let count = entry_count(bytes);
    let sections = |ways: usize| (0..count).flat_map(move |section| (0..ways).map(move |way| (section, way)));
    let mut all: Vec<Forgery> = sections(SECTION_WAYS.len()).map(|(a, b)| Forgery::Section(a, b)).collect();
    all.extend(sections(ENTRY_WAYS.len()).map(|(a, b)| Forgery::Entry(a, b)));
    all.extend((1..count).map(|section| Forgery::Swapped(section - 1, section)));
    all.extend((0..WHOLE_WAYS.len()).map(Forgery::Whole));
    all
}

fn try_one(template: &Template, file: &str, forgery: Forgery, random: &mut Random, tally: &mut Tally) {
    let folder = template.copy();
    let index = folder.path().join(".cairn");
    let path = index.join(template.version_name()).join(file);
    let bytes = fs::read(&path).unwrap();
    let (what, forged) = match forgery {
        Forgery::Section(section, way) => {
            let what = format!("section {} holds {}", name_of(&bytes, section), SECTION_WAYS[way]);
            (what, with_section(&bytes, section, |held| change(held, way, random)))
        }
        Forgery::Entry(section, way) => {
            (format!("section {} is {}", name_of(&bytes, section), ENTRY_WAYS[way]), with_entry(&bytes, section, way))
        }
        Forgery::Swapped(a, b) => {
            (format!("{} and {} swapped", name_of(&bytes, a), name_of(&bytes, b)), swapped(&bytes, a, b))
        }
        Forgery::Whole(way) => (WHOLE_WAYS[way].to_owned(), with_header(&bytes, way, random)),
        Forgery::Plain(way) => (PLAIN_WAYS[way].to_owned(), plainly(&bytes, way, random)),
    };
    fs::write(&path, &forged).unwrap();
    stamp(&index, file, &forged);
    withstands(template, folder.path(), &format!("{file}: {what}"), tally);
}

/// Makes the records match a changed file of the current version: its size, its checksum, those of its blocks if there
/// are any, and the digest of the row that says so if it has one.
fn stamp(index: &Path, file: &str, bytes: &[u8]) {
    const CURRENT: &str = "WHERE version = (SELECT current FROM manifest)";
    let hash = |bytes: &[u8]| blake3::hash(bytes).to_hex().to_string();
    let records = Connection::open(index.join("cairn.db")).unwrap();
    let row = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?));
    let read: (i64, String, String, String) = records
        .query_row(&format!("SELECT version, created_at, counts, files FROM versions {CURRENT}"), [], row)
        .unwrap();
    let (version, created_at, counts, files) = read;
    let mut files: Value = serde_json::from_str(&files).unwrap();
    let row = files.as_array_mut().unwrap().iter_mut().find(|it| it["path"] == file);
    let row = row.unwrap_or_else(|| panic!("the records know no {file}"));
    row["bytes"] = json!(bytes.len());
    row["blake3"] = json!(hash(bytes));
    if let Some(block_bytes) = row["blocks"]["bytes"].as_u64() {
        row["blocks"]["blake3"] = json!(bytes.chunks(block_bytes as usize).map(hash).collect::<String>());
    }
    let files = files.to_string();
    records.execute(&format!("UPDATE versions SET files = ?1 {CURRENT}"), [&files]).unwrap();
    let has_digest = "SELECT count(*) FROM pragma_table_info('versions') WHERE name = 'digest'";
    if records.query_row(has_digest, [], |row| row.get::<_, i64>(0)).unwrap() == 1 {
        let digest = Parts::of("version").number(version).text(&created_at).text(&counts).text(&files).digest();
        records.execute(&format!("UPDATE versions SET digest = ?1 {CURRENT}"), [digest]).unwrap();
    }
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap())
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap())
}

fn entry_count(bytes: &[u8]) -> usize {
    u32_at(bytes, 16) as usize
}

fn entry_at(section: usize) -> usize {
    HEADER_BYTES + section * ENTRY_BYTES
}

fn name_of(bytes: &[u8], section: usize) -> String {
    let name = &bytes[entry_at(section)..][..NAME_BYTES];
    let end = name.iter().position(|byte| *byte == 0).unwrap_or(NAME_BYTES);
    format!("`{}`", String::from_utf8_lossy(&name[..end]))
}

fn held(bytes: &[u8], section: usize) -> &[u8] {
    let at = entry_at(section) + NAME_BYTES;
    &bytes[u64_at(bytes, at) as usize..][..u64_at(bytes, at + 8) as usize]
}

/// Returns the file with other contents of a section, in our own layout.
fn with_section(bytes: &[u8], section: usize, change: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
    let count = entry_count(bytes);
    let mut parts: Vec<Vec<u8>> = (0..count).map(|it| held(bytes, it).to_vec()).collect();
    change(&mut parts[section]);
    let mut forged = bytes[..entry_at(count)].to_vec();
    for (section, part) in parts.iter().enumerate() {
        let at = entry_at(section) + NAME_BYTES;
        let offset = forged.len() as u64;
        forged[at..at + 8].copy_from_slice(&offset.to_le_bytes());
        forged[at + 8..at + 16].copy_from_slice(&(part.len() as u64).to_le_bytes());
        forged.extend_from_slice(part);
        forged.resize(forged.len().next_multiple_of(8), 0);
    }
    forged
}

/// Changes the contents of a section, in one of [`SECTION_WAYS`].
fn change(held: &mut Vec<u8>, way: usize, random: &mut Random) {
    let count = held.len() / 4;
    let mut numbers: Vec<u32> = (0..count).map(|it| u32_at(held, it * 4)).collect();
    let one = if count == 0 { 0 } else { random.below(count) };
    match SECTION_WAYS[way] {
        "nothing" => return held.clear(),
        "a byte less" => return held.truncate(held.len().saturating_sub(1)),
        "half of it" => return held.truncate(held.len() / 2),
        "an item more" => return held.extend([0; 8]),
        "twice itself" => return held.extend(held.clone()),
        "zeros" => return held.fill(0),
        "ones" => return held.fill(0xff),
        "a byte that is no text" => {
            let middle = held.len() / 2;
            return set(held, middle, &[0xff]);
        }
        "escapes and marks of direction" => return set(held, 0, "\u{1b}[2J\u{202e}\u{9b}31m\0".as_bytes()),
        "first number: the largest" => edit(&mut numbers, 0, |_| u32::MAX),
        "last number: the largest" => edit(&mut numbers, count.saturating_sub(1), |_| u32::MAX),
        "one number: the largest" => edit(&mut numbers, one, |_| u32::MAX),
        "one number: one more" => edit(&mut numbers, one, |it| it.wrapping_add(1)),
        "one number: one less" => edit(&mut numbers, one, |it| it.wrapping_sub(1)),
        "first number: 1" => edit(&mut numbers, 0, |_| 1),
        "last number: one more" => edit(&mut numbers, count.saturating_sub(1), |it| it.wrapping_add(1)),
        "numbers in reverse" => numbers.reverse(),
        "numbers shuffled" => random.shuffle(&mut numbers),
        "numbers at random" => numbers.iter_mut().for_each(|it| *it = random.below(1 << 32) as u32),
        "not a number" => numbers.fill(f32::NAN.to_bits()),
        "infinite" => edit(&mut numbers, one, |_| f32::INFINITY.to_bits()),
        "huge and negative" => numbers.fill((-1e38_f32).to_bits()),
        other => panic!("nobody knows how to put {other} there"),
    }
    for (at, number) in numbers.into_iter().enumerate() {
        set(held, at * 4, &number.to_le_bytes());
    }
}

fn edit(numbers: &mut [u32], at: usize, change: impl Fn(u32) -> u32) {
    if let Some(number) = numbers.get_mut(at) {
        *number = change(*number);
    }
}

/// Writes as much of `new` as fits.
fn set(bytes: &mut [u8], at: usize, new: &[u8]) {
    for (byte, new) in bytes.iter_mut().skip(at).zip(new) {
        *byte = *new;
    }
}

fn with_entry(bytes: &[u8], section: usize, way: usize) -> Vec<u8> {
    let mut forged = bytes.to_vec();
    let (name, offset, length) =
        (entry_at(section), entry_at(section) + NAME_BYTES, entry_at(section) + NAME_BYTES + 8);
    let mut put = |at: usize, number: u64| set(&mut forged, at, &number.to_le_bytes());
    match ENTRY_WAYS[way] {
        "8 bytes longer" => put(length, u64_at(bytes, length) + 8),
        "8 bytes shorter" => put(length, u64_at(bytes, length).saturating_sub(8)),
        "of the largest length" => put(length, u64::MAX),
        "at the largest offset" => put(offset, u64::MAX - 7),
        "not aligned" => put(offset, u64_at(bytes, offset) + 4),
        "over the header" => put(offset, 0),
        "without a name" => set(&mut forged, name, &[0; NAME_BYTES]),
        "with a name that is no text" => set(&mut forged, name, &[0xff; NAME_BYTES]),
        other => panic!("nobody knows how to make a section {other}"),
    }
    forged
}

fn swapped(bytes: &[u8], a: usize, b: usize) -> Vec<u8> {
    let mut forged = bytes.to_vec();
    let [places_a, places_b] = [a, b].map(|it| entry_at(it) + NAME_BYTES..entry_at(it + 1));
    forged[places_a.clone()].copy_from_slice(&bytes[places_b.clone()]);
    forged[places_b].copy_from_slice(&bytes[places_a]);
    forged
}

fn with_header(bytes: &[u8], way: usize, random: &mut Random) -> Vec<u8> {
    let mut forged = bytes.to_vec();
    let format = u32_at(bytes, 8);
    let mut put = |at: usize, number: u32| set(&mut forged, at, &number.to_le_bytes());
    match WHOLE_WAYS[way] {
        "no magic" => put(0, 0),
        "an older format" => put(8, format - 1),
        "a newer format" => put(8, format + 1),
        "the other byte order" => put(12, u32_at(bytes, 12).swap_bytes()),
        "no sections" => put(16, 0),
        "one section" => put(16, 1),
        "as many sections as are allowed" => put(16, 1024),
        "more sections than are allowed" => put(16, 1025),
        "the largest number of sections" => put(16, u32::MAX),
        "empty" => forged.clear(),
        "shorter than the header" => forged.truncate(HEADER_BYTES - 1),
        "cut in half" => forged.truncate(bytes.len() / 2),
        "a megabyte longer" => forged.resize(bytes.len() + (1 << 20), 0),
        "at random" => forged.iter_mut().skip(HEADER_BYTES).for_each(|byte| *byte = random.below(256) as u8),
        other => panic!("nobody knows how to make a file {other}"),
    }
    forged
}

fn plainly(bytes: &[u8], way: usize, random: &mut Random) -> Vec<u8> {
    let mut forged = bytes.to_vec();
    match PLAIN_WAYS[way] {
        "empty" => forged.clear(),
        "a byte less" => forged.truncate(bytes.len().saturating_sub(1)),
        "cut in half" => forged.truncate(bytes.len() / 2),
        "twice itself" => forged.extend_from_slice(bytes),
        "zeros" => forged.fill(0),
        "at random" => forged.iter_mut().for_each(|byte| *byte = random.below(256) as u8),
        // For JSON: sizes and counts that are too large, names of files that lead elsewhere.
        "numbers in text grown" => {
            let text =
                String::from_utf8_lossy(bytes).replace("\":", "\":99999999").replace("\"segments\"", "\"../../s\"");
            forged = text.into_bytes();
        }
        "a byte changed" if !bytes.is_empty() => forged[random.below(bytes.len())] ^= 1 << random.below(8),
        "the last 64 bytes changed" => {
            let start = bytes.len().saturating_sub(64);
            forged.iter_mut().skip(start).for_each(|byte| *byte = random.below(256) as u8);
        }
        _ => {}
    }
    forged
}
