//! Progress: a bar where a person watches, plain lines elsewhere.

use std::sync::{Arc, Mutex};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::screen::Screen;
use crate::domain::{Progress, ProgressSink};

/// A bar that lives as long as the run that it shows.
pub(super) struct Bar(ProgressBar);

impl Drop for Bar {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}

/// Returns who shows the progress of a run on `screen`.
#[must_use]
pub(super) fn sink(screen: Screen) -> (ProgressSink, Bar) {
    let bar = ProgressBar::with_draw_target(
        None,
        if screen.watched { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() },
    );
    if let Ok(style) = ProgressStyle::with_template("{msg:20} [{bar:30}] {pos}/{len} {elapsed}") {
        bar.set_style(style.progress_chars("=> "));
    }
    let shown = bar.clone();
    let stage: Arc<Mutex<&'static str>> = Arc::default();
    let sink = move |progress: Progress| {
        let Ok(mut last) = stage.lock() else { return };
        let entered = *last != progress.stage;
        *last = progress.stage;
        if screen.watched {
            shown.set_length(progress.total.max(progress.done));
            shown.set_message(progress.stage);
            shown.set_position(progress.done);
        } else if entered {
            screen.note(format!("{} …", progress.stage));
        }
    };
    (Arc::new(sink), Bar(bar))
}
