//! A query of keywords as a tree: `LevelRAG`'s sparse queries. Keywords are added, stressed or excluded in the tree,
//! never in a string. Equivalent queries are equal.

use super::lexicon::is_stop_word;
use super::runs::capitalized_runs;
use super::words::{spelled, tokens};

/// Maximum clauses of a query; further ones are left out.
const CLAUSES_MAX: usize = 24;
/// Maximum weight of a clause.
const BOOST_MAX: u8 = 8;
/// Weight of a title in Lucene, where it is a separate short text: with this, the first passage is most often that of
/// `keywords`.
const TITLE_BOOST: &str = "^0.5";

/// Whether a clause is required or excluded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Occur {
    /// Passages with it come before those without.
    Should,
    /// Passages with it are left out.
    MustNot,
}

/// Words to find, or to exclude.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Clause {
    /// Folded words; several are a phrase: adjacent, in this order.
    pub words: Vec<String>,
    /// The same words in lower case with their accents, for an index that does not fold.
    pub written: Vec<String>,
    /// Whether they are to be found.
    pub occur: Occur,
    /// Their weight relative to other clauses, from 1.
    pub boost: u8,
}

impl Clause {
    /// Returns its words in each spelling: folded, and as written if different.
    fn spellings(&self) -> impl Iterator<Item = &[String]> {
        let written = (self.written != self.words).then_some(self.written.as_slice());
        std::iter::once(self.words.as_slice()).chain(written)
    }
}

/// See the top of this file.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct KeywordQuery {
    clauses: Vec<Clause>,
}

impl KeywordQuery {
    /// Returns the query for a question: its capitalized names as phrases, and its other words without stop words.
    #[must_use]
    pub fn of(question: &str) -> Self {
        let mut query = Self::default();
        for run in capitalized_runs(question, &|_| false) {
            query.push(tokens(&run.key), question, Occur::Should);
        }
        for word in tokens(question) {
            let is_named = query.clauses.iter().any(|clause| clause.words.contains(&word));
            if !is_named && !is_stop_word(&word) {
                query.push(vec![word], question, Occur::Should);
            }
        }
        query
    }

    /// Returns the query of some keywords, each a word or a phrase.
    #[must_use]
    pub fn of_keywords<T: AsRef<str>>(keywords: &[T]) -> Self {
        let mut query = Self::default();
        for keyword in keywords {
            let keyword = keyword.as_ref();
            query.push(tokens(keyword), keyword, Occur::Should);
        }
        query
    }

    /// Returns its clauses, in the order in which they were added.
    #[must_use]
    pub fn clauses(&self) -> &[Clause] {
        &self.clauses
    }

    /// Returns the words to find, in order.
    #[must_use]
    pub fn text(&self) -> String {
        let sought = self.clauses.iter().filter(|clause| clause.occur == Occur::Should);
        sought.map(|clause| clause.words.join(" ")).collect::<Vec<_>>().join(" ")
    }

    /// Returns it with one more keyword; none if it has that already, or has the maximum.
    #[must_use]
    pub fn extended(&self, keyword: &str) -> Option<Self> {
        let mut query = self.clone();
        query.push(tokens(keyword), keyword, Occur::Should).then_some(query)
    }

    /// Returns it with a keyword of higher weight, or double weight if new; none if it has the maximum.
    #[must_use]
    pub fn emphasized(&self, keyword: &str) -> Option<Self> {
        let mut query = self.clone();
        let words = tokens(keyword);
        if query.place(&words, Occur::Should).is_none() {
            query = query.extended(keyword)?;
        }
        let place = query.place(&words, Occur::Should)?;
        let clause = query.clauses.get_mut(place).filter(|clause| clause.boost < BOOST_MAX)?;
        clause.boost += 1;
        Some(query)
    }

    /// Returns it without a keyword: one of its keywords is removed if others remain, any other is excluded; none if no
    /// keyword would remain, or nothing changes.
    #[must_use]
    pub fn filtered(&self, keyword: &str) -> Option<Self> {
        let mut query = self.clone();
        let words = tokens(keyword);
        if let Some(place) = query.place(&words, Occur::Should) {
            query.clauses.remove(place);
            return query.clauses.iter().any(|clause| clause.occur == Occur::Should).then_some(query);
        }
        let is_sought = query.clauses.iter().any(|clause| clause.occur == Occur::Should);
        (is_sought && query.push(words, keyword, Occur::MustNot)).then_some(query)
    }

    /// Returns it in the classic syntax of Lucene, for `cairn_passage_text` of a published graph, with which it finds
    /// the same as `keywords`, except for scores. As there, each word of a phrase counts, and the phrase once more; a
    /// word counts once, with its largest weight; and a title counts besides the text. Empty without keywords. Any
    /// other text is valid, and no word is read as an operator, a field or a wildcard.
    #[must_use]
    pub fn to_lucene(&self) -> String {
        let (sought, excluded): (Vec<&Clause>, Vec<&Clause>) =
            self.clauses.iter().partition(|clause| clause.occur == Occur::Should);
        let mut terms: Vec<(String, u8)> = Vec::new();
        for clause in sought {
            let words = clause.spellings().flat_map(|words| words.chunks(1));
            let phrases = clause.spellings().filter(|words| words.len() > 1);
            for term in words.chain(phrases).map(quoted) {
                match terms.iter_mut().find(|(known, _)| *known == term) {
                    Some((_, boost)) => *boost = clause.boost.max(*boost),
                    None => terms.push((term, clause.boost)),
                }
            }
        }
        if terms.is_empty() {
            return String::new();
        }
        let boosted = |(term, boost)| if boost > 1 { format!("{term}^{boost}") } else { term };
        let any = terms.into_iter().map(boosted).collect::<Vec<_>>().join(" ");
        let mut query = format!("text:({any}) title:({any}){TITLE_BOOST}");
        for words in excluded.into_iter().flat_map(Clause::spellings) {
            query.push_str(" -");
            query.push_str(&quoted(words));
        }
        query
    }

    fn place(&self, words: &[String], occur: Occur) -> Option<usize> {
        self.clauses.iter().position(|clause| clause.words == words && clause.occur == occur)
    }

    /// Adds a clause of words of a text; returns whether it is new and there was room.
    fn push(&mut self, words: Vec<String>, text: &str, occur: Occur) -> bool {
        let is_known = self.clauses.iter().any(|clause| clause.words == words);
        let is_new = !words.is_empty() && !is_known && self.clauses.len() < CLAUSES_MAX;
        if is_new {
            let written = spelled(&words, text);
            self.clauses.push(Clause { words, written, occur, boost: 1 });
        }
        is_new
    }
}

/// Returns words in quotation marks, so that none is an operator. They are letters and digits: nothing needs escaping.
fn quoted(words: &[String]) -> String {
    format!("\"{}\"", words.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the words that a query looks for, and those that it excludes.
    fn shown(query: Option<KeywordQuery>) -> Option<String> {
        let lucene = query?.to_lucene();
        let (texts, rest) = lucene.strip_prefix("text:(")?.split_once(") title:(")?;
        let (titles, excluded) = rest.split_once(&format!("){TITLE_BOOST}"))?;
        assert_eq!(texts, titles);
        Some(format!("{texts}{excluded}").replace('"', "'"))
    }

    #[test]
    fn names_are_phrases_and_stop_words_are_left_out() {
        let query = KeywordQuery::of("Who built the Brenner Pass road?");
        assert_eq!(shown(Some(query.clone())).as_deref(), Some("'brenner' 'pass' 'brenner pass' 'built' 'road'"));
        assert_eq!(query.text(), "brenner pass built road");
        assert_eq!(KeywordQuery::of_keywords(&["Harl  Mill", "fire", "harl mill", "?"]).clauses().len(), 2);
        let nothing = KeywordQuery::of("who is it?");
        assert_eq!((nothing.to_lucene(), nothing), (String::new(), KeywordQuery::default()));
    }

    #[test]
    fn refining_changes_the_tree_or_says_that_nothing_changes() {
        let query = KeywordQuery::of_keywords(&["Harl Mill", "war"]);
        let check = |query, expect| assert_eq!(shown(query).as_deref(), Some(expect));
        check(query.extended("treaty"), "'harl' 'mill' 'harl mill' 'war' 'treaty'");
        assert_eq!((query.extended("WAR"), query.extended("?!")), (None, None));
        check(query.emphasized("harl mill"), "'harl'^2 'mill'^2 'harl mill'^2 'war'");
        check(query.emphasized("software"), "'harl' 'mill' 'harl mill' 'war' 'software'^2");
        check(query.filtered("war"), "'harl' 'mill' 'harl mill'");
        check(query.filtered("Italy"), "'harl' 'mill' 'harl mill' 'war' -'italy'");
        let one = KeywordQuery::of_keywords(&["war"]);
        assert_eq!((one.filtered("war"), KeywordQuery::default().filtered("war")), (None, None));
        let most = (0..20).fold(one.clone(), |query, _| query.emphasized("war").unwrap_or(query));
        assert_eq!((most.clauses()[0].boost, most.emphasized("war")), (BOOST_MAX, None));
        let many: Vec<String> = (0..99).map(|number| format!("w{number}")).collect();
        assert_eq!(KeywordQuery::of_keywords(&many).clauses().len(), CLAUSES_MAX);
        assert_eq!(one.extended("fire").and_then(|it| it.filtered("fire")), Some(one));
    }

    #[test]
    fn in_lucene_a_word_counts_once_and_an_accent_may_be_there_or_not() {
        let query = KeywordQuery::of_keywords(&["Harl Mill", "mill"]);
        assert_eq!(shown(query.emphasized("mill")).as_deref(), Some("'harl' 'mill'^2 'harl mill'"));
        let query = KeywordQuery::of("wo baute Čapek eine brücke?");
        let words = "'capek' 'čapek' 'wo' 'baute' 'eine' 'brucke' 'brücke'";
        assert_eq!(shown(Some(query.clone())).as_deref(), Some(words));
        assert_eq!(shown(query.filtered("alte Fähre")), Some(format!("{words} -'alte fahre' -'alte fähre'")));
    }

    #[test]
    fn no_text_is_read_as_an_operator() {
        for text in ["Mayne?", "AC/DC", "Star Wars: Episode IV", "C++ (", "-x", "\"\"", "a AND NOT b*", "^2 ~ [a TO b]"]
        {
            let said = KeywordQuery::of(text).to_lucene();
            let bare: String = said.split('"').step_by(2).collect();
            let fields = ["text:(", ") title:(", ")^0.5"];
            let bare = fields.iter().fold(bare, |bare, field| bare.replace(field, ""));
            assert!(bare.trim().is_empty() && said.matches('"').count().is_multiple_of(2), "{text}: {said}");
        }
    }
}
