//! Progress: a bar on a terminal, plain lines elsewhere.

use std::sync::{Arc, Mutex};

use indicatif::{ProgressBar, ProgressState, ProgressStyle};

use super::screen::Screen;
use crate::domain::{Progress, ProgressSink};

/// The bar while the total is unknown.
const COUNTED: &str = "{msg:20} {pos} {elapsed}";
/// The bar once the total is known.
const MEASURED: &str = "{msg:20} [{bar:30}] {pos}/{len} {rate} {elapsed}";

/// A bar that lives as long as the run that it shows.
pub(super) struct Bar(ProgressBar);

impl Drop for Bar {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}

/// Writes the rate per second, rounded to a readable number.
fn rate(state: &ProgressState, out: &mut dyn std::fmt::Write) {
    // Whoever draws the bar has no use for an error.
    let _written = match state.per_sec() {
        few if few < 10.0 => write!(out, "{few:.1}/s"),
        many => write!(out, "{many:.0}/s"),
    };
}

/// Returns a progress listener that draws on `screen`.
#[must_use]
pub(super) fn sink(screen: Screen) -> (ProgressSink, Bar) {
    let bar = ProgressBar::with_draw_target(None, screen.bar());
    if let Ok(style) = ProgressStyle::with_template(COUNTED) {
        bar.set_style(style);
    }
    let shown = bar.clone();
    let stage: Arc<Mutex<&'static str>> = Arc::default();
    let sink = move |progress: Progress| {
        let Ok(mut last) = stage.lock() else { return };
        let entered = *last != progress.stage;
        *last = progress.stage;
        if screen.is_watched() {
            // How many there are in all is known from some stage on, and stays known.
            if progress.total > 0 && shown.length() != Some(progress.total) {
                shown.set_length(progress.total);
                if let Ok(style) = ProgressStyle::with_template(MEASURED) {
                    shown.set_style(style.progress_chars("=> ").with_key("rate", rate));
                }
            }
            shown.set_message(progress.stage);
            shown.set_position(progress.done);
        } else if entered {
            screen.note(format!("{} …", progress.stage));
        }
    };
    (Arc::new(sink), Bar(bar))
}
