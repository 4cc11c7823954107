//! Skills: one typed task each that a performer does for indexing or for a strategy. Rules need no model and give the
//! same on every machine; what a model does is a prompt file, a schema file and a check (see [`Skill`]).

mod answer;
mod choose;
mod citations;
mod decompose;
mod entities;
mod generate;
mod judge;
mod lenient;
mod model;
mod performers;
mod pick;
mod read;
mod trial;

pub use answer::{
    AnswerReply, AnswerSkill, AnswerTask, CitedSentence, HeardSentences, SENTENCES_MAX, ShownPassage, WrittenAnswer,
    best_sentence, is_supported,
};
pub use choose::{ChooseReply, ChooseSkill, ChooseTask, STEPS_MAX, StepShown};
pub use citations::{CitationsReply, CitationsSkill, CitationsTask};
pub use decompose::{DecomposeReply, DecomposeSkill, DecomposeTask, PARTS_MAX, SubQuestion};
pub use entities::{EntitiesReply, EntitiesSkill, EntitiesTask, NAMES_MAX};
pub use generate::{
    AnsweredSkill, GenerateReply, GenerateSkill, GenerateTask, INCOMING_MAX, OUTGOING_MAX, OUTGOING_MIN, QuestionCalls,
    QuestionsReply, RaisedSkill, RaisedTask, RuleQuestions, WrittenPassage, generate_by_rule,
};
pub use judge::{JUDGED_MAX, JudgeReply, JudgeSkill, JudgeTask, JudgedItem};
pub use model::{Degradation, KeptUnusable, PerformOptions, Performed, Skill, chat_request, perform, perform_with};
pub use performers::Performers;
pub use pick::{FoundPassage, PICKS_MAX, PickReply, PickSkill, PickTask, StepTaken};
pub use read::{PART_ANSWERS_MAX, ReadReply, ReadSkill, ReadTask};
pub use trial::{Trial, trials};

#[cfg(test)]
mod tests;
