//! Paths that a walk skips: hidden ones, those that ignore files name, and those that a user excludes.

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};

use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};
use walkdir::DirEntry;

use super::text_file;
use crate::error::{Error, Result};

/// Files that exclude files beside and below them; if they disagree, the last one counts.
const IGNORE_FILES: [&str; 2] = [".gitignore", ".ignore"];
/// Bytes of an ignore file at most: a larger one excludes nothing.
const IGNORE_BYTES_MAX: u64 = 1 << 20;
/// Folders for which it is remembered whether a walk enters them; beyond that, they are checked again.
const FOLDERS_MAX: usize = 65_536;
/// Folders of version control. They are hidden, and hold no documents.
const VERSION_CONTROL: [&str; 4] = [".git", ".hg", ".jj", ".svn"];

/// Which files below a folder are read. A glob is a pattern of `.gitignore`: without a slash it fits at any depth, with
/// one it begins at the folder that is read, `**` stands for any folders, and a folder includes everything in it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WalkOptions {
    /// Globs of the files that are read; none for all.
    pub include: Vec<String>,
    /// Globs of files and folders that are not read.
    pub exclude: Vec<String>,
    /// Whether hidden files and folders are read, but for those of version control.
    pub hidden: bool,
    /// Whether files are read though a `.gitignore` or `.ignore` names them.
    pub ignored: bool,
    /// Maximum depth of files: 1 for those directly in the folder; none for any depth.
    pub depth_max: Option<usize>,
}

/// Decides what a walk below a root skips, folder by folder.
pub(super) struct Rules<'o> {
    options: &'o WalkOptions,
    root: PathBuf,
    include: Option<Gitignore>,
    exclude: Option<Gitignore>,
    /// The rules of all folders that have any, from the repository's root down to the folder entered last, each with
    /// its depth below the root; those above the root have depth 0.
    entered: Vec<(usize, Gitignore)>,
    /// Files and folders excluded by ignore files.
    pub(super) ignored: u64,
}

impl<'o> Rules<'o> {
    /// # Errors
    ///
    /// [`Error::Option`] for a glob that cannot be read.
    pub(super) fn of(root: &Path, options: &'o WalkOptions) -> Result<Self> {
        let entered = if options.ignored { Vec::new() } else { above(root).map(|rules| (0, rules)).collect() };
        Ok(Self {
            options,
            root: root.to_owned(),
            include: globs(&options.include)?,
            exclude: globs(&options.exclude)?,
            entered,
            ignored: 0,
        })
    }

    /// Returns whether a file or folder is skipped. Call it for every one, and for a folder before its contents; a root
    /// that was named is never skipped.
    pub(super) fn pass_over(&mut self, entry: &DirEntry) -> bool {
        self.pass_over_at(entry.path(), entry.depth(), entry.file_type().is_dir())
    }

    fn pass_over_at(&mut self, path: &Path, depth: usize, is_folder: bool) -> bool {
        self.entered.retain(|(of, _)| *of < depth.max(1));
        let is_passed_over = depth > 0 && self.is_left_out(path, is_folder);
        if is_folder && !is_passed_over && !self.options.ignored {
            self.entered.extend(ignored_in(path).map(|rules| (depth, rules)));
        }
        is_passed_over
    }

    fn is_left_out(&mut self, path: &Path, is_folder: bool) -> bool {
        let name = path.file_name().unwrap_or_default();
        let is_hidden = name.as_encoded_bytes().starts_with(b".");
        if is_hidden && (!self.options.hidden || VERSION_CONTROL.iter().any(|own| name == *own)) {
            return true;
        }
        if is_folder && is_index(path) {
            return true;
        }
        let below = path.strip_prefix(&self.root).unwrap_or(path);
        if self.exclude.as_ref().is_some_and(|globs| globs.matched(below, is_folder).is_ignore()) {
            return true;
        }
        let is_missed = |globs: &Gitignore| !globs.matched_path_or_any_parents(below, false).is_ignore();
        if !is_folder && self.include.as_ref().is_some_and(is_missed) {
            return true;
        }
        let is_ignored = self.is_ignored(path, is_folder);
        self.ignored += u64::from(is_ignored);
        is_ignored
    }

    /// Returns what the rules of the nearest folder that has an opinion say.
    fn is_ignored(&self, path: &Path, is_folder: bool) -> bool {
        let mut said = self.entered.iter().rev().map(|(_, rules)| rules.matched(path, is_folder));
        matches!(said.find(|it| !it.is_none()), Some(Match::Ignore(_)))
    }
}

/// Says whether a walk would reach paths below a root, one at a time. Ignore files are read once, until one of them
/// changes.
pub(crate) struct Territory {
    root: PathBuf,
    options: WalkOptions,
    /// Folders asked about so far, and whether a walk enters them.
    folders: BTreeMap<PathBuf, bool>,
}

impl Territory {
    /// Both `root` and what is asked about are absolute, without links.
    pub(crate) fn of(root: &Path, options: &WalkOptions) -> Self {
        Self { root: root.to_owned(), options: options.clone(), folders: BTreeMap::new() }
    }

    /// Returns whether a walk would reach `path`, or whether a change to it would affect others, as for an ignore file.
    /// The path need not exist any more.
    pub(crate) fn has(&mut self, path: &Path) -> bool {
        let Ok(below) = path.strip_prefix(&self.root) else { return false };
        let parts = below.components();
        let depth = parts.clone().count();
        let is_too_deep = self.options.depth_max.is_some_and(|most| depth > most);
        if is_too_deep || parts.clone().any(|part| !matches!(part, Component::Normal(_))) {
            return false;
        }
        let Some(folder) = path.parent().filter(|_| depth > 0) else { return true };
        let is_rule = IGNORE_FILES.iter().any(|name| path.file_name() == Some(name.as_ref()));
        if is_rule && !self.options.ignored {
            self.folders.clear();
        }
        let is_come_to = match self.folders.get(folder) {
            Some(is_come_to) => *is_come_to,
            None => self.look_into(folder),
        };
        is_come_to && (is_rule && !self.options.ignored || self.passes(path))
    }

    /// Returns whether a walk enters a folder below the root, or the root itself.
    fn look_into(&mut self, folder: &Path) -> bool {
        if self.folders.len() >= FOLDERS_MAX {
            self.folders.clear();
        }
        let is_come_to = folder == self.root || self.passes(folder) && is_folder(folder);
        self.folders.insert(folder.to_owned(), is_come_to);
        is_come_to
    }

    /// Returns whether no rule, from the root down, skips a path.
    fn passes(&self, path: &Path) -> bool {
        let Ok(mut rules) = Rules::of(&self.root, &self.options) else { return false };
        rules.pass_over_at(&self.root, 0, true);
        let Ok(below) = path.strip_prefix(&self.root) else { return false };
        let mut at = self.root.clone();
        below.components().zip(1..).all(|(part, depth)| {
            at.push(part);
            // A path that no longer exists may have been a folder.
            let is_folder = is_folder(&at) || at.symlink_metadata().is_err();
            !rules.pass_over_at(&at, depth, is_folder)
        })
    }
}

/// Returns whether a path is a folder, not a link to one.
fn is_folder(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|it| it.is_dir())
}

/// A folder is an index if it has the file of its records.
pub(super) fn is_index(path: &Path) -> bool {
    path.join("cairn.db").is_file()
}

/// Returns the rules of the folders above a root, up to the root of the repository that it is in, outermost first.
fn above(root: &Path) -> impl Iterator<Item = Gitignore> {
    let is_repository = |folder: &&Path| folder.join(".git").exists();
    let depth = root.ancestors().position(|folder| is_repository(&folder)).unwrap_or(0);
    let above: Vec<Gitignore> = root.ancestors().skip(1).take(depth).filter_map(ignored_in).collect();
    above.into_iter().rev()
}

/// Returns the rules in the ignore files of a folder. As in Git, a file that cannot be read has none.
fn ignored_in(folder: &Path) -> Option<Gitignore> {
    let mut rules = GitignoreBuilder::new(folder);
    let mut has_any = false;
    for name in IGNORE_FILES {
        let path = folder.join(name);
        // Not a link, nor a pipe, which would block.
        if !path.symlink_metadata().is_ok_and(|it| it.is_file()) {
            continue;
        }
        match text_file::bytes(&path, IGNORE_BYTES_MAX) {
            Ok(bytes) => {
                let bytes = bytes.strip_prefix(text_file::BYTE_ORDER_MARK).unwrap_or(&bytes);
                for line in String::from_utf8_lossy(bytes).lines() {
                    has_any |= rules.add_line(None, line).is_ok();
                }
            }
            Err(reason) => tracing::warn!(path = %path.display(), reason, "an ignore file is not read"),
        }
    }
    if has_any { rules.build().ok().filter(|rules| !rules.is_empty()) } else { None }
}

/// Returns a matcher of globs below a root; none if there are no globs.
fn globs(globs: &[String]) -> Result<Option<Gitignore>> {
    if globs.is_empty() {
        return Ok(None);
    }
    let mut builder = GitignoreBuilder::new("");
    for glob in globs {
        let wrong = |error: ignore::Error| Error::Option {
            option: "glob",
            value: glob.clone(),
            reason: format!("it cannot be read: {}", last_line(&error.to_string())),
        };
        builder.add_line(None, glob).map_err(wrong)?;
    }
    let wrong = |error: ignore::Error| Error::Option {
        option: "globs",
        value: globs.join(" "),
        reason: format!("they cannot be read: {}", last_line(&error.to_string())),
    };
    let built = builder.build().map_err(wrong)?;
    if built.is_empty() {
        return Err(Error::Option {
            option: "globs",
            value: globs.join(" "),
            reason: "they match nothing; a glob that begins with `#` is written `\\#`".to_owned(),
        });
    }
    Ok(Some(built))
}

fn last_line(text: &str) -> &str {
    text.lines().last().unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use walkdir::WalkDir;

    use super::*;

    /// Returns the files below `root` that are not skipped, and how many entries ignore files excluded.
    fn read(root: &Path, options: &WalkOptions) -> (Vec<String>, u64) {
        let mut rules = Rules::of(root, options).unwrap();
        let entries = WalkDir::new(root).sort_by_file_name().into_iter().filter_entry(|entry| !rules.pass_over(entry));
        let files = entries.map(|entry| entry.unwrap()).filter(|entry| entry.file_type().is_file());
        let name = |entry: DirEntry| entry.path().strip_prefix(root).unwrap().to_string_lossy().into_owned();
        (files.map(name).collect(), rules.ignored)
    }

    fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = folder.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        folder
    }

    #[test]
    fn ignore_files_leave_out_what_they_name_below_them_and_the_nearest_one_counts() {
        let folder = folder(&[
            (".gitignore", "*.log\nbuild/\n/top.txt\n"),
            ("a.txt", ""),
            ("a.log", ""),
            ("top.txt", ""),
            ("build/a.txt", ""),
            ("in/.gitignore", "!kept.log\n"),
            ("in/.ignore", "b.txt"),
            ("in/a.log", ""),
            ("in/b.txt", ""),
            ("in/kept.log", ""),
            ("in/top.txt", ""),
            ("other/b.txt", ""),
            ("other/kept.log", ""),
        ]);
        let (files, ignored) = read(folder.path(), &WalkOptions::default());
        assert_eq!(files, ["a.txt", "in/kept.log", "in/top.txt", "other/b.txt"]);
        // An excluded folder counts once.
        assert_eq!(ignored, 6);
        let all = WalkOptions { ignored: true, ..WalkOptions::default() };
        let (files, ignored) = read(folder.path(), &all);
        assert_eq!((files.len(), ignored), (10, 0));
        assert!(files.contains(&"build/a.txt".to_owned()), "{files:?}");
    }

    #[test]
    fn rules_above_a_root_count_up_to_its_repository_and_not_for_the_root_itself() {
        let folder = folder(&[
            (".gitignore", "*.txt"),
            ("repository/.git/config", ""),
            ("repository/.gitignore", "docs/\n*.log\n"),
            ("repository/docs/a.txt", ""),
            ("repository/docs/a.log", ""),
            ("apart/a.txt", ""),
        ]);
        let files = |root: &str| read(&folder.path().join(root), &WalkOptions::default()).0;
        assert_eq!(files("repository/docs"), ["a.txt"]);
        // It is not in a repository, so rules above it do not apply.
        assert_eq!(files("apart"), ["a.txt"]);
        assert_eq!(files("repository"), [""; 0]);
    }

    #[test]
    fn globs_hidden_files_and_depth_are_a_users_choice() {
        let folder = folder(&[
            ("a.md", ""),
            ("a.txt", ""),
            (".notes/a.md", ""),
            (".git/a.md", ""),
            ("drafts/a.md", ""),
            ("docs/drafts/a.md", ""),
            ("docs/b.rst", ""),
        ]);
        let read = |options: &WalkOptions| read(folder.path(), options).0;
        let some = |include: &[&str], exclude: &[&str]| {
            let owned = |globs: &[&str]| globs.iter().map(|it| (*it).to_owned()).collect();
            read(&WalkOptions { include: owned(include), exclude: owned(exclude), ..WalkOptions::default() })
        };
        assert_eq!(some(&["*.md"], &[]), ["a.md", "docs/drafts/a.md", "drafts/a.md"]);
        assert_eq!(some(&["*.md"], &["/drafts"]), ["a.md", "docs/drafts/a.md"]);
        assert_eq!(some(&["*.md"], &["drafts"]), ["a.md"]);
        assert_eq!(some(&["docs/**/*.md"], &[]), ["docs/drafts/a.md"]);
        assert_eq!(some(&["docs"], &[]), ["docs/b.rst", "docs/drafts/a.md"]);
        let hidden = WalkOptions { hidden: true, include: vec!["*.md".to_owned()], ..WalkOptions::default() };
        assert_eq!(read(&hidden), [".notes/a.md", "a.md", "docs/drafts/a.md", "drafts/a.md"]);
        let wrong = WalkOptions { exclude: vec!["{a".to_owned()], ..WalkOptions::default() };
        let error = Rules::of(folder.path(), &wrong).err().unwrap().to_string();
        assert!(error.contains("`{a`") && !error.contains('\n'), "{error}");
        let nothing = WalkOptions { include: vec!["#draft".to_owned()], ..WalkOptions::default() };
        assert!(Rules::of(folder.path(), &nothing).err().unwrap().to_string().contains("match nothing"));
    }

    #[test]
    fn what_a_walk_would_come_to_is_told_without_one() {
        let folder = folder(&[
            (".gitignore", "build/\n"),
            ("a.md", ""),
            ("a.txt", ""),
            ("build/a.md", ""),
            ("build/.gitignore", ""),
            (".cairn/cairn.db", ""),
            ("index/cairn.db", ""),
            ("in/a.md", ""),
            ("away/a.md", ""),
        ]);
        std::os::unix::fs::symlink(folder.path().join("away"), folder.path().join("in/link")).unwrap();
        let options = WalkOptions { include: vec!["*.md".to_owned()], depth_max: Some(3), ..WalkOptions::default() };
        let mut territory = Territory::of(folder.path(), &options);
        let has = |territory: &mut Territory, path: &str| territory.has(&folder.path().join(path));
        for path in ["", "a.md", "in", "in/a.md", "gone", "gone.md", ".gitignore", "in/.ignore"] {
            assert!(has(&mut territory, path), "{path}");
        }
        let passed_over = ["a.txt", "build", "build/a.md", "build/.gitignore", ".cairn/cairn.db", "index/versions"];
        for path in passed_over.into_iter().chain(["../a.md", "in/link/a.md", "in/b/c/d.md"]) {
            assert!(!has(&mut territory, path), "{path}");
        }
        // The rules of an ignore file are kept until the file changes.
        fs::write(folder.path().join(".gitignore"), "in/\n").unwrap();
        assert!(
            has(&mut territory, ".gitignore") && !has(&mut territory, "in/a.md") && has(&mut territory, "build/a.md")
        );
    }

    #[test]
    fn a_byte_order_mark_is_not_part_of_a_pattern() {
        let folder = folder(&[(".gitignore", "\u{feff}a.txt\n"), ("a.txt", ""), ("b.txt", "")]);
        assert_eq!(read(folder.path(), &WalkOptions::default()).0, ["b.txt"]);
    }

    #[test]
    fn an_ignore_file_that_is_a_pipe_too_large_or_no_pattern_leaves_out_nothing() {
        let folder = folder(&[("a.txt", ""), ("in/a.txt", ""), ("in/.ignore", "a[\n\u{0}\n{{{\n"), ("big/a.txt", "")]);
        let pipe = std::process::Command::new("mkfifo").arg(folder.path().join(".gitignore")).status();
        assert!(pipe.unwrap().success());
        fs::write(folder.path().join("big/.ignore"), "a.txt\n".repeat(1 << 18)).unwrap();
        assert_eq!(read(folder.path(), &WalkOptions::default()).0, ["a.txt", "big/a.txt", "in/a.txt"]);
    }
}
