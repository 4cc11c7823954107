//! Your own streaming language model: any type that implements `ChatModel`.
//!
//! ```sh
//! cargo run --example own_model
//! ```

use std::sync::Arc;

use cairn::domain::Usage;
use cairn::llm::{ChatModel, ChatReply, ChatRequest, Finish, Layers, ReplyOrigin, Replying, layered};
use cairn::query::SentenceSink;
use cairn::{AskOptions, IndexOptions, Performers, QueryEngine, Sources, Workspace, WorkspaceOptions};

/// A model in this process. Yours would pass `request.messages` on, with the schema of `request.form` if it can keep to
/// one.
struct OwnModel;

impl ChatModel for OwnModel {
    // Calls are counted and priced under this name, and replies kept under it: it changes with the model.
    fn name(&self) -> &'static str {
        "own:one-answer"
    }

    fn reply<'a>(&'a self, request: &'a ChatRequest) -> Replying<'a> {
        Box::pin(async move {
            let pieces = [
                r#"{"can_answer": true, "short": "Ropewalk Bridge", "sentences": ["#,
                r#"{"text": "Edda Varnholt's father designed "#,
                r#"Ropewalk Bridge.", "passages": [1]}"#,
                "]}",
            ];
            let mut text = String::new();
            for piece in pieces {
                // # Streaming
                //
                // Whoever asked may listen. The reply is returned whole in any case, and checked only then.
                if let Some(listener) = &request.listener {
                    listener.tell(piece);
                }
                text.push_str(piece);
            }
            Ok(ChatReply {
                text,
                finish: Finish::Stop,
                usage: Usage { input_tokens: 900, output_tokens: 30, is_estimated: true },
                model: "one-answer".to_owned(),
                origin: ReplyOrigin::Server,
                calls: 1,
                cost: None,
            })
        })
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = tempfile::tempdir()?;
    let mut workspace = Workspace::open_or_create(folder.path(), &WorkspaceOptions::of(&Performers::built_in()))?;
    let sources = Sources::folder(concat!(env!("CARGO_MANIFEST_DIR"), "/examples/harbor"));
    cairn::index(&mut workspace, &sources, &Performers::built_in(), &IndexOptions::default()).await?;

    // # Layers
    //
    // The layers around a model, such as its budget and kept replies, work for any model.
    let model = layered(Arc::new(OwnModel), Layers::default());
    let engine = QueryEngine::open(&workspace, Performers { model: Some(model), ..Performers::built_in() })?;

    // Sentences arrive as soon as they are complete, each with its citations.
    let sentences = SentenceSink::new(|sentence| println!("heard: {}", sentence.text));
    let options = AskOptions { sentences: Some(sentences), ..AskOptions::default() };
    let answer = engine.ask("Which bridge did Edda Varnholt's father design?", &options).await?;
    println!("{}", answer.text);
    assert!(answer.text.contains("Ropewalk Bridge"), "{}", answer.text);
    Ok(())
}
