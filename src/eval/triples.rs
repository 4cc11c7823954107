//! Questions, entities and relations made from recorded triples, in place of a model's: triples that a model once
//! extracted from a passage go through prompt, schema and check of the skills `generate` (or its halves) and `extract`,
//! so an index of recorded replies can be measured without calling a model. Rules write the wording.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::domain::{ChatError, Usage};
use crate::error::{Error, Result};
use crate::files;
use crate::llm::{ChatModel, ChatReply, ChatRequest, Finish, ReplyForm, ReplyOrigin, Replying};
use crate::skill::{INCOMING_MAX, OUTGOING_MAX, OUTGOING_MIN};
use crate::text::tokens;

/// Questions that a passage raises about a name; those after the first are used only if a passage has few names.
const RAISED: [&str; 4] =
    ["Who or what is {}?", "What is known of {}?", "What is {} part of?", "What came before and after {}?"];

/// A document, and what was extracted from it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Extracted {
    title: String,
    text: String,
    entities: Vec<String>,
    /// Subject, relation, object.
    triples: Vec<[String; 3]>,
}

/// The model that stands in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TriplesModel(Vec<Extracted>);

#[derive(Deserialize)]
struct DocumentLine {
    id: String,
    #[serde(default)]
    title: String,
    text: String,
}

#[derive(Deserialize)]
struct TriplesLine {
    passage_id: String,
    entities: Vec<String>,
    triples: Vec<[String; 3]>,
}

impl TriplesModel {
    /// Reads documents (`id`, `title`, `text`) and what was extracted from each (`passage_id`, `entities`, `triples`),
    /// a JSON object a line.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] if a file cannot be read; [`Error::Line`] for a line that is not such an object.
    pub fn read(corpus: &Path, extracted: &Path) -> Result<Self> {
        let mut said: BTreeMap<String, TriplesLine> =
            lines(extracted)?.into_iter().map(|line: TriplesLine| (line.passage_id.clone(), line)).collect();
        let document = |DocumentLine { id, title, text }| {
            let TriplesLine { entities, triples, .. } = said.remove(&id)?;
            Some(Extracted { title, text, entities, triples })
        };
        Ok(Self(lines(corpus)?.into_iter().filter_map(document).collect()))
    }

    /// Returns the simulated reply about the passage in a request.
    fn simulated(&self, request: &ChatRequest) -> Option<Value> {
        let ReplyForm::Json { name, .. } = request.form else { return None };
        let prompt = &request.messages.last()?.text;
        let title = prompt.lines().find_map(|line| line.strip_prefix("Document: "))?;
        let passage = prompt.split_once("\n\n")?.1.rsplit_once('\n')?.0;
        let is_meant = |it: &&Extracted| it.title.trim() == title && it.text.contains(passage);
        let extracted = self.0.iter().find(is_meant)?;
        if name == "extract" {
            return Some(extracted.entities(passage));
        }
        let mut both = extracted.questions(passage);
        match name {
            "generate" => Some(both),
            "answered" | "raised" => Some(json!({ "questions": both[name].take() })),
            _ => None,
        }
    }
}

impl Extracted {
    /// Returns the entities and relations in a passage of the document: extracted names, and triples of which one end
    /// is in the passage.
    fn entities(&self, passage: &str) -> Value {
        let words = format!(" {} ", tokens(passage).join(" "));
        let has = |name: &str| words.contains(&format!(" {} ", tokens(name).join(" ")));
        let triples: Vec<&[String; 3]> = self.triples.iter().filter(|[from, _, to]| has(from) || has(to)).collect();
        let said = |[from, relation, to]: &[String; 3]| format!("{from} {relation} {to}.");
        let own = self.entities.iter().filter(|name| has(name));
        let names: BTreeSet<&String> = own.chain(triples.iter().flat_map(|[from, _, to]| [from, to])).collect();
        let entity = |name: &&String| {
            let first = triples.iter().find(|[from, _, to]| from == *name || to == *name);
            json!({ "name": name, "type": "", "description": first.map(|it| said(it)) })
        };
        let relation = |triple: &&[String; 3]| {
            let [from, _, to] = triple;
            json!({ "source": from, "target": to, "description": said(triple), "strength": 5, "evidence": "" })
        };
        let relations: Vec<Value> = triples.iter().map(relation).collect();
        json!({ "entities": names.iter().map(entity).collect::<Vec<_>>(), "relations": relations })
    }

    /// Returns the questions of a passage of the document: answered by triples with one end in it, or raised about
    /// names in it.
    fn questions(&self, passage: &str) -> Value {
        let words = format!(" {} ", tokens(passage).join(" "));
        let has = |name: &str| {
            let name = tokens(name).join(" ");
            !name.is_empty() && words.contains(&format!(" {name} "))
        };
        let triples = || self.triples.iter().filter(|[from, _, to]| has(from) || has(to));
        let objects = triples().map(|[from, relation, _]| {
            json!({
                "question": format!("{from} {relation} what?"), "keywords": [from, relation],
            })
        });
        let subjects = triples().map(|[_, relation, to]| {
            json!({
                "question": format!("What {relation} {to}?"), "keywords": [relation, to],
            })
        });
        let answered: Vec<Value> = objects.chain(subjects).take(INCOMING_MAX).collect();
        let names: Vec<&String> = self.entities.iter().filter(|it| has(it) && **it != self.title).collect();
        let raised = RAISED.iter().enumerate().flat_map(|(place, form)| {
            names.iter().map(move |name| (place, json!({ "question": form.replace("{}", name), "keywords": [name] })))
        });
        // A name's second question only replaces those of missing names.
        let raised = raised.enumerate().take_while(|(count, (place, _))| *place == 0 || *count < OUTGOING_MIN);
        let raised: Vec<Value> = raised.map(|(_, (_, question))| question).take(OUTGOING_MAX).collect();
        json!({ "answered": answered, "raised": raised })
    }
}

impl ChatModel for TriplesModel {
    fn name(&self) -> &'static str {
        "recorded:triples"
    }

    fn reply<'a>(&'a self, request: &'a ChatRequest) -> Replying<'a> {
        Box::pin(async move {
            let none = || ChatError::Refused { message: "nothing was extracted from it".to_owned() };
            let text = self.simulated(request).ok_or_else(none)?.to_string();
            let (usage, model) = (Usage::default(), self.name().to_owned());
            Ok(ChatReply {
                text,
                finish: Finish::Stop,
                usage,
                model,
                origin: ReplyOrigin::Server,
                calls: 1,
                cost: None,
            })
        })
    }
}

fn lines<T: DeserializeOwned>(path: &Path) -> Result<Vec<T>> {
    let text = files::read_text(path)?;
    let lines = text.lines().zip(1..).filter(|(line, _)| !line.trim().is_empty());
    let read = |(line, number): (&str, usize)| {
        serde_json::from_str(line).map_err(|error| Error::Line {
            path: path.to_owned(),
            line: number,
            reason: error.to_string(),
        })
    };
    lines.map(read).collect()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::chunk::{ChunkOptions, passages};
    use crate::domain::{Document, QuestionKind};
    use crate::skill::{EntityTypes, ExtractSkill, ExtractTask, GenerateSkill, GenerateTask, perform};

    fn model() -> TriplesModel {
        let text = "Harl Mill was built by Ada Lorne. It ground rye for Orn.";
        let triples = [["Harl Mill", "was built by", "Ada Lorne"], ["Harl Mill", "ground rye for", "Orn"]];
        let folder = tempfile::tempdir().unwrap();
        let [corpus, extracted] = ["corpus", "extracted"].map(|name| folder.path().join(name));
        fs::write(&corpus, json!({ "id": "1", "title": "Harl Mill", "text": text }).to_string()).unwrap();
        let line = json!({ "passage_id": "1", "entities": ["Ada Lorne", "Harl Mill", "Orn", "Elsewhere"],
            "triples": triples, "malformed": [] });
        fs::write(&extracted, line.to_string()).unwrap();
        let model = TriplesModel::read(&corpus, &extracted).unwrap();
        fs::write(&extracted, "{}").unwrap();
        assert!(matches!(TriplesModel::read(&corpus, &extracted), Err(Error::Line { line: 1, .. })));
        model
    }

    #[tokio::test]
    async fn triples_become_questions_by_the_skill_and_names_those_that_are_raised() {
        let model = model();
        let document = Document::new("1", Some("Harl Mill".to_owned()), &model.0[0].text);
        let passage = passages(&document, &ChunkOptions::default(), &|text| text.len()).remove(0);
        let task = GenerateTask { name: "Harl Mill".to_owned(), passage };
        let questions = perform::<GenerateSkill>(&model, &task).await.unwrap().outcome.unwrap();
        let of = |kind| questions.iter().filter(move |it| it.kind == kind).map(|it| it.text.as_str()).collect();
        let answered: Vec<&str> = of(QuestionKind::Incoming);
        assert_eq!(answered[..2], ["Harl Mill was built by what?", "Harl Mill ground rye for what?"]);
        assert_eq!((answered.len(), answered[2]), (4, "What was built by Ada Lorne?"));
        let raised: Vec<&str> = of(QuestionKind::Outgoing);
        let first = ["Who or what is Ada Lorne?", "Who or what is Orn?"];
        assert_eq!(raised, [&first[..], &["What is known of Ada Lorne?", "What is known of Orn?"]].concat());
        let extract = ExtractTask { passage: task.clone(), types: EntityTypes::default() };
        let found = perform::<ExtractSkill>(&model, &extract).await.unwrap().outcome.unwrap();
        let names: Vec<&str> = found.entities.iter().map(|it| it.name.as_str()).collect();
        assert_eq!((names, found.relations.len()), (vec!["ada lorne", "harl mill", "orn"], 1));
        // No sentence contains both a mill and Orn.
        assert_eq!(
            (found.dropped.relations, &*found.relations[0].description),
            (1, "Harl Mill was built by Ada Lorne.")
        );
        // Nothing was extracted from any other document.
        let task = GenerateTask { name: "Pale Mill".to_owned(), ..task };
        assert!(perform::<GenerateSkill>(&model, &task).await.unwrap().outcome.is_err());
    }
}
