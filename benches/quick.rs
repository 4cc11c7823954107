//! Benchmarks of the paths that users wait for.

fn main() {}
