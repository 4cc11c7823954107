//! A model whose calls are spans.

use std::sync::Arc;

use tracing::Instrument as _;
use tracing::field::{Empty, display};

use super::request::ChatRequest;
use super::{ChatModel, Replying};
use crate::telemetry;

/// A model whose calls are spans with the names of OpenTelemetry's conventions for generative models: counts, names and
/// kinds of faults, never prompts or replies.
pub struct Traced {
    inner: Arc<dyn ChatModel>,
}

impl Traced {
    /// Puts spans around a model's calls.
    #[must_use]
    pub fn new(inner: Arc<dyn ChatModel>) -> Self {
        Self { inner }
    }
}

impl ChatModel for Traced {
    fn name(&self) -> &str {
        self.inner.name()
    }

    fn kept_as(&self) -> &str {
        self.inner.kept_as()
    }

    fn reply<'a>(&'a self, request: &'a ChatRequest) -> Replying<'a> {
        let span = tracing::info_span!(
            telemetry::CHAT,
            gen_ai.operation.name = "chat",
            gen_ai.request.model = self.name(),
            gen_ai.request.max_tokens = request.output_tokens_max,
            gen_ai.response.model = Empty,
            gen_ai.usage.input_tokens = Empty,
            gen_ai.usage.output_tokens = Empty,
            error.type = Empty,
            purpose = request.purpose.name(),
            origin = Empty,
        );
        let traced = span.clone();
        let called = async move {
            let replied = self.inner.reply(request).await;
            match &replied {
                Ok(reply) => {
                    traced.record("gen_ai.response.model", reply.model.as_str());
                    traced.record("gen_ai.usage.input_tokens", reply.usage.input_tokens);
                    traced.record("gen_ai.usage.output_tokens", reply.usage.output_tokens);
                    traced.record("origin", display(format_args!("{:?}", reply.origin)));
                    tracing::info!(finish = ?reply.finish, "replied");
                }
                Err(error) => {
                    traced.record("error.type", error.kind_name());
                    tracing::warn!("no reply");
                }
            }
            replied
        };
        Box::pin(called.instrument(span))
    }

    fn note_use(&self, problem: Option<&str>) {
        self.inner.note_use(problem);
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::sync::Mutex;

    use tracing::instrument::WithSubscriber as _;

    use super::super::scripted::{Scripted, overloaded, reply, request};
    use super::*;

    #[derive(Clone, Default)]
    struct Lines(Arc<Mutex<Vec<u8>>>);

    impl Write for Lines {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    #[tokio::test]
    async fn a_call_is_a_span_with_its_counts_and_without_what_is_said() {
        let lines = Lines::default();
        let writer = lines.clone();
        let subscriber = tracing_subscriber::fmt()
            .with_max_level(tracing::Level::TRACE)
            .with_ansi(false)
            .with_writer(move || writer.clone())
            .finish();
        let model = Traced::new(Arc::new(Scripted::new([Ok(reply("the secret reply")), Err(overloaded(None))])));
        let asked = async {
            let request = request("the secret prompt");
            assert!(model.reply(&request).await.is_ok());
            assert!(model.reply(&request).await.is_err());
        };
        asked.with_subscriber(subscriber).await;
        let said = String::from_utf8(lines.0.lock().unwrap().clone()).unwrap();
        for expect in [
            "gen_ai.request.model=\"scripted\"",
            "gen_ai.usage.input_tokens=20",
            "gen_ai.usage.output_tokens=10",
            "error.type=\"rate_limited\"",
            "purpose=\"answer\"",
        ] {
            assert!(said.contains(expect), "`{expect}` is missing: {said}");
        }
        assert!(!said.contains("secret"), "{said}");
    }
}
