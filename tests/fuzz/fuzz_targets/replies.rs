//! Fuzz target: replies of servers, and what every skill makes of them.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    cairn_fuzz::in_a_folder(|folder| cairn::fuzzing::replies(folder, input));
});
