//! A query of keywords as a tree, which is changed by what is added, stressed or left out, and never as a string:
//! `LevelRAG`'s sparse queries. Two queries that say the same are equal.

use super::lexicon::is_stop_word;
use super::runs::capitalized_runs;
use super::words::tokens;

/// Clauses of a query at most; what would be one more is left out.
const CLAUSES_MAX: usize = 24;
/// What a clause counts at most.
const BOOST_MAX: u8 = 8;
/// Characters that Lucene's classic syntax reads as its own.
const RESERVED: &str = "+-&|!(){}[]^\"~*?:\\/<>=";

/// Whether a clause is looked for, or excluded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Occur {
    /// What has it comes before what has not.
    Should,
    /// What has it is left out.
    MustNot,
}

/// Words that are looked for, or excluded.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Clause {
    /// Folded words; several are a phrase: they stand beside each other, in this order.
    pub words: Vec<String>,
    /// Whether they are looked for.
    pub occur: Occur,
    /// What they count beside other clauses, from 1.
    pub boost: u8,
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
            query.push(tokens(&run.key), Occur::Should);
        }
        for word in tokens(question) {
            let is_named = query.clauses.iter().any(|clause| clause.words.contains(&word));
            if !is_named && !is_stop_word(&word) {
                query.push(vec![word], Occur::Should);
            }
        }
        query
    }

    /// Returns the query of some keywords, each a word or a phrase.
    #[must_use]
    pub fn of_keywords<T: AsRef<str>>(keywords: &[T]) -> Self {
        let mut query = Self::default();
        for keyword in keywords {
            query.push(tokens(keyword.as_ref()), Occur::Should);
        }
        query
    }

    /// Returns its clauses, in the order in which they were added.
    #[must_use]
    pub fn clauses(&self) -> &[Clause] {
        &self.clauses
    }

    /// Returns the words that are looked for, in order.
    #[must_use]
    pub fn text(&self) -> String {
        let sought = self.clauses.iter().filter(|clause| clause.occur == Occur::Should);
        sought.map(|clause| clause.words.join(" ")).collect::<Vec<_>>().join(" ")
    }

    /// Returns it with one more keyword; none where it has that, or can have no more.
    #[must_use]
    pub fn extended(&self, keyword: &str) -> Option<Self> {
        let mut query = self.clone();
        query.push(tokens(keyword), Occur::Should).then_some(query)
    }

    /// Returns it with a keyword that counts more than before, or twice where it is new; none where it cannot count
    /// more.
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

    /// Returns it without a keyword: one that it looks for is no longer looked for, where another is, and any other is
    /// excluded; none where nothing would be looked for, or nothing changes.
    #[must_use]
    pub fn filtered(&self, keyword: &str) -> Option<Self> {
        let mut query = self.clone();
        let words = tokens(keyword);
        if let Some(place) = query.place(&words, Occur::Should) {
            query.clauses.remove(place);
            return query.clauses.iter().any(|clause| clause.occur == Occur::Should).then_some(query);
        }
        let is_sought = query.clauses.iter().any(|clause| clause.occur == Occur::Should);
        (is_sought && query.push(words, Occur::MustNot)).then_some(query)
    }

    /// Returns it in the classic syntax of Lucene, which Neo4j's full-text indexes read. Every text can be parsed, and
    /// no word of it is read as an operator, a field or a wildcard.
    #[must_use]
    pub fn to_lucene(&self) -> String {
        let clause = |clause: &Clause| {
            let words: Vec<String> = clause.words.iter().map(|word| escaped(word)).collect();
            let sign = if clause.occur == Occur::MustNot { "-" } else { "" };
            let boost = if clause.boost > 1 { format!("^{}", clause.boost) } else { String::new() };
            format!("{sign}\"{}\"{boost}", words.join(" "))
        };
        self.clauses.iter().map(clause).collect::<Vec<_>>().join(" ")
    }

    fn place(&self, words: &[String], occur: Occur) -> Option<usize> {
        self.clauses.iter().position(|clause| clause.words == words && clause.occur == occur)
    }

    /// Adds a clause; returns whether it is new and there was room.
    fn push(&mut self, words: Vec<String>, occur: Occur) -> bool {
        let is_known = self.clauses.iter().any(|clause| clause.words == words);
        let is_new = !words.is_empty() && !is_known && self.clauses.len() < CLAUSES_MAX;
        if is_new {
            self.clauses.push(Clause { words, occur, boost: 1 });
        }
        is_new
    }
}

/// Returns a word in which no character is an operator.
fn escaped(word: &str) -> String {
    let mut text = String::with_capacity(word.len());
    for char in word.chars() {
        if RESERVED.contains(char) {
            text.push('\\');
        }
        text.push(char);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(query: Option<KeywordQuery>) -> Option<String> {
        query.map(|query| query.to_lucene())
    }

    #[test]
    fn names_are_phrases_and_stop_words_are_left_out() {
        let query = KeywordQuery::of("Who built the Brenner Pass road?");
        assert_eq!(query.to_lucene(), "\"brenner pass\" \"built\" \"road\"");
        assert_eq!(query.text(), "brenner pass built road");
        assert_eq!(KeywordQuery::of_keywords(&["Harl  Mill", "fire", "harl mill", "?"]).clauses().len(), 2);
        assert_eq!(KeywordQuery::of("who is it?"), KeywordQuery::default());
    }

    #[test]
    fn refining_changes_the_tree_or_says_that_nothing_changes() {
        let query = KeywordQuery::of_keywords(&["Brenner Pass", "war"]);
        assert_eq!(shown(query.extended("treaty")).as_deref(), Some("\"brenner pass\" \"war\" \"treaty\""));
        assert_eq!((query.extended("WAR"), query.extended("?!")), (None, None));
        assert_eq!(shown(query.emphasized("brenner pass")).as_deref(), Some("\"brenner pass\"^2 \"war\""));
        assert_eq!(shown(query.emphasized("software")).as_deref(), Some("\"brenner pass\" \"war\" \"software\"^2"));
        assert_eq!(shown(query.filtered("war")).as_deref(), Some("\"brenner pass\""));
        assert_eq!(shown(query.filtered("Italy")).as_deref(), Some("\"brenner pass\" \"war\" -\"italy\""));
        let one = KeywordQuery::of_keywords(&["war"]);
        assert_eq!((one.filtered("war"), KeywordQuery::default().filtered("war")), (None, None));
        let most = (0..20).fold(one.clone(), |query, _| query.emphasized("war").unwrap_or(query));
        assert_eq!((most.clauses()[0].boost, most.emphasized("war")), (BOOST_MAX, None));
        let many: Vec<String> = (0..99).map(|number| format!("w{number}")).collect();
        assert_eq!(KeywordQuery::of_keywords(&many).clauses().len(), CLAUSES_MAX);
        assert_eq!(one.extended("fire").and_then(|it| it.filtered("fire")), Some(one));
    }

    #[test]
    fn no_text_is_read_as_an_operator() {
        for text in ["Mayne?", "AC/DC", "Star Wars: Episode IV", "C++ (", "-x", "\"\"", "a AND NOT b*", "^2 ~ [a TO b]"]
        {
            let said = KeywordQuery::of(text).to_lucene();
            let mut is_quoted = false;
            let mut chars = said.chars();
            while let Some(char) = chars.next() {
                match char {
                    '\\' => drop(chars.next()),
                    '"' => is_quoted = !is_quoted,
                    _ => assert!(is_quoted || char == ' ', "{text}: {said}"),
                }
            }
            assert!(!is_quoted, "{text}: {said}");
        }
    }
}
