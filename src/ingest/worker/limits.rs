//! The resource limits of a process that reads documents, which it sets itself before it sees the first byte of one.

use std::io;

/// Bytes of a worker's address space, including its program and stack.
pub(super) const WORKER_BYTES_MAX: u64 = 768 << 20;
/// Bytes of the address space of a converter.
pub(super) const CONVERTER_BYTES_MAX: u64 = 1 << 30;
/// The variable by which mimalloc reserves no address space for later, which would count as memory.
pub(super) const NO_RESERVE: (&str, &str) = ("MIMALLOC_ARENA_RESERVE", "0");
/// Files that a converter may have open.
const CONVERTER_FILES_MAX: u64 = 64;
/// Bytes of each file that a converter writes.
const CONVERTER_WRITES_MAX: u64 = 256 << 20;

/// Takes from this process what reading documents does not need: memory beyond its limit, further files, sockets and
/// processes, writing to files, core dumps.
///
/// # Errors
///
/// If the system refuses one of the limits; nothing may be read then.
#[cfg(unix)]
pub(super) fn confine() -> io::Result<()> {
    use rustix::process::Resource;
    end_with_parent()?;
    // What is open stays open; nothing else can be opened, be it a file or a connection.
    set(Resource::Nofile, 0)?;
    set(Resource::Nproc, 0)?;
    set(Resource::Fsize, 0)?;
    set(Resource::Core, 0)?;
    set(Resource::As, WORKER_BYTES_MAX)
}

/// Limits this process for a converter of the user, which opens files and may start others.
///
/// # Errors
///
/// As [`confine`].
#[cfg(unix)]
pub(super) fn confine_converter(cpu_seconds: u64) -> io::Result<()> {
    use rustix::process::Resource;
    end_with_parent()?;
    set(Resource::Nofile, CONVERTER_FILES_MAX)?;
    set(Resource::Fsize, CONVERTER_WRITES_MAX)?;
    set(Resource::Core, 0)?;
    set(Resource::Cpu, cpu_seconds)?;
    set(Resource::As, CONVERTER_BYTES_MAX)
}

/// Gives this process `seconds` more of CPU time, after which it is killed.
///
/// # Errors
///
/// If the system refuses.
#[cfg(unix)]
pub(super) fn allow_cpu(seconds: u64) -> io::Result<()> {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    use rustix::time::{ClockId, clock_gettime};
    let used = u64::try_from(clock_gettime(ClockId::ProcessCPUTime).tv_sec).unwrap_or(0);
    let maximum = getrlimit(Resource::Cpu).maximum;
    // Full seconds are counted: add one for the second that has begun.
    let current = Some((used + 1 + seconds).min(maximum.unwrap_or(u64::MAX)));
    Ok(setrlimit(Resource::Cpu, Rlimit { current, maximum })?)
}

/// Kills this process when the process that started it dies: nobody waits for its results any more.
#[cfg(target_os = "linux")]
fn end_with_parent() -> io::Result<()> {
    Ok(rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL))?)
}

#[cfg(all(unix, not(target_os = "linux")))]
#[expect(clippy::unnecessary_wraps, reason = "as on Linux, where it may fail")]
fn end_with_parent() -> io::Result<()> {
    Ok(())
}

/// Sets a limit that cannot be raised again, or keeps a lower one.
#[cfg(unix)]
fn set(resource: rustix::process::Resource, limit: u64) -> io::Result<()> {
    use rustix::process::{Rlimit, getrlimit, setrlimit};
    let limit = getrlimit(resource).maximum.map_or(limit, |maximum| maximum.min(limit));
    Ok(setrlimit(resource, Rlimit { current: Some(limit), maximum: Some(limit) })?)
}

/// Where nothing can be limited, nothing is read.
#[cfg(not(unix))]
pub(super) fn confine() -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

#[cfg(not(unix))]
pub(super) fn confine_converter(_cpu_seconds: u64) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

#[cfg(not(unix))]
pub(super) fn allow_cpu(_seconds: u64) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}
