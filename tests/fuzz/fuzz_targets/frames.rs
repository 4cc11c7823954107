//! Fuzz target: the output of a worker.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    cairn_fuzz::in_a_folder(|folder| cairn::fuzzing::frames(folder, input));
});
