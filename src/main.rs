//! The program `cairn`: see `cairn --help`.

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(cairn::cli::main())
}
