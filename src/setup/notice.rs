//! Notices for the user that are not errors.

use std::fmt;
use std::sync::Arc;

/// A notice for the user.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Notice {
    /// Calls are to be recorded, and none can be made.
    NothingRecorded,
    /// Replies of a model cannot be kept.
    RepliesNotKept {
        /// Why not.
        reason: String,
    },
    /// Neo4j walks the graph, because it would not fit into memory, and no option says otherwise.
    WalkedByNeo4j {
        /// Megabytes that it would take.
        needed_mb: u64,
        /// Megabytes that it may take.
        memory_max_mb: u64,
    },
    /// Neo4j walks the graph, because reading it does not pay off for one question, and no option says otherwise.
    WalkedOnce,
    /// A server that was named this once is not asked later, unless it is confirmed.
    ServerToConfirm {
        /// Where it is.
        url: String,
    },
    /// ONNX Runtime was found this once, and is not found later unless it is set.
    RuntimeToSet,
}

impl fmt::Display for Notice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NothingRecorded => {
                f.write_str("nothing is recorded: no model is named, and no server makes the vectors of the index")
            }
            Self::RepliesNotKept { reason } => write!(f, "replies are not kept: {reason}"),
            Self::WalkedByNeo4j { needed_mb, memory_max_mb } => write!(
                f,
                "the graph would take about {needed_mb} MB of memory, more than {memory_max_mb}: Neo4j walks it, which \
                 takes longer"
            ),
            Self::WalkedOnce => f.write_str(
                "Neo4j walks the graph: for one question that is faster than reading it. With `--cache DIR` a copy is \
                 kept, which is faster still the next time",
            ),
            Self::ServerToConfirm { url } => write!(
                f,
                "later commands ask `{url}` only if you name it again or confirm it once: as `model.confirmed` in your \
                 own configuration, or by `CAIRN_EMBEDDER_URL`"
            ),
            Self::RuntimeToSet => f.write_str(
                "later commands find the model, and not ONNX Runtime: set it as `onnx_runtime` in your own \
                 configuration, or by `CAIRN_ONNX_RUNTIME`",
            ),
        }
    }
}

type Listener = Arc<dyn Fn(&Notice) + Send + Sync>;

/// The listener; none by default.
#[derive(Clone, Default)]
pub struct Notices(Option<Listener>);

impl Notices {
    /// Sends notices to `listener`.
    pub fn to(listener: impl Fn(&Notice) + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(listener)))
    }

    pub(super) fn tell(&self, notice: &Notice) {
        if let Some(listener) = &self.0 {
            listener(notice);
        }
    }
}

impl fmt::Debug for Notices {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Notices").field(&self.0.is_some()).finish()
    }
}
