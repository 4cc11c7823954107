//! What is opened, created and removed, and what is not.

use super::*;

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().unwrap()
}

#[test]
fn a_folder_in_place_of_a_file_is_reported_and_kept() {
    let folder = folder();
    let path = folder.path().join("graph.bin");
    std::fs::create_dir(&path).unwrap();
    let attempts: [Result<()>; 7] = [
        open(&path).map(drop),
        open_own(&path).map(drop),
        create_own(&path).map(drop),
        append_own(&path, Readers::Usual).map(drop),
        replace_own(&path, "x"),
        remove_own(&path).map(drop),
        expect_file(&path).map(drop),
    ];
    for attempt in attempts {
        let error = attempt.unwrap_err();
        assert!(matches!(error, Error::Misplaced { found: "a folder", needed: "a file", .. }), "{error}");
    }
    assert!(path.is_dir());
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn a_missing_file_is_distinguished_from_other_failures() {
    let folder = folder();
    let path = folder.path().join("absent");
    assert!(open_own(&path).unwrap().is_none() && read_own(&path).unwrap().is_none());
    assert!(is_missing(&open(&path).unwrap_err()));
    assert!(!remove_own(&path).unwrap() && remove_own_folder(&path).unwrap());
    assert!(!expect_file(&path).unwrap() && !expect_folder(&path).unwrap());
    assert_eq!(entries_of_own(&path).unwrap(), []);
}

#[test]
fn a_file_is_replaced_whole_and_nothing_is_left_beside_it() {
    let folder = folder();
    let path = folder.path().join("servers.json");
    for text in ["one", "two", ""] {
        replace_own(&path, text).unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
    }
    assert_eq!(entries_of_own(folder.path()).unwrap(), [(path.clone(), Found::File)]);
    append_own(&path, Readers::Usual).unwrap().write_all(b"end").unwrap();
    append_own_after(&path, 1).unwrap().write_all(b"!").unwrap();
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "e!");
    write_own(&path, "x").unwrap();
    assert_eq!(read_text(&path).unwrap(), "x");
}

#[test]
fn a_folder_that_holds_something_stays() {
    let folder = folder();
    let inner = folder.path().join("text");
    make_own_folder(&inner).unwrap();
    make_own_folder(&inner).unwrap();
    write_own(&inner.join("mine"), "x").unwrap();
    assert!(!remove_own_folder(&inner).unwrap() && inner.join("mine").exists());
    let there = folder.path().join("there");
    make_own_folder(&there).unwrap();
    assert!(matches!(rename_own(&inner, &there), Err(Error::Misplaced { found: "a folder", .. })));
    assert!(remove_own(&inner.join("mine")).unwrap() && remove_own_folder(&inner).unwrap());
}

#[cfg(unix)]
mod unix {
    use std::os::unix::fs::{PermissionsExt as _, symlink};
    use std::os::unix::net::UnixListener;
    use std::path::Path;

    use super::*;

    /// Returns links to a file, to a folder, to nothing, and to themselves, all called `name`, each in its own folder.
    fn links(folder: &Path, name: &str) -> Vec<PathBuf> {
        let elsewhere = folder.join("elsewhere");
        std::fs::create_dir(&elsewhere).unwrap();
        std::fs::write(elsewhere.join("thesis.txt"), "years of work").unwrap();
        let targets = [elsewhere.join("thesis.txt"), elsewhere.clone(), elsewhere.join("absent"), PathBuf::from(name)];
        let link = |(number, target): (usize, &PathBuf)| {
            let own = folder.join(number.to_string());
            std::fs::create_dir(&own).unwrap();
            symlink(target, own.join(name)).unwrap();
            own.join(name)
        };
        targets.iter().enumerate().map(link).collect()
    }

    #[test]
    fn nothing_of_ours_is_reached_through_a_link() {
        let folder = folder();
        let mine = folder.path().join("mine");
        std::fs::write(&mine, "x").unwrap();
        for link in links(folder.path(), "7") {
            let attempts: [Result<()>; 10] = [
                open_own(&link).map(drop),
                create_own(&link).map(drop),
                append_own(&link, Readers::Usual).map(drop),
                append_own_after(&link, 0).map(drop),
                replace_own(&link, "x"),
                rename_own(&mine, &link),
                remove_own(&link).map(drop),
                remove_own_folder(&link).map(drop),
                make_own_folder(&link),
                entries_of_own(&link).map(drop),
            ];
            for (number, attempt) in attempts.into_iter().enumerate() {
                let error = attempt.unwrap_err();
                assert!(matches!(error, Error::Misplaced { found: "a symbolic link", .. }), "{number}: {error}");
            }
            assert!(create_new(&link, Readers::Usual).is_err());
            assert_eq!(Found::at(&link).unwrap(), Found::Link);
        }
        let elsewhere = folder.path().join("elsewhere");
        assert_eq!(std::fs::read_to_string(elsewhere.join("thesis.txt")).unwrap(), "years of work");
        assert_eq!(std::fs::read_dir(&elsewhere).unwrap().count(), 1);
        assert!(mine.exists());
    }

    #[test]
    fn what_a_user_names_may_be_reached_through_a_link() {
        let folder = folder();
        let links = links(folder.path(), "page.html");
        assert_eq!(read_text(&links[0]).unwrap(), "years of work");
        write(&links[0], "page").unwrap();
        assert_eq!(std::fs::read_to_string(folder.path().join("elsewhere/thesis.txt")).unwrap(), "page");
        assert!(is_missing(&open(&links[2]).unwrap_err()));
        assert!(matches!(open(&links[1]), Err(Error::Misplaced { found: "a folder", .. })));
    }

    /// A normal open of a pipe without a writer waits forever.
    #[test]
    fn pipes_sockets_and_devices_are_refused_at_once() {
        let folder = folder();
        let (pipe, socket) = (folder.path().join("pipe"), folder.path().join("socket"));
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        let _listener = UnixListener::bind(&socket).unwrap();
        let cases = [(pipe, "a named pipe"), (socket, "a socket"), (PathBuf::from("/dev/null"), "a device")];
        for (path, name) in &cases {
            let attempts: [Result<()>; 6] = [
                open(path).map(drop),
                read(path).map(drop),
                open_own(path).map(drop),
                create_own(path).map(drop),
                append_own(path, Readers::Owner).map(drop),
                expect_file(path).map(drop),
            ];
            for (number, attempt) in attempts.into_iter().enumerate() {
                let error = attempt.unwrap_err();
                let is_said = matches!(&error, Error::Misplaced { found, .. } if found == name);
                assert!(is_said, "{number} of {name}: {error}");
            }
        }
        // Output may be written to it.
        write(Path::new("/dev/null"), "x").unwrap();
    }

    #[test]
    fn a_secret_may_come_through_a_pipe() {
        let folder = folder();
        let pipe = folder.path().join("pipe");
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        std::thread::scope(|scope| {
            scope.spawn(|| std::fs::write(&pipe, "hush\n").unwrap());
            assert_eq!(read_secret(&pipe).unwrap(), "hush\n");
        });
    }

    #[test]
    fn only_its_owner_reads_a_file_that_is_made_for_the_owner() {
        let folder = folder();
        let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
        let (new, own) = (folder.path().join("new"), folder.path().join("own"));
        create_new(&new, Readers::Owner).unwrap();
        append_own(&own, Readers::Owner).unwrap();
        assert_eq!((mode(&new), mode(&own)), (0o600, 0o600));
    }

    #[test]
    fn what_cannot_be_put_on_the_disk_is_an_error_of_the_system() {
        // The system does not support this for such a device.
        let error = sync(Path::new("/dev/null")).unwrap_err();
        assert_eq!(error.kind(), crate::error::ErrorKind::Io);
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_local_disk_is_distinguished_from_a_remote_one() {
    // A file system in memory, if there is one.
    if let Ok(memory) = tempfile::tempfile_in("/dev/shm") {
        assert!(is_on_local_disk(&memory));
    }
    assert!(!is_on_local_disk(&File::open("/proc/self/status").unwrap()));
}
