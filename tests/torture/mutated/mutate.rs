//! Changes to an input that are likely to trip a parser: bits, cuts, repeats, and meaningful pieces.

use crate::support::Random;

/// Maximum changes to one input.
const CHANGES_MAX: usize = 6;
/// Maximum repeats of a piece.
const REPEATS_MAX: usize = 64;

/// Pieces that mean something to one of the parsers.
const PIECES: [&[u8]; 44] = [
    b"{",
    b"}",
    b"[",
    b"]",
    b"\"",
    b":",
    b",",
    b"\\",
    b"\\u0000",
    b"\\ud800",
    b"\\udc00\\ud800",
    b"null",
    b"true",
    b"-0",
    b"-1",
    b"0",
    b"1e999",
    b"-1e-999",
    b"18446744073709551616",
    b"9223372036854775808",
    b"4294967296",
    b"NaN",
    b"\xef\xbb\xbf",
    b"\xe2\x80\xae",
    b"\x1b[2J",
    b"\xc2\x9b",
    b"\xff",
    b"\xed\xa0\x80",
    b"\0",
    b"\r\n",
    b"\n\n",
    b"'''",
    b"\"\"\"",
    b"= ",
    b"[[a]]\n",
    b"a.b.c = 1\n",
    b"# ",
    b"###### ",
    b"```\n",
    b"---\n",
    b"> ",
    b"../../../x",
    b"/dev/null",
    b"\xf3\xa0\x81\x81",
];

/// Returns one of `seeds`, changed.
pub(super) fn mutated(seeds: &[Vec<u8>], random: &mut Random) -> Vec<u8> {
    let mut input = seeds[random.below(seeds.len())].clone();
    for _ in 0..=random.below(CHANGES_MAX) {
        change(&mut input, seeds, random);
    }
    input
}

fn change(input: &mut Vec<u8>, seeds: &[Vec<u8>], random: &mut Random) {
    let at = random.below(input.len() + 1);
    let length = random.below((input.len() - at).min(256) + 1);
    match random.below(10) {
        0 if at < input.len() => input[at] ^= 1 << random.below(8),
        1 if at < input.len() => input[at] = random.below(256) as u8,
        2 => input.truncate(at),
        3 => drop(input.drain(at..at + length)),
        4 => {
            let piece = input[at..at + length].to_vec();
            let times = 1 + random.below(REPEATS_MAX);
            drop(input.splice(at..at, piece.repeat(times)));
        }
        5 => {
            let piece = PIECES[random.below(PIECES.len())];
            // Sometimes deeper than any parser can follow.
            let times = if random.below(8) == 0 { 20_000 } else { 1 };
            drop(input.splice(at..at, piece.repeat(times)));
        }
        6 => drop(input.splice(at..at + length, PIECES[random.below(PIECES.len())].iter().copied())),
        7 => number(input, at, random),
        8 => {
            let other = &seeds[random.below(seeds.len())];
            let from = random.below(other.len() + 1);
            input.truncate(at);
            input.extend_from_slice(&other[from..]);
        }
        _ => {
            let mut lines: Vec<Vec<u8>> = input.split_inclusive(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect();
            random.shuffle(&mut lines);
            *input = lines.concat();
        }
    }
}

/// Replaces the first number at or after `at`.
fn number(input: &mut Vec<u8>, at: usize, random: &mut Random) {
    let Some(start) = input[at..].iter().position(u8::is_ascii_digit).map(|it| it + at) else { return };
    let length = input[start..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    let others: [&[u8]; 8] = [b"0", b"-1", b"1.5", b"1e308", b"4294967295", b"18446744073709551615", b"\"1\"", b"null"];
    drop(input.splice(start..start + length, others[random.below(others.len())].iter().copied()));
}
