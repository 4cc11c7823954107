//! Tests from outside: of the program, of the library as its users see it, and of the tree. One binary, so that it
//! links once.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

mod answers;
mod bad_input;
mod check;
mod conformance;
mod deadlines;
mod disks;
mod embedders;
mod entities;
mod eval;
mod flags;
mod folders;
mod formats;
mod guesses;
mod hierarchy;
mod incremental;
mod layers;
mod matching;
mod models;
mod neo4j;
mod onnx;
mod parity;
mod paths;
mod printed;
mod processes;
mod ranking;
mod reading;
mod report;
mod schemas;
mod search;
mod settings;
mod strategies;
mod support;
mod tidy;
mod topics;
mod transcripts;
mod trust;
mod workers;
