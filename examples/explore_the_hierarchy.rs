//! The topics of a collection, one of its entities, and the layers of clusters above the entities. Rules find all of it
//! when the collection is indexed; no model is called.
//!
//! ```sh
//! cargo run --example explore_the_hierarchy
//! ```

use cairn::domain::TopicOptions;
use cairn::query::{EntityIndex, topics};
use cairn::store::GraphReader as _;
use cairn::{IndexOptions, Performers, Sources, Workspace, WorkspaceOptions};

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let performers = Performers::built_in();
    let folder = tempfile::tempdir()?;
    let mut workspace = Workspace::open_or_create(folder.path(), &WorkspaceOptions::of(&performers))?;
    let harbor = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/harbor");
    cairn::index(&mut workspace, &Sources::folder(harbor), &performers, &IndexOptions::default()).await?;
    let snapshot = workspace.snapshot()?;

    // # Topics
    //
    // Communities of entities that are mentioned together, the largest first, each with sentences about it.
    let found = topics(&snapshot, &TopicOptions::default())?;
    for topic in &found.topics {
        let finding = topic.findings.first().map_or("", |it| it.quote.as_str());
        println!("{} ({} entities): {finding}", topic.title, topic.entities);
    }
    assert!(found.topics.iter().all(|topic| topic.entities >= 3));

    // # An entity
    //
    // Its names, relations and topics.
    let entities = EntityIndex::of(&snapshot);
    let shown = entities.show("Joachim Varnholt")?;
    for related in &shown.entities[0].relations {
        println!("Joachim Varnholt – {} ({:.1})", related.name, related.weight);
    }

    // # Layers
    //
    // Soft clusters of entities of similar meaning, and clusters of these: by ordinal, as the version stores them.
    let hierarchy = snapshot.hierarchy().ok_or("a version without a hierarchy")?;
    for summary in hierarchy.summaries() {
        let (layer, members) = (hierarchy.summary_layer[summary], hierarchy.summarized(summary).count());
        println!("layer {layer}: {} ({members} members)", hierarchy.summary_name(summary));
    }
    println!("{} relations between entities", hierarchy.relations().count());
    Ok(())
}
