//! What a text is made of: folded words and stems, sentences, names, word pieces. English rules on any UTF-8.
//!
//! It knows nothing of documents, indexes or files, and keeps no state but word lists.

mod aliases;
mod case;
mod counted;
mod escape;
mod find;
mod fold;
mod identifiers;
mod lexicon;
mod model_tokens;
mod names;
mod near;
mod pieces;
mod runs;
mod segments;
mod sentences;
mod terms;
mod words;

pub(crate) use counted::counted;
pub(crate) use fold::fold;
pub(crate) use words::{Word, tokens, words};

pub use terms::terms;
pub(crate) use terms::{Terms, term, term_spans};

pub(crate) use lexicon::{MONTHS, cue, cue_of_stem, is_linking_word, is_stop_word, related, stem};

pub(crate) use sentences::{is_block_start, sentences};

pub(crate) use aliases::aliases;
pub(crate) use case::CaseCounts;
pub(crate) use find::{NameLookup, NameMatch, NameRule, as_written, find_names, visit_names};
pub(crate) use names::{NameKind, after_headings, bearer_names, lead_name, strip_parenthesis};
pub(crate) use runs::{Run, capitalized_runs, prose_runs};

pub(crate) use near::{ALIKE_CHARS_MIN, folded, near};

pub(crate) use model_tokens::model_tokens;
#[cfg(test)]
pub(crate) use pieces::WordPiece;
pub(crate) use pieces::{english, is_written_word};

pub(crate) use escape::{json_escape, one_line, shortened, terminal_escape, terminal_line};
