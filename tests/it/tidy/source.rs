//! Rust files as the rules see them: with comments, strings and, on request, tests blanked out. Not a parser: it knows
//! only as much of the language as the rules need.

use std::fs;
use std::path::{Path, PathBuf};

/// A Rust file.
pub(super) struct Source {
    /// Its path from the root of the repository, with `/`.
    pub(super) path: String,
    /// Its text.
    pub(super) text: String,
    /// Its text with the contents of comments, strings and characters replaced by spaces; it has as many lines as
    /// `text`.
    pub(super) code: String,
}

/// A word or sign of code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Token<'a> {
    /// An identifier, `::`, or one other character.
    pub(super) text: &'a str,
    /// Its line, from 1.
    pub(super) line: usize,
    /// Its offset in the code.
    pub(super) start: usize,
}

impl Source {
    pub(super) fn new(path: &str, text: &str) -> Self {
        Self { path: path.to_owned(), text: text.to_owned(), code: blanked(text) }
    }

    /// Returns the file without its tests.
    pub(super) fn without_tests(&self) -> Self {
        let is_test_file = self.path.ends_with("/tests.rs") || self.path.contains("/tests/");
        let mut code = self.code.clone().into_bytes();
        if is_test_file {
            blank(&mut code, 0, self.code.len());
        }
        for (start, marker) in self.code.match_indices("#[cfg(test)]") {
            let tokens = tokens(&self.code[start + marker.len()..]);
            if let Some(last) = item_end(&tokens) {
                blank(&mut code, start, start + marker.len() + last.start + 1);
            }
        }
        Self { path: self.path.clone(), text: self.text.clone(), code: String::from_utf8(code).unwrap() }
    }
}

/// Returns the last token of the item at the beginning of `tokens`: its closing brace or its semicolon.
pub(super) fn item_end<'a>(tokens: &[Token<'a>]) -> Option<Token<'a>> {
    let mut braces = 0_u32;
    let mut brackets = 0_u32;
    for token in tokens {
        match token.text {
            "(" | "[" => brackets += 1,
            ")" | "]" => brackets = brackets.saturating_sub(1),
            "{" if brackets == 0 => braces += 1,
            "}" if brackets == 0 && braces <= 1 => return Some(*token),
            "}" if brackets == 0 => braces -= 1,
            ";" if braces == 0 && brackets == 0 => return Some(*token),
            _ => {}
        }
    }
    None
}

/// Returns the words and signs of blanked code.
pub(super) fn tokens(code: &str) -> Vec<Token<'_>> {
    let mut tokens = Vec::new();
    let mut line = 1;
    let mut start = 0;
    while let Some(first) = code[start..].chars().next() {
        let rest = &code[start..];
        let length = if first.is_alphanumeric() || first == '_' {
            rest.find(|it: char| !it.is_alphanumeric() && it != '_').unwrap_or(rest.len())
        } else if rest.starts_with("::") {
            2
        } else {
            first.len_utf8()
        };
        if !first.is_whitespace() {
            tokens.push(Token { text: &rest[..length], line, start });
        }
        line += usize::from(first == '\n');
        start += length;
    }
    tokens
}

/// Returns `text` with the contents of comments, strings and characters replaced by spaces.
fn blanked(text: &str) -> String {
    let mut bytes = text.as_bytes().to_vec();
    let mut at = 0;
    while at < text.len() {
        let rest = &text.as_bytes()[at..];
        let after_word = at > 0 && is_word(text.as_bytes()[at - 1]);
        let end = match rest {
            [b'/', b'/', ..] => at + rest.iter().position(|it| *it == b'\n').unwrap_or(rest.len()),
            [b'/', b'*', ..] => at + comment_length(rest),
            [b'"', ..] => at + string_length(rest),
            [b'\'', ..] => at + character_length(&text[at..]),
            [b'r', ..] if !after_word => at + raw_string_length(rest),
            [b'b' | b'c', b'r', ..] if !after_word && raw_string_length(&rest[1..]) > 1 => {
                at + 1 + raw_string_length(&rest[1..])
            }
            _ => at + 1,
        };
        // A length of one byte means code.
        if end > at + 1 {
            blank(&mut bytes, at, end);
        }
        at = end;
    }
    String::from_utf8(bytes).unwrap()
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || !byte.is_ascii()
}

fn blank(bytes: &mut [u8], start: usize, end: usize) {
    for byte in &mut bytes[start..end] {
        if *byte != b'\n' {
            *byte = b' ';
        }
    }
}

/// Comments can be nested.
fn comment_length(rest: &[u8]) -> usize {
    let mut depth = 0;
    let mut at = 0;
    while at < rest.len() {
        match &rest[at..] {
            [b'/', b'*', ..] => (depth, at) = (depth + 1, at + 2),
            [b'*', b'/', ..] => (depth, at) = (depth - 1, at + 2),
            _ => at += 1,
        }
        if depth == 0 {
            return at;
        }
    }
    rest.len()
}

fn string_length(rest: &[u8]) -> usize {
    let mut at = 1;
    while at < rest.len() {
        match rest[at] {
            b'\\' => at += 2,
            b'"' => return at + 1,
            _ => at += 1,
        }
    }
    rest.len()
}

/// Returns 1 for a lifetime, whose name is code.
fn character_length(rest: &str) -> usize {
    let mut characters = rest.char_indices().skip(1);
    let (Some((_, first)), Some((second_at, second))) = (characters.next(), characters.next()) else { return 1 };
    if first == '\\' {
        let escaped = second_at + second.len_utf8();
        return rest[escaped..].find('\'').map_or(1, |length| escaped + length + 1);
    }
    if second == '\'' { second_at + 1 } else { 1 }
}

/// Returns 1 if it is not a raw string.
fn raw_string_length(rest: &[u8]) -> usize {
    let hashes = rest[1..].iter().take_while(|it| **it == b'#').count();
    if rest.get(1 + hashes) != Some(&b'"') {
        return 1;
    }
    let end = [&b"\""[..], &vec![b'#'; hashes]].concat();
    let inside = 2 + hashes;
    rest[inside..].windows(end.len()).position(|it| it == end).map_or(rest.len(), |at| inside + at + end.len())
}

/// Returns the root of the repository.
pub(super) fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Returns the Rust files under `folders` of the repository, in order.
pub(super) fn rust_files(folders: &[&str]) -> Vec<Source> {
    let mut sources = Vec::new();
    for path in folders.iter().flat_map(|folder| files(&root().join(folder))) {
        if path.extension().is_some_and(|it| it == "rs") {
            sources.push(Source::new(&relative(&path), &fs::read_to_string(&path).unwrap()));
        }
    }
    assert!(!sources.is_empty(), "no Rust file under {folders:?}");
    sources
}

/// Returns `path` relative to the root of the repository, with `/`.
pub(super) fn relative(path: &Path) -> String {
    let path = path.strip_prefix(root()).unwrap_or(path);
    path.iter().map(|it| it.to_string_lossy()).collect::<Vec<_>>().join("/")
}

/// Returns the files under `folder`, in order; none if it does not exist. Built and hidden files are skipped.
pub(super) fn files(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let is_left_out = |path: &Path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        path.is_dir() && (name == "target" || name == ".git" || name == ".cairn")
    };
    paths.retain(|path| !is_left_out(path));
    paths.into_iter().flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

#[test]
fn what_is_not_code_is_blanked_and_what_is_stays() {
    let cases = [
        ("a // b\nc", "a     \nc"),
        ("a /* b /* c */ d */ e", "a                   e"),
        (r#"f("a \" b", x)"#, "f(        , x)"),
        (r##"f(r#"a " b"#, x)"##, "f(          , x)"),
        (r#"f(br"\", x)"#, "f(     , x)"),
        ("break crate", "break crate"),
        (r"f('a', '\'', '\u{1b}', 'é')", "f(   ,     ,         ,     )"),
        ("fn f<'a>(x: &'a str) {}", "fn f<'a>(x: &'a str) {}"),
        ("let r#type = for_r(r);", "let r#type = for_r(r);"),
        ("x = \"a\nb\";", "x =   \n  ;"),
        ("\"never ended", "            "),
    ];
    for (text, expect) in cases {
        assert_eq!(blanked(text), expect, "{text}");
    }
}

#[test]
fn tests_are_left_out_whole_and_nothing_else_is() {
    let text =
        "fn a() {}\n#[cfg(test)]\nmod tests { fn b() { [1; 2]; } }\nfn c() {}\n#[cfg(test)]\nmod tests;\nfn d() {}";
    let source = Source::new("src/x.rs", text).without_tests();
    let words: Vec<&str> = source.code.split_whitespace().collect();
    assert_eq!(words, ["fn", "a()", "{}", "fn", "c()", "{}", "fn", "d()", "{}"]);
    assert_eq!(source.code.lines().count(), text.lines().count());
    assert_eq!(Source::new("src/x/tests.rs", text).without_tests().code.trim(), "");
}

#[test]
fn tokens_are_words_paths_and_signs_with_their_lines() {
    let found: Vec<(&str, usize)> = tokens("a::b\n +c_1").into_iter().map(|it| (it.text, it.line)).collect();
    assert_eq!(found, [("a", 1), ("::", 1), ("b", 1), ("+", 2), ("c_1", 2)]);
}
