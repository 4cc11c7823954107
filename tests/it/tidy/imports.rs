//! Which module may use which. The order is that of the architecture: each module may use those before it.

use super::source::{Source, Token, tokens};

/// The modules, from the core to the edges.
#[rustfmt::skip]
const ORDER: [&str; 21] = [
    "domain",
    // Pure: no I/O, no clock.
    "text", "chunk", "graph", "store",
    // The only module that accesses files and folders.
    "files",
    // Input: files, replies, vectors.
    "ingest", "llm", "embed",
    "skill", "workspace", "neo4j",
    // Side by side, see `APART`.
    "index", "query",
    "eval", "report", "config", "setup", "cli", "server",
    // Entry points of fuzz targets, to any module.
    "fuzzing",
];

/// Two that must not use each other: one writes an index, the other reads it.
const APART: [&str; 2] = ["index", "query"];

/// Modules that every module may use, and what they may use themselves.
const SHARED: [(&str, &[&str]); 2] = [("error", &["domain"]), ("telemetry", &["error", "domain"])];

/// Names that are allowed at the root of the library; everything else is named by its module, so that this rule sees
/// it.
const ROOT_NAMES: [&str; 3] = ["Error", "ErrorKind", "Result"];

/// The files that combine the modules.
const ROOT_FILES: [&str; 2] = ["src/lib.rs", "src/main.rs"];

/// Returns the imports of `source` that go against the order.
pub(super) fn against_the_order(source: &Source) -> Vec<(usize, String)> {
    let Some(module) = module_of(&source.path) else { return Vec::new() };
    let Some(from) = module.first().cloned() else { return Vec::new() };
    let mut found = Vec::new();
    if !may_use(&from, &from) {
        found.push((1, format!("the module `{from}` has no place in the order of the modules")));
    }
    for (line, to) in used(&module, &tokens(&source.code)) {
        if to == NESTED {
            found.push((line, "a nested `super` hides where it leads: write the path from `crate`".to_owned()));
        } else if !may_use(&from, &to) {
            found.push((line, format!("`{from}` must not use `{to}`")));
        }
    }
    found
}

/// Replaces a path that is not followed.
const NESTED: &str = "super";

fn may_use(from: &str, to: &str) -> bool {
    let to = if ROOT_NAMES.contains(&to) { "error" } else { to };
    if let Some((_, may)) = SHARED.iter().find(|(module, _)| *module == from) {
        return to == from || may.contains(&to);
    }
    if SHARED.iter().any(|(module, _)| *module == to) {
        return true;
    }
    let place = |module: &str| ORDER.iter().position(|it| *it == module);
    let (Some(from_place), Some(to_place)) = (place(from), place(to)) else { return false };
    let are_apart = from != to && APART.contains(&from) && APART.contains(&to);
    to_place <= from_place && !are_apart
}

/// Returns the path of the module in a file under `src`, from the root of the library; none for the root itself.
fn module_of(path: &str) -> Option<Vec<String>> {
    if ROOT_FILES.contains(&path) {
        return None;
    }
    let path = path.strip_prefix("src/")?.strip_suffix(".rs")?;
    let path = path.strip_suffix("/mod").unwrap_or(path);
    Some(path.split('/').map(str::to_owned).collect())
}

/// Returns the modules of the library that paths in a file of `module` refer to, with their lines.
fn used(module: &[String], tokens: &[Token<'_>]) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    let mut inner: Vec<Option<String>> = Vec::new();
    let mut is_use = false;
    for (at, token) in tokens.iter().enumerate() {
        let text_at = |place: usize| tokens.get(place).map_or("", |it| it.text);
        let before = if at > 0 { text_at(at - 1) } else { "" };
        match token.text {
            "use" => is_use = true,
            ";" => is_use = false,
            "{" => inner.push((at > 1 && text_at(at - 2) == "mod").then(|| before.to_owned())),
            "}" => {
                inner.pop();
            }
            "crate" if text_at(at + 1) == "::" => found.extend(firsts(&tokens[at + 2..])),
            "super" if is_use && (before == "{" || before == ",") => found.push((token.line, NESTED.to_owned())),
            "super" if before != "::" => {
                let ups = tokens[at..].chunks(2).take_while(|it| it[0].text == "super").count();
                let depth = module.len() + inner.iter().flatten().count();
                if ups >= depth {
                    found.extend(firsts(tokens.get(at + 2 * ups..).unwrap_or_default()));
                }
            }
            _ => {}
        }
    }
    found
}

/// Returns the first names of the path, or of the group of paths, at the beginning of `tokens`.
fn firsts(tokens: &[Token<'_>]) -> Vec<(usize, String)> {
    if tokens.first().is_none_or(|it| it.text != "{") {
        return tokens.first().map(|it| (it.line, it.text.to_owned())).into_iter().collect();
    }
    let mut found = Vec::new();
    let mut depth = 0_u32;
    for pair in tokens.windows(2) {
        match pair[0].text {
            "{" => depth += 1,
            "}" => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            break;
        }
        if depth == 1 && (pair[0].text == "{" || pair[0].text == ",") && pair[1].text != "}" {
            found.push((pair[1].line, pair[1].text.to_owned()));
        }
    }
    found
}

#[test]
fn a_module_uses_what_stands_before_it_and_nothing_else() {
    let allowed = [
        ("graph", "domain"),
        ("graph", "text"),
        ("store", "graph"),
        ("embed", "embed"),
        ("neo4j", "workspace"),
        ("query", "workspace"),
        ("eval", "index"),
        ("cli", "config"),
        ("cli", "telemetry"),
        ("domain", "error"),
        ("text", "Result"),
        ("error", "domain"),
    ];
    let refused = [
        ("domain", "text"),
        ("text", "graph"),
        ("graph", "store"),
        ("index", "query"),
        ("query", "index"),
        ("workspace", "neo4j"),
        ("eval", "cli"),
        ("error", "store"),
        ("cli", "QueryEngine"),
        ("nowhere", "domain"),
        ("cli", "nowhere"),
    ];
    for (from, to) in allowed {
        assert!(may_use(from, to), "{from} may use {to}");
    }
    for (from, to) in refused {
        assert!(!may_use(from, to), "{from} must not use {to}");
    }
}

#[test]
fn every_form_of_naming_a_module_is_followed() {
    let cases: [(&str, &str, &[&str]); 11] = [
        ("src/graph/hop.rs", "use crate::store::X;", &["store"]),
        ("src/graph/hop.rs", "use crate::{domain::{A, B}, store, Result};", &["domain", "store", "Result"]),
        ("src/graph/hop.rs", "fn f() -> crate::query::X { $crate::cli::f() }", &["query", "cli"]),
        ("src/graph/hop.rs", "pub(crate) fn f() {}", &[]),
        ("src/graph/hop.rs", "use super::packed::X; use self::a::B;", &[]),
        ("src/graph/hop.rs", "use super::super::store::X;", &["store"]),
        ("src/graph/mod.rs", "use super::store::X;", &["store"]),
        ("src/graph/mod.rs", "mod tests { use super::hop; use super::super::store; }", &["store"]),
        ("src/graph/mod.rs", "mod tests { fn f() {} } use super::{store, text::X};", &["store", "text"]),
        ("src/graph/hop/a.rs", "use super::super::packed; fn f() { if x { super::b() } }", &[]),
        ("src/graph/mod.rs", "use hop::{super::super::store};", &["super"]),
    ];
    for (path, text, expect) in cases {
        let source = Source::new(path, text);
        let used = used(&module_of(path).unwrap(), &tokens(&source.code));
        assert_eq!(used.into_iter().map(|it| it.1).collect::<Vec<_>>(), expect, "{text}");
    }
}
