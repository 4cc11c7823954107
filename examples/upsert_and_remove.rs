//! Documents of a program: add, replace and remove them by id, search by metadata, and use passages in your own prompt.
//!
//! ```sh
//! cargo run --example upsert_and_remove
//! ```

use cairn::{
    Document, DocumentBatch, Filter, IndexOptions, Performers, QueryEngine, SearchOptions, Workspace, WorkspaceOptions,
};

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let performers = Performers::built_in();
    let options = IndexOptions::default();
    let folder = tempfile::tempdir()?;
    let mut workspace = Workspace::open_or_create(folder.path(), &WorkspaceOptions::of(&performers))?;

    // # Add
    //
    // The caller chooses ids: the key of a row, the address of a page. Documents are added to the existing ones and
    // stay until they are removed by id: a run over a folder does not touch them.
    let mill = note("mill", "Harl Mill", "Harl Mill was built by Anna Roe in 1802. It stands by the Harl.", "public");
    let anna = note("anna", "Anna Roe", "Anna Roe was a millwright. She was born in Weststead.", "public");
    let rent = note("rent", "Rents of Harl Mill", "Harl Mill pays forty crowns a year.", "private");
    let first = cairn::add(&mut workspace, [mill, anna, rent], &performers, &options).await?;
    assert_eq!(first.documents.added, 3);

    // # Replace
    //
    // The same id with another text replaces the document and everything made from it; nothing else is touched.
    let anna = note("anna", "Anna Roe", "Anna Roe was a millwright. She was born in Eaststead.", "public");
    let second = cairn::add(&mut workspace, [anna], &performers, &options).await?;
    assert_eq!((second.documents.changed, second.counts.documents), (1, 3));

    // # Search what a user may see
    //
    // A document that a filter does not admit is neither shown nor walked through.
    let engine = QueryEngine::open(&workspace, performers.clone())?;
    let public = SearchOptions { filters: vec![Filter::parse("access=public")?], ..SearchOptions::default() };
    let found = engine.search("Where was the builder of Harl Mill born?", &public).await?;
    assert!(found.hits.iter().all(|hit| hit.metadata["access"] == "public"));

    // # Context for your own prompt
    //
    // Whole passages, numbered, best first, as many as fit.
    let context = found.context(2_000);
    println!("{context}");
    assert!(context.contains("Eaststead"), "{context}");

    // # Remove
    //
    // An open engine keeps reading its version; one opened now reads the new one.
    let third = cairn::remove(&mut workspace, &["mill"], &performers, &options).await?;
    assert_eq!((third.documents.removed, third.counts.documents), (1, 2));
    assert_eq!(engine.counts().documents, 3);
    assert_eq!(QueryEngine::open(&workspace, performers.clone())?.counts().documents, 2);

    // # Change many at once
    //
    // Each call makes a version of the whole index; a batch makes one for all of its changes.
    let mut batch = DocumentBatch::new();
    batch.add(note("quay", "Wren Quay", "Wren Quay was built by Anna Roe.", "public"));
    batch.remove("rent");
    let fourth = batch.commit(&mut workspace, &performers, &options).await?;
    assert_eq!((fourth.documents.added, fourth.documents.removed, fourth.counts.documents), (1, 1, 2));
    Ok(())
}

fn note(id: &str, title: &str, text: &str, access: &str) -> Document {
    let mut document = Document::new(id, Some(title.to_owned()), text);
    document.metadata.insert("access".to_owned(), access.to_owned());
    document
}
