//! Reads a page element by element: its text, and which of it is the main part.

use std::ops::Range;

use html5gum::emitters::callback::CallbackEvent;

use super::elements::{Attributes, Element, is_void};
use super::writer::{Gap, Writer};

/// Maximum depth at which elements are distinguished. Deeper ones belong to the last one that is.
const DEPTH_MAX: usize = 512;
/// How many open elements are searched for the one that an end tag closes.
const REACH: usize = 48;
/// Headings kept as candidates for the title.
const HEADINGS_MAX: usize = 64;
/// Maximum characters of a language or another short property.
const PROPERTY_CHARS_MAX: usize = 1_000;

/// What is left out of a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Strip {
    /// What readers do not see, and what is the same on every page.
    Margins,
    /// What readers do not see.
    Hidden,
}

/// An open element.
#[derive(Debug)]
struct Open {
    element: Element,
    /// The first bytes of its name, which distinguish elements of the same kind.
    name: [u8; 12],
    /// Cells of a row, or items of a list, so far.
    count: u32,
    /// Where it begins in the text.
    start: usize,
    /// Whether its contents are left out.
    is_skipped: bool,
    /// The language that it gives for the code in it.
    language: String,
    /// If it is a main part, its kind, and where it begins in the text.
    main: Option<(Kind, usize)>,
}

/// What marks a main part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Main,
    Article,
}

/// A page that is being read.
#[expect(clippy::struct_excessive_bools, reason = "what is open, each for itself")]
pub(super) struct Page {
    strip: Strip,
    /// Whether `<x/>` is a complete element.
    is_xml: bool,
    stack: Vec<Open>,
    /// Open elements that are too deep to be distinguished.
    beyond: usize,
    /// How many of the open elements are left out with all their contents.
    skipped: usize,
    name: [u8; 12],
    element: Element,
    is_void: bool,
    is_open: bool,
    attributes: Attributes,
    attribute: Vec<u8>,
    pub(super) writer: Writer,
    /// Where main parts and articles are in the text.
    mains: Vec<Range<usize>>,
    articles: Vec<Range<usize>>,
    /// Headings: level, and where the text is.
    headings: Vec<(u8, Range<usize>)>,
    heading_start: usize,
    in_title: bool,
    pub(super) title: String,
    pub(super) language: String,
    pub(super) description: String,
    pub(super) author: String,
    pub(super) leads_on: bool,
    /// Bytes of text that were left out because they are the same on every page.
    pub(super) left_out: usize,
}

impl Page {
    pub(super) fn new(strip: Strip, is_xml: bool) -> Self {
        Self {
            strip,
            is_xml,
            stack: Vec::new(),
            beyond: 0,
            skipped: 0,
            name: [0; 12],
            element: Element::Inline,
            is_void: false,
            is_open: false,
            attributes: Attributes::default(),
            attribute: Vec::new(),
            writer: Writer::default(),
            mains: Vec::new(),
            articles: Vec::new(),
            headings: Vec::new(),
            heading_start: 0,
            in_title: false,
            title: String::new(),
            language: String::new(),
            description: String::new(),
            author: String::new(),
            leads_on: false,
            left_out: 0,
        }
    }

    /// Handles the next event of the tokenizer.
    pub(super) fn take(&mut self, event: &CallbackEvent<'_>) {
        match event {
            CallbackEvent::OpenStartTag { name } => {
                (self.element, self.name) = (Element::of(name), short(name));
                (self.is_void, self.is_open) = (is_void(name), true);
                self.attributes.clear();
            }
            CallbackEvent::AttributeName { name } if self.is_open => {
                self.attribute.clear();
                self.attribute.extend_from_slice(name.get(..32).unwrap_or(name));
                // An attribute without a value means something by being present.
                if *name == b"hidden" {
                    self.attributes.set(name, b"");
                }
            }
            CallbackEvent::AttributeValue { value } if self.is_open => self.attributes.set(&self.attribute, value),
            CallbackEvent::CloseStartTag { self_closing } => {
                self.is_open = false;
                self.start(self.is_void || (self.is_xml && *self_closing));
            }
            CallbackEvent::EndTag { name } => self.end(Element::of(name), short(name)),
            CallbackEvent::String { value } => self.text(&String::from_utf8_lossy(value)),
            _ => {}
        }
    }

    fn is_in_main(&self) -> bool {
        self.stack.iter().any(|open| open.main.is_some())
    }

    /// Returns whether the element that begins is left out.
    fn is_left_out(&self) -> bool {
        if self.element == Element::Hidden || self.attributes.is_aid() {
            return true;
        }
        let is_part_of_line = self.element == Element::Inline || self.element == Element::Code;
        if self.strip == Strip::Hidden || is_part_of_line || matches!(self.element, Element::Root | Element::Heading(_))
        {
            return false;
        }
        if self.element == Element::Navigation || (self.attributes.is_navigation() && !self.attributes.is_main()) {
            return true;
        }
        let is_beside = self.element == Element::Margin || self.attributes.is_beside();
        is_beside && !matches!(self.element, Element::Main | Element::Article) && !self.is_in_main()
    }

    fn start(&mut self, is_whole: bool) {
        let element = self.element;
        if element.ends_paragraph() {
            self.close_implied(element);
        }
        match element {
            Element::Meta => return self.meta(),
            Element::Root if self.language.is_empty() => self.language = self.attributes.lang.clone(),
            Element::Title if self.title.is_empty() && !is_whole => self.in_title = true,
            _ => {}
        }
        if is_whole {
            if self.skipped == 0 {
                self.whole(element);
            }
            return;
        }
        if self.stack.len() >= DEPTH_MAX {
            self.beyond += 1;
            return;
        }
        let is_skipped = self.is_left_out();
        let language = match element {
            Element::Block => self.attributes.code_language().unwrap_or_default().to_owned(),
            _ => String::new(),
        };
        let mut open =
            Open { element, name: self.name, count: 0, start: self.writer.out.len(), is_skipped, language, main: None };
        if is_skipped {
            self.skipped += 1;
        } else if self.skipped == 0 {
            self.open(&mut open);
        }
        self.stack.push(open);
    }

    /// Writes an element without contents.
    fn whole(&mut self, element: Element) {
        match element {
            Element::Break => self.writer.gap(Gap::Line),
            Element::Image if !self.writer.is_in_code() => {
                let alt = std::mem::take(&mut self.attributes.alt);
                self.writer.text(&alt);
            }
            element if element.ends_paragraph() => self.writer.gap(Gap::Paragraph),
            _ => {}
        }
    }

    fn open(&mut self, open: &mut Open) {
        let at = self.writer.out.len();
        open.main = match open.element {
            Element::Main => Some((Kind::Main, at)),
            _ if self.attributes.is_main() => Some((Kind::Main, at)),
            Element::Article => Some((Kind::Article, at)),
            _ => None,
        };
        match open.element {
            Element::Heading(level) if !self.writer.is_in_code() => {
                self.writer.mark(Gap::Paragraph, &format!("{} ", "#".repeat(level.into())));
                self.writer.open_line();
                self.heading_start = at;
            }
            Element::List | Element::NumberedList => {
                self.writer.gap(Gap::Paragraph);
                self.writer.lists += 1;
            }
            Element::Item => self.open_item(),
            Element::Term => self.writer.gap(Gap::Paragraph),
            Element::Definition => self.writer.begin_definition(),
            Element::Row => self.writer.gap(Gap::Line),
            Element::Cell => self.open_cell(),
            Element::Preformatted if !self.writer.is_in_code() => {
                let own = self.attributes.code_language().unwrap_or_default().to_owned();
                let around = self.stack.iter().rev().take(2).find(|it| !it.language.is_empty());
                let language =
                    if own.is_empty() { around.map(|it| it.language.clone()).unwrap_or_default() } else { own };
                self.writer.open_block(&language);
            }
            Element::Code if self.writer.is_in_code() => {
                if let Some(language) = self.attributes.code_language() {
                    self.writer.set_language(language);
                }
            }
            Element::Code if !self.is_in_heading() => self.writer.open_code(),
            element if element.ends_paragraph() => self.writer.gap(Gap::Paragraph),
            _ => {}
        }
    }

    fn is_in_heading(&self) -> bool {
        self.stack.iter().rev().take(REACH).any(|it| matches!(it.element, Element::Heading(_)))
    }

    fn open_item(&mut self) {
        let list = self.stack.iter_mut().rev().find(|it| matches!(it.element, Element::List | Element::NumberedList));
        let mark = match list {
            Some(list) if list.element == Element::NumberedList => {
                list.count += 1;
                format!("{}. ", list.count)
            }
            _ => "- ".to_owned(),
        };
        self.writer.mark(Gap::Line, &mark);
    }

    fn open_cell(&mut self) {
        if let Some(row) = self.stack.iter_mut().rev().take(REACH).find(|it| it.element == Element::Row) {
            row.count += 1;
            if row.count > 1 {
                self.writer.next_cell(row.start);
            }
        }
        self.writer.open_line();
    }

    fn meta(&mut self) {
        let Attributes { name, content, .. } = &self.attributes;
        let short = || content.trim().chars().take(PROPERTY_CHARS_MAX).collect::<String>();
        match name.to_ascii_lowercase().as_str() {
            "refresh" if content.to_ascii_lowercase().contains("url") => self.leads_on = true,
            "description" if self.description.is_empty() => self.description = short(),
            "author" if self.author.is_empty() => self.author = short(),
            _ => {}
        }
    }

    fn text(&mut self, text: &str) {
        if self.in_title {
            if self.title.len() < PROPERTY_CHARS_MAX * 4 {
                self.title.push_str(text);
            }
        } else if self.skipped == 0 {
            self.writer.text(text);
        } else if !self.stack.iter().any(|it| it.is_skipped && it.element == Element::Hidden) {
            self.left_out += text.trim().len();
        }
    }

    /// Closes the elements that the beginning of `element` ends without a tag.
    fn close_implied(&mut self, element: Element) {
        use Element as E;
        let near = self.stack.iter().rev().take(REACH);
        let ends = |is_ended: fn(E) -> bool, is_bound: fn(E) -> bool| {
            let stop = near.clone().position(|it| is_bound(it.element) || is_ended(it.element))?;
            near.clone().nth(stop).filter(|it| is_ended(it.element)).map(|_| stop + 1)
        };
        let count = match element {
            E::Item => ends(|it| it == E::Item, |it| matches!(it, E::List | E::NumberedList | E::Table | E::Main)),
            E::Term | E::Definition => {
                ends(|it| matches!(it, E::Term | E::Definition), |it| matches!(it, E::Definitions | E::Table | E::List))
            }
            E::Row => ends(|it| it == E::Row, |it| it == E::Table),
            E::Cell => ends(|it| it == E::Cell, |it| matches!(it, E::Table | E::Row)),
            _ => match self.stack.last() {
                Some(last) if &last.name[..2] == b"p\0" => Some(1),
                _ => None,
            },
        };
        (0..count.unwrap_or(0)).for_each(|_| self.close());
    }

    fn end(&mut self, element: Element, name: [u8; 12]) {
        if element == Element::Title {
            self.in_title = false;
        }
        let place = self.stack.iter().rev().take(REACH).position(|it| it.name == name && it.element == element);
        match place {
            Some(_) if self.beyond > 0 => self.beyond -= 1,
            Some(above) => (0..=above).for_each(|_| self.close()),
            None => self.beyond = self.beyond.saturating_sub(1),
        }
    }

    /// Closes the element that was opened last.
    fn close(&mut self) {
        let Some(open) = self.stack.pop() else { return };
        if open.is_skipped {
            self.skipped -= 1;
            return;
        }
        if self.skipped > 0 {
            return;
        }
        match open.element {
            Element::Heading(level) => {
                self.writer.drop_mark();
                self.writer.close_line();
                if self.headings.len() < HEADINGS_MAX {
                    self.headings.push((level, self.heading_start..self.writer.out.len()));
                }
                self.writer.gap(Gap::Paragraph);
            }
            Element::List | Element::NumberedList => {
                self.writer.lists = self.writer.lists.saturating_sub(1);
                self.writer.gap(Gap::Paragraph);
            }
            Element::Item => {
                self.writer.drop_mark();
                self.writer.gap(Gap::Line);
            }
            Element::Cell => self.writer.close_line(),
            Element::Row => {
                self.writer.drop_mark();
                if open.count > 1 && self.writer.out.len() > open.start {
                    self.writer.out.push_str(" |");
                }
                self.writer.gap(Gap::Line);
            }
            Element::Preformatted => self.writer.close_block(),
            Element::Code if !self.writer.is_in_code() && !self.is_in_heading() => self.writer.close_code(),
            Element::Definition | Element::Term => self.writer.gap(Gap::Line),
            element if element.ends_paragraph() => self.writer.gap(Gap::Paragraph),
            _ => {}
        }
        if let Some((kind, start)) = open.main {
            let range = start..self.writer.out.len();
            let parts = if kind == Kind::Main { &mut self.mains } else { &mut self.articles };
            // The outer one contains the inner ones.
            while parts.last().is_some_and(|last| last.start >= range.start) {
                parts.pop();
            }
            parts.push(range);
        }
    }

    /// Closes all open elements.
    pub(super) fn finish(&mut self) {
        while !self.stack.is_empty() {
            self.close();
        }
    }

    /// Returns where the main part is in the text: what is marked as such and has enough of the text, or else all of
    /// it.
    pub(super) fn main_part(&self) -> Vec<Range<usize>> {
        let whole = self.writer.out.len();
        let is_enough = |parts: &&Vec<Range<usize>>| {
            let bytes = parts.iter().map(ExactSizeIterator::len).sum::<usize>();
            bytes * 100 >= whole * MAIN_PERCENT_MIN && bytes > 0
        };
        [&self.mains, &self.articles]
            .into_iter()
            .find(is_enough)
            .cloned()
            .unwrap_or_else(|| std::iter::once(0..whole).collect())
    }

    /// Returns the only first-level heading in the main part; if there is none and no title, the first heading of any
    /// level.
    pub(super) fn heading(&self, parts: &[Range<usize>]) -> Option<String> {
        let within =
            |it: &&(u8, Range<usize>)| parts.iter().any(|part| part.start <= it.1.start && it.1.end <= part.end);
        let text = |it: &(u8, Range<usize>)| {
            let line = self.writer.out.get(it.1.clone())?.trim().trim_start_matches('#').trim();
            let line = line.trim_end_matches(['¶', '§', '#']).trim();
            (!line.is_empty()).then(|| line.to_owned())
        };
        let mut first_level = self.headings.iter().filter(within).filter(|it| it.0 == 1).filter_map(text);
        match (first_level.next(), first_level.next()) {
            (Some(heading), None) => Some(heading),
            _ if self.title.trim().is_empty() => self.headings.iter().filter(within).find_map(text),
            _ => None,
        }
    }
}

/// Percent of a page's text that its main part must have to count as such.
const MAIN_PERCENT_MIN: usize = 40;

fn short(name: &[u8]) -> [u8; 12] {
    let mut short = [0; 12];
    short.iter_mut().zip(name).for_each(|(to, from)| *to = *from);
    short
}
