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
    let (mut entries, mut all, mut last) = (0, 0, 0);
    for line in lines {
        all += 1;
        let page = page(line);
        // Prices and the like do not ascend.
        if page.is_some_and(|page| page < last) {
            return false;
        }
        last = page.unwrap_or(last);
        entries += usize::from(page.is_some() || is_link(line));
    }
    entries >= ENTRIES_MIN && entries as f32 >= ENTRIES_SHARE_MIN * all as f32
}

fn is_link(line: &str) -> bool {
    let entry = line.trim_start_matches(|c: char| "-*+•".contains(c) || c.is_ascii_digit() || c == '.').trim_start();
    let is_link = entry.starts_with('[') && entry.ends_with(')') && entry.matches("](").count() == 1;
    let is_reference = [":doc:`", ":ref:`"].iter().any(|role| entry.starts_with(role)) && entry.ends_with('`');
    is_link || is_reference
}

/// Returns the page that dots lead to at the end of a line.
fn page(line: &str) -> Option<u32> {
    let led = line.trim_end_matches(|c: char| c.is_ascii_digit());
    let dots = led.trim_end();
    let is_led = line.contains(char::is_alphabetic) && (dots.ends_with("..") || dots.ends_with(". ."));
    line[led.len()..].parse().ok().filter(|_| is_led)
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
            "Strudel ..... 7\nLemonade ..... 5\nTea ..... 3",
        ] {
            assert!(!is_contents(text), "{text}");
        }
    }
}
