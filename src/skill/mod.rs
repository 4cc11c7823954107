//! Skills: each is one typed task that a performer does for indexing or for a strategy. Rules need no model and give
//! equal results on every machine; a model's skill is a prompt file, a schema file and a check (see [`Skill`]).

mod answer;
mod answer_web;
mod choose;
mod citations;
mod conclude;
mod decompose;
mod describe;
mod digest;
mod enough;
mod entities;
mod extract;
mod generate;
mod imagine;
mod judge;
mod keywords;
mod lenient;
mod model;
mod outline;
mod performers;
mod pick;
mod prefer;
mod read;
mod reason;
mod report;
mod route;
mod seed;
mod seek;
mod steps;
mod summarize;
mod supplement;
mod trial;

pub use answer::{
    AnswerReply, AnswerSkill, AnswerTask, CitedSentence, SENTENCES_MAX, ShownPassage, StreamedSentences, WrittenAnswer,
    best_sentence, is_supported,
};
pub use answer_web::{WebAnswerSkill, WebAnswerTask};
pub use choose::{ChooseReply, ChooseSkill, ChooseTask, STEPS_MAX, StepShown};
pub use citations::{CitationsReply, CitationsSkill, CitationsTask};
pub use conclude::{ConcludeSkill, ConcludeTask, ShownNote};
pub use decompose::{DecomposeReply, DecomposeSkill, DecomposeTask, PARTS_MAX, SubQuestion};
pub use describe::{DescribeReply, DescribeSkill, DescribeTask};
pub use digest::{DIGESTED_MAX, Digest, DigestReply, DigestSkill, DigestTask, digest_by_rule};
pub use enough::{EnoughReply, EnoughSkill, EnoughTask, MISSING_MAX, Sufficiency};
pub use entities::{EntitiesReply, EntitiesSkill, EntitiesTask, NAMES_MAX};
pub use extract::{
    ENTITY_TYPES_DEFAULT, EntityTypes, ExtractCalls, ExtractReply, ExtractSkill, ExtractTask, NameReply, NameSkill,
    ProposeReply, ProposeSkill, ProposeTask, RelateReply, RelateSkill, RelateTask, SAMPLES_MAX, TYPES_MAX, sample,
};
pub use generate::{
    AnsweredSkill, GenerateReply, GenerateSkill, GenerateTask, INCOMING_MAX, OUTGOING_MAX, OUTGOING_MIN, QuestionCalls,
    QuestionsReply, RaisedSkill, RaisedTask, RuleQuestions, Written, generate_by_rule,
};
pub use imagine::{ImagineReply, ImagineSkill, ImagineTask};
pub use judge::{JUDGED_MAX, JudgeReply, JudgeSkill, JudgeTask, JudgedItem};
pub use keywords::{KeywordsReply, KeywordsSkill, KeywordsTask, RefineReply, RefineSkill, RefineTask};
pub use model::{Degradation, KeptUnusable, PerformOptions, Performed, Skill, chat_request, perform, perform_with};
pub use outline::NotedHeading;
pub use performers::Performers;
pub use pick::{FoundPassage, PICKS_MAX, PickReply, PickSkill, PickTask, StepTaken};
pub use prefer::{Better, Criterion, PreferReply, PreferSkill, PreferTask, Preference};
pub use read::{PART_ANSWERS_MAX, ReadReply, ReadSkill, ReadTask};
pub use reason::{ReasonReply, ReasonSkill, ReasonTask, Reasoned};
pub use report::{ReportReply, ReportSkill, ReportTask};
pub use route::{RouteReply, RouteSkill, RouteTask, parts_by_rule, route_by_rule};
pub use seed::{SeedReply, SeedSkill, SeedTask};
pub use seek::{NEEDS_MAX, Need, QUERIES_MAX, SeekReply, SeekSkill, SeekTask};
pub use steps::AnsweredStep;
pub use summarize::{SummarizeReply, SummarizeSkill, SummarizeTask};
pub use supplement::{SUPPLEMENTS_MAX, SupplementReply, SupplementSkill, SupplementTask};
pub use trial::{Trial, trials};

#[cfg(test)]
mod tests;
