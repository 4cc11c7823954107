//! Scores ranked lists and answers against questions with known supporting documents, and fits weights to them. The
//! lists may come from an engine of this library or from a file written by another program.

mod answers;
mod bootstrap;
mod calibrate;
mod compare;
mod context;
mod exact;
mod fit;
mod gold;
mod judge;
mod live;
mod live_report;
mod matrix;
mod metrics;
mod page;
mod planned;
mod plot;
mod questions;
mod recorded;
mod report;
mod retrieval;
mod stand_in;
mod sweep;
mod table;
mod training;
mod triples;
mod work;

pub use answers::{AnswerFigures, AnswerForm, AnswerLine, AnswersReport, Silence, answers, score_answers};
pub use bootstrap::{Interval, RESAMPLES, interval, percentile, wilson};
pub use calibrate::{CalibrationReport, KeptAt, Quality, calibrate};
pub use compare::{ComparedQuestions, Comparison, Difference, Differences, Run, Side, compare, read_run};
pub use context::{BridgeCoverage, ContextMethod, ContextReport, ContextRow, OverviewFigures, OverviewLine, context};
pub use exact::{AnswerScores, answer_scores, normalized};
pub use fit::{Collection, FitOptions, FitReport, FittedCollection, Held, Measured, fit};
pub use gold::{GoldPassage, flat};
pub use judge::{
    ANSWER_BYTES_MAX, AnswersOf, Contest, Contestants, CriterionTally, FailedVerdicts, JudgeReport, JudgedPair, TIE,
    VerdictFile, VerdictLine, judge, read_answers, read_answers_of, read_verdicts, tallied,
};
pub use live::{LiveLine, LiveRow, live, live_rows};
pub use live_report::{LiveFigures, LiveReport};
pub use matrix::{LiveModel, MatrixMethod, MatrixOptions, MatrixReport, MatrixRow, MatrixTable, matrix};
pub use metrics::{DEPTHS, QuestionScores, at_depth, scores};
pub use page::{NamedResult, Page, page};
pub use plot::{Chart, Series};
pub use questions::{Question, parse_questions, read_asked, read_questions};
pub use recorded::{Recorded, RecordedPart, RecordedReplies, read_recorded};
pub use report::{Breakdown, Facts, Metrics, RetrievalReport, RunLine, Scored, TimePerQuestion, score};
pub use retrieval::retrieval;
pub use stand_in::StandIn;
pub use sweep::{SWEEP_N_HOP, SWEEP_TOP_K, SweepCell, SweepReport, SweepRow, sweep};
pub use training::{TrainingLine, TrainingMessage, TrainingReport, training_data};
pub use triples::TriplesModel;
pub use work::WorkReport;
