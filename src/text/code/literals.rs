//! Strings and other literals: where each ends.

use super::Language;
use super::lexer::{Lexer, TokenKind};

/// Templates in expressions of templates at most.
const TEMPLATES_MAX: usize = 64;
/// Bytes of the name that ends a long string at most.
const NAME_BYTES_MAX: usize = 64;

/// A string whose lines begin on the next one.
pub(super) struct Heredoc {
    /// The line that ends it.
    name: String,
    /// Whether that may be moved in.
    is_moved_in: bool,
}

/// Returns where the literal ends that begins with `byte`, which the lexer is at; nothing where none begins there.
pub(super) fn end(lexer: &mut Lexer<'_>, byte: u8) -> Option<usize> {
    let at = lexer.at;
    match (byte, lexer.language) {
        (b'r' | b'b', Language::Rust) => raw_of_rust(lexer),
        (b'R', Language::C) => raw_of_c(lexer),
        (b'@', Language::CSharp) => verbatim(lexer),
        (b'[', Language::Lua) => {
            let (start, close) = long_bracket(lexer.text, at)?;
            lexer.find(start, &close).map(|end| end + close.len())
        }
        (b'$', Language::Sql) => dollars(lexer),
        (b'<', Language::Shell | Language::Ruby | Language::Php) => {
            note_heredoc(lexer);
            None
        }
        (b'\'', Language::Rust) => char_of_rust(lexer),
        (b'\'', Language::C) if is_in_number(lexer) => None,
        (b'"' | b'\'', _) => quoted(lexer, byte),
        (b'`', Language::JavaScript) => template(lexer),
        (b'`', Language::Go) => lexer.find(at + 1, "`").map(|end| end + 1),
        (b'`', Language::Kotlin | Language::Sql) => Some(simple(lexer, byte, at + 1)),
        (b'/', Language::JavaScript) => regex(lexer),
        _ => None,
    }
}

/// Returns the end of a string between quotation marks, three or one.
fn quoted(lexer: &mut Lexer<'_>, quote: u8) -> Option<usize> {
    use Language::{CSharp, Java, Kotlin, Python, Swift};
    let (at, language) = (lexer.at, lexer.language);
    let has_triple =
        matches!(language, Python | Java | Kotlin | Swift | CSharp) && (quote == b'"' || language == Python);
    let triple = if quote == b'"' { "\"\"\"" } else { "'''" };
    if has_triple && lexer.rest().starts_with(triple) {
        return triple_end(lexer, triple, at + 3).or(Some(at + 3));
    }
    Some(simple(lexer, quote, at + 1))
}

/// Returns the end of a string from `from` on: on its line, or where the language lets it continue, on a later one.
fn simple(lexer: &mut Lexer<'_>, quote: u8, from: usize) -> usize {
    let language = lexer.language;
    let bytes = lexer.text.as_bytes();
    let has_escapes = !(language == Language::Sql || (language == Language::Shell && quote == b'\''));
    let is_long = language.has_long_strings() && lexer.may_look();
    let mut at = from;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'\\' if has_escapes => at += 1,
            b'\n' if !is_long => return at,
            _ if *byte == quote => return at + 1,
            _ => {}
        }
        at += 1;
    }
    if is_long {
        lexer.fail();
    }
    lexer.line_end(from)
}

fn triple_end(lexer: &mut Lexer<'_>, triple: &str, from: usize) -> Option<usize> {
    if !lexer.may_look() {
        return None;
    }
    let has_escapes = matches!(lexer.language, Language::Python | Language::Swift | Language::Java);
    let bytes = lexer.text.as_bytes();
    let mut at = from;
    while at < bytes.len() {
        if bytes[at] == b'\\' && has_escapes {
            at += 2;
        } else if bytes[at..].starts_with(triple.as_bytes()) {
            return Some(at + 3);
        } else {
            at += 1;
        }
    }
    lexer.fail();
    None
}

/// `r"…"`, `r#"…"#`, `br"…"`: nothing in them is escaped.
fn raw_of_rust(lexer: &mut Lexer<'_>) -> Option<usize> {
    let rest = lexer.rest();
    let after = rest.strip_prefix("br").or_else(|| rest.strip_prefix('r'))?;
    let signs = after.len() - after.trim_start_matches('#').len();
    if signs > NAME_BYTES_MAX || !after.get(signs..)?.starts_with('"') {
        return None;
    }
    let start = lexer.at + rest.len() - after.len() + signs + 1;
    let close = format!("\"{}", "#".repeat(signs));
    lexer.find(start, &close).map(|end| end + close.len())
}

/// Returns the end of a character; nothing where a lifetime begins.
fn char_of_rust(lexer: &Lexer<'_>) -> Option<usize> {
    let mut chars = lexer.rest().char_indices().skip(1);
    let (_, first) = chars.next()?;
    if first == '\\' {
        let (_, _) = chars.next()?;
        return chars.take(10).find(|it| it.1 == '\'').map(|it| lexer.at + it.0 + 1);
    }
    chars.next().filter(|it| it.1 == '\'').map(|it| lexer.at + it.0 + 1)
}

/// `R"name(…)name"`.
fn raw_of_c(lexer: &mut Lexer<'_>) -> Option<usize> {
    let after = lexer.rest().strip_prefix("R\"")?;
    let end = after.bytes().take(NAME_BYTES_MAX).position(|it| it == b'(')?;
    let close = format!("){}\"", after.get(..end)?);
    let start = lexer.at + 2 + end;
    lexer.find(start, &close).map(|end| end + close.len())
}

/// `@"…"`: a quotation mark in it is written twice.
fn verbatim(lexer: &mut Lexer<'_>) -> Option<usize> {
    let rest = lexer.rest();
    let start = ["@\"", "@$\""].iter().find(|it| rest.starts_with(**it))?.len() + lexer.at;
    if !lexer.may_look() {
        return None;
    }
    let bytes = lexer.text.as_bytes();
    let mut at = start;
    while let Some(byte) = bytes.get(at) {
        match (byte, bytes.get(at + 1)) {
            (b'"', Some(b'"')) => at += 2,
            (b'"', _) => return Some(at + 1),
            _ => at += 1,
        }
    }
    lexer.fail();
    None
}

/// `$$…$$` and `$name$…$name$` of SQL.
fn dollars(lexer: &mut Lexer<'_>) -> Option<usize> {
    let after = lexer.rest().get(1..)?;
    let length = after.bytes().take(NAME_BYTES_MAX).take_while(|it| it.is_ascii_alphanumeric() || *it == b'_').count();
    if !after.get(length..)?.starts_with('$') || after.starts_with(|it: char| it.is_ascii_digit()) {
        return None;
    }
    let mark = lexer.rest().get(..length + 2)?.to_owned();
    lexer.find(lexer.at + mark.len(), &mark).map(|end| end + mark.len())
}

/// Returns where the text of a long bracket of Lua begins at `at`, and what closes it: `[[`, `[==[`.
pub(super) fn long_bracket(text: &str, at: usize) -> Option<(usize, String)> {
    let after = text.get(at..)?.strip_prefix('[')?;
    let signs = after.len() - after.trim_start_matches('=').len();
    let is_one = signs <= NAME_BYTES_MAX && after.get(signs..)?.starts_with('[');
    is_one.then(|| (at + signs + 2, format!("]{}]", "=".repeat(signs))))
}

/// Notes the string that `<<NAME` announces.
fn note_heredoc(lexer: &mut Lexer<'_>) {
    let Some(after) = lexer.rest().strip_prefix("<<") else { return };
    let after = if lexer.language == Language::Php { after.strip_prefix('<').unwrap_or_default() } else { after };
    let name = after.trim_start_matches(['-', '~', ' ', '\\', '"', '\'']);
    let signs = after.get(..after.len() - name.len()).unwrap_or_default();
    let length = name.bytes().take(NAME_BYTES_MAX).take_while(|it| it.is_ascii_alphanumeric() || *it == b'_').count();
    let name = name.get(..length).unwrap_or_default();
    // `x << y` and `1 << 3` are no strings; in Ruby only a name in capitals right behind is one.
    let is_named = name.starts_with(|it: char| it.is_ascii_alphabetic() || it == '_');
    let is_likely = match lexer.language {
        Language::Ruby => !signs.contains(' ') && name.starts_with(|it: char| it.is_ascii_uppercase()),
        Language::Shell => !after.starts_with('<'),
        _ => true,
    };
    if is_named && is_likely {
        let is_moved_in = signs.contains(['-', '~']) || lexer.language == Language::Php;
        let name = name.to_owned();
        lexer.heredocs.push(Heredoc { name, is_moved_in });
    }
}

/// Returns the end of a string that begins on this line, with the line that ends it.
pub(super) fn heredoc_end(lexer: &mut Lexer<'_>, heredoc: &Heredoc) -> Option<usize> {
    if !lexer.may_look() {
        return None;
    }
    // From the end of the line that announced it.
    let mut at = lexer.at + 1;
    for line in lexer.rest().get(1..).unwrap_or_default().split_inclusive('\n') {
        let said = line.trim_end_matches(['\n', '\r']);
        let said = if heredoc.is_moved_in { said.trim_start() } else { said };
        // PHP lets what follows stand on the same line.
        let rest = said.strip_prefix(heredoc.name.as_str());
        if rest.is_some_and(|rest| {
            rest.is_empty() || (lexer.language == Language::Php && rest.starts_with([';', ',', ')']))
        }) {
            return Some(at + line.trim_end().len());
        }
        at += line.len();
    }
    lexer.fail();
    None
}

/// Returns the end of a template of `JavaScript`, with the expressions in it.
fn template(lexer: &mut Lexer<'_>) -> Option<usize> {
    if !lexer.may_look() {
        return None;
    }
    let bytes = lexer.text.as_bytes();
    // The brackets that are open in each expression around.
    let mut open: Vec<u32> = Vec::new();
    let mut is_text = true;
    let mut at = lexer.at + 1;
    while let Some(byte) = bytes.get(at) {
        at += 1;
        match byte {
            b'\\' => at += 1,
            b'`' if is_text && open.is_empty() => return Some(at),
            b'`' if is_text => is_text = false,
            b'`' => is_text = true,
            b'$' if is_text && bytes.get(at) == Some(&b'{') => {
                if open.len() >= TEMPLATES_MAX {
                    break;
                }
                open.push(0);
                is_text = false;
                at += 1;
            }
            b'{' if !is_text => {
                if let Some(count) = open.last_mut() {
                    *count += 1;
                }
            }
            b'}' if !is_text => match open.last_mut() {
                Some(0) => {
                    open.pop();
                    is_text = true;
                }
                Some(count) => *count -= 1,
                None => {}
            },
            _ => {}
        }
    }
    lexer.fail();
    None
}

/// Returns the end of a regular expression, where one may stand.
fn regex(lexer: &Lexer<'_>) -> Option<usize> {
    const BEFORE: &[&str] = &["return", "typeof", "case", "in", "of", "delete", "void", "throw", "new", "else", "do"];
    let may_stand = match lexer.tokens.iter().rev().find(|it| it.kind != TokenKind::Comment) {
        None => true,
        Some(token) => match token.kind {
            TokenKind::Mark(mark) => b"(,=:[!&|?{};+-*%<>~^".contains(&mark),
            TokenKind::Word => lexer.text.get(token.range()).is_some_and(|word| BEFORE.contains(&word)),
            _ => false,
        },
    };
    if !may_stand {
        return None;
    }
    let bytes = lexer.text.as_bytes();
    let mut in_class = false;
    let mut at = lexer.at + 1;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'\n' => return None,
            b'\\' => at += 1,
            b'[' => in_class = true,
            b']' => in_class = false,
            b'/' if !in_class => return Some(at + 1),
            _ => {}
        }
        at += 1;
    }
    None
}

/// Returns whether a single quotation mark parts the digits of a number.
fn is_in_number(lexer: &Lexer<'_>) -> bool {
    let last = lexer.tokens.last().filter(|it| it.kind == TokenKind::Word && it.end() == lexer.at);
    last.and_then(|it| lexer.byte(it.start())).is_some_and(|byte| byte.is_ascii_digit())
}
