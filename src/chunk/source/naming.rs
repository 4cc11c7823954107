//! What a statement defines, and its name.

use std::ops::Range;

use super::NAME_CHARS_MAX;
use super::braces::Code;
use super::statement::Statement;
use super::words::{ATTRIBUTES, CONTROL, has_patterns};
use crate::text::{Language, Token, TokenKind, one_line};

impl Statement {
    /// Returns what the statement defines; nothing where it defines nothing.
    pub(super) fn name(&self, code: &Code<'_>) -> Option<String> {
        if code.language == Language::Sql {
            return self.body.map(|end| self.header(code, self.start..end));
        }
        match (self.keyword, self.named) {
            (Some(keyword), _) if self.is_type => self.type_name(code, keyword),
            (Some(keyword), named) => self.function_name(code, keyword, named),
            (None, Some(named)) if has_patterns(code.language) => self.pattern_name(code, named),
            (None, _) if code.language == Language::JavaScript => self.assigned_name(code),
            _ => None,
        }
    }

    fn type_name(&self, code: &Code<'_>, keyword: usize) -> Option<String> {
        let holds_others = matches!(code.word(keyword), "namespace" | "extern");
        if code.language == Language::C && !holds_others && self.named.is_some() {
            return self.pattern_name(code, self.named?);
        }
        if self.equals.is_some_and(|equals| self.body.is_none_or(|body| equals < body)) {
            return None;
        }
        let is_whole = self.body.is_some() || (self.named.is_some() && code.language == Language::Kotlin);
        let word = code.word(keyword);
        let is_record = word == "record" && self.named.is_some();
        if !is_whole && !is_record {
            return None;
        }
        if word == "extern" {
            return Some(String::new());
        }
        let body = self.body.unwrap_or(self.end);
        if matches!(word, "impl" | "extension") {
            return Some(self.header(code, keyword..body));
        }
        if word == "macro_rules" {
            return Some(code.word(keyword + 2).to_owned());
        }
        let next = code.word(keyword + 1);
        // `enum class Name`, `struct alignas(8) Name`, `module "name"`.
        let first = if matches!(next, "class" | "struct" | "type" | "interface" | "object") {
            keyword + 2
        } else {
            keyword + 1
        };
        match first_name(code, first..body) {
            Some(at) => Some(qualified(code, at, body)),
            // A namespace without a name, a companion.
            None if word == "namespace" => Some(String::new()),
            None if word == "object" => Some("Companion".to_owned()),
            None => Some(self.name_behind(code).unwrap_or_else(|| word.to_owned())),
        }
    }

    /// Returns the name of `typedef struct {…} name;`.
    fn name_behind(&self, code: &Code<'_>) -> Option<String> {
        let close = code.partner(self.body?)?;
        let name =
            (close + 1..self.end).map(|at| code.word(at)).find(|word| !word.is_empty() && !ATTRIBUTES.contains(word));
        name.map(str::to_owned)
    }

    fn function_name(&self, code: &Code<'_>, keyword: usize, named: Option<usize>) -> Option<String> {
        let is_kotlin = code.language == Language::Kotlin;
        if self.body.is_none() && !(is_kotlin && self.equals.is_some()) {
            return None;
        }
        let word = code.word(keyword);
        if matches!(word, "init" | "deinit" | "subscript") {
            return Some(word.to_owned());
        }
        if is_kotlin {
            return Some(named.map_or("fun", |at| code.word(at)).to_owned()).filter(|name| !name.is_empty());
        }
        let mut first = keyword + 1;
        let mut receiver = "";
        if code.language == Language::Go && code.is(first, b'(') {
            let close = code.partner(first)?;
            receiver = (first..close).rev().map(|at| code.word(at)).find(|it| !it.is_empty()).unwrap_or_default();
            first = close + 1;
        }
        let name = (first..first + 3).map(|at| code.word(at)).find(|word| !word.is_empty())?;
        Some(if receiver.is_empty() { name.to_owned() } else { format!("{receiver}.{name}") })
    }

    /// Returns the name of a function that no word announces: what stands before its parameters.
    fn pattern_name(&self, code: &Code<'_>, named: usize) -> Option<String> {
        let is_brief = code.language == Language::CSharp && self.arrow.is_some();
        if (self.body.is_none() && !is_brief) || self.equals.is_some() {
            return None;
        }
        let is_script = code.language == Language::JavaScript;
        if is_script && !self.within_type {
            return None;
        }
        let word = code.word(named);
        let first = code.word(self.start);
        if CONTROL.contains(&word) || CONTROL.contains(&first) && !is_script {
            return None;
        }
        if let Some(operator) = (named.saturating_sub(3)..named).find(|at| code.word(*at) == "operator") {
            return Some(self.header(code, operator..named + 1));
        }
        let name = qualified(code, before_angles(code, named), named + 1);
        // `TEST(Mill, Turns) {…}`: what the macro is given tells it from others.
        let is_macro = named == self.start && !word.contains(|it: char| it.is_ascii_lowercase());
        if is_macro && code.language == Language::C && code.is(named + 1, b'(') {
            let close = code.partner(named + 1)?;
            let whole = code.slice(code.token(named)?.start()..code.token(close)?.end());
            return Some(one_line(whole)).filter(|whole| whole.len() <= NAME_CHARS_MAX).or(Some(name));
        }
        Some(name)
    }

    /// Returns the name of a function that is a value: `name = function`, `name = () =>`, and of a class.
    fn assigned_name(&self, code: &Code<'_>) -> Option<String> {
        let (equals, body) = (self.equals?, self.body?);
        if equals > body {
            return None;
        }
        let is_function = self.arrow.is_some_and(|arrow| equals < arrow && arrow < body)
            || (equals..body).any(|at| matches!(code.word(at), "function" | "class"));
        let is_call = code.is(equals + 1, b'(') && code.partner(equals + 1).is_some_and(|close| close > body);
        if !is_function || is_call {
            return None;
        }
        let mut first = self.start;
        while matches!(
            code.word(first),
            "export" | "const" | "let" | "var" | "static" | "private" | "public" | "readonly"
        ) {
            first += 1;
        }
        let said = self.header(code, first..equals);
        let said = said.split(':').next().unwrap_or_default().trim().to_owned();
        (!said.is_empty() && said.chars().count() <= NAME_CHARS_MAX).then_some(said)
    }

    /// Returns the text of some tokens, on one line.
    fn header(&self, code: &Code<'_>, range: Range<usize>) -> String {
        let (Some(first), Some(last)) =
            (code.token(range.start), range.end.checked_sub(1).and_then(|at| code.token(at)))
        else {
            return String::new();
        };
        let said = code.slice(first.start()..last.end().max(first.start()));
        let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
        said.split(" where ").next().unwrap_or_default().to_owned()
    }
}

/// Returns the token before the angle brackets that end at `at`, or that token.
fn before_angles(code: &Code<'_>, at: usize) -> usize {
    const TOKENS_MAX: usize = 64;
    let mut depth = 0_u32;
    for back in 0..TOKENS_MAX.min(at) {
        if code.is(at - back, b'>') {
            depth += 1;
        } else if code.is(at - back, b'<') {
            depth = depth.saturating_sub(1);
        }
        if depth == 0 {
            return if back == 0 { at } else { at - back - 1 };
        }
    }
    at
}

/// Returns the name that stands first in the head of a type: what it is given in brackets is passed over, and so are
/// words before it that are macros.
fn first_name(code: &Code<'_>, head: Range<usize>) -> Option<usize> {
    let mut at = head.start;
    let mut name = None;
    let has_macros = code.language == Language::C && code.word(at.saturating_sub(1)) != "namespace";
    while at < head.end {
        let word = code.word(at);
        let is_group = code.is(at, b'(') || code.is(at, b'[');
        if is_group {
            at = code.partner(at).unwrap_or(at);
        } else if name.is_some() && (word.is_empty() || !has_macros || word == "final") {
            break;
        } else if !word.is_empty() && !ATTRIBUTES.contains(&word) {
            name = Some(at);
        } else if word.is_empty() {
            // A module of TypeScript may be called by a string.
            let is_string = code.token(at)?.kind == TokenKind::Text && code.language == Language::JavaScript;
            return is_string.then_some(at);
        }
        at += 1;
    }
    name.filter(|at| *at < head.end)
}

/// Returns a name with what is written together with it: `Mill::turn`, `~Mill`.
fn qualified(code: &Code<'_>, at: usize, end: usize) -> String {
    let Some(token) = code.token(at) else { return String::new() };
    let line = code.text.get(..token.start()).unwrap_or_default();
    let before = line.len() - line.trim_end_matches(|it: char| it.is_alphanumeric() || "_:~#.".contains(it)).len();
    let mut last = at;
    loop {
        let is_path = code.is(last + 1, b':') && code.is(last + 2, b':');
        let next = if is_path { last + 3 } else { last + 2 };
        if next >= end || !(is_path || code.is(last + 1, b'.')) || code.word(next).is_empty() {
            break;
        }
        last = next;
    }
    let start = token.start() - before;
    let name = code.slice(start..code.token(last).map_or(token.end(), Token::end)).trim_start_matches([':', '.']);
    name.to_owned()
}
