//! Questions of whole passages: people read them, so they are compared word for word.

use super::*;
use crate::chunk::{ChunkOptions, passages};

fn questions(title: &str, text: &str) -> Vec<PseudoQuery> {
    let title = Some(title.to_owned()).filter(|title| !title.is_empty());
    let document = Document::new("test", title, text);
    let passages = passages(&document, &ChunkOptions::default(), &|text| text.split_whitespace().count());
    passages.iter().flat_map(|passage| generate_by_rule(&document, passage)).collect()
}

/// Checks the in-coming questions, then the out-coming ones.
fn check(title: &str, text: &str, incoming: &[&str], outgoing: &[&str]) {
    let questions = questions(title, text);
    for (kind, expect) in [(QuestionKind::Incoming, incoming), (QuestionKind::Outgoing, outgoing)] {
        let actual: Vec<_> = questions.iter().filter(|it| it.kind == kind).map(|it| it.text.as_str()).collect();
        assert_eq!(actual, expect, "{title} {kind:?}");
    }
}

fn check_keywords(questions: &[PseudoQuery], text: &str, expect: &[&str]) {
    let question = questions.iter().find(|it| it.text == text);
    let keywords: Vec<_> = question.iter().flat_map(|it| it.keywords.iter()).collect();
    assert_eq!(keywords, expect, "{text}");
}

#[test]
fn a_person_has_a_life_and_relatives() {
    check(
        "Teutberga",
        "Teutberga( died 11 November 875) was a queen of Lotharingia by marriage to Lothair II. She was a daughter of \
         Bosonid Boso the Elder and sister of Hucbert, the lay- abbot of St. Maurice's Abbey.",
        &[
            "Who was Teutberga?",
            "When did Teutberga die?",
            "Which office did Teutberga hold?",
            "Who are the parents of Teutberga?",
            "Who are the siblings of Teutberga?",
        ],
        &[
            "Who is Bosonid Boso the Elder, whose daughter is Teutberga?",
            "Who is Lothair II, who married Teutberga?",
            "What is Lotharingia, with Teutberga as its queen?",
            "Who is Hucbert, whose sibling is Teutberga?",
            "Who or what is St. Maurice, mentioned with Teutberga?",
            "What is Abbey, mentioned with Teutberga?",
        ],
    );
}

#[test]
fn what_belongs_to_another_name_is_not_told_of_the_subject() {
    check(
        "William Graham, 2nd Duke of Montrose",
        "William Graham, 2nd Duke of Montrose (27 August 1712 – 23 September 1790) was the son of James Graham, 1st \
         Duke of Montrose, and his wife, Christian Carnegie. He married Lucy Manners, daughter of John Manners, 2nd \
         Duke of Rutland on 28 October 1742.",
        &[
            "Who was William Graham, 2nd Duke of Montrose?",
            "When was William Graham, 2nd Duke of Montrose born?",
            "When did William Graham, 2nd Duke of Montrose die?",
            "Who are the parents of William Graham, 2nd Duke of Montrose?",
            "Whom did William Graham, 2nd Duke of Montrose marry?",
        ],
        &[
            "Who is James Graham, 1st Duke of Montrose, whose son is William Graham, 2nd Duke of Montrose?",
            "Who is Christian Carnegie, whose son is William Graham, 2nd Duke of Montrose?",
            "Who is Lucy Manners, who married William Graham, 2nd Duke of Montrose?",
            "Who or what is John Manners, 2nd Duke of Rutland, mentioned with William Graham, 2nd Duke of Montrose?",
        ],
    );
}

#[test]
fn a_film_has_makers() {
    check(
        "Three Lucky Fools",
        "Three Lucky Fools( Italian: Tre uomini in frack) is a 1933 French- Italian comedy film directed by Mario \
         Bonnard and starring Tito Schipa, Eduardo De Filippo and Fred Pasquali. It was released in two versions.",
        &[
            "What is Three Lucky Fools?",
            "Which country is Three Lucky Fools from?",
            "Who directed Three Lucky Fools?",
            "Who stars in Three Lucky Fools?",
            "What is said about Three Lucky Fools, “released” and “versions”?",
        ],
        &[
            "Who is Eduardo De Filippo, who stars in Three Lucky Fools?",
            "Who is Mario Bonnard, the director of Three Lucky Fools?",
            "Who is Tito Schipa, who stars in Three Lucky Fools?",
            "Who is Fred Pasquali, who stars in Three Lucky Fools?",
        ],
    );
}

#[test]
fn a_heading_is_not_part_of_the_name_that_follows_it() {
    let asks = questions("Marrow Light (ship)", "# Marrow Light (ship)\n\nThe Marrow Light was a barque. She sank.");
    check_keywords(&asks, "What was Marrow Light?", &["marrow light"]);
}

#[test]
fn a_place_lies_somewhere() {
    check(
        "Naas River",
        "The Naas River, a perennial stream of the Murrumbidgee catchment, is located in the Australian Capital \
         Territory, Australia.",
        &["What is Naas River?", "Where is Naas River?"],
        &[
            "Where is the Australian Capital Territory, the place where Naas River is?",
            "Where is Australia, the place where Naas River is?",
            "What is the Murrumbidgee, mentioned with Naas River?",
        ],
    );
}

#[test]
fn a_song_has_a_performer_and_an_album() {
    check(
        "Nobody's Girl (song)",
        "\"Nobody's Girl\" is a single by Canadian country music artist Michelle Wright. Released in 1996, it was the \
         first single from her album \"Reasons Why\".",
        &[
            "What is Nobody's Girl?",
            "Which country is Nobody's Girl from?",
            "Who performed Nobody's Girl?",
            "When was Nobody's Girl released?",
            "Which album is Nobody's Girl from?",
        ],
        &[
            "Who is Michelle Wright, the performer of Nobody's Girl?",
            "What is Reasons Why, the album mentioned with Nobody's Girl?",
        ],
    );
}

#[test]
fn an_organization_has_founders_and_a_seat() {
    check(
        "",
        "Acme Tools is a company based in Springfield, Ohio. It was founded in 1902 by Sir Hugh Park. Its anvils are \
         sold to Coyote Stores.",
        &[
            "What is Acme Tools?",
            "Where is Acme Tools based?",
            "When was Acme Tools founded?",
            "How is Acme Tools connected to Coyote Stores?",
        ],
        &[
            "Where is Springfield, the place where Acme Tools is?",
            "Where is Ohio, the place where Acme Tools is?",
            "Who is Sir Hugh Park, mentioned with Acme Tools?",
            "Who or what is Coyote Stores, mentioned with Acme Tools?",
        ],
    );
}

#[test]
fn a_headline_is_quoted() {
    check(
        "The trial is bigger than Ada Poe",
        "Lawyers expect much. Ada Poe, who led Acme, said so in Berlin.",
        &[
            "What does “The trial is bigger than Ada Poe” say about lawyers and expect?",
            "What does “The trial is bigger than Ada Poe” say about Ada Poe?",
        ],
        &[
            "Who or what is Ada Poe, mentioned in “The trial is bigger than Ada Poe”?",
            "Who or what is Acme, mentioned in “The trial is bigger than Ada Poe”?",
            "Where is Berlin, mentioned in “The trial is bigger than Ada Poe”?",
        ],
    );
}

#[test]
fn a_passage_without_names_is_asked_by_its_words() {
    check("", "water boils at low pressure. the kettle whistles.", &["What is said about pressure and whistles?"], &[]);
    check(
        "",
        "Most cells divide slowly. Others never divide.",
        &["What is said about divide and slowly?", "What is said about divide?"],
        &[],
    );
}

#[test]
fn every_sentence_has_a_question_and_nothing_has_none() {
    check("", "12.5 %", &["What is meant by “12.5 %”?"], &[]);
    check("Mars", "12.5 %", &["What is meant by “12.5 %” about Mars?"], &[]);
    check("", "***", &["What is meant by “***”?"], &[]);
    check("Mars", " \n", &[], &[]);
    let mut passage = Passage { sentences: vec![], ..one_passage("Mars", "Mars is red.") };
    assert!(generate_by_rule(&Document::new("test", None, ""), &passage).is_empty());
    passage.text.clear();
    assert!(generate_by_rule(&Document::new("test", None, ""), &passage).is_empty());
}

fn one_passage(title: &str, text: &str) -> Passage {
    let document = Document::new("test", Some(title.to_owned()), text);
    passages(&document, &ChunkOptions::default(), &|_| 1).remove(0)
}

#[test]
fn keywords_are_the_name_asked_about_and_the_words_of_the_relation() {
    let asks = questions("Teutberga", "Teutberga was a queen. Her father was Boso the Elder. She met King Louis IX.");
    check_keywords(&asks, "Who is Boso the Elder, the father of Teutberga?", &["boso the elder", "father"]);
    check_keywords(&asks, "Who is King Louis IX, mentioned with Teutberga?", &["king louis ix", "louis ix"]);
    check_keywords(&asks, "Who is the father of Teutberga?", &["father", "teutberga"]);
    check_keywords(&asks, "How is Teutberga connected to King Louis IX?", &["king louis ix", "teutberga"]);
    let answers = questions("Boso the Elder", "Boso the Elder was a count.");
    check_keywords(&answers, "Who was Boso the Elder?", &["boso the elder"]);
    let variants = questions("Ann Lee, Countess of Rye (noble)", "Ann Mary Lee, Countess of Rye, was a writer.");
    check_keywords(
        &variants,
        "Who was Ann Lee, Countess of Rye?",
        &["ann lee", "ann lee countess of rye", "ann mary lee"],
    );
}

#[test]
fn there_are_never_too_many_questions_and_never_two_alike() {
    let names = ('A'..='Z').map(|it| format!("He met {it}ob {it}ox.")).collect::<Vec<_>>().join(" ");
    let asked = questions("Max Moe", &format!("Max Moe was a writer. {names}"));
    let count = |kind| asked.iter().filter(|it| it.kind == kind).count();
    assert_eq!((count(QuestionKind::Incoming), count(QuestionKind::Outgoing)), (INCOMING_MAX, OUTGOING_MAX));
    let texts: std::collections::BTreeSet<_> = asked.iter().map(|it| &it.text).collect();
    assert_eq!(texts.len(), asked.len());

    // A name with its article and without.
    let text = "The Umayyads were rulers. Later the Umayyads were criticized by some.";
    let asked = questions("Caliphate", text);
    let of_them = asked.iter().filter(|it| it.kind == QuestionKind::Outgoing && it.text.contains("the Umayyads"));
    assert_eq!(of_them.count(), 1, "{asked:#?}");
}

proptest::proptest! {
    #[test]
    fn any_passage_with_a_sentence_has_a_question(
        title in "\\PC{0,20}",
        text in "([A-Z]?[a-z]{0,5}[ .,(){}'\"東]){0,40}|\\PC{0,60}",
    ) {
        let document = Document::new("test", Some(title), text);
        for passage in passages(&document, &ChunkOptions::default(), &|text| text.split_whitespace().count()) {
            let questions = generate_by_rule(&document, &passage);
            proptest::prop_assert!(passage.sentences.is_empty() || !questions.is_empty());
            proptest::prop_assert!(questions.iter().all(|it| it.text.ends_with('?')));
        }
    }
}

#[test]
fn passages_of_a_document_of_very_many_have_fewer_questions_and_one_at_least() {
    let text = "Ada Lorne (born 4 May 1900) was a pilot. She met Bo Quill, Cy Lund and Di Roe in Port Aven. She won.";
    let document = Document::new("ada", Some("Ada Lorne".to_owned()), text);
    let passage = &passages(&document, &ChunkOptions::default(), &|text| text.split_whitespace().count())[0];
    let all = generate_by_rule(&document, passage);
    let of = |passages: usize| {
        let rules = RuleQuestions::of(&document, passages);
        (rules.are_cut(), rules.of_passage(passage))
    };
    let full = INCOMING_MAX + OUTGOING_MAX;
    assert_eq!(of(QUESTIONS_MAX / 16), (false, all.clone()));
    assert!(of(QUESTIONS_MAX / full + 1).0);
    let (is_cut, few) = of(QUESTIONS_MAX / 2);
    assert!(is_cut && few.len() == 2, "{few:?}");
    assert!(few.iter().all(|question| all.contains(question)));
    let (_, one) = of(10 * QUESTIONS_MAX);
    assert_eq!(one, all[..1]);
}
