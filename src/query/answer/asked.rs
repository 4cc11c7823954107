//! What a question asks for (who, when, where, how many, what is, how to, why, whether), and how well a piece of text
//! has that form.

use crate::text::{MONTHS, capitalized_runs, is_stop_word, term, tokens};

/// The kind of answer that a question asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Asked {
    /// A person.
    Person,
    /// A date or a time.
    Time,
    /// A place.
    Place,
    /// A number.
    Amount,
    /// What something is, means or does.
    Definition,
    /// How something is done.
    Steps,
    /// Why something is so.
    Reason,
    /// Whether something is so.
    Truth,
    /// One of a kind.
    Which,
}

/// Words after `how` with which a question asks for a number.
const AMOUNTS: &[&str] =
    &["many", "much", "long", "old", "tall", "far", "high", "big", "large", "deep", "wide", "often", "fast", "heavy"];
/// Words after `what` or `which` with which it asks for a number or a date.
const NUMBERED: &[&str] = &[
    "number",
    "size",
    "port",
    "maximum",
    "minimum",
    "limit",
    "length",
    "version",
    "code",
    "percentage",
    "age",
    "height",
    "population",
    "amount",
    "price",
    "cost",
    "default",
];
const TIMES: &[&str] = &["year", "date", "day", "month", "decade", "century", "time"];
/// Words with which a question begins that is answered by yes or no.
const AUXILIARIES: &[&str] = &[
    "is", "are", "was", "were", "do", "does", "did", "can", "could", "may", "must", "should", "will", "would", "has",
    "have", "had",
];
/// Words of questions about something to type or do.
const MEANS: &[&str] =
    &["command", "option", "flag", "switch", "function", "method", "setting", "variable", "syntax", "way", "steps"];

impl Asked {
    /// Determines what a question with these folded words asks for.
    pub(super) fn of(words: &[String]) -> Self {
        let word = |at: usize| words.get(at).map_or("", String::as_str);
        let has = |any: &[&str]| words.iter().any(|word| any.contains(&word.as_str()));
        let begins = words.iter().position(|word| INTERROGATIVES.contains(&word.as_str()));
        let Some(at) = begins else {
            return if AUXILIARIES.contains(&word(0)) { Self::Truth } else { Self::Which };
        };
        if at > 2 && AUXILIARIES.contains(&word(0)) {
            return Self::Truth;
        }
        match word(at) {
            "who" | "whom" | "whose" if has(TIMES_DECIDE) => Self::Time,
            "who" | "whom" | "whose" => Self::Person,
            "when" => Self::Time,
            "where" => Self::Place,
            "why" => Self::Reason,
            "how" if AMOUNTS.contains(&word(at + 1)) => Self::Amount,
            "how" => Self::Steps,
            _ => Self::of_thing(words, at),
        }
    }

    /// Determines what a question asks for if its word `at` is `what` or `which`.
    fn of_thing(words: &[String], at: usize) -> Self {
        let word = |at: usize| words.get(at).map_or("", String::as_str);
        let has = |any: &[&str]| words.iter().any(|word| any.contains(&word.as_str()));
        if TIMES.contains(&word(at + 1)) || has(TIMES_DECIDE) {
            return Self::Time;
        }
        let named = words.get(at + 1..).unwrap_or_default();
        let is_what = word(at) == "what";
        if named.iter().take(4).any(|word| NUMBERED.contains(&word.as_str())) {
            return Self::Amount;
        }
        if named.iter().take(2).any(|word| MEANS.contains(&word.as_str())) {
            return Self::Steps;
        }
        let is_verb = matches!(word(at + 1), "is" | "are" | "was" | "were" | "s");
        let asks_meaning = matches!(word(at + 1), "does" | "do" | "did") || has(&["mean", "means", "stand"]);
        if is_what && (is_verb || asks_meaning) { Self::Definition } else { Self::Which }
    }

    /// Returns how much `text` has the form of the answer, from 0 to 1. `asked` are the terms of the question.
    pub(super) fn fit(self, text: &str, asked: &[(String, f32)]) -> f32 {
        let score = |is: bool, worth: f32| if is { worth } else { 0.0 };
        match self {
            Self::Time => score(has_date(text), 1.0).max(score(has_word(text, TIME_WORDS), 0.5)),
            Self::Amount => score(has_digit(text), 1.0).max(score(has_word(text, NUMBER_WORDS), 0.6)),
            Self::Person => new_names(text, asked),
            Self::Place => new_names(text, asked).max(score(has_path(text), 1.0)),
            Self::Which => {
                (0.7 * new_names(text, asked)).max(score(has_code(text), 0.6)).max(score(has_digit(text), 0.4))
            }
            Self::Definition => defines(text, asked),
            Self::Steps => score(has_code(text), 0.6) + score(has_word(text, DO_WORDS), 0.4),
            Self::Reason => score(has_phrase(text, REASONS), 1.0),
            Self::Truth => score(opens_with_truth(text), 1.0).max(score(has_word(text, TRUTH_WORDS), 0.6)),
        }
    }
}

const INTERROGATIVES: &[&str] = &["who", "whom", "whose", "when", "where", "why", "how", "what", "which"];
/// Words of questions for one of two that dates decide.
const TIMES_DECIDE: &[&str] = &["older", "younger", "oldest", "youngest", "earlier"];
const TIME_WORDS: &[&str] = &[
    "century",
    "year",
    "years",
    "month",
    "months",
    "week",
    "weeks",
    "day",
    "days",
    "hour",
    "hours",
    "minutes",
    "ago",
    "before",
    "after",
    "when",
    "during",
    "until",
    "once",
    "monday",
    "tuesday",
    "wednesday",
    "thursday",
    "friday",
    "saturday",
    "sunday",
    "daily",
    "weekly",
];
const NUMBER_WORDS: &[&str] = &[
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "twenty",
    "thirty",
    "forty",
    "fifty",
    "hundred",
    "thousand",
    "million",
    "billion",
    "unlimited",
    "half",
    "dozen",
];
const DO_WORDS: &[&str] = &[
    "use", "run", "call", "set", "type", "add", "pass", "using", "specify", "create", "install", "open", "enter",
    "write", "invoke", "execute", "need", "must", "should", "can", "first", "then",
];
const REASONS: &[&str] = &[
    " because ",
    " since ",
    "so that ",
    "due to ",
    " reason",
    "in order to ",
    "therefore",
    "otherwise",
    "to avoid ",
    "to prevent ",
    "this allows ",
    "as a result",
    "means that ",
    " is needed ",
    "to ensure ",
    "to make sure ",
    "advantage",
];
const TRUTH_WORDS: &[&str] = &[
    "can",
    "cannot",
    "must",
    "may",
    "not",
    "supports",
    "supported",
    "allowed",
    "never",
    "always",
    "should",
    "only",
    "possible",
];

fn has_word(text: &str, any: &[&str]) -> bool {
    tokens(text).iter().any(|word| any.contains(&word.as_str()))
}

fn has_phrase(text: &str, any: &[&str]) -> bool {
    let lower = format!(" {} ", text.to_lowercase().split_whitespace().collect::<Vec<_>>().join(" "));
    any.iter().any(|phrase| lower.contains(phrase))
}

fn has_digit(text: &str) -> bool {
    text.bytes().any(|byte| byte.is_ascii_digit())
}

/// Returns whether there is a year or a month beside a number.
fn has_date(text: &str) -> bool {
    let words = tokens(text);
    let is_number = |word: &String| word.bytes().all(|byte| byte.is_ascii_digit());
    let is_year =
        |word: &&String| is_number(word) && word.len() == 4 && (word.starts_with('1') || word.starts_with('2'));
    words.iter().any(|word| is_year(&word))
        || words.windows(2).any(|pair| {
            let is_month = |word: &String| MONTHS.contains(&word.as_str());
            (is_month(&pair[0]) && is_number(&pair[1])) || (is_number(&pair[0]) && is_month(&pair[1]))
        })
}

/// Returns the share of names that are not in the question.
fn new_names(text: &str, asked: &[(String, f32)]) -> f32 {
    let is_new = |name: &str| {
        name.split(' ').any(|word| {
            let own = term(word);
            !is_stop_word(word) && asked.iter().all(|(term, _)| *term != own)
        })
    };
    // The first word of a sentence is in capitals for that alone.
    let runs = capitalized_runs(text, &|_| false);
    let names = runs.iter().filter(|run| is_new(&run.key));
    let worth = names.map(|run| {
        if run.key.contains(' ') {
            1.0
        } else if run.start > 0 {
            0.8
        } else {
            0.2
        }
    });
    worth.fold(0.0, f32::max)
}

fn has_path(text: &str) -> bool {
    let is_path = |word: &str| {
        let word = word.trim_matches(|c: char| "`'\"(),;:<>".contains(c));
        (word.starts_with('/') || word.starts_with("~/") || word.starts_with("./")) && word.len() > 2
    };
    text.split_whitespace().any(is_path)
}

/// Returns whether `text` contains something typed, such as code or a command.
pub(super) fn has_code(text: &str) -> bool {
    let mark = |word: &str| {
        word.starts_with("--")
            || word.ends_with("()")
            || word.contains("::")
            || (word.contains('_') && word.bytes().any(|byte| byte.is_ascii_alphabetic()))
            || word == "$"
            || word == ">>>"
    };
    text.contains('`')
        || has_path(text)
        || text.split_whitespace().any(|word| mark(word.trim_matches(|c: char| ",.;:'\"".contains(c))))
}

fn opens_with_truth(text: &str) -> bool {
    matches!(tokens(text).first().map(String::as_str), Some("yes" | "no" | "not" | "yep" | "nope" | "sort"))
}

/// Returns how much `text` looks like a definition of the question's subject: it begins with the subject, followed by a
/// defining verb or mark.
fn defines(text: &str, asked: &[(String, f32)]) -> f32 {
    const WORDS_READ: usize = 12;
    const VERBS: &[&str] = &[
        "is",
        "are",
        "was",
        "were",
        "means",
        "refers",
        "denotes",
        "describes",
        "stands",
        "represents",
        "consists",
        "contains",
        "defines",
        "provides",
        "specifies",
        "controls",
        "determines",
        "returns",
        "allows",
        "indicates",
    ];
    let words: Vec<String> = tokens(text).into_iter().take(WORDS_READ).collect();
    let is_asked = |word: &String| {
        let own = term(word);
        asked.iter().any(|(term, _)| *term == own)
    };
    let first = words.iter().position(is_asked);
    let verb = words.iter().position(|word| VERBS.contains(&word.as_str()));
    let subject: f32 = match (first, verb) {
        (Some(first), Some(verb)) if first < verb && first <= 3 => 1.0,
        (Some(0..=2), _) => 0.4,
        _ => 0.0,
    };
    // `name - what it is`, `name: what it is`, and the `This option does …` below a heading.
    let opening: String = text.chars().take(60).collect();
    let is_entry = [" - ", " -- ", " – ", " — ", ": ", "::"].iter().any(|mark| opening.contains(mark));
    let is_told = matches!(words.first().map(String::as_str), Some("this" | "a" | "an" | "these"))
        && words.get(1).is_some_and(|word| !is_stop_word(word) || VERBS.contains(&word.as_str()));
    let worth = |is: bool, worth: f32| if is { worth } else { 0.0 };
    subject.max(worth(first.is_some_and(|first| first <= 3) && is_entry, 0.8)).max(worth(is_told, 0.4))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_says_what_it_asks_for() {
        for (question, expect) in [
            ("When was the bridge opened?", Asked::Time),
            ("In what year did it close?", Asked::Time),
            ("How long is the river?", Asked::Amount),
            ("Who died first, A or B?", Asked::Person),
            ("Who was older, A or B?", Asked::Time),
            ("How did she study?", Asked::Steps),
            ("Which bridge did he design?", Asked::Which),
            ("What is a submodule?", Asked::Definition),
            ("What does --depth do?", Asked::Definition),
            ("What is the default port?", Asked::Amount),
            ("Which command lists tables?", Asked::Steps),
            ("Why are strings immutable?", Asked::Reason),
            ("Can two processes write at once?", Asked::Truth),
            ("Where is the log?", Asked::Place),
            ("wal level", Asked::Which),
        ] {
            assert_eq!(Asked::of(&tokens(question)), expect, "{question}");
        }
    }

    #[test]
    fn texts_that_look_like_answers_are_distinguished_from_others() {
        let fit = |question: &str, text: &str| {
            let terms: Vec<(String, f32)> = crate::text::terms(question).into_iter().map(|term| (term, 1.0)).collect();
            Asked::of(&tokens(question)).fit(text, &terms)
        };
        for (question, answer, other) in [
            ("When was the bridge opened?", "It was opened in May 1883.", "It has 12 arches."),
            ("Who built it?", "It was built by Ann Lee.", "It was built of stone."),
            ("Where is the log?", "It lies in /var/log/mill.", "It grows by a line a day."),
            ("What is a weir?", "A weir is a low dam.", "The water below it is fast."),
            ("How do I stop it?", "Use `mill stop`.", "It stops by itself."),
            ("Why is it wet?", "It is wet because it rains.", "It is wet."),
            ("Is it old?", "Yes, it was built early.", "It stands by the river."),
            ("How many arches are there?", "There are seven of them.", "They are of stone."),
        ] {
            assert!(fit(question, answer) > fit(question, other), "{question}");
        }
    }
}
