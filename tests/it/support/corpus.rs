//! Text of any size for tests and benchmarks: real bundles if they exist, or else copies of the demo collection under
//! other names; and the questions made from it, both in-coming and out-coming.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use cairn::Document;
use cairn::chunk::{ChunkOptions, passages};
use cairn::domain::{Passage, PseudoQuery, QuestionKind};
use cairn::embed::{Embedder as _, StaticTable};
use cairn::graph::matching::{Marks, Questions};
use cairn::graph::ordinal::{Column, DocumentOrdinal, KeywordOrdinal, PassageOrdinal, Rows};
use cairn::graph::vectors::QuantizedVectors;
use cairn::ingest::{IngestOptions, SourceItem, read_sources};
use cairn::skill::generate_by_rule;
use rayon::prelude::*;

/// Syllables that distinguish the names of one copy of the demo collection from those of another.
const SYLLABLES: [&str; 10] = ["ba", "de", "fi", "go", "lu", "ma", "ne", "ri", "so", "tu"];

/// Returns the documents of `bundles`, one after the other; none if a bundle is missing.
pub(crate) fn bundles(bundles: &[&str]) -> Option<Vec<Document>> {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/data");
    let paths: Vec<PathBuf> = bundles.iter().map(|bundle| data.join(bundle).join("corpus.jsonl")).collect();
    paths.iter().all(|path| path.is_file()).then(|| read(&paths))
}

/// Returns `copies` of the demo collection, each with names of its own, so that words are as frequent as in one
/// collection of that size, but names are not.
pub(crate) fn demo(copies: usize) -> Vec<Document> {
    let harbor = read(&[Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/harbor")]);
    let titles = harbor.iter().filter_map(|document| document.title.as_deref());
    let names: BTreeSet<&str> = titles.flat_map(words).filter(|word| word.starts_with(char::is_uppercase)).collect();
    let copy = |copy: usize| {
        let renamed = |text: &str| renamed(text, &names, copy);
        harbor
            .iter()
            .map(|it| {
                let title = it.title.as_deref().map(renamed);
                Document::new(format!("{copy}/{}", it.source_id), title, renamed(&it.text))
            })
            .collect::<Vec<_>>()
    };
    (0..copies).flat_map(copy).collect()
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|char: char| !char.is_alphanumeric()).filter(|word| word.len() > 3)
}

/// Returns `text` with the syllables of a copy appended to every word of `names`.
fn renamed(text: &str, names: &BTreeSet<&str>, copy: usize) -> String {
    let digits = copy.to_string();
    let suffix: String = digits.bytes().map(|digit| SYLLABLES[usize::from(digit - b'0')]).collect();
    let piece = |piece: &str| {
        let word = piece.trim_end_matches(|char: char| !char.is_alphanumeric());
        if names.contains(word) { format!("{word}{suffix}{}", &piece[word.len()..]) } else { piece.to_owned() }
    };
    text.split_inclusive(|char: char| !char.is_alphanumeric()).map(piece).collect()
}

fn read(paths: &[PathBuf]) -> Vec<Document> {
    let mut documents = Vec::new();
    read_sources(paths, &IngestOptions::default(), &mut |item| {
        if let SourceItem::Document(found) = item {
            documents.push(found.document);
        }
        Ok(())
    })
    .unwrap();
    documents
}

/// Returns the passages of a document, as an index has them.
pub(crate) fn passages_of(document: &Document) -> Vec<Passage> {
    passages(document, &ChunkOptions::default(), &|text| StaticTable.piece_count(text))
}

/// The questions of one side.
#[derive(Debug, Default)]
pub(crate) struct Side {
    questions: Vec<PseudoQuery>,
    passage: Vec<PassageOrdinal>,
    document: Vec<DocumentOrdinal>,
    keywords: Vec<u32>,
    keyword: Vec<KeywordOrdinal>,
    vectors: QuantizedVectors,
    marks: Marks,
}

impl Side {
    /// Returns the number of questions.
    pub(crate) fn len(&self) -> usize {
        self.questions.len()
    }

    /// Returns the texts.
    pub(crate) fn texts(&self) -> Vec<&str> {
        self.questions.iter().map(|question| question.text.as_str()).collect()
    }

    /// Returns the questions in the form that matching takes.
    pub(crate) fn view<K>(&self) -> Questions<'_, K> {
        Questions {
            passage: Column::new(&self.passage),
            document: Column::new(&self.document),
            keywords: Rows::new(&self.keywords),
            keyword: Column::new(&self.keyword),
            vectors: self.vectors.view(),
            marks: &self.marks.questions,
            vector_marks: &self.marks.vectors,
        }
    }

    fn push(&mut self, passage: u32, document: u32, question: PseudoQuery) {
        self.passage.push(PassageOrdinal(passage));
        self.document.push(DocumentOrdinal(document));
        self.questions.push(question);
    }

    /// Numbers the keywords and embeds the texts.
    fn finish(&mut self, numbers: &BTreeMap<String, KeywordOrdinal>) {
        (self.keywords, self.keyword) = (vec![0], Vec::new());
        for question in &self.questions {
            self.keyword.extend(question.keywords.iter().filter_map(|keyword| numbers.get(keyword)));
            self.keywords.push(self.keyword.len() as u32);
        }
        self.vectors = QuantizedVectors::new(StaticTable.dimension());
        for embedding in StaticTable.vectors(&self.texts()).unwrap() {
            self.vectors.push(embedding.values());
        }
        let numbers: Vec<u64> = (0..self.questions.len() as u64).collect();
        self.marks = Marks::of_all(&numbers, Some(&self.vectors.view()));
    }
}

/// Both sides of the questions of a corpus.
#[derive(Debug, Default)]
pub(crate) struct Asked {
    /// Those that its passages answer.
    pub(crate) incoming: Side,
    /// Those that they raise.
    pub(crate) outgoing: Side,
}

impl Asked {
    /// Returns the questions of `documents`, up to the document that raises the last of `outgoing_count` questions.
    pub(crate) fn of(documents: &[Document], outgoing_count: usize) -> Self {
        let mut asked = Self::default();
        let (mut passage_count, mut document_count) = (0, 0);
        for batch in documents.chunks(256) {
            let units: Vec<Vec<Vec<PseudoQuery>>> = batch
                .par_iter()
                .map(|it| passages_of(it).iter().map(|passage| generate_by_rule(it, passage)).collect())
                .collect();
            for passages in units {
                if asked.outgoing.len() >= outgoing_count {
                    break;
                }
                for question in passages.into_iter().flat_map(|questions| {
                    passage_count += 1;
                    questions.into_iter().map(move |question| (passage_count - 1, question))
                }) {
                    asked.push(question.0, document_count, question.1);
                }
                document_count += 1;
            }
        }
        let sides = [&asked.incoming, &asked.outgoing].map(|side| &side.questions);
        let keywords = sides.into_iter().flatten().flat_map(|question| question.keywords.iter());
        let distinct: BTreeSet<&str> = keywords.collect();
        let numbers = distinct.into_iter().map(str::to_owned).zip((0..).map(KeywordOrdinal)).collect();
        asked.incoming.finish(&numbers);
        asked.outgoing.finish(&numbers);
        asked
    }

    fn push(&mut self, passage: u32, document: u32, question: PseudoQuery) {
        match question.kind {
            QuestionKind::Incoming => self.incoming.push(passage, document, question),
            QuestionKind::Outgoing => self.outgoing.push(passage, document, question),
        }
    }
}
