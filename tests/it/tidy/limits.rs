//! The limits in the documentation are those of the program: each constant that `docs/limits.md` names exists, with a
//! value that its row gives.

use std::fs;

use super::source::{root, rust_files};

/// A row of a table that names constants.
struct Row<'a> {
    /// Its text: every cell but the last.
    says: String,
    /// The constants in its last cell.
    constants: Vec<&'a str>,
}

/// Returns the rows of all tables whose last cell names a constant.
fn rows(page: &str) -> Vec<Row<'_>> {
    let row = |line| {
        let cells: Vec<&str> = str::strip_prefix(line, "| ")?.strip_suffix(" |")?.split(" | ").collect();
        let (last, others) = cells.split_last()?;
        let is_name = |word: &&str| {
            word.starts_with(|first: char| first.is_ascii_uppercase())
                && word.chars().all(|char| char.is_ascii_uppercase() || char.is_ascii_digit() || char == '_')
        };
        let constants: Vec<&str> = last.split('`').skip(1).step_by(2).filter(is_name).collect();
        (!constants.is_empty()).then(|| Row { says: others.join(" | "), constants })
    };
    page.lines().filter_map(row).collect()
}

/// Returns the expressions that define constants of this name.
fn definitions<'a>(texts: &'a [String], name: &str) -> Vec<&'a str> {
    let start = format!("const {name}: ");
    let of = |text: &'a String| {
        text.match_indices(&start).filter_map(|(at, _)| {
            let (_, rest) = text[at + start.len()..].split_once(" = ")?;
            rest.split_once(';').map(|(expression, _)| expression)
        })
    };
    texts.iter().flat_map(of).collect()
}

/// Returns the value of an expression of literals, `<<` and `*`; none for any other.
fn number(expression: &str) -> Option<u64> {
    if let Some((left, right)) = expression.split_once(" << ") {
        return Some(number(left)? << number(right)?);
    }
    if let Some((left, right)) = expression.split_once(" * ") {
        return Some(number(left)? * number(right)?);
    }
    expression.replace('_', "").parse().ok()
}

/// Returns the forms in which the documentation may write a constant; none if it is not a plain number or time.
fn forms(name: &str, expression: &str) -> Vec<String> {
    let argument = |unit| expression.strip_prefix(unit)?.strip_suffix(')').and_then(number);
    let seconds = argument("Duration::from_secs(")
        .or_else(|| argument("Duration::from_mins(").map(|minutes| 60 * minutes))
        .or_else(|| argument("Duration::from_hours(").map(|hours| 3_600 * hours))
        .or_else(|| number(expression).filter(|_| name.ends_with("_MS")).map(|millis| millis / 1_000));
    if let Some(seconds) = seconds {
        let (minutes, hours) = (seconds / 60, seconds / 3_600);
        let plural = |count| if count == 1 { "" } else { "s" };
        return vec![
            format!("{seconds} s"),
            format!("{minutes} minute{}", plural(minutes)),
            format!("{hours} hour{}", plural(hours)),
        ];
    }
    let Some(value) = number(expression) else { return Vec::new() };
    let units = [("GiB", 30), ("MiB", 20), ("KiB", 10)];
    let in_unit = |(unit, bits): (&str, u32)| {
        let whole = value >> bits;
        (whole << bits == value).then(|| format!("{whole} {unit}"))
    };
    units.into_iter().filter_map(in_unit).chain([with_commas(value)]).collect()
}

fn with_commas(value: u64) -> String {
    let digits = value.to_string();
    let groups: Vec<&str> = digits.as_bytes().rchunks(3).rev().map(|group| str::from_utf8(group).unwrap()).collect();
    groups.join(",")
}

/// Returns whether `text` contains `form` as a complete number.
fn says(text: &str, form: &str) -> bool {
    let is_digit = |char: char| char.is_ascii_digit();
    text.match_indices(form).any(|(at, _)| {
        let (before, after) = (&text[..at], &text[at + form.len()..]);
        let goes_on = after.strip_prefix(',').unwrap_or(after).starts_with(is_digit);
        !before.trim_end_matches(',').ends_with(is_digit) && !goes_on
    })
}

/// Returns the errors of a page, given the program's texts.
fn offences(page: &str, texts: &[String]) -> Vec<String> {
    let mut found = Vec::new();
    for row in rows(page) {
        for name in row.constants {
            let definitions = definitions(texts, name);
            let forms: Vec<Vec<String>> = definitions.iter().map(|expression| forms(name, expression)).collect();
            // A value of several numbers has no single form.
            let is_open = forms.iter().any(Vec::is_empty);
            if definitions.is_empty() {
                found.push(format!("there is no `{name}`: {}", row.says));
            } else if !is_open && !forms.iter().flatten().any(|form| says(&row.says, form)) {
                found.push(format!("`{name}` is {}: {}", definitions.join(" or "), row.says));
            }
        }
    }
    found
}

#[test]
fn limits_that_the_documentation_names_have_the_values_that_it_says() {
    let program = vec![
        "const A_MAX: usize = 4 << 20; const B_MAX: u32 = 1_000; const WAIT: Duration = Duration::from_secs(90 * 2);"
            .to_owned(),
    ];
    for (row, count) in [
        ("| a | 4 MiB, 1,000 | cut | `A_MAX`, `B_MAX` |", 0),
        ("| a | 4 MiB, 11,000 | cut | `A_MAX`, `B_MAX` |", 1),
        ("| a | 14 MiB, 1,000 | cut | `A_MAX`, `B_MAX` |", 1),
        ("| a | 1,000,000 | cut | `B_MAX` |", 1),
        ("| a | 3 minutes | cut | `WAIT`, `Options::wait` |", 0),
        ("| a | 2 minutes | cut | `WAIT` |", 1),
        ("| a | 7 | cut | `GONE_MAX` |", 1),
    ] {
        assert_eq!(offences(row, &program).len(), count, "{row}");
    }

    let page = fs::read_to_string(root().join("docs/limits.md")).unwrap();
    assert!(rows(&page).len() > 60, "the tables are no longer read: {}", rows(&page).len());
    let texts: Vec<String> = rust_files(&["src"]).into_iter().map(|source| source.text).collect();
    let found = offences(&page, &texts);
    assert!(found.is_empty(), "\n{}\n", found.join("\n"));
}
