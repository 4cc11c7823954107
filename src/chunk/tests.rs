//! Properties of every division: nothing is lost or too long, and an edit has only local effects.

use proptest::prelude::*;

use super::*;
use crate::domain::Positions;
use crate::text::WordPiece;

fn count_words(text: &str) -> usize {
    text.split_whitespace().count()
}

fn options(passage_pieces_max: usize, unit: PassageUnit) -> ChunkOptions {
    ChunkOptions { passage_pieces_max, unit }
}

fn divided(text: &str, pieces_max: usize, unit: PassageUnit) -> Vec<Passage> {
    let document = Document::new("test", None, text);
    let passages = passages(&document, &options(pieces_max, unit), &count_words);
    check_lossless(&document, &passages);
    passages
}

fn check_lossless(document: &Document, passages: &[Passage]) {
    let text = document.text.as_str();
    let mut at = 0;
    for (ordinal, passage) in passages.iter().enumerate() {
        let range = passage.span.range();
        assert!(at <= range.start && range.start < range.end, "{range:?} after {at}");
        assert!(text[at..range.start].trim().is_empty(), "lost {:?}", &text[at..range.start]);
        assert_eq!(&text[range.clone()], passage.text);
        assert_eq!(passage.text.trim(), passage.text);
        assert_eq!(passage.ordinal as usize, ordinal);
        assert!(passage.sentences.iter().all(|span| !span.of(&passage.text).is_empty()));
        at = range.end;
    }
    assert!(text[at..].trim().is_empty(), "lost {:?}", &text[at..]);
}

fn texts(passages: &[Passage]) -> Vec<&str> {
    passages.iter().map(|passage| passage.text.as_str()).collect()
}

proptest! {
    #[test]
    fn plain_text_is_divided_with_headings_of_its_own_and_nothing_is_lost(
        lines in prop::collection::vec(prop::sample::select(vec![
            "", "", "", "==========", "----------", "----", "NAME", "7.5. Ärger", "7.5.1. Wie", "oft?", "# A",
            "    # b", "*1* Falten *fold*", "Ein Satz. Und noch einer.", "```", "\t7.5. b", "1.2",
        ]), 0..24),
        pieces_max in 1usize..12,
    ) {
        let text = lines.join("\n");
        let document = Document { positions: Positions::of_lines(), ..Document::new("test", None, text) };
        let passages = passages(&document, &options(pieces_max, PassageUnit::Structure), &count_words);
        check_lossless(&document, &passages);
    }
}

#[test]
fn a_passage_has_the_line_and_the_column_where_it_begins() {
    let text = "Ärger mit dem Mühlrad. Das Wehr brach.\n\n   Ein Abt kam.";
    let document = Document { positions: Positions::of_lines(), ..Document::new("test", None, text) };
    let found = passages(&document, &options(100, PassageUnit::Sentence), &count_words);
    let places: Vec<_> = found.iter().map(|it| (it.line, it.column)).collect();
    assert_eq!(places, [(1, 1), (1, 24), (3, 4)].map(|(line, column)| (Some(line), Some(column))));
}

#[test]
fn a_document_that_fits_is_one_passage() {
    let passages = divided("# A\n\nOne two.\n\n## B\nThree. Four.\n", 20, PassageUnit::Structure);
    assert_eq!(texts(&passages), ["# A\n\nOne two.\n\n## B\nThree. Four."]);
    assert_eq!(passages[0].section.as_deref(), Some("A"));
    assert_eq!(passages[0].sentences.len(), 5);
}

#[test]
fn a_document_without_words_has_no_passages() {
    for text in ["", " \n\t\n", "\u{a0}\u{3000}"] {
        assert!(divided(text, 20, PassageUnit::Structure).is_empty());
        assert!(divided(text, 20, PassageUnit::Sentence).is_empty());
    }
}

#[test]
fn a_section_begins_a_passage_and_keeps_its_heading() {
    let text = "Intro here.\n\n# A\n## B\nOne two three four.\n\nFive six.\n# C\nSeven eight nine ten eleven twelve.";
    let passages = divided(text, 8, PassageUnit::Structure);
    let sections: Vec<_> = passages.iter().map(|it| it.section.as_deref()).collect();
    assert_eq!(
        texts(&passages),
        ["Intro here.", "# A\n## B\nOne two three four.", "Five six.", "# C\nSeven eight nine ten eleven twelve."]
    );
    assert_eq!(sections, [None, Some("A › B"), Some("A › B"), Some("C")]);
}

#[test]
fn what_is_too_long_is_divided_at_sentences_then_words_then_characters() {
    let passages = divided("One two. Three four five six. A b c d e f g.", 4, PassageUnit::Structure);
    assert_eq!(texts(&passages), ["One two.", "Three four five six.", "A b c d", "e f g."]);
    let word = "é".repeat(100);
    let passages = divided(&word, 4, PassageUnit::Structure);
    assert!(passages.len() > 1 && passages.iter().all(|it| it.text.len() <= 96));
}

#[test]
fn a_title_takes_room_but_never_more_than_half() {
    let text = "a b c d. E f g h.";
    for (title, expect) in [("T", 2), ("", 1), ("T t t t t t t t t t t t t t t t", 2)] {
        let document = Document::new("test", Some(title.to_owned()), text);
        let passages = passages(&document, &options(8, PassageUnit::Structure), &count_words);
        check_lossless(&document, &passages);
        assert_eq!(passages.len(), expect, "{title}");
    }
}

#[test]
fn a_passage_may_be_each_sentence() {
    let passages = divided("# A\nOne two. Three.\n\nFour five six seven.", 3, PassageUnit::Sentence);
    assert_eq!(texts(&passages), ["# A", "One two.", "Three.", "Four five six", "seven."]);
    let passages = divided("# A\nOne two. Three.", 20, PassageUnit::Sentence);
    assert_eq!(texts(&passages), ["# A\nOne two.", "Three."]);
}

#[test]
fn equal_passages_of_a_document_have_ids_of_their_own() {
    let passages = divided("Same.\n# A\nx y\n# A\nx y", 5, PassageUnit::Structure);
    assert_eq!(texts(&passages), ["Same.", "# A\nx y", "# A\nx y"]);
    let ids: std::collections::BTreeSet<_> = passages.iter().map(|it| it.id).collect();
    assert_eq!(ids.len(), passages.len());
    let document = Document::new("test", None, "");
    assert_eq!(passages[0].id, PassageId::of(&[document.id.as_bytes(), b"Same.", &0u32.to_le_bytes()]));
}

#[test]
fn a_large_text_without_structure_is_divided_in_linear_time() {
    let pieces = WordPiece::new("[UNK]\na");
    for text in ["x".repeat(400_000), "a b. ".repeat(80_000), "A.\n\n".repeat(80_000), "\n\n# \n".repeat(50_000)] {
        let document = Document::new("test", None, text);
        let passages = passages(&document, &ChunkOptions::default(), &|text| pieces.count(text));
        check_lossless(&document, &passages);
        assert!(passages.iter().all(|it| it.text.len() <= 256 * 24), "{:?}", &document.text[..20]);
    }
}

#[test]
fn no_part_of_a_document_is_counted_more_than_a_few_times() {
    for piece in ["# a\nb\n", "a. ", "A. ", "x", "a\n\n", "# # ", "#", "| a |\n", "東。", ". ", "\u{b}\n"] {
        let counted = |bytes: usize| {
            let document = Document::new("test", None, piece.repeat(bytes / piece.len()));
            let sum = std::cell::Cell::new(0);
            let count = |text: &str| {
                sum.set(sum.get() + text.len());
                text.len().div_ceil(4)
            };
            let passages = passages(&document, &ChunkOptions::default(), &count);
            check_lossless(&document, &passages);
            sum.get()
        };
        assert!(counted(64 << 10) <= 4 * (64 << 10), "{piece:?}");
    }
}

#[test]
fn beyond_the_most_passages_a_document_is_divided_by_size() {
    let document = Document::new("test", None, "# a\nb\n".repeat(PASSAGES_MAX + 1_000));
    let division = divide(&document, &ChunkOptions::default(), &count_words, &Cancellation::default()).unwrap();
    check_lossless(&document, &division.passages);
    let coarse = division.cuts.coarse as usize;
    assert_eq!(division.passages.len(), PASSAGES_MAX + coarse);
    assert!((1..100).contains(&coarse), "{coarse}");
    assert_eq!(division.passages[PASSAGES_MAX - 1].section.as_deref(), Some("a"));
    assert_eq!(division.passages[PASSAGES_MAX + 1].section, None);
    let fits = Document::new("test", None, "# a\nb\n".repeat(1_000));
    let division = divide(&fits, &ChunkOptions::default(), &count_words, &Cancellation::default()).unwrap();
    assert_eq!(division.cuts, Cuts::default());
}

#[test]
fn sentences_beyond_a_passages_share_become_one() {
    let mut cuts = Cuts::default();
    let text = "One. Two. Three. Four.";
    let told =
        |most, cuts: &mut Cuts| sentences(text, None, most, cuts).iter().map(|it| it.of(text)).collect::<Vec<_>>();
    assert_eq!(told(4, &mut cuts), ["One.", "Two.", "Three.", "Four."]);
    assert_eq!(cuts.sentences, 0);
    assert_eq!(told(2, &mut cuts), ["One.", "Two. Three. Four."]);
    assert_eq!(cuts.sentences, 2);
    assert!(sentences("", None, 2, &mut cuts).is_empty());
}

#[test]
fn a_section_of_long_headings_is_shortened() {
    let text = format!("# {0}\n## {0}\n### {0}\n\n{1}", "Mill ".repeat(30), "a b. ".repeat(300));
    let document = Document::new("test", None, text);
    let division = divide(&document, &ChunkOptions::default(), &count_words, &Cancellation::default()).unwrap();
    check_lossless(&document, &division.passages);
    let section = division.passages[0].section.clone().unwrap();
    assert!(section.chars().count() <= SECTION_CHARS_MAX && section.ends_with('…'), "{section}");
    assert!(division.cuts.headings > 0);
}

#[test]
fn a_stop_is_obeyed_inside_a_document() {
    let stop = Cancellation::default();
    stop.cancel();
    let document = Document::new("test", None, "a b. ".repeat(1_000));
    let divided = divide(&document, &ChunkOptions::default(), &count_words, &stop);
    assert!(matches!(divided, Err(crate::Error::Cancelled)));
}

/// A paragraph of a few sentences of invented words.
fn paragraph() -> impl Strategy<Value = String> {
    let sentence = prop::collection::vec("[a-z]{2,9}", 4..16).prop_map(|words| format!("Z{}. ", words.join(" ")));
    prop::collection::vec(sentence, 1..6).prop_map(|sentences| sentences.concat().trim().to_owned())
}

proptest! {
    #[test]
    fn any_text_is_covered_once_and_no_passage_is_too_long(
        text in "([#A-Za-zé東。.!? \\n`-]{0,12}(\\n\\n|\\n# |\\r\\n| ){0,1}){0,20}|\\PC{0,80}",
        pieces_max in 2usize..12,
        is_structure: bool,
    ) {
        let unit = if is_structure { PassageUnit::Structure } else { PassageUnit::Sentence };
        for passage in divided(&text, pieces_max, unit) {
            prop_assert!(count_words(&passage.text) <= pieces_max, "{:?}", passage.text);
        }
    }

    #[test]
    fn an_edit_leaves_passages_far_off_as_they_were(
        paragraphs in prop::collection::vec(paragraph(), 80..=80),
        at in 10usize..70,
    ) {
        let before = divided(&paragraphs.join("\n\n"), 120, PassageUnit::Structure);
        let mut edited = paragraphs.clone();
        edited[at].push_str(" A sentence more.");
        let after = divided(&edited.join("\n\n"), 120, PassageUnit::Structure);
        let place = paragraphs[..at].iter().map(|it| it.len() + 2).sum::<usize>();
        let edited_at = before.iter().position(|it| place < it.span.range().end).unwrap();
        for (index, passage) in before.iter().enumerate().filter(|(index, _)| index.abs_diff(edited_at) > 8) {
            let is_kept = after.iter().any(|it| it.id == passage.id);
            prop_assert!(is_kept, "passage {} changed, edit at {}", index, edited_at);
        }
    }
}
