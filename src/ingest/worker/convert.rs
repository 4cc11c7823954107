//! The user's own programs that convert a file to text: named in their own configuration, started with the limits of a
//! worker, and killed together with their children if they take too long.

use std::ffi::OsString;
use std::io::{self, Read as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::sync_channel;
use std::time::Duration;

use super::limits;

/// Seconds of CPU time of a converter, and of waiting for it.
pub(super) const CONVERTER_SECONDS: u64 = 60;
const WAIT: Duration = Duration::from_mins(3);
/// The placeholder for the file in a command.
pub(crate) const PLACEHOLDER: &str = "{}";
/// Bytes of error output that are read; the end of them is shown.
const SAID_BYTES_MAX: u64 = 64 << 10;

/// Returns the text that a command makes of a file, or why there is none.
///
/// `program` is the program that becomes a worker: it sets the limits, then becomes the converter.
pub(crate) fn convert(program: &Path, command: &[String], file: &Path, bytes_max: u64) -> Result<Vec<u8>, String> {
    let path = std::path::absolute(file).map_err(|error| format!("cannot be read: {error}"))?;
    let Some(name) = command.first() else { return Err("its converter is an empty command".to_owned()) };
    let failed = |error: io::Error| format!("its converter `{name}` does not start: {error}");
    let arguments = command.iter().map(|argument| in_place(argument, &path));
    let mut starting = Command::new(std::path::absolute(program).map_err(failed)?);
    starting.args(["worker", "--converter", "--"]).args(arguments);
    starting.envs([limits::NO_RESERVE]);
    starting.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut starting, 0);
    let mut child = starting.spawn().map_err(failed)?;
    let (output, errors) = (child.stdout.take(), child.stderr.take());
    let (sender, receiver) = sync_channel(2);
    let errors_sender = sender.clone();
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        let read = output.map(|output| output.take(bytes_max + 1).read_to_end(&mut bytes));
        let _sent = sender.send(Stream::Output(read.transpose().map(|_| bytes)));
    });
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        let _all = errors.map(|errors| errors.take(SAID_BYTES_MAX).read_to_end(&mut bytes));
        let _sent = errors_sender.send(Stream::Errors(bytes));
    });
    let captured = receiver.recv_timeout(WAIT).and_then(|first| Ok((first, receiver.recv_timeout(WAIT)?)));
    let ended = if captured.is_ok() { wait(&mut child) } else { None };
    end(&mut child);
    let Ok((Stream::Output(output), Stream::Errors(errors)) | (Stream::Errors(errors), Stream::Output(output))) =
        captured
    else {
        return Err(format!("its converter `{name}` took longer than {} s", WAIT.as_secs()));
    };
    let output = output.map_err(|error| format!("its converter `{name}` cannot be read: {error}"))?;
    if output.len() as u64 > bytes_max {
        return Err(format!("its converter `{name}` wrote more than the {bytes_max} bytes that a document may have"));
    }
    match ended {
        Some(status) if status.success() => Ok(output),
        status => {
            let status = status.map_or_else(|| "did not end".to_owned(), |status| format!("ended with {status}"));
            let errors = String::from_utf8_lossy(&errors);
            let last: String = errors.trim().lines().last().unwrap_or_default().chars().take(200).collect();
            Err(format!("its converter `{name}` {status}: {last}"))
        }
    }
}

enum Stream {
    Output(io::Result<Vec<u8>>),
    Errors(Vec<u8>),
}

fn in_place(argument: &str, path: &Path) -> OsString {
    match argument.split_once(PLACEHOLDER) {
        Some((before, after)) => {
            let mut whole = OsString::from(before);
            whole.push(path);
            whole.push(after);
            whole
        }
        None => argument.into(),
    }
}

/// Waits for a child that has closed its output.
fn wait(child: &mut Child) -> Option<std::process::ExitStatus> {
    for _ in 0..500 {
        if let Ok(Some(status)) = child.try_wait() {
            return Some(status);
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    None
}

/// Kills a child and everything that it started.
fn end(child: &mut Child) {
    #[cfg(unix)]
    if let Some(group) = i32::try_from(child.id()).ok().and_then(rustix::process::Pid::from_raw) {
        // If nobody is left, there is nothing to kill.
        let _ended = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
    }
    let _killed = child.kill();
    let _ended = child.wait();
}

/// Becomes a converter: limits this process, and puts the program in its place, with `environment` and nothing else of
/// what surrounds it.
///
/// # Errors
///
/// If the limits cannot be set, or the program cannot be started. Otherwise it does not return.
pub fn become_converter(command: &[OsString], environment: Vec<(OsString, OsString)>) -> io::Result<()> {
    let Some((program, arguments)) = command.split_first() else {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "no program is named"));
    };
    limits::confine_converter(CONVERTER_SECONDS)?;
    let mut converter = Command::new(program);
    converter.args(arguments).env_clear().envs(environment);
    #[cfg(unix)]
    return Err(std::os::unix::process::CommandExt::exec(&mut converter));
    #[cfg(not(unix))]
    Err(io::ErrorKind::Unsupported.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_takes_the_place_that_is_marked() {
        let path = Path::new("/a b/c.djvu");
        assert_eq!(in_place("{}", path), "/a b/c.djvu");
        assert_eq!(in_place("in={}.x", path), "in=/a b/c.djvu.x");
        assert_eq!(in_place("-o", path), "-o");
    }
}
