//! Org: headings by their stars, keywords, blocks and drawers.

use super::{FENCE, Lines};
use crate::ingest::extracted::Extracted;

/// Words before a heading that give the state of a task.
const STATES: &[&str] = &["TODO", "DONE", "NEXT", "WAITING", "CANCELLED", "CANCELED"];

/// Parses a file of Org.
#[expect(clippy::needless_pass_by_value, clippy::unnecessary_wraps, reason = "as all parsers of text are called")]
pub(in crate::ingest) fn parse(text: String) -> Result<Extracted, String> {
    let mut lines = Lines::of(&text);
    let mut title = None;
    let (mut in_code, mut in_drawer) = (false, false);
    for at in 0..lines.all.len() {
        let line = lines.get(at).unwrap_or_default();
        let trimmed = line.trim();
        let lower = trimmed.get(..12.min(trimmed.len())).unwrap_or(trimmed).to_ascii_lowercase();
        if in_code {
            let ends = lower.starts_with("#+end_");
            in_code = !ends;
            lines.push(if ends { FENCE } else { line });
        } else if in_drawer {
            in_drawer = lower != ":end:";
            lines.push("");
        } else if lower.starts_with("#+begin_src") || lower.starts_with("#+begin_exam") {
            let language = trimmed.split_whitespace().nth(1).filter(|_| lower.starts_with("#+begin_src"));
            lines.push(&format!("{FENCE}{}", language.unwrap_or_default()));
            in_code = true;
        } else if lower.starts_with("#+") {
            let (key, value) = trimmed.get(2..).and_then(|it| it.split_once(':')).unwrap_or_default();
            match key.to_ascii_lowercase().as_str() {
                "title" => title = Some(value.trim().to_owned()).filter(|it| !it.is_empty()).or(title),
                key @ ("author" | "date" | "description" | "language") if !value.trim().is_empty() => {
                    lines.metadata.insert(key.to_owned(), value.trim().to_owned());
                }
                _ => {}
            }
            lines.push("");
        } else if lower == ":properties:" || lower == ":logbook:" {
            in_drawer = true;
            lines.push("");
        } else if trimmed == "#" || trimmed.starts_with("# ") {
            lines.push("");
        } else {
            plain_line(&mut lines, line);
        }
    }
    if in_code {
        lines.push(FENCE);
    }
    lines.title = title.or(lines.title);
    Ok(lines.finish("text/org"))
}

fn plain_line(lines: &mut Lines<'_>, line: &str) {
    let stars = line.len() - line.trim_start_matches('*').len();
    let rest = line.get(stars..).unwrap_or_default();
    if stars == 0 || !rest.starts_with(' ') {
        return lines.push(line);
    }
    let rest = rest.trim();
    let rest = STATES.iter().find_map(|it| rest.strip_prefix(it)?.strip_prefix(' ')).unwrap_or(rest).trim();
    // Tags come last, between colons.
    let is_tags = |last: &str| last.len() > 2 && last.starts_with(':') && last.ends_with(':');
    let heading = match rest.rsplit_once(char::is_whitespace) {
        Some((heading, last)) if is_tags(last) => heading,
        _ => rest,
    };
    lines.push_heading(stars, heading);
}
