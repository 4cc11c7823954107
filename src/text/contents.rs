//! Lists of contents, by the form of their lines.

/// Entries that make a list of contents at least.
const ENTRIES_MIN: usize = 3;
/// Share of its lines that are entries at least.
const ENTRIES_SHARE_MIN: f32 = 0.6;

/// Returns whether most lines of a text, its headings aside, are links or lead to the number of a page.
#[must_use]
pub(crate) fn is_contents(text: &str) -> bool {
    let lines =
        text.lines().map(str::trim).filter(|line| line.contains(char::is_alphanumeric) && !line.starts_with('#'));
    let (mut entries, mut all) = (0, 0);
    for line in lines {
        all += 1;
        entries += usize::from(is_entry(line));
    }
    entries >= ENTRIES_MIN && entries as f32 >= ENTRIES_SHARE_MIN * all as f32
}

fn is_entry(line: &str) -> bool {
    let entry = line.trim_start_matches(|c: char| "-*+•".contains(c) || c.is_ascii_digit() || c == '.').trim_start();
    let is_link = entry.starts_with('[') && entry.ends_with(')') && entry.matches("](").count() == 1;
    let is_reference = [":doc:`", ":ref:`"].iter().any(|role| entry.starts_with(role)) && entry.ends_with('`');
    is_link || is_reference || has_page(entry)
}

/// Returns whether a line ends in the number of a page that dots lead to.
fn has_page(line: &str) -> bool {
    let led = line.trim_end_matches(|c: char| c.is_ascii_digit());
    let dots = led.trim_end();
    led.len() < line.len() && line.contains(char::is_alphabetic) && (dots.ends_with("..") || dots.ends_with(". ."))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_and_numbers_of_pages_make_a_list_of_contents() {
        for text in [
            "# Contents\n\n- [How do I reset it?](faq.md#reset)\n- [Why (so slow)?](faq.md#slow)\n1. [Logs](logs.md)",
            "Contents\n\n* :doc:`install`\n* :ref:`Logs <logs>`\n* :doc:`/reset`",
            "Installing ..... 3\nLogs . . . . . 4\nResetting it ..........12",
        ] {
            assert!(is_contents(text), "{text}");
        }
        for text in [
            "",
            "- [Logs](logs.md)",
            "It was in March, 1911. The [lamp](lamp.md) was lit in 1912\n- Reset it\n- Wait (a minute)",
            "See [a](a.md) and [b](b.md)\n[c](c.md) says more\nversion 1.2\nin 2011",
            "- Dawn Tern, 1871\n- Low Tide, 2001\n- Ebb, 2004",
            "Pears       12\nQuinces     40\nApples       3",
            "1.. 2\n3.. 4\n5.. 6",
        ] {
            assert!(!is_contents(text), "{text}");
        }
    }
}
