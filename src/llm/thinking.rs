//! Thoughts of a model that its server sends within the reply: they are kept as received, but are not part of the
//! model's answer.

/// What stands around it.
const MARKS: [(&str, &str); 4] = [
    ("<think>", "</think>"),
    ("<thinking>", "</thinking>"),
    ("<thought>", "</thought>"),
    ("<reasoning>", "</reasoning>"),
];

/// Returns what a model says after it thought. Nothing is left of a reply that ends while it thinks.
pub(super) fn without_thoughts(text: &str) -> &str {
    let begin = text.trim_start();
    for (open, close) in MARKS {
        if let Some(thought) = begin.strip_prefix(open) {
            return thought.split_once(close).map_or("", |(_, said)| said);
        }
    }
    // Some templates open it in the prompt. An object may hold the mark in a text.
    if begin.starts_with(['{', '[', '`']) {
        return text;
    }
    MARKS.iter().find_map(|(_, close)| text.split_once(close)).map_or(text, |(_, said)| said)
}

/// Takes a reply in pieces, and returns what is said, once it is known not to be thought.
#[derive(Debug, Default)]
pub(super) struct Thinking {
    /// What came so far, as long as it may be thought.
    held: String,
    is_over: bool,
}

impl Thinking {
    /// Takes the next piece, and returns what may be told now.
    pub(super) fn take(&mut self, piece: &str) -> String {
        if self.is_over {
            return piece.to_owned();
        }
        self.held.push_str(piece);
        let begin = self.held.trim_start();
        let said = MARKS.iter().find_map(|(open, close)| match begin.strip_prefix(open) {
            Some(thought) => Some(thought.split_once(close).map(|(_, said)| said)),
            // It may become the mark.
            None => open.starts_with(begin).then_some(None),
        });
        match said {
            Some(None) => String::new(),
            Some(Some(said)) => self.end(said.to_owned()),
            None => self.end(self.held.clone()),
        }
    }

    fn end(&mut self, said: String) -> String {
        self.is_over = true;
        self.held = String::new();
        said
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_thought_is_no_part_of_what_is_said() {
        for (text, expect) in [
            ("<think>Hm {\"a\": 1}</think>\n{\"a\": 2}", "\n{\"a\": 2}"),
            (" <thinking></thinking>A", "A"),
            ("Hm.\n</think>A", "A"),
            ("<think>Hm", ""),
            ("{\"a\": \"</think>{}\"}", "{\"a\": \"</think>{}\"}"),
            ("A", "A"),
        ] {
            assert_eq!(without_thoughts(text), expect, "{text}");
        }
    }

    #[test]
    fn thoughts_are_left_out_wherever_the_pieces_are_cut() {
        for (text, expect) in [("<think>Hm</think>{\"a\": 2}", "{\"a\": 2}"), ("<th", ""), ("<b>", "<b>"), ("A", "A")] {
            for size in 1..=text.len() {
                let mut thinking = Thinking::default();
                let pieces = text.as_bytes().chunks(size).map(|piece| std::str::from_utf8(piece).unwrap());
                let told: String = pieces.map(|piece| thinking.take(piece)).collect();
                assert_eq!(told, expect, "{text} by {size}");
            }
        }
    }
}
