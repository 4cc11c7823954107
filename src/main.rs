//! The program: hands the command line to the library and ends with its status.

fn main() {}
