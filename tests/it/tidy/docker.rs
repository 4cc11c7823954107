//! The image is built from the files that its Dockerfile copies; this checks without a container engine that they are
//! enough.

use std::fs;
use std::path::{Component, Path, PathBuf};

use super::source::{Source, root, rust_files};

/// The files that a Dockerfile copies from the repository for a build, and the empty files that it creates.
struct Taken {
    copied: Vec<String>,
    made: Vec<String>,
}

impl Taken {
    fn of(dockerfile: &str) -> Self {
        let whole = dockerfile.replace("\\\n", " ");
        let mut taken = Self { copied: Vec::new(), made: Vec::new() };
        for line in whole.lines() {
            let words: Vec<&str> = line.split_whitespace().collect();
            match words[..] {
                ["COPY", first, .., _] if first.starts_with("--") => {}
                ["COPY", .., _] => {
                    taken.copied.extend(words[1..words.len() - 1].iter().map(|it| (*it).to_owned()));
                }
                ["RUN", ..] => {
                    let touched = words.iter().skip_while(|it| **it != "touch").skip(1).take_while(|it| **it != "&&");
                    taken.made.extend(touched.map(|it| (*it).to_owned()));
                }
                _ => {}
            }
        }
        taken
    }

    fn has(&self, path: &Path) -> bool {
        self.copied.iter().any(|it| path.starts_with(it)) || self.made.iter().any(|it| path == Path::new(it))
    }
}

/// Returns the files, or folders of files, that are included when a source is compiled.
fn included(source: &Source) -> Vec<PathBuf> {
    let calls = ["include_str!(", "include_bytes!("].into_iter().flat_map(|call| source.code.match_indices(call));
    let path = |(at, _): (usize, &str)| {
        let mut literals = source.text[at..].split('"').skip(1).step_by(2);
        let (mut literal, mut path) = (literals.next()?, Path::new(&source.path).parent()?.to_owned());
        if literal == "CARGO_MANIFEST_DIR" {
            (literal, path) = (literals.next()?.trim_start_matches('/'), PathBuf::new());
        }
        for part in Path::new(literal).components() {
            match part {
                Component::ParentDir => drop(path.pop()),
                part => path.push(part),
            }
        }
        Some(path)
    };
    calls.filter_map(path).collect()
}

/// Returns the files that a manifest names as targets.
fn named(manifest: &str) -> Vec<PathBuf> {
    let value = |line: &str, key: &str| Some(line.strip_prefix(key)?.trim_matches('"').to_owned());
    let mut paths: Vec<PathBuf> = manifest.lines().filter_map(|it| value(it, "path = ")).map(PathBuf::from).collect();
    for part in manifest.split("[[bench]]\n").skip(1) {
        paths.extend(value(part.lines().next().unwrap(), "name = ").map(|name| format!("benches/{name}.rs").into()));
    }
    paths
}

#[test]
fn the_dockerfile_copies_what_is_there_and_all_that_a_build_takes() {
    let taken = Taken::of("COPY a b/c ./\nRUN x && touch d/e.rs \\\n  && y\nCOPY --from=build /f /f\n");
    assert_eq!(
        (taken.copied.as_slice(), taken.made.as_slice()),
        (&["a", "b/c"].map(String::from)[..], &["d/e.rs".to_owned()][..])
    );
    assert!(taken.has(Path::new("b/c/x")) && taken.has(Path::new("d/e.rs")) && !taken.has(Path::new("b/x")));
    let text =
        "// include_str!(\"no\")\nfn f() { include_str!(concat!(\"../../g/\", $name)); include_bytes!(\"h.bin\") }";
    assert_eq!(included(&Source::new("src/i/j.rs", text)), [Path::new("g"), Path::new("src/i/h.bin")]);
    let text = "const A: &str = include_str!(concat!(env!(\"CARGO_MANIFEST_DIR\"), \"/g/\", $name));";
    assert_eq!(included(&Source::new("src/i/j.rs", text)), [Path::new("g")]);
    assert_eq!(named("[[bench]]\nname = \"k\"\n[lib]\npath = \"l\"\n"), [Path::new("l"), Path::new("benches/k.rs")]);

    let read = |path: &str| fs::read_to_string(root().join(path)).unwrap();
    let taken = Taken::of(&read("docker/Dockerfile"));
    let missing: Vec<&String> =
        taken.copied.iter().chain(&taken.made).filter(|path| !root().join(path).exists()).collect();
    assert!(missing.is_empty(), "the Dockerfile takes what is not there: {missing:?}");

    let sources = rust_files(&["src"]);
    let needed: Vec<PathBuf> = sources.iter().flat_map(included).chain(named(&read("Cargo.toml"))).collect();
    assert!(needed.contains(&PathBuf::from("cypher")) && needed.len() > 20, "{needed:?}");
    let left_out: Vec<PathBuf> = needed.into_iter().filter(|path| !taken.has(path)).collect();
    assert!(left_out.is_empty(), "the Dockerfile does not copy what the build needs: {left_out:?}");
}
