//! Addresses in a model's text. If it was shown text by strangers, a sentence may contain only addresses from its
//! citations or the question: any other may have been planted there.

use std::collections::BTreeSet;

use crate::text::visible_line;

/// Returns whether every address that a text names is named in `sources` too.
pub(super) fn has_known_addresses(text: &str, sources: &[&str]) -> bool {
    let named = addresses(text);
    if named.is_empty() {
        return true;
    }
    let known: BTreeSet<String> = sources.iter().flat_map(|source| addresses(source)).collect();
    named.is_subset(&known)
}

/// Returns the addresses in a text, in lower case, without `http` and `https`: anything with a scheme, anything that
/// begins with `www.`, and a host with a path.
fn addresses(text: &str) -> BTreeSet<String> {
    let is_between = |it: char| it.is_whitespace() || "<>()[]{}\"'`“”‘’«»|*".contains(it);
    let text = visible_line(text).to_lowercase();
    text.split(is_between).filter_map(|word| Some(named(&word[start(word)?..]))).collect()
}

/// Returns an address as others are compared with it.
fn named(address: &str) -> String {
    let address = address.trim_end_matches(|it: char| ".,;:!?…_".contains(it)).trim_end_matches('/');
    let open = address.strip_prefix("https://").or_else(|| address.strip_prefix("http://"));
    open.unwrap_or(address).to_owned()
}

/// Returns where an address begins in a word. All of the word from there on belongs to it: two that are glued together
/// are neither of them.
fn start(word: &str) -> Option<usize> {
    let scheme = word.find("://").map(|end| run_before(word, end, |it| it.is_alphanumeric() || "+.-".contains(it)));
    let is_inside = |at: usize| word[..at].ends_with(char::is_alphanumeric);
    let is_site = |at: usize| !is_inside(at) && word[at + 4..].starts_with(char::is_alphanumeric);
    let site = word.match_indices("www.").map(|it| it.0).find(|at| is_site(*at));
    let host = word.match_indices('/').find_map(|(end, _)| host_before(word, end));
    [scheme, site, host].into_iter().flatten().min()
}

/// Returns the start of a host whose path begins at `end`: labels separated by dots, the last of letters, or four
/// numbers, with or without a port. Two numbers are a fraction, four before a number a network.
fn host_before(word: &str, end: usize) -> Option<usize> {
    let is_number = |it: &str| !it.is_empty() && it.bytes().all(|it| it.is_ascii_digit());
    let port = word[..end].rsplit_once(':').filter(|it| is_number(it.1));
    let host_end = port.map_or(end, |it| it.0.len());
    let start = run_before(word, host_end, |it| it.is_alphanumeric() || "._-".contains(it));
    let labels: Vec<&str> = word[start..host_end].split('.').collect();
    let last = labels.last()?;
    let is_name = last.starts_with("xn--") || last.chars().count() > 1 && last.chars().all(char::is_alphabetic);
    let path = word[end + 1..].trim_end_matches(|it: char| !it.is_alphanumeric());
    let is_numeric = labels.len() == 4 && labels.iter().all(|it| is_number(it)) && !is_number(path);
    let is_host = labels.len() > 1 && labels.iter().all(|it| !it.is_empty()) && (is_name || is_numeric);
    is_host.then_some(start)
}

/// Returns where the characters before `end` begin that belong to it.
fn run_before(word: &str, end: usize, belongs: impl Fn(char) -> bool) -> usize {
    word[..end].trim_end_matches(belongs).len()
}

#[cfg(test)]
mod tests {
    use super::*;

    const OWN: [&str; 3] =
        ["Harl Mill", "See www.mills.example or docs.example:8080/harl.", "https://a.example/Mill_(Harl)"];

    #[test]
    fn an_address_that_is_in_no_source_is_found_however_it_is_written() {
        for text in [
            "It is at https://evil.io.",
            "Log in: https://evil.io",
            "See javascript://x and https://a.example/Mill_(Harl)",
            "See:ftp://evil.io",
            "Ask www.evil.example",
            "Ask (WWW.Evil.example).",
            "Ask at evil.example/login.",
            "Ask at evil\u{200b}.example/login.",
            "Ask at evil.example:8080/login",
            "Ask ann@evil.example/login or/evil.example/login",
            "Ask at xn--evl-jma.xn--p1ai/login",
            "Ask at evil.example/",
            "Ask 10.0.0.1/login",
            "See evil.example/?to=https://a.example/Mill_(Harl)",
            "See www.mills.example,www.evil.example",
            "See https://a.example.evil.io/Mill_(Harl)",
            "See https://a.example",
        ] {
            assert!(!has_known_addresses(text, &OWN), "{text}");
        }
    }

    #[test]
    fn what_a_source_names_may_be_named_and_ordinary_text_is_no_address() {
        for text in [
            "It is at https://a.example/Mill_(Harl).",
            "See (http://a.example/mill_(harl)/)!",
            "See a.example/Mill_(Harl), www.mills.example and *docs.example:8080/harl*.",
            "It is old.",
            "Mills and/or weirs, 1/2 of them, 1.5/2.5 or 10.0.0.0/8, 12/31/1860, w/o n/a.",
            "E.g. a mill, i.e./e.g. that of Harl... /or not, wwww.",
            "It is in notes.md, docs/notes.md and ./src/main.rs, of Node.js and TCP/IP at 3 km/h.",
        ] {
            assert!(has_known_addresses(text, &OWN), "{text}: {:?}", addresses(text));
        }
    }
}
