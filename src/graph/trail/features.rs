//! The features of a candidate besides its score, by which the boosted ranking decides.

macro_rules! features {
    ($($(#[$doc:meta])* $name:ident,)*) => {
        /// The features of one of the best passages of a walk. Without an edge, its features are 0.
        #[derive(Debug, Clone, Copy, Default, PartialEq)]
        pub struct CandidateFeatures { $($(#[$doc])* pub $name: f32,)* }

        impl CandidateFeatures {
            /// The names of the features, in order.
            pub const NAMES: &'static [&'static str] = &[$(stringify!($name)),*];

            /// Returns the values, in the order of [`Self::NAMES`].
            #[must_use]
            pub fn values(&self) -> [f32; Self::NAMES.len()] {
                [$(self.$name),*]
            }
        }
    };
}

features! {
    /// Its score after the walk.
    score,
    /// Its score less that of the best.
    below_first,
    /// Its score less that of the fifth.
    below_fifth,
    /// p of its score.
    lent,
    /// 1/rank by score.
    rank,
    /// 1/rank by the score before the first round.
    seed_rank,

    /// BM25 over the question's best.
    bm25,
    /// BM25 of its best sentence over the question's best.
    best_sentence,
    /// Cosine of question and passage.
    cosine,
    /// Cosine of question and its best sentence.
    best_sentence_cosine,
    /// The question names its document by title.
    named,
    /// The question names its document by another name.
    named_lead,
    /// Share of its name that the question has, by idf, damped if that is little of the question.
    name_covered,
    /// Share of the question's pairs of neighboring terms that it has, by idf.
    bigrams,

    /// p · g of the best edge that leads to it.
    gain,
    /// g of that edge.
    worth,
    /// p of the source of that edge.
    source_lent,
    /// 1/(1 + place of its source).
    source_rank,
    /// The question names its source.
    source_named,
    /// As in [`super::EdgeWeights`], of that edge; so are those that follow.
    name,
    /// The entity is a name of its source.
    own,
    /// ln(N/(df + 1))/ln N of the entity.
    rarity,
    /// The question names the entity.
    in_question,
    /// Words of the question around the mention in its source.
    cue,
    /// Share of the question that the mention's sentence there covers.
    sentence,
    /// Share of the open part of the question that the passage covers.
    residual,
    /// Share of it that the sentence with the entity covers.
    sentence_residual,
    /// `name` · `cue`.
    name_cue,
    /// `name` · `residual`.
    name_residual,
    /// Words of the question around the mention in its target.
    target_cue,
    /// `target_cue` · `sentence_residual`.
    target_cue_residual,
    /// `cue` · `sentence_residual`.
    cue_residual,
    /// `cue` over the best of the same source.
    cue_share,
    /// `residual` over the best of the same source.
    residual_share,
    /// `sentence_residual` over the best of the same source.
    sentence_residual_share,
    /// `target_cue` over the best of the same source.
    target_cue_share,
    /// `source_named` · `name`.
    named_to_named,
    /// `source_named` if the edge is a shared mention.
    named_to_shared,

    /// Best cosine of the question and a sentence of the source that mentions the entity.
    sentence_cosine,
    /// Cosine of the passage and the question minus half of the source.
    residual_cosine,
    /// Cosine of the question and the target's sentence with the entity.
    target_cosine,
    /// How much closer both sentences together are to the question than the closer one.
    pair_gain,
    /// Cosine of the target's sentence and the question minus the source's sentence.
    target_residual_cosine,

    /// p · g of the best edge from another passage.
    second_gain,
    /// Passages from which an edge of some gain leads to it, in quarters.
    sources,
    /// 1/(1 + place) among the targets of the best edge's source.
    rank_in_source,
    /// Its gain less that of the best other target.
    margin_in_source,
    /// The best gain from it to one of the first candidates.
    bridge,
    /// 1/(1 + place) of that candidate.
    bridge_rank,
    /// Share of the question that it and the passages on its path cover.
    path_covered,
    /// Share of the question that no better candidate covers.
    newly_covered,
    /// Passages on its path, in quarters.
    depth,
    /// Best 1/(1 + place) among the targets of a passage that the question names.
    after_named,
    /// A better candidate was reached from its edge's source.
    is_source_taken,
    /// 1/(1 + place) of the start of its path.
    root_rank,
    /// The best gain of an edge to it from a passage that is not the source of the best.
    other_gain,

    /// Largest share of the question that the two sentences of an edge to it cover.
    pair_in,
    /// The same, times p of the edge's source.
    pair_in_lent,
    /// The same for an edge from it to one of the first candidates.
    pair_out,
    /// Largest share that it and a linked candidate cover.
    pair_covered,
    /// Its addition to that candidate's share.
    pair_added,
    /// Largest share that a chain of three candidates through it covers.
    chain_covered,
    /// Share that it covers.
    covered,

    /// Best cosine of one of its sentences and a question in which the start of an edge is replaced by its target;
    /// likewise the following ones.
    asked_anew,
    /// The same less the best of all passages.
    asked_anew_gap,
    /// 1/rank by it.
    asked_anew_rank,
    /// Best cosine with the question of a leap that leads from a passage with an edge to it.
    asked_anew_linked,
    /// The same less the best of all such passages.
    asked_anew_linked_gap,
    /// The same times the gain of the leap over the largest.
    asked_anew_linked_lent,

    /// Score of `hybrid`.
    hybrid,
    /// The same less that of its best.
    hybrid_below,
    /// 1/rank by `hybrid`.
    hybrid_rank,
    /// 1/rank by BM25.
    lexical_rank,
    /// Largest share of the question that one of its sentences covers.
    sentence_covered,
    /// It is the first passage of its document.
    is_opening,
    /// Its position in its document, from 0 to 1.
    position,
    /// ln(1 + passages of its document), in eighths.
    siblings,

    /// How well the heading above it fits the question: harmonic mean of the share of each in the other, by idf.
    heading_fit,
    /// Share of the question that is in its title and the headings above it.
    headings_asked,
    /// How well the best of its short lines fits the question, as of a heading.
    line_fit,
    /// Share of that line that the question has.
    line_covered,
    /// That line is its first.
    line_opens,
    /// Share of the question's terms, by idf, in the longest run that it shares with the question.
    phrase,
    /// Largest share of the question within sixteen terms.
    near,
    /// It has the rarest term of the question.
    rarest,
    /// Share of stop words among its words: much in prose, little in lists and code.
    prose,
    /// Share of letters among all characters except white space.
    letters,
    /// Words a line, in twentieths.
    line_words,
    /// Share of its lines that begin as items of a list or rows of a table do.
    bulleted,
    /// Words, in parts of 256.
    length,
    /// Its document is called a change log, a licence, contents, an index and the like.
    listing,

    /// Distinct terms of the question, in sixteenths; from here on the features are the question's and the same for all
    /// candidates: they say which of the others to trust.
    question_terms,
    /// How strongly the question names a document at all.
    question_named,
    /// Entities that it names, in quarters.
    question_entities,
    /// Largest share of it that one passage covers.
    question_covered,
    /// Largest share of it that one sentence covers.
    question_sentence,
    /// How far the best of `hybrid` is before the fifth.
    question_margin,
    /// How far the best by BM25 is before the fifth.
    question_lexical_margin,
    /// The largest gain of an edge.
    question_gain,
    /// 1/rank by `hybrid` of the first of the walk.
    question_agreed,
}
