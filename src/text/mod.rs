//! What a text is made of: folded words and stems, sentences, names, word pieces. English rules on any UTF-8.
//!
//! It knows nothing of documents, indexes or files, and keeps no state but word lists.

mod aliases;
mod case;
mod counted;
mod escape;
mod find;
mod fold;
mod lexicon;
mod model_tokens;
mod names;
mod near;
mod pieces;
mod runs;
mod sentences;
mod words;

pub use counted::counted;
pub use fold::fold;
pub use words::{Word, tokens, words};

pub use lexicon::{CUE_CHARS, MONTHS, cue, cue_of_stem, is_linking_word, is_stop_word, related, stem, terms};

pub use sentences::{is_block_start, sentences};

pub use aliases::aliases;
pub use case::CaseCounts;
pub use find::{NameLookup, NameMatch, NameRule, find_names, visit_names};
pub use names::{NameKind, after_headings, bearer_names, lead_name, quoted_lead, strip_parenthesis};
pub use runs::{Run, capitalized_runs};

pub use near::{ALIKE_CHARS_MIN, folded, near};

pub use model_tokens::model_tokens;
pub use pieces::{WordPiece, english};

pub use escape::{json_escape, one_line, shortened, terminal_escape, terminal_line};
