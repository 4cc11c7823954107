//! Suggested commands that can be pasted: the program as it was called, with `--index` if it is not the usual index.
//!
//! Text of this program is a `&'static str`; any other text is quoted, so that a shell reads it as one word and nothing
//! else. A word in capitals replaces text that cannot be shown as it is.

use std::path::{Path, PathBuf};

use super::hints;
use crate::error::Error;
use crate::text::terminal_line;

/// The placeholder for a path that cannot be shown.
const DIR: &str = "DIR";

/// The program and its usual index.
pub(super) struct Next {
    program: String,
    usual: PathBuf,
}

impl Next {
    /// Creates suggestions for this program; `usual` is the default index.
    pub(super) fn new(usual: PathBuf) -> Self {
        let typed = std::env::args_os().next().unwrap_or_default();
        Self::of(Path::new(&typed), usual)
    }

    /// Without a folder before it, the shell found the program; so it will again, as it will have to where its path
    /// cannot be shown.
    fn of(typed: &Path, usual: PathBuf) -> Self {
        let has_folder = typed.components().count() > 1;
        let program = typed.to_str().filter(|_| has_folder).and_then(quoted);
        Self { program: program.unwrap_or_else(|| "cairn".to_owned()), usual }
    }

    /// Returns a command on `index`.
    pub(super) fn command(&self, command: &'static str, index: &Path) -> String {
        let program = &self.program;
        if index == self.usual {
            format!("{program} {command}")
        } else {
            format!("{program} {command} --index{}", value(index))
        }
    }

    /// Returns a command on `index` about a text of the user's; `otherwise` stands for one that cannot be shown.
    pub(super) fn about(&self, command: &'static str, text: &str, otherwise: &'static str, index: &Path) -> String {
        let word = quoted(text).unwrap_or_else(|| otherwise.to_owned());
        let whole = self.command(command, index);
        if text.starts_with('-') {
            return format!("{whole} -- {word}");
        }
        let begin = format!("{} {command}", self.program);
        format!("{begin} {word}{}", whole.strip_prefix(&begin).unwrap_or_default())
    }

    /// Returns a command that names no index.
    pub(super) fn plain(&self, command: &'static str) -> String {
        format!("{} {command}", self.program)
    }

    /// Returns the hint for an index without a finished version.
    pub(super) fn first_version(&self, index: &Path) -> String {
        hints::FIRST_VERSION.replace("cairn index PATH", &self.command("index PATH", index))
    }

    /// Returns a warning, or a reason for leaving something out, with the command that helps, if there is one.
    pub(super) fn with_command(&self, said: &str) -> String {
        hints::command(said).map_or_else(|| said.to_owned(), |command| format!("{said}; {}", self.named(command)))
    }

    /// Returns a hint with the name by which the user ran the program.
    fn named(&self, hint: &str) -> String {
        hint.replace("`cairn ", &format!("`{} ", self.program))
    }

    /// Returns the hint for an error.
    pub(super) fn after(&self, error: &Error) -> Option<String> {
        match error {
            Error::NoIndex { path } if *path != self.usual => {
                Some(format!("make one with `{}`, or name another folder", self.command("index PATH", path)))
            }
            Error::NoVersion { path } => Some(self.first_version(path)),
            _ => hints::hint(error).map(|hint| self.named(hint)),
        }
    }
}

/// Returns a path as a word of a command that a user may paste; `DIR` for one that cannot be shown.
pub(super) fn folder(path: &Path) -> String {
    path.to_str().and_then(quoted).unwrap_or_else(|| DIR.to_owned())
}

/// Returns a path after a flag.
fn value(path: &Path) -> String {
    path.to_str().map_or_else(|| format!(" {DIR}"), |path| after_flag(path, DIR))
}

/// Returns a text after a flag: joined to it if it would otherwise be read as another flag.
fn after_flag(text: &str, otherwise: &'static str) -> String {
    let sign = if text.starts_with('-') { '=' } else { ' ' };
    format!("{sign}{}", quoted(text).as_deref().unwrap_or(otherwise))
}

/// Returns a text that a shell reads as one word: in quotes if necessary. None for a text that a terminal would not
/// show as it is.
fn quoted(text: &str) -> Option<String> {
    if terminal_line(text) != text || text.contains('\0') {
        return None;
    }
    let is_plain = |it: char| it.is_alphanumeric() || "_@%+=:,./-".contains(it);
    // Some shells take a word that begins with `=` for the name of a program.
    if !text.is_empty() && !text.starts_with('=') && text.chars().all(is_plain) {
        return Some(text.to_owned());
    }
    if cfg!(windows) {
        // Its two shells agree on nothing but this.
        let is_safe = !text.contains(['"', '%', '$', '`', '!', '^']) && !text.ends_with('\\');
        return is_safe.then(|| format!("\"{text}\""));
    }
    Some(format!("'{}'", text.replace('\'', r"'\''")))
}

#[cfg(test)]
mod tests {
    #[cfg(unix)]
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_command_names_the_index_where_it_is_not_the_usual_one() {
        let next = Next::of(Path::new("cairn"), PathBuf::from(".cairn"));
        assert_eq!(next.command("status", Path::new(".cairn")), "cairn status");
        assert_eq!(next.command("status", Path::new("my.notes/ä")), "cairn status --index my.notes/ä");
        let built = Next::of(Path::new("target/release/cairn"), PathBuf::from(".cairn"));
        assert_eq!(built.command("status", Path::new(".cairn")), "target/release/cairn status");
    }

    #[cfg(unix)]
    #[test]
    fn what_comes_from_elsewhere_is_one_word_of_the_command() {
        let next = Next::of(Path::new("./my tools/cairn"), PathBuf::from(".cairn"));
        for (index, expect) in [
            ("my notes", "'my notes'"),
            ("$(touch x)", "'$(touch x)'"),
            ("it's `x`;\"", r#"'it'\''s `x`;"'"#),
            ("~", "'~'"),
            ("a\nb", "DIR"),
            ("a\u{202e}b", "DIR"),
            ("a\u{1b}[31m", "DIR"),
        ] {
            let expect = format!("'./my tools/cairn' status --index {expect}");
            assert_eq!(next.command("status", Path::new(index)), expect);
        }
        assert_eq!(next.command("status", Path::new("-x")), "'./my tools/cairn' status --index=-x");
        let next = Next::of(Path::new("cairn"), PathBuf::from(".cairn"));
        let about = |text: &str| next.about("search", text, "\"YOUR QUESTION\"", Path::new("a b"));
        assert_eq!(about("Who's there?"), r"cairn search 'Who'\''s there?' --index 'a b'");
        assert_eq!(about("-x $y"), "cairn search --index 'a b' -- '-x $y'");
        assert_eq!(about("a\nb"), "cairn search \"YOUR QUESTION\" --index 'a b'");
    }

    #[cfg(unix)]
    #[test]
    fn a_path_that_is_no_text_is_not_offered() {
        use std::os::unix::ffi::OsStrExt as _;
        let path = Path::new(std::ffi::OsStr::from_bytes(b"a\xff"));
        assert_eq!(folder(path), "DIR");
        assert_eq!(value(path), " DIR");
        assert_eq!(Next::of(&Path::new("bin").join(path), PathBuf::new()).plain("demo"), "cairn demo");
    }

    #[cfg(unix)]
    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn a_shell_gives_back_what_was_quoted(text in "[ -~äÖ中😀]{0,40}", other in any::<String>()) {
            for text in [&text, &other] {
                let Some(word) = quoted(text) else { continue };
                let script = format!("printf '%s\\0' {word}");
                let printed = std::process::Command::new("sh").args(["-c", &script]).output().unwrap().stdout;
                prop_assert_eq!(String::from_utf8(printed).unwrap(), format!("{text}\0"));
            }
            prop_assert!(quoted(&text).is_some());
        }
    }

    #[test]
    fn a_hint_can_be_typed_as_it_stands() {
        let next = Next::of(Path::new("bin/cairn"), PathBuf::from(".cairn"));
        let at = |path: &str| next.after(&Error::NoIndex { path: PathBuf::from(path) }).expect("a hint");
        assert!(at(".cairn").contains("`bin/cairn index PATH`"), "{}", at(".cairn"));
        assert!(at("notes").contains("`bin/cairn index PATH --index notes`"), "{}", at("notes"));
        assert_eq!(next.after(&Error::Question { reason: "no".to_owned() }), None);
    }

    #[test]
    fn a_command_that_helps_follows_what_the_library_says() {
        let next = Next::of(Path::new("bin/cairn"), PathBuf::from(".cairn"));
        assert_eq!(next.with_command("it is empty"), "it is empty");
        let said = format!("20 of 21 documents are gone; {}", crate::index::UNMOUNTED);
        assert_eq!(next.with_command(&said), format!("{said}; `bin/cairn index PATH --remove` removes them"));
    }
}
