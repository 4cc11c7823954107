//! Keywords that identify statements.

use crate::text::Language;

/// Words before a parenthesis that call nothing by name.
pub(super) const CONTROL: &[&str] = &[
    "if",
    "for",
    "while",
    "switch",
    "catch",
    "return",
    "do",
    "else",
    "synchronized",
    "using",
    "lock",
    "foreach",
    "fixed",
    "with",
    "new",
    "throw",
    "try",
    "sizeof",
    "case",
    "await",
    "yield",
    "when",
    "unless",
    "elseif",
    "match",
    "guard",
];
/// Words before a parenthesis that add something to a declaration.
pub(super) const ATTRIBUTES: &[&str] = &[
    "__attribute__",
    "__declspec",
    "alignas",
    "noexcept",
    "throw",
    "decltype",
    "__asm__",
    "asm",
    "requires",
    "_Alignas",
];
/// Words behind which a statement continues, on the next line.
pub(super) const GOES_ON: &[&str] =
    &["extends", "implements", "where", "throws", "by", "in", "with", "else", "catch", "finally", "async"];

/// Returns whether a word says that something is defined: a type or what holds others, or a function.
pub(super) fn keyword(language: Language, word: &str) -> Option<bool> {
    use Language::{C, CSharp, Go, Java, JavaScript, Kotlin, Php, Rust, Swift};
    let is_type = match word {
        "struct" => matches!(language, C | CSharp | Rust | Swift),
        "class" => matches!(language, C | CSharp | Java | JavaScript | Kotlin | Php | Swift),
        "enum" => matches!(language, C | CSharp | Java | JavaScript | Php | Rust | Swift),
        "interface" => matches!(language, CSharp | Java | JavaScript | Kotlin | Php),
        "trait" => matches!(language, Php | Rust),
        "namespace" => matches!(language, C | CSharp | JavaScript | Php),
        "union" | "extern" => language == C,
        "impl" | "mod" | "macro_rules" => language == Rust,
        "record" => matches!(language, CSharp | Java),
        "object" => language == Kotlin,
        "protocol" | "extension" | "actor" => language == Swift,
        "module" => language == JavaScript,
        "type" => language == Go,
        _ => false,
    };
    let is_function = match word {
        "fn" => language == Rust,
        "func" => matches!(language, Go | Swift),
        "fun" => language == Kotlin,
        "function" => matches!(language, JavaScript | Php),
        "init" | "deinit" | "subscript" => language == Swift,
        _ => false,
    };
    (is_type || is_function).then_some(is_type)
}

/// Returns whether functions are told by their shape, and not by a word.
pub(super) const fn has_patterns(language: Language) -> bool {
    matches!(language, Language::C | Language::Java | Language::CSharp | Language::JavaScript)
}
