//! `cairn path`.

use std::fmt::Write as _;
use std::sync::Arc;

use super::args::PathArgs;
use super::{Done, Surroundings, show};
use crate::domain::{
    Direction, GraphPath, PathEnd, PathNode, PathOptions, PathSentence, PathStep, PathsBy, PathsFound,
};
use crate::error::Result;
use crate::neo4j::Questions;
use crate::query::{self, Source};
use crate::text::{counted, one_line};

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
    let drawn = distinct(&found.paths);
    for (path, number) in drawn.iter().zip(1..) {
        let steps = counted(path.path.steps.len(), "step");
        let new = if number == 1 || path.new.is_empty() {
            String::new()
        } else {
            format!(", through {}", path.new.join(", "))
        };
        screen.line(format!("{number:>2}. {steps}{new}"))?;
        screen.wrapped(&path.text, INDENT)?;
        for said in path.path.steps.iter().filter_map(sentence) {
            screen.wrapped(&format!("{} [{}]", one_line(&said.quote), said.location), 2 * INDENT)?;
        }
        if !path.alike.is_empty() {
            let (count, others) = (path.alike.len(), path.other_passages().join(", "));
            screen.wrapped(&format!("and {count} more like it, through other passages of {others}"), INDENT)?;
        }
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
        // What Neo4j does not walk itself is walked in memory, also for one question.
        let questions = if options.by == PathsBy::All { Questions::Many } else { Questions::One };
        Source::Asked(Arc::new(surroundings.setup.graph(&database, questions).await?))
    } else {
        let workspace = surroundings.workspace(surroundings.index(args.place.index.clone()))?;
        Source::Whole(Arc::new(workspace.snapshot()?))
    };
    query::paths(&source, from, to, options).await
}

/// A path for display, which represents all that look the same.
struct Drawn<'a> {
    path: &'a GraphPath,
    text: String,
    /// What it passes through and no path before it does.
    new: Vec<String>,
    /// Paths that look the same, and pass through other passages of the same names.
    alike: Vec<&'a GraphPath>,
}

impl Drawn<'_> {
    /// Returns the names of the passages that differ in another path.
    fn other_passages(&self) -> Vec<String> {
        let differs =
            |place: &usize| self.alike.iter().any(|other| other.nodes.get(*place) != self.path.nodes.get(*place));
        let mut names: Vec<String> =
            (0..self.path.nodes.len()).filter(differs).map(|it| name(&self.path.nodes[it])).collect();
        names.dedup();
        names
    }
}

/// Returns paths that all look different, in order.
fn distinct(paths: &[GraphPath]) -> Vec<Drawn<'_>> {
    let mut all: Vec<Drawn<'_>> = Vec::new();
    let mut known: Vec<String> = Vec::new();
    for path in paths {
        let text = drawn(path);
        if let Some(before) = all.iter_mut().find(|before| before.text == text) {
            before.alike.push(path);
            continue;
        }
        let mut new: Vec<String> = path.nodes.iter().map(name).filter(|name| !known.contains(name)).collect();
        new.dedup();
        known.extend(new.iter().cloned());
        all.push(Drawn { path, text, new, alike: Vec::new() });
    }
    all
}

/// Returns a path from node to node: `[anna holt] —mentioned in→ A ←When was A born?— B`. An arrow points where the
/// edge leads; an entity stands in brackets.
fn drawn(path: &GraphPath) -> String {
    let mut drawn = path.nodes.first().map_or_else(String::new, name);
    for (step, node) in path.steps.iter().zip(path.nodes.iter().skip(1)) {
        let (direction, said) = match step {
            PathStep::QuestionEdge { direction, question } => (Some(direction), question.as_str()),
            PathStep::Mention { direction, .. } => (Some(direction), "mentioned in"),
            PathStep::PartOf { direction } => (Some(direction), "part of"),
            PathStep::RelatesTo { .. } => (None, "relates to"),
        };
        let name = name(node);
        // Writing to a string cannot fail.
        let _written = match direction {
            Some(Direction::Forward) => write!(drawn, " —{said}→ {name}"),
            Some(Direction::Backward) => write!(drawn, " ←{said}— {name}"),
            None => write!(drawn, " —{said}— {name}"),
        };
    }
    drawn
}

/// Returns the sentence that states a relation.
fn sentence(step: &PathStep) -> Option<&PathSentence> {
    if let PathStep::RelatesTo { sentence } = step { sentence.as_ref() } else { None }
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
    fn ways_that_look_alike_are_one_and_others_say_what_is_new() {
        let passage = |id: u8, name: &str| PathNode::Passage {
            id: PassageId::of(&[&[id]]),
            name: name.to_owned(),
            section: None,
        };
        let path = |over: PathNode| GraphPath {
            nodes: vec![passage(0, "A"), over, passage(9, "B")],
            steps: vec![
                PathStep::QuestionEdge { direction: Direction::Forward, question: "Why?".to_owned() },
                PathStep::QuestionEdge { direction: Direction::Forward, question: "How?".to_owned() },
            ],
        };
        let paths = [path(passage(1, "Mill")), path(passage(2, "Mill")), path(passage(3, "Tower"))];
        let shown = distinct(&paths);
        assert_eq!(shown.iter().map(|path| path.alike.len()).collect::<Vec<_>>(), [1, 0]);
        assert_eq!(shown[0].other_passages(), ["Mill"]);
        assert_eq!(shown[1].new, ["Tower"]);
    }

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
