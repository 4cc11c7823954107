//! Tokens of each language, and which parts of code are prose.

use proptest::prelude::*;

use super::*;

const LANGUAGES: [Language; 14] = [
    Language::Rust,
    Language::Python,
    Language::C,
    Language::Java,
    Language::JavaScript,
    Language::Go,
    Language::CSharp,
    Language::Kotlin,
    Language::Swift,
    Language::Php,
    Language::Ruby,
    Language::Shell,
    Language::Sql,
    Language::Lua,
];

/// Returns the comments and literals of a text.
fn whole(text: &str, language: Language) -> Vec<&str> {
    let tokens = code_tokens(text, language);
    let is_whole = |it: &&Token| matches!(it.kind, TokenKind::Comment | TokenKind::Text | TokenKind::Directive);
    tokens.iter().filter(is_whole).map(|it| &text[it.range()]).collect()
}

#[test]
fn comments_and_literals_are_whole() {
    for (language, text, expect) in [
        (Language::Rust, "a /* b /* c */ d */ e // f\ng", vec!["/* b /* c */ d */", "// f"]),
        (Language::Rust, "r#\"}\"#; '{'; '\\''; &'a x; b\"{\"", vec!["r#\"}\"#", "'{'", "'\\''", "\"{\""]),
        (Language::Python, "x = '''a\n'b'''  # c\n\"d", vec!["'''a\n'b'''", "# c", "\"d"]),
        (
            Language::C,
            "#define A \\\n {\nR\"x(\")\")x\" 1'000 '{' L\"}\"",
            vec!["#define A \\\n {", "R\"x(\")\")x\"", "'{'", "\"}\""],
        ),
        (Language::JavaScript, "a = /[/{]\"/g; b / c; `x${`{`}}`", vec!["/[/{]\"/", "`x${`{`}}`"]),
        (Language::Go, "`a\n\"` + '{'", vec!["`a\n\"`", "'{'"]),
        (Language::CSharp, "@\"a\\\" \"b\"", vec!["@\"a\\\"", "\"b\""]),
        (Language::Kotlin, "\"\"\"a\"b\"\"\" `fun`", vec!["\"\"\"a\"b\"\"\"", "`fun`"]),
        (Language::Php, "It's <?php $a = 'b\nc'; # d ?> it's", vec!["It's <?php", "'b\nc'", "# d ", "?> it's"]),
        (Language::Ruby, "a(<<~EOS)\n  '}\n  EOS\nb # c", vec!["\n  '}\n  EOS", "# c"]),
        (Language::Shell, "cat <<'E'\nit's\nE\necho ${#a} '\n' # b", vec!["'E'", "\nit's\nE", "'\n'", "# b"]),
        (Language::Sql, "$x$ a; $x$ 'it''s' -- b", vec!["$x$ a; $x$", "'it'", "'s'", "-- b"]),
        (Language::Lua, "--[==[ a ]] ]==] [[b]] -- c", vec!["--[==[ a ]] ]==]", "[[b]]", "-- c"]),
    ] {
        assert_eq!(whole(text, language), expect, "{text}");
    }
}

#[test]
fn what_is_not_closed_ends_with_its_line() {
    assert_eq!(whole("/* a\nb", Language::C), ["/* a"]);
    assert_eq!(whole("\"a\nb", Language::Java), ["\"a"]);
    assert_eq!(whole("'a\nb", Language::Shell), ["'a"]);
    assert_eq!(whole("`a\nb", Language::Go), [""; 0]);
}

#[test]
fn prose_is_what_comments_and_documentation_say() {
    let check = |language, text: &str, expect: &str| {
        let said = prose(text, language);
        assert_eq!(said.split_whitespace().collect::<Vec<_>>().join(" "), expect, "{text}");
        assert_eq!((said.len(), said.matches('\n').count()), (text.len(), text.matches('\n').count()), "{text}");
    };
    check(Language::Rust, "/// Turns the Mill.\nfn turn() { \"No\" } // fast\n", "Turns the Mill. fast");
    check(Language::C, "/*\n * Ada built it. TODO: more\n */\nint a;", "Ada built it. : more");
    check(Language::C, "// Copyright 1810 Ada\n// All rights\n\n// Turns.\nint a;", "Turns.");
    check(Language::C, " * of a long one\n */\nint a;", "of a long one");
    check(Language::C, "\n  * of Zoë's\n\n  * long one\n", "of Zoë's long one");
    check(Language::C, "\n*é", "é");
    check(Language::Python, "def a():\n    \"\"\"Zoë's.\"\"\"\n    return '''no'''\n", "Zoë's.");
}

#[test]
fn blocks_are_separated_by_blank_lines_and_end_at_lines() {
    let blocks = |text: &str| code_blocks(text).map(|it| text[it].to_owned()).collect::<Vec<_>>();
    assert_eq!(blocks("a\n  b\n\n \n  c\n"), ["a\n  b", "c"]);
    assert!(blocks(" \n").is_empty());
    let long = "x = 1\n".repeat(600);
    assert!(blocks(&long).iter().all(|it| it.len() <= BLOCK_BYTES_MAX && it.ends_with("= 1")));
}

proptest! {
    #[test]
    fn every_character_but_white_space_is_in_one_token(text in "[a-z{}()\\[\\]'\"`/*#<>$@=:;é \\n\\\\-]{0,80}") {
        for language in LANGUAGES {
            let tokens = code_tokens(&text, language);
            let mut at = 0;
            for token in &tokens {
                prop_assert!(text[at..token.start()].trim().is_empty(), "{language:?}");
                prop_assert!(token.start() < token.end() && text.is_char_boundary(token.end()));
                at = token.end();
            }
            prop_assert!(text[at..].trim().is_empty(), "{language:?}");
            prop_assert_eq!(prose(&text, language).len(), text.len());
        }
    }

    #[test]
    fn blocks_hold_all_but_white_space(text in "[a é\\n]{0,60}") {
        let words = |it: std::ops::Range<usize>| text[it].split_whitespace().collect::<String>();
        let joined: String = code_blocks(&text).map(words).collect();
        prop_assert_eq!(joined, text.split_whitespace().collect::<String>());
    }
}
