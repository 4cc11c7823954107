//! Fuzz target: the records of an index, as a whole database.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    cairn_fuzz::in_a_folder(|folder| cairn::fuzzing::records(folder, input));
});
