//! Every part of an index, missing, cut or changed: a clear error, never a panic, never another answer.

use super::*;
use crate::error::ErrorKind;

/// Returns every file of the current version.
fn files(path: &Path) -> Vec<PathBuf> {
    let walk = walkdir::WalkDir::new(version_folder(path, IndexVersion(1))).sort_by_file_name();
    let files: Vec<PathBuf> = walk
        .into_iter()
        .map(Result::unwrap)
        .filter(|it| it.file_type().is_file())
        .map(walkdir::DirEntry::into_path)
        .collect();
    assert!(files.len() > 10, "{files:?}");
    files
}

/// Returns what a check of the index reports about its files.
fn damaged_files(workspace: &Workspace) -> Vec<String> {
    let checks = workspace.check().unwrap().checks;
    checks.into_iter().find(|it| it.check == "files").unwrap().examples
}

/// Checks that damage to the file at `path` is found by a check of all files.
fn check_is_listed(workspace: &Workspace, path: &Path) {
    let found = damaged_files(workspace);
    assert!(matches!(found.as_slice(), [it] if it.contains(path.to_str().unwrap())), "{found:?}");
}

fn check_is_corrupt(workspace: &Workspace, what: &str, file: &Path) {
    let error = workspace.snapshot().map(|_| ()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Corrupt, "{what}: {}: {error}", file.display());
}

#[test]
fn a_file_missing_cut_or_changed_is_corrupt() {
    let folder = tempfile::tempdir().unwrap();
    let workspace = indexed(folder.path());
    for file in files(folder.path()) {
        let whole = std::fs::read(&file).unwrap();
        std::fs::remove_file(&file).unwrap();
        check_is_corrupt(&workspace, "missing", &file);
        for length in [0, whole.len() / 2, whole.len() - 1] {
            std::fs::write(&file, &whole[..length]).unwrap();
            check_is_corrupt(&workspace, "cut", &file);
        }
        for at in [0, whole.len() / 3, whole.len() / 2, whole.len() - 1] {
            let mut changed = whole.clone();
            changed[at] ^= 1;
            std::fs::write(&file, &changed).unwrap();
            check_is_corrupt(&workspace, "changed", &file);
            check_is_listed(&workspace, &file);
        }
        std::fs::write(&file, &whole).unwrap();
    }
    assert!(workspace.snapshot().is_ok() && damaged_files(&workspace).is_empty());
    std::fs::remove_dir_all(folder.path().join(VERSIONS)).unwrap();
    check_is_corrupt(&workspace, "missing", &folder.path().join(VERSIONS));
}

/// Records may come with somebody else's index: names in them must not lead out of its folder.
#[test]
fn records_that_name_a_file_elsewhere_open_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let workspace = indexed(folder.path());
    let secret = folder.path().join("secret");
    std::fs::write(&secret, "hush").unwrap();
    let row = workspace.records().unwrap().current_version().unwrap().unwrap();
    let version = version_folder(folder.path(), row.version);
    for name in [secret.to_str().unwrap(), "../../secret", "text/../../../secret", "notes.txt"] {
        let mut row = row.clone();
        row.files[0].path = name.to_owned();
        row.files[0].stamp = stamp::Stamp::of(&secret).unwrap();
        let error = Snapshot::open(&version, &row, FileAccess::Auto).map(drop).unwrap_err();
        assert!(error.to_string().contains("what cannot be"), "{name}: {error}");
    }
}

#[test]
fn a_begun_version_is_cleared_even_if_the_records_do_not_say_which_are_in_use() {
    let folder = tempfile::tempdir().unwrap();
    let workspace = indexed(folder.path());
    let records = rusqlite::Connection::open(folder.path().join(RECORDS)).unwrap();
    assert_eq!(records.execute("UPDATE versions SET files = files || ' '", []).unwrap(), 1);
    drop(records);
    let mut writer = workspace.writer().unwrap();
    assert_eq!(writer.records().kept_versions().unwrap_err().kind(), ErrorKind::Corrupt);
    drop(begin_empty(&mut writer));
    drop(writer);
    let mut writer = workspace.writer().unwrap();
    assert!(version_folder(folder.path(), IndexVersion(1)).exists());
    drop(begin_empty(&mut writer));
    assert_eq!(publish(&mut writer), IndexVersion(2));
    workspace.snapshot().unwrap().check().unwrap();
}

#[test]
fn a_version_that_was_damaged_is_made_again_from_the_records() {
    let folder = tempfile::tempdir().unwrap();
    let workspace = indexed(folder.path());
    let before = read_whole(&workspace.snapshot().unwrap());
    std::fs::remove_dir_all(folder.path().join(VERSIONS)).unwrap();
    let mut writer = workspace.writer().unwrap();
    assert_eq!(publish(&mut writer), IndexVersion(2));
    assert_eq!(read_whole(&workspace.snapshot().unwrap())[1..], before[1..]);
}

/// Records with any change either read as before, or give an error.
#[test]
fn records_cut_or_changed_never_panic() {
    let folder = tempfile::tempdir().unwrap();
    let workspace = indexed(folder.path());
    let path = folder.path().join(RECORDS);
    let whole = std::fs::read(&path).unwrap();
    let read = || {
        let workspace = Workspace::open(folder.path())?;
        workspace.status()?;
        workspace.records()?.for_each_document_unit(&mut |_| Ok(()))?;
        workspace.records()?.documents()?;
        workspace.snapshot().map(drop)
    };
    assert!(read().is_ok());
    for length in [0, 1, 99, 4096, whole.len() / 2] {
        std::fs::write(&path, &whole[..length]).unwrap();
        assert_eq!(read().unwrap_err().kind(), ErrorKind::Corrupt, "cut to {length}");
    }
    let mut error_count = 0;
    for at in (0..whole.len()).step_by(211).chain(0..100) {
        let mut changed = whole.clone();
        changed[at] ^= 0xff;
        std::fs::write(&path, &changed).unwrap();
        if let Err(error) = read() {
            assert!(matches!(error.kind(), ErrorKind::Corrupt | ErrorKind::Incompatible), "{at}: {error:?}");
            error_count += 1;
        }
    }
    assert!(error_count > 0);
    std::fs::remove_file(&path).unwrap();
    assert_eq!(Workspace::open(folder.path()).unwrap_err().kind(), ErrorKind::Corrupt);
    drop(workspace);
    // Only derived files are left: a new index may be created there.
    assert!(Workspace::open_or_create(folder.path(), &options()).is_ok());
}

#[test]
fn a_graph_with_a_dangling_reference_does_not_open() {
    type Change = fn(&mut PackedGraph);
    let changes: [(&str, Change); 12] = [
        ("document.passages", |it| it.document_passages[1] = 9),
        ("passage.document", |it| it.passage_document[0].0 = 2),
        ("passage.length", |it| it.passage_length.truncate(1)),
        ("entity.name-ends", |it| it.entity_name_ends[0] = 4),
        ("entity.name-ends", |it| it.entity_names[4] = b'x'),
        ("mention.cues", |it| it.mention_cues[0].0 = 1),
        ("mention.entity", |it| it.mention_entity[0].0 = 1),
        ("passage.mentions", |it| it.passage_mentions.clear()),
        ("edge.target", |it| it.edge_target[0].0 = 3),
        ("edge.outgoing", |it| it.edge_outgoing[0].0 = 3),
        ("edge.keywords", |it| it.edge_keywords[1] = 4),
        ("outgoing.keyword", |it| it.outgoing_keyword[2].0 = 9),
    ];
    assert_eq!(graph_of(&[2, 1]).view().check(3), Ok(()));
    for (name, change) in changes {
        let mut graph = graph_of(&[2, 1]);
        change(&mut graph);
        let broken = graph.view().check(3).unwrap_err();
        assert_eq!(broken.0, name, "{broken:?}");
    }
    assert!(graph_of(&[2, 1]).view().check(2).is_err());
}

#[test]
fn no_array_of_a_graph_can_be_cut() {
    let graph = graph_of(&[2, 1]);
    let sections = graph.sections();
    for (cut, bytes) in &sections {
        let item = if bytes.len() % 4 == 0 { 4 } else { 1 };
        let section = |name: &str| {
            let (_, bytes) = sections.iter().find(|(it, _)| *it == name)?;
            Some(if name == *cut { &bytes[..bytes.len() - item] } else { bytes })
        };
        let graph = PassageGraph::from_sections(section).unwrap();
        assert!(graph.check(3).is_err(), "{cut}");
    }
}

/// Checksums do not protect against somebody who can compute them.
#[test]
fn a_value_that_is_not_a_number_is_found_by_a_check_and_by_a_search() {
    let folder = tempfile::tempdir().unwrap();
    let workspace = indexed(folder.path());
    let mut writer = workspace.writer().unwrap();
    publish_with(&mut writer, &|_, vectors| vectors.push_bytes(&[0, 0, 0xc0, 0x7f, 1, 2, 3, 4]));
    drop(writer);
    assert!(workspace.snapshot().unwrap().vectors(VectorField::Passage).is_err());
    let checks = workspace.check().unwrap().checks;
    assert!(checks.iter().any(|it| it.check == "structure" && it.offenders > 0), "{checks:?}");
}

#[test]
fn damage_to_a_file_leaves_the_parts_of_other_files_to_the_next_version() {
    let folder = tempfile::tempdir().unwrap();
    let workspace = indexed(folder.path());
    let parts = || {
        let last = workspace.last_version().unwrap();
        let vectors = last.vectors(VectorField::Sentence).is_some();
        [
            last.graph().is_some(),
            last.hierarchy().is_some(),
            last.resolution().is_some(),
            vectors,
            last.terms().is_some(),
        ]
    };
    assert_eq!(parts(), [true; 5]);
    for file in files(folder.path()) {
        let whole = std::fs::read(&file).unwrap();
        for at in [0, whole.len() / 2, whole.len() - 1] {
            let mut changed = whole.clone();
            changed[at] ^= 1;
            std::fs::write(&file, &changed).unwrap();
            let name = file.file_name().unwrap().to_str().unwrap();
            let is_flat = [GRAPH, HIERARCHY, RESOLUTION, TEXTS, VECTORS].contains(&name);
            let hierarchy = ![GRAPH, HIERARCHY].contains(&name);
            let resolution = ![GRAPH, RESOLUTION].contains(&name);
            assert_eq!(parts(), [name != GRAPH, hierarchy, resolution, name != VECTORS, is_flat], "{name}");
        }
        std::fs::remove_file(&file).unwrap();
        assert!(parts().contains(&false) || file.ends_with(TEXTS));
        std::fs::write(&file, &whole).unwrap();
    }
    assert_eq!(parts(), [true; 5]);
    std::fs::remove_dir_all(folder.path().join(VERSIONS).join("1/text")).unwrap();
    assert!(workspace.last_version().is_none(), "a folder that is not there may be a link next");
}
