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
        screen.line(format!("{number:>2}. {steps}{}", path.differs))?;
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
    /// How it differs from the paths before it; empty for the first.
    differs: String,
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
    for path in paths {
        let text = drawn(path);
        if let Some(before) = all.iter_mut().find(|before| before.text == text) {
            before.alike.push(path);
            continue;
        }
        let differs = differs(path, &all);
        all.push(Drawn { path, text, differs, alike: Vec::new() });
    }
    all
}

/// Says what a path passes through and no path before it does; or which nodes another edge joins, where one before it
/// passes through the same; or else all that it passes through.
fn differs(path: &GraphPath, before: &[Drawn<'_>]) -> String {
    if before.is_empty() {
        return String::new();
    }
    let names = |path: &GraphPath| path.nodes.iter().map(name).collect::<Vec<_>>();
    let (own, known) = (names(path), before.iter().map(|it| names(it.path)).collect::<Vec<_>>());
    let all = known.concat();
    let mut new: Vec<&str> = own.iter().filter(|it| !all.contains(it)).map(String::as_str).collect();
    new.dedup();
    if !new.is_empty() {
        return format!(", through {}", new.join(", "));
    }
    let Some(same) = known.iter().position(|it| *it == own) else {
        let inner = own.get(1..own.len().saturating_sub(1)).unwrap_or_default();
        return format!(", through {}", inner.join(", "));
    };
    let pairs = own.windows(2).zip(path.steps.iter().zip(&before[same].path.steps));
    let other = pairs.filter(|(_, (step, other))| edge(step) != edge(other));
    let between: Vec<String> = other.map(|(pair, _)| pair.join(" and ")).collect();
    format!(", with another edge between {}", between.join(", and between "))
}

/// Returns a path from node to node: `[anna holt] —mentioned in→ A ←When was A born?— B`. An arrow points where the
/// edge leads; an entity stands in brackets.
fn drawn(path: &GraphPath) -> String {
    let mut drawn = path.nodes.first().map_or_else(String::new, name);
    for (step, node) in path.steps.iter().zip(path.nodes.iter().skip(1)) {
        let (direction, said) = edge(step);
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

/// Returns the direction of a step, if it has one, and what is said of it.
fn edge(step: &PathStep) -> (Option<Direction>, &str) {
    match step {
        PathStep::QuestionEdge { direction, question } => (Some(*direction), question),
        PathStep::Mention { direction, .. } => (Some(*direction), "mentioned in"),
        PathStep::PartOf { direction } => (Some(*direction), "part of"),
        PathStep::RelatesTo { .. } => (None, "relates to"),
    }
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
        assert_eq!(shown.iter().map(|path| path.differs.as_str()).collect::<Vec<_>>(), ["", ", through Tower"]);
    }

    #[test]
    fn a_way_that_passes_through_nothing_new_says_what_differs() {
        let passage = |name: &char| PathNode::Passage {
            id: PassageId::of(&[name.to_string().as_bytes()]),
            name: name.to_string(),
            section: None,
        };
        let path = |over: &str, directions: &[Direction]| GraphPath {
            nodes: over.chars().map(|it| passage(&it)).collect(),
            steps: directions
                .iter()
                .map(|&direction| PathStep::QuestionEdge { direction, question: "Why?".to_owned() })
                .collect(),
        };
        let (on, back) = (Direction::Forward, Direction::Backward);
        let paths = [
            path("ABC", &[on, on]),
            path("ABC", &[on, back]),
            path("ABC", &[back, back]),
            path("ADC", &[on, on]),
            path("ADBC", &[on, on, on]),
        ];
        let differs: Vec<String> = distinct(&paths).into_iter().map(|path| path.differs).collect();
        let due = [
            "",
            ", with another edge between B and C",
            ", with another edge between A and B, and between B and C",
            ", through D",
            ", through D, B",
        ];
        assert_eq!(differs, due);
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
