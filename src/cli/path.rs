//! `cairn path`.

use std::fmt::Write as _;
use std::sync::Arc;

use super::args::PathArgs;
use super::{Done, Surroundings, show};
use crate::domain::{Direction, GraphPath, PathEnd, PathNode, PathOptions, PathStep, PathsFound};
use crate::error::Result;
use crate::query::{self, Source};
use crate::text::counted;

/// Columns before a path.
const INDENT: usize = 4;

/// Runs `cairn path`.
pub(super) async fn run(args: &PathArgs, surroundings: &Surroundings) -> Done {
    let options = PathOptions {
        paths: args.paths,
        length_max: args.length_max,
        by: args.by.parse()?,
        documents_max: args.documents_max,
    };
    let ends: [PathEnd; 2] = [args.from.parse()?, args.to.parse()?];
    options.check([&ends[0], &ends[1]])?;
    let found = find(args, &ends, &options, surroundings).await?;
    if args.place.json {
        return surroundings.print_json(&found);
    }
    let screen = &surroundings.screen;
    for (path, number) in found.paths.iter().zip(1..) {
        screen.line(format!("{number:>2}. {}", counted(path.steps.len(), "step")))?;
        screen.wrapped(&drawn(path), INDENT)?;
    }
    if found.paths.is_empty() {
        screen.note(format!("no path of {} or fewer", counted(found.length_max, "step")));
    }
    Ok(())
}

async fn find(
    args: &PathArgs,
    [from, to]: &[PathEnd; 2],
    options: &PathOptions,
    surroundings: &Surroundings,
) -> Result<PathsFound> {
    // A database that is only set is for publishing, as for a search.
    let source = if let Some(database) = args.graph.named() {
        Source::Asked(Arc::new(surroundings.setup.graph(&database).await?))
    } else {
        let workspace = surroundings.workspace(surroundings.index(args.place.index.clone()))?;
        Source::Whole(Arc::new(workspace.snapshot()?))
    };
    query::paths(&source, from, to, options).await
}

/// Returns a path from node to node: `[anna holt] —mentioned in→ A ←When was A born?— B`. An arrow points where the
/// edge leads; an entity stands in brackets.
fn drawn(path: &GraphPath) -> String {
    let mut drawn = path.nodes.first().map_or_else(String::new, name);
    for (step, node) in path.steps.iter().zip(path.nodes.iter().skip(1)) {
        let (direction, said) = match step {
            PathStep::QuestionEdge { direction, question } => (direction, question.as_str()),
            PathStep::Mention { direction, .. } => (direction, "mentioned in"),
            PathStep::PartOf { direction } => (direction, "part of"),
        };
        let name = name(node);
        // Writing to a string cannot fail.
        let _written = match direction {
            Direction::Forward => write!(drawn, " —{said}→ {name}"),
            Direction::Backward => write!(drawn, " ←{said}— {name}"),
        };
    }
    drawn
}

fn name(node: &PathNode) -> String {
    match node {
        PathNode::Passage { name, section, .. } => show::titled(name, section.as_deref()),
        PathNode::Entity { name, .. } => format!("[{name}]"),
        PathNode::Document { name, .. } => format!("{name} (document)"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{DocumentId, EntityId, PassageId};

    #[test]
    fn arrows_point_where_edges_lead() {
        let passage = |name: &str, section: &str| PathNode::Passage {
            id: PassageId::of(&[name.as_bytes()]),
            name: name.to_owned(),
            section: Some(section.to_owned()).filter(|it| !it.is_empty()),
        };
        let path = GraphPath {
            nodes: vec![
                PathNode::Document { id: DocumentId::of(&[b"Town"]), name: "Town".to_owned() },
                passage("Town", "Town › Port"),
                passage("Mill", ""),
                PathNode::Entity { id: EntityId::of(&[b"anna"]), name: "anna".to_owned() },
            ],
            steps: vec![
                PathStep::PartOf { direction: Direction::Backward },
                PathStep::QuestionEdge { direction: Direction::Forward, question: "Who built it?".to_owned() },
                PathStep::Mention { direction: Direction::Backward, entity: "anna".to_owned() },
            ],
        };
        let due = "Town (document) ←part of— Town › Port —Who built it?→ Mill ←mentioned in— [anna]";
        assert_eq!(drawn(&path), due);
    }
}
