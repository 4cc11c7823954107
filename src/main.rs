//! The program `cairn`: see `cairn --help`.

use std::process::ExitCode;

/// Indexing allocates many small texts on all threads, which this does in less time than the allocator of the system.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    ExitCode::from(cairn::cli::main())
}
