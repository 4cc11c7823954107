//! Fuzz target: documents and archives in packed formats.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    cairn_fuzz::in_a_folder(|folder| cairn::fuzzing::packed(folder, input));
});
