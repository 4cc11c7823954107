//! Words about topics of a collection that is large enough for them to be kept.

use std::fs;
use std::sync::Arc;

use crate::domain::Document;
use crate::embed::StaticTable;
use crate::graph::hierarchy::HierarchyAge;
use crate::index::stages::tests::copy;
use crate::index::{IndexOptions, Sources, index};
use crate::skill::Performers;
use crate::workspace::tests::forge;
use crate::workspace::{Workspace, WorkspaceOptions};

fn name(number: usize) -> String {
    let letter = |at: u32| char::from(b'a' + (number / 26_usize.pow(at) % 26) as u8);
    format!("Q{}{}{} Mill", letter(0), letter(1), letter(2))
}

/// Returns a document about twelve mills. Each is in two documents, and near those of groups of ten documents.
fn document(number: usize) -> Document {
    let first = number / 10 * 60;
    let mill = |at: usize| name(first + (number % 10 * 6 + at) % 60);
    let near = (0..6).map(|at| format!("{} is near {}. ", mill(2 * at), mill(2 * at + 1)));
    Document::new(format!("mill-{number:03}"), None, near.collect::<String>())
}

#[test]
fn words_about_topics_are_kept_where_nothing_changed_and_equal_recomputed_ones() {
    let performers = Performers::with_embedder(Arc::new(StaticTable));
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let put = |workspace: &mut Workspace, documents: Vec<Document>| {
        let sources = Sources::documents(documents);
        runtime.block_on(index(workspace, &sources, &performers, &IndexOptions::default())).unwrap();
        workspace.last_version().unwrap().hierarchy().unwrap().to_packed()
    };
    let folder = tempfile::tempdir().unwrap();
    let [one, other] = ["one", "other"].map(|it| folder.path().join(it));
    let mut kept = Workspace::open_or_create(&one, &WorkspaceOptions::of(&performers)).unwrap();
    put(&mut kept, (0..350).map(document).collect());
    copy(&one, &other);
    let mut recomputed = Workspace::open(&other).unwrap();
    // It comes first, and so moves all others; it is in another group.
    let new = Document::new("a", Some("Old Weir".to_owned()), format!("It is near {}.", name(700)));
    // Without what names stood for, nothing that was said is kept.
    let resolution = other.join("versions/1/resolution.bin");
    fs::write(&resolution, fs::read(&resolution).unwrap().iter().map(|byte| byte ^ 1).collect::<Vec<u8>>()).unwrap();
    let [one, other] = [&mut kept, &mut recomputed].map(|it| put(it, vec![new.clone()]));
    assert!(one == other && HierarchyAge::of(&one.view()).unwrap().versions == 1, "{:?}", one.made);

    forge(&kept, ("hierarchy.bin", "community.titles"), |bytes| bytes.fill(b'#'));
    let again = Document::new("b", Some("New Weir".to_owned()), format!("It is near {}.", name(1_400)));
    let made = put(&mut kept, vec![again]);
    let hierarchy = made.view();
    let taken = hierarchy.communities().filter(|it| hierarchy.title(*it).starts_with('#')).count();
    let all = hierarchy.communities().len();
    assert!(taken > all * 3 / 4 && taken < all, "{taken} of {all}");
}
