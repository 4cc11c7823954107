//! Writes the text of a page while it is read: white space by the rules of HTML, separate blocks, code verbatim.

/// What separates the next word from the text before it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Gap {
    /// Nothing.
    #[default]
    None,
    /// A space.
    Space,
    /// A line break.
    Line,
    /// A blank line.
    Paragraph,
}

/// Levels of lists that indentation distinguishes.
const INDENTS_MAX: usize = 6;

/// The text so far.
#[derive(Debug, Default)]
pub(super) struct Writer {
    pub(super) out: String,
    gap: Gap,
    /// What goes between the gap and the next word: the mark of a heading, an item or a cell.
    mark: String,
    /// Whether the next word begins with a backtick.
    tick: bool,
    /// Whether the next text continues the line: the beginning of a definition.
    is_held: bool,
    /// Open elements that are one line whatever is in them: headings, cells.
    in_line: usize,
    /// Open lists.
    pub(super) lists: usize,
    /// The open code block: its language, and its text so far.
    code: Option<(String, String)>,
}

impl Writer {
    /// Asks for a gap before the next word; the largest gap asked for counts.
    pub(super) fn gap(&mut self, gap: Gap) {
        if let Some((_, code)) = &mut self.code {
            if gap > Gap::Space && !code.is_empty() && !code.ends_with('\n') {
                code.push('\n');
            }
            return;
        }
        let gap = match gap {
            _ if self.in_line > 0 => gap.min(Gap::Space),
            Gap::Paragraph if self.lists > 0 || self.is_held => Gap::Line,
            gap => gap,
        };
        // Nothing separates a mark from what it marks.
        if self.mark.is_empty() {
            self.gap = self.gap.max(gap);
        }
    }

    /// Begins a definition, which is on the line of its term.
    pub(super) fn begin_definition(&mut self) {
        self.gap(Gap::Line);
        self.is_held = true;
    }

    /// Begins an element that has a mark, after a gap.
    pub(super) fn mark(&mut self, gap: Gap, mark: &str) {
        self.mark.clear();
        self.gap = self.gap.max(gap);
        self.mark.push_str(mark);
    }

    /// Separates the next cell from the one before it in the row that begins at `row_start`.
    pub(super) fn next_cell(&mut self, row_start: usize) {
        if self.gap == Gap::Space {
            self.gap = Gap::None;
        }
        let row = self.out.get(row_start..).unwrap_or_default();
        let first = row_start + row.len() - row.trim_start().len();
        // A second cell shows that the line is a row of a table.
        if first < self.out.len() && !self.out.get(first..).is_some_and(|row| row.starts_with("| ")) {
            self.out.insert_str(first, "| ");
        }
        self.mark.push_str(if first < self.out.len() { " | " } else { "| " });
    }

    /// Drops a mark that nothing followed.
    pub(super) fn drop_mark(&mut self) {
        self.mark.clear();
    }

    pub(super) fn open_line(&mut self) {
        self.in_line += 1;
    }

    pub(super) fn close_line(&mut self) {
        self.in_line = self.in_line.saturating_sub(1);
    }

    /// Writes text, each run of white space as one space.
    pub(super) fn text(&mut self, text: &str) {
        if let Some((_, code)) = &mut self.code {
            code.push_str(text);
            return;
        }
        if text.starts_with(char::is_whitespace) {
            self.gap(Gap::Space);
        }
        let mut is_first = true;
        for word in text.split_whitespace() {
            if !is_first {
                self.gap(Gap::Space);
            }
            is_first = false;
            self.flush();
            self.out.push_str(word);
        }
        if !is_first && text.ends_with(char::is_whitespace) {
            self.gap(Gap::Space);
        }
    }

    fn flush(&mut self) {
        let gap = std::mem::take(&mut self.gap);
        self.is_held = false;
        if !self.out.is_empty() {
            match gap {
                Gap::Space if self.mark.is_empty() => self.out.push(' '),
                Gap::None | Gap::Space => {}
                Gap::Line => self.out.push('\n'),
                Gap::Paragraph => self.out.push_str("\n\n"),
            }
        }
        if gap >= Gap::Line {
            for _ in 1..self.lists.min(INDENTS_MAX) {
                self.out.push_str("  ");
            }
        }
        let is_line_start = self.out.is_empty() || self.out.ends_with('\n');
        self.out.push_str(if is_line_start { self.mark.trim_start() } else { &self.mark });
        self.mark.clear();
        if std::mem::take(&mut self.tick) {
            self.out.push('`');
        }
    }

    /// Begins code in a line.
    pub(super) fn open_code(&mut self) {
        self.tick = self.code.is_none();
    }

    /// Ends code in a line.
    pub(super) fn close_code(&mut self) {
        if !std::mem::take(&mut self.tick) && self.code.is_none() {
            self.out.push('`');
        }
    }

    /// Returns whether a code block is open.
    pub(super) const fn is_in_code(&self) -> bool {
        self.code.is_some()
    }

    /// Begins a code block.
    pub(super) fn open_block(&mut self, language: &str) {
        self.gap(Gap::Paragraph);
        self.code = Some((language.to_owned(), String::new()));
    }

    /// Sets the language of the open code block.
    pub(super) fn set_language(&mut self, name: &str) {
        if let Some((language, _)) = self.code.as_mut().filter(|(language, _)| language.is_empty()) {
            language.push_str(name);
        }
    }

    /// Ends a code block, and writes it between lines of backticks.
    pub(super) fn close_block(&mut self) {
        let Some((language, code)) = self.code.take() else { return };
        let code = code.trim_end().trim_start_matches(['\n', '\r']);
        if code.trim().is_empty() {
            return;
        }
        self.gap = self.gap.max(Gap::Line);
        self.flush();
        self.out.push_str("```");
        self.out.push_str(&language);
        for line in code.split('\n') {
            self.out.push('\n');
            // A line of the code that looks like its end is changed.
            if line.trim_start().starts_with("```") {
                self.out.push('\u{200b}');
            }
            self.out.push_str(line.trim_end_matches('\r'));
        }
        self.out.push_str("\n```");
        self.gap = if self.lists > 0 { Gap::Line } else { Gap::Paragraph };
    }
}
