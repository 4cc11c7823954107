//! Fuzz target: documents of every kind, up to their passages and the questions that rules make of them.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    cairn_fuzz::in_a_folder(|folder| cairn::fuzzing::documents(folder, input));
});
