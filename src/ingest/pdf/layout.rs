//! Assembles lines of pages into text: repeated headers and footers left out, words rejoined, paragraphs separated,
//! headings marked.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::outline::Entry;
use super::page::{Gap, Line, Page};
use crate::domain::{PAGE_END, PositionMark, Positions};
use crate::ingest::blocks::push_plain;

/// Lines at an edge of a page that may be a running head or foot.
const EDGE_LINES: usize = 2;
/// On how many pages a line at the edge must occur to be a running head or foot, and how far the next of them may be:
/// left and right pages differ.
const RUNNING_PAGES_MIN: usize = 3;
const NEAR_PAGES: usize = 2;
/// How much larger the letters of a heading are than those of the text.
const HEADING_SIZE: f32 = 1.15;
/// Characters of a heading at most.
const HEADING_CHARS_MAX: usize = 160;
/// Large text counts as headings only up to this share of all letters.
const HEADING_SHARE_MAX: f32 = 0.15;
/// Levels of headings by size.
const LEVELS_MAX: usize = 4;
/// How many outline entries must be found on their pages for the outline to decide the headings.
const MATCHED_MIN: usize = 3;
/// Maximum lines of one heading.
const HEADING_LINES_MAX: usize = 4;

/// A file laid out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct LaidOut {
    /// The largest heading of the first page.
    pub(super) title: Option<String>,
    pub(super) text: String,
    pub(super) positions: Positions,
}

/// Lays pages out.
pub(super) fn lay_out(mut pages: Vec<Page>, entries: &[Entry]) -> LaidOut {
    drop_running_lines(&mut pages);
    let by_size = levels_by_size(&pages);
    let title = title(&pages, &by_size);
    let by_outline = levels_by_outline(&pages, entries);
    let levels =
        if by_outline.len() >= MATCHED_MIN && 2 * by_outline.len() >= entries.len() { by_outline } else { by_size };
    let words = words(&pages);
    let mut text = Text { words: &words, text: String::new() };
    let mut marks = Vec::with_capacity(pages.len());
    for (page_index, page) in pages.iter().enumerate() {
        let continues = page_index > 0 && text.continues_with(page, &levels, page_index);
        if page_index > 0 {
            text.end_page(continues);
        }
        marks.push(PositionMark { offset: text.text.len() as u32, number: page.number });
        text.page(page, page_index, &levels);
    }
    LaidOut { title, text: text.text, positions: Positions::Pages(marks) }
}

/// Levels of headings, by page and line.
type Levels = BTreeMap<(usize, usize), usize>;

/// Removes running heads and feet: lines at the edge of nearby pages that differ only by numbers.
fn drop_running_lines(pages: &mut [Page]) {
    // On a page with few other lines, those at the edge are the text.
    let enough: Vec<bool> = pages.iter().map(|page| page.lines.len() > 2 * EDGE_LINES).collect();
    for edge in [Edge::Top, Edge::Bottom] {
        let mut candidates = enough.clone();
        // A running head may have two lines.
        for _ in 0..EDGE_LINES {
            candidates = drop_at(pages, edge, &candidates);
        }
    }
}

/// An edge of a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Edge {
    Top,
    Bottom,
}

/// Removes the running lines at one edge; returns the pages that had one.
fn drop_at(pages: &mut [Page], edge: Edge, candidates: &[bool]) -> Vec<bool> {
    let mut places: HashMap<String, Vec<usize>> = HashMap::new();
    let mut texts = Vec::with_capacity(pages.len());
    for (page_index, page) in pages.iter().enumerate() {
        let line = outermost(page, edge).filter(|_| candidates[page_index]);
        let text = line.map(|line| without_numbers(&page.lines[line].text));
        if let Some(text) = &text {
            places.entry(text.clone()).or_default().push(page_index);
        }
        texts.push(line.zip(text));
    }
    let is_running = |(page_index, found): (usize, &Option<(usize, String)>)| {
        let Some(on) = found.as_ref().and_then(|(_, text)| places.get(text)) else { return false };
        let is_near = |other: &usize| (1..=NEAR_PAGES).contains(&other.abs_diff(page_index));
        on.len() >= RUNNING_PAGES_MIN && on.iter().any(is_near)
    };
    let running: Vec<bool> = texts.iter().enumerate().map(is_running).collect();
    for ((page, found), is_running) in pages.iter_mut().zip(&texts).zip(&running) {
        if let (Some((line, _)), true) = (found, is_running) {
            page.lines.remove(*line);
        }
    }
    running
}

/// Returns the line at an edge of a page: by height if that is known, or else by order.
fn outermost(page: &Page, edge: Edge) -> Option<usize> {
    let places = page.lines.iter().enumerate().map(|(at, line)| (line.height, at));
    let above = |a: &(f32, usize), b: &(f32, usize)| a.0.total_cmp(&b.0).then(b.1.cmp(&a.1));
    let place = match edge {
        Edge::Top => places.max_by(above),
        Edge::Bottom => places.min_by(above),
    };
    place.map(|(_, at)| at)
}

/// Returns a line without spaces, and with `#` in place of each number, Arabic or Roman.
fn without_numbers(line: &str) -> String {
    let word = |word: &str| -> String {
        let is_roman = word.bytes().all(|it| b"ivxlcIVXLC".contains(&it));
        if is_roman { "#".to_owned() } else { word.to_owned() }
    };
    let mut text = String::new();
    for part in line.split_whitespace().map(word) {
        for char in part.chars() {
            match char {
                '0'..='9' if text.ends_with('#') => {}
                '0'..='9' => text.push('#'),
                char => text.push(char),
            }
        }
    }
    text
}

#[expect(clippy::cast_sign_loss, reason = "no less than 0")]
fn half_points(line: &Line) -> u32 {
    (line.size * 2.0).round().clamp(0.0, 10_000.0) as u32
}

/// Returns the most frequent letter size, in half points.
fn body_size(pages: &[Page]) -> u32 {
    let mut letters: BTreeMap<u32, usize> = BTreeMap::new();
    for line in pages.iter().flat_map(|page| &page.lines) {
        *letters.entry(half_points(line)).or_default() += line.text.len();
    }
    letters.into_iter().max_by_key(|(size, count)| (*count, *size)).map_or(0, |(size, _)| size)
}

fn levels_by_size(pages: &[Page]) -> Levels {
    let body = body_size(pages);
    if body == 0 {
        return Levels::new();
    }
    let is_heading = |line: &Line| {
        half_points(line) as f32 >= body as f32 * HEADING_SIZE
            && line.text.chars().count() <= HEADING_CHARS_MAX
            && line.text.chars().filter(|it| it.is_alphabetic()).count() >= 2
    };
    let lines = || {
        let numbered = |(page_index, page): (usize, &Page)| -> Vec<(usize, usize)> {
            (0..page.lines.len()).map(|line| (page_index, line)).collect()
        };
        pages.iter().enumerate().flat_map(numbered)
    };
    let line = |at: &(usize, usize)| &pages[at.0].lines[at.1];
    let found: Vec<(usize, usize)> = lines().filter(|at| is_heading(line(at))).collect();
    let (large, all): (usize, usize) =
        (found.iter().map(|at| line(at).text.len()).sum(), lines().map(|at| line(&at).text.len()).sum());
    if large as f32 > all as f32 * HEADING_SHARE_MAX {
        return Levels::new();
    }
    let mut sizes: Vec<u32> = found.iter().map(|at| half_points(line(at))).collect();
    sizes.sort_unstable_by(|a, b| b.cmp(a));
    sizes.dedup();
    let level = |at: &(usize, usize)| {
        let place = sizes.iter().position(|size| *size == half_points(line(at))).unwrap_or_default();
        (place + 1).min(LEVELS_MAX)
    };
    found.iter().map(|at| (*at, level(at))).collect()
}

/// Returns the lines that outline entries name, each on the page of its entry.
fn levels_by_outline(pages: &[Page], entries: &[Entry]) -> Levels {
    let mut levels = Levels::new();
    for entry in entries {
        let wanted = letters_of(&entry.title);
        let page_index = entry.page.saturating_sub(1) as usize;
        if wanted.is_empty() || page_index >= pages.len() {
            continue;
        }
        if let Some(lines) = lines_named(&pages[page_index], &wanted, |line| levels.contains_key(&(page_index, line))) {
            levels.extend(lines.map(|line| ((page_index, line), entry.level)));
        }
    }
    levels
}

/// Returns the lines that together have the wanted text, ignoring a number before it.
fn lines_named(page: &Page, wanted: &str, is_taken: impl Fn(usize) -> bool) -> Option<std::ops::Range<usize>> {
    for first in 0..page.lines.len() {
        let mut text = String::new();
        for line in first..page.lines.len().min(first + HEADING_LINES_MAX) {
            if is_taken(line) {
                break;
            }
            text.push_str(&letters_of(&page.lines[line].text));
            let bare = text.trim_start_matches(|it: char| it.is_ascii_digit());
            let is_it =
                text == wanted || bare == wanted || wanted.trim_start_matches(|it: char| it.is_ascii_digit()) == text;
            if is_it && !text.is_empty() {
                return Some(first..line + 1);
            }
            if text.len() > wanted.len() + 16 {
                break;
            }
        }
    }
    None
}

/// Returns letters and digits in lower case; "Chapter 3" before a title means the same as "3".
fn letters_of(text: &str) -> String {
    let lower: String = text.chars().filter(|it| it.is_alphanumeric()).flat_map(char::to_lowercase).collect();
    lower.strip_prefix("chapter").map_or(lower.clone(), str::to_owned)
}

/// Returns the largest heading of the first of three pages that has one.
fn title(pages: &[Page], levels: &Levels) -> Option<String> {
    let (page_index, best) = (0..pages.len().min(3)).find_map(|page_index| {
        let on_page = levels.range((page_index, 0)..(page_index + 1, 0));
        on_page.map(|(_, level)| *level).min().map(|best| (page_index, best))
    })?;
    let lines: Vec<usize> =
        levels.range((page_index, 0)..(page_index + 1, 0)).filter(|it| *it.1 == best).map(|(at, _)| at.1).collect();
    let first = *lines.first()?;
    let run = lines.iter().enumerate().take_while(|(at, line)| **line == first + at).take(HEADING_LINES_MAX);
    let parts: Vec<&str> = run.map(|(_, line)| pages[page_index].lines[*line].text.as_str()).collect();
    Some(parts.join(" "))
}

/// Returns all words of the text; they decide about hyphens at the end of lines.
fn words(pages: &[Page]) -> HashSet<String> {
    let lines = pages.iter().flat_map(|page| &page.lines);
    let words = lines.flat_map(|line| line.text.split(|it: char| !it.is_alphanumeric() && it != '-'));
    words.filter(|word| !word.is_empty()).map(str::to_lowercase).collect()
}

/// The text so far.
struct Text<'a> {
    words: &'a HashSet<String>,
    text: String,
}

impl Text<'_> {
    fn page(&mut self, page: &Page, page_index: usize, levels: &Levels) {
        let mut before: Option<usize> = None;
        for (line_index, line) in page.lines.iter().enumerate() {
            let level = levels.get(&(page_index, line_index)).copied();
            let is_first = line_index == 0;
            match (before, level) {
                // A heading that takes several lines.
                (Some(a), Some(b)) if a == b && line.before != Gap::Wide => self.text.push(' '),
                (_, Some(level)) => {
                    self.paragraph();
                    self.text.extend(std::iter::repeat_n('#', level));
                    self.text.push(' ');
                }
                (Some(_), None) => self.paragraph(),
                (None, None) if is_first => {}
                (None, None) if self.ends_paragraph(line) => self.paragraph(),
                (None, None) => {
                    self.follow(line);
                    before = None;
                    continue;
                }
            }
            self.put(line, level);
            before = level;
        }
    }

    fn put(&mut self, line: &Line, level: Option<usize>) {
        if level.is_some() {
            self.text.push_str(&line.text);
        } else {
            push_plain(&mut self.text, &line.text);
        }
    }

    /// Appends a line of the same paragraph.
    fn follow(&mut self, line: &Line) {
        let Some(joined) = self.joined(&line.text) else {
            self.text.push('\n');
            return self.put(line, None);
        };
        let (rest, after) = line.text.split_once(' ').unwrap_or((&line.text, ""));
        if joined == Hyphen::Goes {
            self.text.pop();
        }
        self.text.push_str(rest);
        if !after.is_empty() {
            self.text.push('\n');
            self.text.push_str(after);
        }
    }

    /// Returns what to do with a hyphen at the end of the text if `next` continues the word.
    fn joined(&self, next: &str) -> Option<Hyphen> {
        let last = self.text.chars().next_back()?;
        if last == '\u{ad}' {
            return Some(Hyphen::Goes);
        }
        let is_hyphen = last == '-' || last == '\u{2010}';
        let head = self.text[..self.text.len() - last.len_utf8()].rsplit(|it: char| !it.is_alphanumeric()).next()?;
        let tail = next.split(|it: char| !it.is_alphanumeric()).next()?;
        if !is_hyphen || !head.chars().all(char::is_alphabetic) || head.is_empty() {
            return None;
        }
        if !tail.starts_with(char::is_lowercase) {
            return None;
        }
        let (head, tail) = (head.to_lowercase(), tail.to_lowercase());
        let keeps = !self.words.contains(&format!("{head}{tail}")) && self.words.contains(&format!("{head}-{tail}"));
        Some(if keeps { Hyphen::Stays } else { Hyphen::Goes })
    }

    fn ends_paragraph(&self, next: &Line) -> bool {
        match next.before {
            Gap::Close => false,
            Gap::Wide => true,
            Gap::Jump => !self.continues_sentence(&next.text),
        }
    }

    /// Returns whether `next`, which is elsewhere on the page, continues a sentence.
    fn continues_sentence(&self, next: &str) -> bool {
        let ends = self.text.trim_end().ends_with(['.', '!', '?', ':', ';', '。']);
        !ends && next.starts_with(char::is_lowercase)
    }

    fn continues_with(&self, page: &Page, levels: &Levels, page_index: usize) -> bool {
        let first = page.lines.first();
        first.is_some_and(|first| !levels.contains_key(&(page_index, 0)) && self.continues_sentence(&first.text))
    }

    fn end_page(&mut self, continues: bool) {
        self.text.push('\n');
        if !continues {
            self.text.push('\n');
        }
        self.text.push(PAGE_END);
    }

    /// Ends a paragraph, unless there is no text before it.
    fn paragraph(&mut self) {
        if !self.text.is_empty() && !self.text.ends_with("\n\n") && !self.text.ends_with(PAGE_END) {
            self.text.push_str("\n\n");
        }
    }
}

/// What to do with a hyphen at the end of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Hyphen {
    /// It only marks the line break: remove it.
    Goes,
    /// It belongs to the word: keep it.
    Stays,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(text: &str, size: f32, before: Gap) -> Line {
        Line { text: text.to_owned(), size, height: 0.0, before }
    }

    fn page(number: u32, lines: &[(&str, f32, Gap)]) -> Page {
        Page { number, lines: lines.iter().map(|(text, size, gap)| line(text, *size, *gap)).collect() }
    }

    #[test]
    fn lines_become_paragraphs_headings_and_whole_words() {
        use Gap::{Close, Jump, Wide};
        let pages = vec![
            page(
                1,
                &[
                    ("The mills of", 20.0, Jump),
                    ("the Tarn", 20.0, Close),
                    ("There are four mills that stand by the river, and the old-", 10.0, Wide),
                    ("est of them was built in 1802 by a well-", 10.0, Close),
                    ("known millwright, Anna Roe, whose works are well-known.", 10.0, Close),
                    ("# no heading", 10.0, Wide),
                    ("It stands on the left bank and goes on", 10.0, Wide),
                ],
            ),
            page(2, &[("over the page for a while.", 10.0, Jump), ("Second", 14.0, Wide), ("More text.", 10.0, Wide)]),
        ];
        let laid_out = lay_out(pages, &[]);
        assert_eq!(laid_out.title.as_deref(), Some("The mills of the Tarn"));
        let expect = "# The mills of the Tarn\n\n\
            There are four mills that stand by the river, and the oldest\nof them was built in 1802 by a well-known\n\
            millwright, Anna Roe, whose works are well-known.\n\n\\# no heading\n\n\
            It stands on the left bank and goes on\n\x0cover the page for a while.\n\n## Second\n\nMore text.";
        assert_eq!(laid_out.text, expect);
        let second = expect.find('\x0c').unwrap() as u32 + 1;
        assert_eq!(laid_out.positions, Positions::Pages(vec![(0, 1).into(), (second, 2).into()]));
    }

    #[test]
    fn what_stands_on_every_page_is_left_out() {
        let text = |number: usize| format!("Text number {} that differs.", "ab".repeat(number));
        let pages = (1..=5_usize).map(|number| {
            let (foot, text) = (format!("Page {number} of 5"), text(number));
            let lines = ["The mills", &text, "It goes on.", &format!("And ends{text}"), &foot];
            let height = |at: usize| 800.0 - 100.0 * at as f32;
            let lines = lines.iter().enumerate();
            let lines = lines.map(|(at, text)| Line { height: height(at), ..line(text, 10.0, Gap::Close) }).collect();
            Page { number: number as u32, lines }
        });
        let laid_out = lay_out(pages.collect(), &[]).text;
        assert!(!laid_out.contains("The mills") && !laid_out.contains("Page"), "{laid_out}");
        assert!(laid_out.contains("Text number ababab"), "{laid_out}");
    }

    #[test]
    fn an_outline_says_what_the_headings_are() {
        let entry = |title: &str, level, page| Entry { title: title.to_owned(), level, page };
        let entries = [entry("The mill", 1, 1), entry("Its wheel", 2, 1), entry("Its end", 2, 2)];
        let pages = vec![
            page(1, &[("1 The mill", 10.0, Gap::Jump), ("It stands.", 10.0, Gap::Wide), ("1.1 Its", 10.0, Gap::Wide)]),
            page(2, &[("Its end", 10.0, Gap::Jump), ("It fell.", 10.0, Gap::Close)]),
        ];
        let mut pages = pages;
        pages[0].lines.push(line("wheel", 10.0, Gap::Close));
        let laid_out = lay_out(pages, &entries);
        assert_eq!(laid_out.text, "# 1 The mill\n\nIt stands.\n\n## 1.1 Its wheel\n\n\x0c## Its end\n\nIt fell.");
    }
}
