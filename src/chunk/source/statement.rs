//! A statement of a language with brackets: where it ends, and whether it defines something.

use std::ops::Range;

use super::braces::Code;
use super::words::{ATTRIBUTES, GOES_ON, has_patterns, keyword};
use crate::text::{Language, Token, TokenKind};

/// What a statement stands in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Within {
    File,
    Type,
    Function,
}

/// A statement, as far as it was read. Places are numbers of tokens.
#[derive(Debug, Default)]
pub(super) struct Statement {
    pub(super) start: usize,
    /// One past its last token.
    pub(super) end: usize,
    /// The bracket that opens its body.
    pub(super) body: Option<usize>,
    /// Whether it defines a type, or what holds others.
    pub(super) is_type: bool,
    /// The word that says what is defined.
    pub(super) keyword: Option<usize>,
    /// The last token before the parameters.
    pub(super) named: Option<usize>,
    /// The sign behind which a value stands.
    pub(super) equals: Option<usize>,
    /// The arrow before what a function returns or does.
    pub(super) arrow: Option<usize>,
    /// Whether what stands behind a colon after parameters is read.
    is_behind_colon: bool,
    pub(super) within_type: bool,
}

/// Tokens in which the constructor of a class of Kotlin is announced.
const CONSTRUCTOR_WITHIN: usize = 8;
impl Statement {
    /// Reads the statement that begins with the first token of `range`.
    pub(super) fn read(code: &Code<'_>, range: Range<usize>, within: Within) -> Self {
        let mut it = Self { start: range.start, within_type: within == Within::Type, ..Self::default() };
        let mut at = range.start;
        if code.language == Language::Rust && code.is(at, b'#') && code.is(at + 1, b'!') {
            it.end = code.partner(at + 2).map_or(at + 1, |close| close + 1);
            return it;
        }
        if code.language == Language::Sql {
            return Self::read_sql(code, range);
        }
        while at < range.end {
            if at > range.start && it.ends_before(code, at) {
                break;
            }
            match it.take(code, at) {
                Step::To(next) => at = next.max(at + 1),
                Step::End(end) => {
                    it.end = end;
                    return it;
                }
            }
        }
        it.end = at.min(range.end);
        it
    }

    /// Reads a token; returns where to continue, or that the statement ends.
    fn take(&mut self, code: &Code<'_>, at: usize) -> Step {
        let Some(token) = code.token(at) else { return Step::End(at) };
        match token.kind {
            TokenKind::Word => self.take_word(code, at),
            TokenKind::Mark(b';') => Step::End(at + 1),
            TokenKind::Mark(b'(' | b'[') => {
                if token.is(b'(') && self.takes_parameters() {
                    self.take_parameters(code, at);
                }
                Step::To(code.partner(at).map_or(at, |close| close) + 1)
            }
            TokenKind::Mark(b'{') => self.take_body(code, at),
            TokenKind::Mark(b'=') => {
                self.take_equals(code, at);
                Step::To(at + 1)
            }
            TokenKind::Mark(b':') => self.take_colon(code, at),
            _ => Step::To(at + 1),
        }
    }

    const fn takes_parameters(&self) -> bool {
        self.body.is_none() && self.equals.is_none() && self.arrow.is_none() && !self.is_behind_colon
    }

    fn take_parameters(&mut self, code: &Code<'_>, at: usize) {
        let Some(before) = at.checked_sub(1).filter(|before| *before >= self.start) else { return };
        let word = code.word(before);
        let is_named = !word.is_empty() || code.is(before, b'>') || code.is(before, b']') || code.is(before, b')');
        let is_operator = !is_named && (1..3).any(|back| code.word(before.saturating_sub(back)) == "operator");
        let is_first = self.named.is_none() || code.language == Language::C || is_annotated(code, self.named);
        if (is_named || is_operator) && is_first && !ATTRIBUTES.contains(&word) && !is_annotated(code, Some(before)) {
            self.named = Some(before);
        }
    }

    fn take_equals(&mut self, code: &Code<'_>, at: usize) {
        let start = code.token(at).map_or(0, Token::start);
        let before = code.text.as_bytes().get(start.wrapping_sub(1)).copied().unwrap_or_default();
        let after = code.text.as_bytes().get(start + 1).copied().unwrap_or_default();
        let is_operator = at > 0 && (code.word(at - 1) == "operator" || code.word(at.saturating_sub(2)) == "operator");
        if after == b'>' {
            self.arrow = self.arrow.or(Some(at));
        } else if !b"=!<>".contains(&before) && after != b'=' && !is_operator && self.body.is_none() {
            self.equals = self.equals.or(Some(at));
        }
    }

    fn take_colon(&mut self, code: &Code<'_>, at: usize) -> Step {
        let is_double = code.is(at + 1, b':') || (at > 0 && code.is(at - 1, b':'));
        // `public:` stands before a statement, and is none.
        let is_label = code.language == Language::C && at == self.start + 1 && !is_double;
        if is_label {
            return Step::End(at + 1);
        }
        let has_list = matches!(code.language, Language::C | Language::CSharp);
        if has_list && !is_double && self.named.is_some() {
            self.is_behind_colon = true;
        }
        Step::To(at + 1)
    }

    fn take_word(&mut self, code: &Code<'_>, at: usize) -> Step {
        let word = code.word(at);
        if code.language == Language::C && word == "template" && code.is(at + 1, b'<') {
            return Step::To(after_angles(code, at + 1));
        }
        let is_member = at > 0 && (code.is(at - 1, b'.') || code.is(at - 1, b':') && code.language != Language::C);
        if self.body.is_some() || self.equals.is_some() || is_member {
            return Step::To(at + 1);
        }
        if let Some(is_type) = keyword(code.language, word) {
            let is_first = self.keyword.is_none();
            let overrides = match code.language {
                // `class func`, `fun interface`; `template <…> class` and `typedef struct` of C.
                Language::Swift => !is_type,
                Language::Kotlin => at > 0 && code.word(at - 1) == "fun",
                Language::C => self.named.is_none(),
                _ => false,
            };
            let is_behind_parameters = self.named.is_some() && has_patterns(code.language);
            if (is_first || overrides) && !is_behind_parameters && is_keyword_here(code, at) {
                self.keyword = Some(at);
                self.is_type = is_type;
            }
        }
        Step::To(at + 1)
    }

    fn take_body(&mut self, code: &Code<'_>, at: usize) -> Step {
        let Some(close) = code.partner(at) else { return Step::To(at + 1) };
        let before = at.saturating_sub(1);
        let is_list = self.is_behind_colon && code.language == Language::C;
        if is_list && (!code.word(before).is_empty() || code.is(before, b'>')) && !ends_head(code.word(before)) {
            return Step::To(close + 1);
        }
        let is_type_of_go = code.language == Language::Go
            && matches!(code.word(before), "interface" | "struct")
            && self.keyword.is_some_and(|it| code.word(it) == "func");
        if is_type_of_go {
            return Step::To(close + 1);
        }
        let is_first = self.body.is_none();
        self.body = self.body.or(Some(at));
        let goes_on = match code.language {
            Language::C => {
                (self.equals.is_some() || (self.is_type && self.named.is_none() && self.goes_to_semicolon(code)))
                    && code.token(close + 1).is_some()
            }
            Language::JavaScript => self.equals.is_some() || [b'.', b'('].iter().any(|it| code.is(close + 1, *it)),
            Language::Go | Language::Kotlin | Language::Swift => self.equals.is_some() || self.keyword.is_none(),
            _ => self.equals.is_some(),
        };
        if goes_on && is_first {
            return Step::To(close + 1);
        }
        let follows = [b';', b','].iter().any(|it| code.is(close + 1, *it));
        Step::End(close + 1 + usize::from(follows))
    }

    fn goes_to_semicolon(&self, code: &Code<'_>) -> bool {
        self.keyword.is_some_and(|it| !matches!(code.word(it), "namespace" | "extern"))
    }

    /// Returns whether a new statement begins at a token, by the lines before it.
    fn ends_before(&self, code: &Code<'_>, at: usize) -> bool {
        let lines = code.lines_between(at - 1, at);
        if lines == 0 {
            return false;
        }
        let Some(token) = code.token(at) else { return true };
        let opens = matches!(token.kind, TokenKind::Word | TokenKind::Comment | TokenKind::Directive)
            || token.is(b'@')
            || token.is(b'#');
        if lines > 1 && opens && self.equals != Some(at - 1) {
            return true;
        }
        let is_by_line =
            matches!(code.language, Language::Go | Language::Kotlin | Language::Swift | Language::JavaScript);
        if !is_by_line
            || !(opens || token.is(b'[') || token.is(b'}'))
            || code.is(self.start, b'@') && self.keyword.is_none()
        {
            return false;
        }
        if code.language == Language::Kotlin && self.is_type && self.named.is_none() && self.body.is_none() {
            // `class Mill`, and on lines of its own `@Inject`, `constructor(…) {`.
            let mut ahead = (at..at + CONSTRUCTOR_WITHIN).map(|at| code.word(at));
            if ahead.any(|word| word == "constructor") {
                return false;
            }
        }
        let last = code.token(at - 1).map(|it| it.kind);
        let is_open = match last {
            Some(TokenKind::Mark(mark)) => b"=,+-*/&|:?.<(".contains(&mark),
            Some(TokenKind::Word) => {
                GOES_ON.contains(&code.word(at - 1))
                    || matches!(code.word(at - 1), "export" | "public" | "private" | "override")
            }
            _ => false,
        };
        !is_open && !GOES_ON.contains(&code.word(at)) && token.kind != TokenKind::Comment
    }

    /// Returns the body of the first function that stands in the brackets of a statement of `JavaScript`.
    pub(super) fn wrapped(&self, code: &Code<'_>) -> Option<Range<usize>> {
        if code.language != Language::JavaScript {
            return None;
        }
        let mut is_function = false;
        for at in self.start..self.end {
            let is_arrow = code.is(at, b'=') && code.is(at + 1, b'>');
            is_function |= is_arrow || code.word(at) == "function";
            if is_function && code.is(at, b'{') {
                let close = code.partner(at)?;
                if (close - at) * 2 > self.end - self.start {
                    return Some(at + 1..close);
                }
            }
        }
        None
    }

    /// Reads a statement of SQL. `CREATE` defines something; the body of a routine may have statements of its own.
    fn read_sql(code: &Code<'_>, range: Range<usize>) -> Self {
        let upper = |at: usize| code.word(at).to_ascii_uppercase();
        let mut it = Self { start: range.start, ..Self::default() };
        let creates = upper(range.start) == "CREATE";
        let (mut is_routine, mut depth, mut at) = (false, 0_u32, range.start);
        while at < range.end {
            let word = upper(at);
            let is_open = code.is(at, b'(');
            if creates && it.body.is_none() && (is_open || matches!(word.as_str(), "AS" | "ON" | "BEGIN" | "RETURNS")) {
                it.body = Some(at);
            }
            match word.as_str() {
                "TRIGGER" | "PROCEDURE" | "FUNCTION" | "PACKAGE" if creates => is_routine = true,
                "BEGIN" | "CASE" if is_routine => depth += 1,
                "END"
                    if is_routine && !matches!(upper(at + 1).as_str(), "IF" | "LOOP" | "REPEAT" | "WHILE" | "FOR") =>
                {
                    depth = depth.saturating_sub(1);
                }
                _ => {}
            }
            if code.is(at, b';') && depth == 0 {
                it.end = at + 1;
                it.body = it.body.or(creates.then_some(at));
                return it;
            }
            let close = if is_open { code.partner(at) } else { None };
            at = close.unwrap_or(at) + 1;
        }
        it.end = range.end;
        it
    }
}

/// What becomes of a statement with a token.
enum Step {
    To(usize),
    End(usize),
}

/// Returns whether a word that may be a name elsewhere is a keyword where it stands.
fn is_keyword_here(code: &Code<'_>, at: usize) -> bool {
    let next = code.token(at + 1).map(|it| it.kind);
    match (code.word(at), code.language) {
        ("extern", _) => next == Some(TokenKind::Text),
        ("record" | "module", _) => matches!(next, Some(TokenKind::Word | TokenKind::Text)),
        ("macro_rules", _) => code.is(at + 1, b'!'),
        ("type", Language::Go) => next == Some(TokenKind::Word),
        ("init" | "subscript" | "deinit", _) => {
            matches!(next, Some(TokenKind::Mark(b'(' | b'?' | b'!' | b'<' | b'{')))
        }
        _ => true,
    }
}

fn ends_head(word: &str) -> bool {
    matches!(word, "const" | "override" | "final" | "noexcept" | "try")
}

/// Returns whether what stands before a parenthesis is the name of an annotation.
fn is_annotated(code: &Code<'_>, named: Option<usize>) -> bool {
    let Some(mut at) = named else { return false };
    while at > 1 && code.is(at - 1, b'.') && !code.word(at - 2).is_empty() {
        at -= 2;
    }
    at > 0 && code.is(at - 1, b'@')
}

/// Returns what follows the angle brackets that open at `at`.
fn after_angles(code: &Code<'_>, at: usize) -> usize {
    let mut depth = 0_u32;
    let mut end = at;
    while let Some(token) = code.token(end) {
        match token.kind {
            TokenKind::Mark(b'<') => depth += 1,
            TokenKind::Mark(b'>') => depth = depth.saturating_sub(1),
            TokenKind::Mark(b'(') => end = code.partner(end).unwrap_or(end),
            TokenKind::Mark(b';' | b'{') => return at,
            _ => {}
        }
        end += 1;
        if depth == 0 {
            return end;
        }
    }
    at
}
