//! What to type next, as it can be typed: the program as it was called, and the index where it is not the usual one.

use std::path::{Path, PathBuf};

use crate::error::Error;

/// The program and its usual index.
pub(super) struct Next {
    program: String,
    usual: PathBuf,
}

impl Next {
    /// Returns what to type after this process; `usual` is the index where none is named.
    pub(super) fn new(usual: PathBuf) -> Self {
        let typed = std::env::args_os().next().unwrap_or_default().to_string_lossy().into_owned();
        Self::of(&typed, usual)
    }

    /// Without a folder before it, the shell found the program; so it will again.
    fn of(typed: &str, usual: PathBuf) -> Self {
        let has_folder = typed.contains(std::path::is_separator);
        Self { program: if has_folder { quoted(typed) } else { "cairn".to_owned() }, usual }
    }

    /// Returns a command on `index`.
    pub(super) fn command(&self, command: &str, index: &Path) -> String {
        let program = &self.program;
        if index == self.usual {
            format!("{program} {command}")
        } else {
            format!("{program} {command} --index {}", quoted(&index.display().to_string()))
        }
    }

    /// Returns a command that names no index.
    pub(super) fn plain(&self, command: &str) -> String {
        format!("{} {command}", self.program)
    }

    /// Returns what to do about an error.
    pub(super) fn after(&self, error: &Error) -> Option<String> {
        match error {
            Error::NoIndex { path } if *path != self.usual => {
                Some(format!("make one with `{}`, or name another folder", self.command("index PATH", path)))
            }
            _ => error.hint().map(|hint| hint.replace("`cairn ", &format!("`{} ", self.program))),
        }
    }
}

/// Returns a path as a shell takes it for one word.
fn quoted(path: &str) -> String {
    if path.contains(char::is_whitespace) { format!("\"{path}\"") } else { path.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_names_the_index_where_it_is_not_the_usual_one() {
        let next = Next::of("cairn", PathBuf::from(".cairn"));
        assert_eq!(next.command("status", Path::new(".cairn")), "cairn status");
        assert_eq!(next.command("status", Path::new("my notes")), "cairn status --index \"my notes\"");
        let built = Next::of("target/release/cairn", PathBuf::from(".cairn"));
        assert_eq!(built.command("status", Path::new(".cairn")), "target/release/cairn status");
    }

    #[test]
    fn a_hint_can_be_typed_as_it_stands() {
        let next = Next::of("bin/cairn", PathBuf::from(".cairn"));
        let at = |path: &str| next.after(&Error::NoIndex { path: PathBuf::from(path) }).expect("a hint");
        assert!(at(".cairn").contains("`bin/cairn index PATH`"), "{}", at(".cairn"));
        assert!(at("notes").contains("`bin/cairn index PATH --index notes`"), "{}", at("notes"));
        assert_eq!(next.after(&Error::Question { reason: "no".to_owned() }), None);
    }
}
