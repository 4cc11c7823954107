//! `cairn eval judge`.

use std::path::Path;

use super::eval_args::EvalJudgeArgs;
use super::{Done, Surroundings};
use crate::error::{Error, Result};
use crate::eval::{
    self, Contest, JudgeReport, VerdictFile, VerdictLine, read_answers_of, read_asked, read_verdicts, tallied,
};

/// Runs `cairn eval judge`: prints the results so far, then fails if the judge gave nothing usable.
pub(super) async fn run(args: &EvalJudgeArgs, surroundings: &Surroundings) -> Done {
    let systems = systems(&args.systems)?;
    let report = match (&args.verdicts, &args.first, &args.second, &args.questions, &args.model) {
        (Some(path), ..) => counted(path, systems)?,
        (None, Some(first), Some(second), Some(questions), Some(model)) => {
            let (a, b) = systems.unzip();
            let (first, second) = (read_answers_of(first, a)?, read_answers_of(second, b)?);
            let mut contest = Contest::of(&first, &second, &read_asked(questions)?)?;
            contest.truncate(args.limit.unwrap_or(usize::MAX));
            let recording = args.recording.files();
            let model = surroundings.setup.answer_model(model, &args.budget, &recording, None)?;
            let mut file = match &args.output {
                Some(path) => VerdictFile::open(path, (&contest.a, &contest.b), model.name())?,
                None => VerdictFile::nowhere(),
            };
            eval::judge(model.as_ref(), &contest, &mut file).await?
        }
        // The parser of the command line has seen to it.
        _ => return Err(Error::Internal("`eval judge` lacks an argument".to_owned()).into()),
    };
    if args.json {
        surroundings.print_json(&report)?;
    } else {
        surroundings.screen.lines(&report.to_string())?;
    }
    match (report.useless(), &args.model) {
        (Some(source), Some(model)) => Err(Error::Chat { model: model.clone(), source }.into()),
        _ => Ok(()),
    }
}

/// Returns the two systems that were named, if any were.
fn systems(names: &[String]) -> Result<Option<(&str, &str)>> {
    match names {
        [] => Ok(None),
        [a, b] if a != b => Ok(Some((a, b))),
        names => Err(Error::Option {
            option: "systems",
            value: names.join(","),
            reason: "two different ones are compared: A,B".to_owned(),
        }),
    }
}

/// Returns the result of the verdicts in a file, on two systems if named.
fn counted(path: &Path, systems: Option<(&str, &str)>) -> Result<JudgeReport> {
    let verdicts = read_verdicts(path)?;
    let is_named = |line: &&VerdictLine| systems.is_none_or(|(a, b)| line.a == a && line.b == b);
    let pairs = tallied(verdicts.iter().filter(is_named));
    match systems {
        Some((a, b)) if pairs.is_empty() => Err(Error::Option {
            option: "systems",
            value: format!("{a},{b}"),
            reason: format!("`{}` has no verdict on them in this order", path.display()),
        }),
        _ => Ok(JudgeReport::of_verdicts(pairs)),
    }
}
