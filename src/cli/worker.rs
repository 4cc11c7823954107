//! `cairn worker`: reads documents for `cairn index`, in a process that has given up every permission it does not need.

use std::io;

use super::args::WorkerArgs;
use super::screen::{Screen, take_output};
use crate::config;
use crate::ingest::{become_converter, serve_worker};

/// Serves until the other side ends, or becomes a converter; returns the exit status.
pub(super) fn run(args: &WorkerArgs) -> u8 {
    let served = if args.converter {
        become_converter(&args.command, config::converter_environment())
    } else {
        take_output().and_then(|output| serve_worker(io::stdin(), output))
    };
    match served {
        Ok(()) => 0,
        Err(error) => {
            Screen::new(true).note(format!("error: {error}"));
            1
        }
    }
}
