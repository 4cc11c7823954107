//! The documentation names every flag of the program, and no others.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use crate::support::Cli;

/// Flags of other programs that pages name.
const OF_OTHERS: [&str; 11] = [
    "--bench",
    "--converter",
    "--embeddings",
    "--features",
    "--lib",
    "--no-default-features",
    "--open",
    "--path",
    "--pooling",
    "--release",
    "--resolve-image-digests",
];
/// Flags that every program has, and flags that pages only name by their short form.
const SHORT: [&str; 3] = ["--help", "--verbose", "--version"];

/// Returns the long flags in `text` that follow one of the characters in `before`.
fn flags(text: &str, before: &[char]) -> BTreeSet<String> {
    let is_part = |char: char| char.is_ascii_lowercase() || char.is_ascii_digit() || char == '-';
    let flag = |(at, _): (usize, &str)| {
        let is_flag = text[..at].chars().next_back().is_none_or(|char| before.contains(&char));
        let rest = &text[at..];
        let flag = &rest[..rest.find(|char| !is_part(char)).unwrap_or(rest.len())];
        (is_flag && flag.len() > 2 && !flag[2..].starts_with('-')).then(|| flag.to_owned())
    };
    text.match_indices("--").filter_map(flag).collect()
}

/// Returns the flags of a command and of all its subcommands, as their help lists them.
fn flags_of(cli: &Cli, command: &[&str]) -> BTreeSet<String> {
    let help = cli.run([command, &["--help"]].concat()).succeeded().stdout;
    let (above, options) = help.split_once("\nOptions:").unwrap_or((&help, ""));
    let listed = |line: &&str| line.trim_start().starts_with('-');
    let mut found = flags(&options.lines().filter(listed).collect::<Vec<_>>().join("\n"), &[' ']);
    let commands = above.split_once("\nCommands:\n").map_or("", |(_, commands)| commands);
    for name in commands.lines().filter_map(|line| line.strip_prefix("  ")?.split(' ').next()) {
        if !name.is_empty() && name != "help" {
            found.extend(flags_of(cli, &[command, &[name]].concat()));
        }
    }
    found
}

#[test]
fn the_documentation_names_the_flags_of_the_program_and_no_others() {
    assert_eq!(flags("`--a b` --c-d, a--e ---f --", &[' ', '`']), BTreeSet::from(["--a", "--c-d"].map(str::to_owned)));

    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let pages = fs::read_dir(root.join("docs")).unwrap().map(|entry| entry.unwrap().path());
    let pages = pages.filter(|path| path.extension().is_some_and(|extension| extension == "md"));
    let named: BTreeSet<String> = pages
        .chain([root.join("README.md")])
        .flat_map(|page| flags(&fs::read_to_string(page).unwrap(), &[' ', '`', '\n', '[', '/']))
        .collect();
    let there = flags_of(&Cli::new(), &[]);
    assert!(there.len() > 60 && there.contains("--budget") && there.contains("--simulate"), "{there:?}");

    let known = |flag: &&String| !OF_OTHERS.contains(&flag.as_str()) && !SHORT.contains(&flag.as_str());
    let unknown: Vec<&String> = named.difference(&there).filter(known).collect();
    let unsaid: Vec<&String> = there.difference(&named).filter(known).collect();
    assert!(unknown.is_empty(), "the program has no {unknown:?}, which the documentation names");
    assert!(unsaid.is_empty(), "the documentation does not name {unsaid:?}");
}
