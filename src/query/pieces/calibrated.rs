//! Converts a reranker's scores to probabilities, with a calibration, and drops passages below the requested minimum,
//! except the best.

use std::path::Path;

use crate::domain::Calibration;
use crate::error::{Error, Result};
use crate::files;
use crate::query::session::query::Ranking;

/// Bytes of a file with a calibration at most.
const CALIBRATION_BYTES_MAX: u64 = 64 << 10;

/// Reads the calibration in the file at `path`, as `eval calibrate` writes it.
///
/// # Errors
///
/// [`Error::Io`] if the file cannot be read; [`Error::Line`] if it holds something else, or a curve that does not rise.
pub fn read_calibration(path: &Path) -> Result<Calibration> {
    let calibration: Calibration = files::read_json(path, CALIBRATION_BYTES_MAX)?;
    if calibration.is_sound() {
        return Ok(calibration);
    }
    let reason = "its slope is not a number above 0, or its intercept is none".to_owned();
    Err(Error::Line { path: path.to_owned(), line: 1, reason })
}

/// Returns the ranking with probabilities for scores, without passages below `least`.
pub(super) fn calibrated(mut found: Ranking, calibration: &Calibration, least: Option<f32>) -> Ranking {
    for (_, score) in &mut found.ranked {
        *score = calibration.probability(f64::from(*score)) as f32;
    }
    if let Some(least) = least {
        let all = found.ranked.len();
        let kept = kept(found.ranked.iter().map(|it| it.1), least);
        found.ranked.truncate(kept);
        let best = if kept == 1 { ", or are the best" } else { "" };
        let note = format!("{kept} of {all} passages have a relevance of at least {least}{best}");
        found.ledger.notes.push(note);
    }
    found
}

/// Returns how many of the ranked passages, best first, are kept.
fn kept(probabilities: impl Iterator<Item = f32>, least: f32) -> usize {
    probabilities.take_while(|it| *it >= least).count().max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passages_below_the_minimum_are_left_out_and_the_best_stays() {
        for (least, expect) in [(0.0, 3), (0.5, 2), (0.51, 1), (1.0, 1)] {
            assert_eq!(kept([0.9, 0.5, 0.1].into_iter(), least), expect, "{least}");
        }
    }

    #[test]
    fn a_file_with_anything_else_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("calibration.json");
        let read = |text: &str| {
            std::fs::write(&path, text).unwrap();
            read_calibration(&path)
        };
        let of = |slope: &str| {
            format!(r#"{{"reranker":"rule","slope":{slope},"intercept":-2,"questions":9,"passages":99}}"#)
        };
        let expect = crate::domain::logistic(-2.0);
        assert!((read(&of("1.5")).unwrap().probability(0.0) - expect).abs() < 1e-12);
        for text in [of("-1"), of("0"), of("1e999"), of("1").replace("slope", "steep"), "[]".to_owned(), String::new()]
        {
            assert!(matches!(read(&text), Err(Error::Line { .. })), "{text}");
        }
    }
}
