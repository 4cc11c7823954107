//! A key printed by a program, such as a password manager or an issuer of short-lived keys.

use std::io::Read as _;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::domain::Secret;
use crate::error::{Error, Result};

/// Time that it may take.
const TIME_MAX: Duration = Duration::from_secs(30);
/// How often it is looked whether it is over.
const TICK: Duration = Duration::from_millis(20);
/// Maximum bytes of its output.
const BYTES_MAX: u64 = 64 << 10;

/// Runs a program with its arguments, without a shell, and returns the first line of its output, which is never shown.
///
/// # Errors
///
/// [`Error::Option`] if it cannot be run, fails, takes too long, or prints nothing.
pub(super) fn run(command: &[String]) -> Result<Secret> {
    let name = command.first().map_or("", String::as_str);
    let refused = |reason: String| Error::Option { option: "model.key_command", value: name.to_owned(), reason };
    let mut child = Command::new(name)
        .args(command.iter().skip(1))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|error| refused(error.to_string()))?;
    let printing = child.stdout.take();
    // Read concurrently, so that it never waits for a full pipe.
    let reading = thread::spawn(move || {
        let mut printed = String::new();
        printing.map_or(Ok(0), |it| it.take(BYTES_MAX).read_to_string(&mut printed)).map(|_| printed)
    });
    let began = Instant::now();
    let status = loop {
        match child.try_wait().map_err(|error| refused(error.to_string()))? {
            Some(status) => break status,
            None if began.elapsed() > TIME_MAX => {
                // It may be over by now.
                let _ended = child.kill().and_then(|()| child.wait());
                return Err(refused(format!("it took more than {} s", TIME_MAX.as_secs())));
            }
            None => thread::sleep(TICK),
        }
    };
    if !status.success() {
        return Err(refused(format!("it failed ({status})")));
    }
    let unread = || refused("what it prints cannot be read".to_owned());
    let printed = reading.join().map_err(|_| unread())?.map_err(|_| unread())?;
    match printed.lines().next().map(str::trim).filter(|line| !line.is_empty()) {
        Some(key) => Ok(Secret::new(key)),
        None => Err(refused("it prints no key".to_owned())),
    }
}

#[cfg(test)]
mod tests {
    #[cfg(unix)]
    use super::*;

    #[cfg(unix)]
    fn ran(command: &[&str]) -> Result<Secret> {
        run(&command.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>())
    }

    #[cfg(unix)]
    #[test]
    fn the_first_line_that_a_program_prints_is_the_key_and_no_shell_reads_the_command() {
        assert_eq!(ran(&["printf", "hush\nmore\n"]).unwrap(), Secret::new("hush"));
        assert_eq!(ran(&["echo", "$HOME; ls"]).unwrap(), Secret::new("$HOME; ls"));
        for (command, why) in [(vec!["false"], "failed"), (vec!["true"], "no key"), (vec!["no-such-program"], "")] {
            let error = ran(&command).unwrap_err().to_string();
            assert!(error.contains(why) && error.contains("key_command"), "{error}");
        }
    }
}
