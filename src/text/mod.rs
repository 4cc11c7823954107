//! The parts of a text: folded words and stems, sentences, names, word pieces. English rules on any UTF-8.
//!
//! It knows nothing about documents, indexes or files, and its only state is word lists.

mod aliases;
mod asking;
mod case;
mod code;
mod contents;
mod counted;
mod escape;
mod find;
mod fold;
mod identifiers;
mod keywords;
mod lexicon;
mod model_tokens;
mod name_words;
mod names;
mod near;
mod phrases;
mod pieces;
mod runs;
mod segments;
mod sentences;
mod sieve;
mod terms;
mod wildcards;
mod words;

pub(crate) use counted::{counted, plural};
pub(crate) use fold::fold;
pub(crate) use words::{FoldedWords, Word, lower, spelled, tokens, words};

pub use keywords::{Clause, KeywordQuery, Occur};

pub use terms::terms;
pub(crate) use terms::{Initials, Terms, asked_words, composed, each_term_among, term, term_spans};

pub(crate) use lexicon::{DAYS, MONTHS, cue, cue_of_stem, is_linking_word, is_stop_word, related, stem};

pub(crate) use sentences::{is_block_start, sentences};

pub(crate) use code::{Language, Token, TokenKind, code_blocks, code_tokens, prose};

pub(crate) use aliases::aliases;
pub(crate) use asking::telling_terms;
pub(crate) use case::{CaseCounts, is_among};
pub(crate) use contents::is_contents;
pub(crate) use find::{
    NameLookup, NameMatch, NameRule, Places, as_written, find_names, folded_names, standing_names, visit_names,
};
pub use name_words::NameType;
pub(crate) use name_words::{
    begins_no_person, initials, is_misspelling, names_no_person, normal_form, type_of_name, type_of_noun,
    without_honorific,
};
pub(crate) use names::{NameKind, after_headings, bearer_names, lead_name, strip_parenthesis};
pub(crate) use runs::{Run, capitalized_runs, prose_runs};

pub(crate) use sieve::WordSieve;

pub(crate) use wildcards::is_of_form;

pub(crate) use near::{ALIKE_CHARS_MIN, folded, near};

pub(crate) use phrases::{Compared, Phrase};

pub(crate) use model_tokens::{model_tokens, tokens_to_english};
#[cfg(test)]
pub(crate) use pieces::WordPiece;
pub(crate) use pieces::{english, is_written_word};

pub(crate) use escape::{clipped, json_escape, one_line, shortened, terminal_escape, terminal_line, visible_line};
