//! What a model is asked about the hierarchy, and which replies are kept.

use std::marker::PhantomData;

use crate::domain::{Cancellation, SubjectId, WrittenText};
use crate::error::Result;
use crate::index::asking::{self, Asking, Finished, Jobs, Key};
use crate::llm::prompt::{DESCRIBE, REPORT, SUMMARIZE};
use crate::llm::{ChatModel, ChatRequest};
use crate::skill::{
    DescribeSkill, EntityTypes, KeptUnusable, PerformOptions, ReportSkill, Skill, SummarizeSkill, Written,
    chat_request, perform_with,
};
use crate::workspace::{ModelStage, Records, WrittenReport};

/// A skill that writes about elements of the hierarchy.
pub(super) trait Reporting: Skill<Input: Send + Sync + 'static, Output: Send + 'static> + 'static {
    /// The name of its stage in the records.
    const STAGE: ModelStage;
    /// Its name for users.
    const LABEL: &'static str;
    /// Its subject, as named in a failure.
    const ABOUT: &'static str;

    /// Returns its text in the form in which it is kept.
    fn text(output: Self::Output) -> WrittenText;
}

impl Reporting for ReportSkill {
    const STAGE: ModelStage = ModelStage::Reports;
    const LABEL: &'static str = "writing reports";
    const ABOUT: &'static str = "topic";

    fn text(report: Self::Output) -> WrittenText {
        WrittenText::Topic(report)
    }
}

impl Reporting for SummarizeSkill {
    const STAGE: ModelStage = ModelStage::Summaries;
    const LABEL: &'static str = "writing summaries";
    const ABOUT: &'static str = "cluster";

    fn text(summary: Self::Output) -> WrittenText {
        WrittenText::Cluster(summary)
    }
}

impl Reporting for DescribeSkill {
    const STAGE: ModelStage = ModelStage::Descriptions;
    const LABEL: &'static str = "describing entities";
    const ABOUT: &'static str = "entity";

    fn text(description: Self::Output) -> WrittenText {
        WrittenText::Entity(description)
    }
}

/// Returns the identity of descriptions that this model would write now.
pub(in crate::index) fn writer_of_descriptions(model: &str) -> String {
    asking::writer(model, &[DESCRIBE, DescribeSkill::SCHEMA].join("\n"))
}

/// Returns the identity of reports that this model would write now.
pub(in crate::index) fn writer_of_reports(model: &str) -> String {
    asking::writer(model, &[REPORT, ReportSkill::SCHEMA].join("\n"))
}

/// Returns the identity of summaries of these types that this model would write now.
pub(in crate::index) fn writer_of_summaries(model: &str, types: &EntityTypes) -> String {
    asking::writer(model, &[SUMMARIZE, SummarizeSkill::SCHEMA, &types.listed()].join("\n"))
}

/// Something that a model is asked about.
pub(super) struct Due<S: Skill> {
    pub(super) about: SubjectId,
    /// What rules call it.
    title: String,
    /// A digest of the material that the model is shown.
    pub(super) content: Key,
    task: S::Input,
}

impl<S: Reporting> Due<S> {
    pub(super) fn of(about: SubjectId, title: &str, task: S::Input) -> Self {
        let shown: String = S::messages(&task).into_iter().map(|it| it.text).collect();
        let mut content = Key::default();
        let size = content.len();
        content.copy_from_slice(&blake3::hash(shown.as_bytes()).as_bytes()[..size]);
        Self { about, title: title.to_owned(), content, task }
    }

    pub(super) fn request(&self) -> Result<ChatRequest> {
        chat_request::<S>(&self.task)
    }
}

/// The texts due on one level or layer.
pub(super) struct AllDue<S: Skill> {
    total: u64,
    due: std::vec::IntoIter<Due<S>>,
}

impl<S: Skill> AllDue<S> {
    pub(super) fn of(due: Vec<Due<S>>) -> Self {
        Self { total: due.len() as u64, due: due.into_iter() }
    }
}

impl<S: Reporting> Jobs<Due<S>> for AllDue<S> {
    fn total(&self) -> u64 {
        self.total
    }

    fn next(&mut self, _records: &Records) -> Result<Option<Due<S>>> {
        Ok(self.due.next())
    }

    fn passed_over(&self) -> u64 {
        0
    }
}

/// Requests the texts of a skill.
pub(super) struct By<S>(PhantomData<fn() -> S>);

impl<S> By<S> {
    pub(super) const fn skill() -> Self {
        Self(PhantomData)
    }
}

impl<S> Clone for By<S> {
    fn clone(&self) -> Self {
        Self::skill()
    }
}

impl<S: Reporting> Asking for By<S> {
    type Job = Due<S>;
    type Written = S::Output;

    const STAGE: ModelStage = S::STAGE;
    const LABEL: &'static str = S::LABEL;

    fn key(due: &Due<S>) -> Key {
        *due.about.as_bytes()
    }

    fn name(due: &Due<S>) -> String {
        format!("the {} `{}`", S::ABOUT, due.title)
    }

    async fn ask(
        &self,
        model: &dyn ChatModel,
        due: &Due<S>,
        unusable: KeptUnusable,
        _cancellation: &Cancellation,
    ) -> Written<S::Output> {
        Written::of(perform_with::<S>(model, &due.task, PerformOptions { listener: None, unusable }).await)
    }

    fn commit(&mut self, records: &mut Records, writer: &str, finished: Finished<Due<S>, S::Output>) -> Result<()> {
        let written = finished.into_iter().map(|(due, written)| {
            let Due { about, content, title, .. } = due;
            let report = written.map(S::text).map_err(|why| format!("{title}{}{why}", ModelStage::AFTER_TITLE));
            WrittenReport { about, content, report }
        });
        records.write_reports(S::STAGE, &written.collect::<Vec<_>>(), writer)
    }
}
