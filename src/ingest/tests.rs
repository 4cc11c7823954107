//! What reading promises: every document once, and a reason for everything else.

use std::path::Path;

use super::*;
use crate::error::{Error, ErrorKind};

/// Reads `roots`; returns documents as `source id | title | text` and skips as `source | reason`.
fn read_all(roots: &[PathBuf], options: &IngestOptions) -> (Vec<String>, Vec<String>) {
    let (mut documents, mut skips) = (Vec::new(), Vec::new());
    read_sources(roots, options, &mut |item| {
        match item {
            SourceItem::Document(SourceDocument { document, .. }) => {
                let title = document.title.as_deref().unwrap_or("-");
                documents.push(format!("{} | {title} | {}", document.source_id, document.text.escape_debug()));
            }
            SourceItem::Shortened(_) => {}
            SourceItem::Skip(skip) | SourceItem::Unread { skip, .. } => {
                skips.push(format!("{} | {}", skip.source, skip.reason));
            }
        }
        Ok(())
    })
    .unwrap();
    (documents, skips)
}

/// Checks what becomes of one file that is read as a root.
fn check(name: &str, contents: &[u8], documents: &[&str], skips: &[&str]) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    std::fs::write(&path, contents).unwrap();
    let options = IngestOptions { document_bytes_max: 60, ..IngestOptions::default() };
    let (found, skipped) = read_all(&[path], &options);
    assert_eq!((found, skipped), (owned(documents), owned(skips)), "{name}: {}", contents.escape_ascii());
}

fn owned(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}

fn write(folder: &Path, files: &[(&str, &str)]) {
    for (name, contents) in files {
        let path = folder.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, contents).unwrap();
    }
}

#[test]
fn files_of_text_are_documents_or_say_why_not() {
    check("a.txt", b"Mill\n\nIt stands.", &["a.txt | Mill | Mill\\n\\nIt stands."], &[]);
    check("a.txt", b"\xef\xbb\xbfText.", &["a.txt | - | Text."], &[]);
    check("A.MD", b"# Mill\nText.", &["A.MD | Mill | # Mill\\nText."], &[]);
    check("a.markdown", b"Text.", &["a.markdown | - | Text."], &[]);
    check("a.txt", b"", &[], &["a.txt | it is empty"]);
    check("a.md", b" \n\t\n", &[], &["a.md | it is empty"]);
    check("a.md", b"---\ntitle: x\n---\n", &[], &["a.md | it is empty"]);
    check("a.txt", b"caf\xe9 ferm\xe9", &["a.txt | - | café fermé"], &[]);
    check("a.txt", b"\xff\xfea\0", &["a.txt | - | a"], &[]);
    check("a.txt", b"\x7fELF\0\xff", &[], &["a.txt | it is not text"]);
    check("a.txt", &[b'a'; 61], &[], &["a.txt | 61 bytes; a document may have 60"]);
    check("a.txt", &[b'a'; 60], &[&format!("a.txt | - | {}", "a".repeat(60))], &[]);
    check("a.bin", b"\0\x01", &[], &["a.bin | unsupported kind of file"]);
    check("LICENSE", b"Text.", &["LICENSE | - | Text."], &[]);
    check("program", b"\x7fELF\0", &[], &["program | unsupported kind of file"]);
}

#[test]
fn lines_are_documents_or_say_why_not() {
    let good = &br#"{"id":"x","title":"T","text":"One."}"#[..];
    check("a.jsonl", good, &["x | T | One."], &[]);
    check("a.ndjson", &[b"\xef\xbb\xbf", good, b"\r\n\r\n"].concat(), &["x | T | One."], &[]);
    check("a.jsonl", b"", &[], &["a.jsonl | it holds no record"]);
    check("a.jsonl", b"\n \n", &[], &["a.jsonl | it holds no record"]);
    for (line, reason) in [
        (&b"{\"id\":1,"[..], "not JSON: EOF while parsing a value at column 8"),
        (b"text", "not JSON: expected ident at column 2"),
        (b"[1]", "not a JSON object"),
        (b"{\"id\":1}", "no field `text`"),
        (b"{\"id\":1,\"text\":\"\"}", "field `text` is empty"),
        (b"{\"id\":[],\"text\":\"t\"}", "field `id` is neither text nor a number"),
        (b"{\"id\":\"x\",\"text\":\"again\"}", "id `x` was already used by a.jsonl:1"),
        (b"{\"id\":1,\"text\":\"\xff\"}", "not UTF-8 text, from byte 53"),
        (&[b'z'; 70], "71 bytes; a document may have 60"),
    ] {
        let contents = [good, b"\n", line, b"\n", br#"{"id":2,"text":"Two."}"#].concat();
        check("a.jsonl", &contents, &["x | T | One.", "2 | - | Two."], &[&format!("a.jsonl:2 | {reason}")]);
    }
    check("a.jsonl", &[b'z'; 70], &[], &["a.jsonl:1 | 70 bytes; a document may have 60"]);
}

#[test]
fn a_file_of_json_is_a_record_or_an_array_of_records() {
    check("a.json", br#" {"id":"x","text":"One."} "#, &["x | - | One."], &[]);
    check("a.json", b"\xef\xbb\xbf[{\"id\":1,\"text\":\"One.\"}]", &["1 | - | One."], &[]);
    let several = br#"[{"id":1,"text":"One."}, 7, {"id":2}, {"id":1,"text":"x"}, {"id":3,"text":"Three."}]"#;
    let skips = [
        "a.json, item 2 | not a JSON object",
        "a.json, item 3 | no field `text`",
        "a.json, item 4 | id `1` was already used by a.json, item 1",
    ];
    check("a.json", several, &["1 | - | One.", "3 | - | Three."], &skips);
    check("a.json", b"[]", &[], &["a.json | it holds no record"]);
    check("a.json", b"", &[], &["a.json:1 | not JSON: EOF while parsing a value at column 0"]);
    check("a.json", b"7", &[], &["a.json:1 | neither a JSON object nor an array of objects"]);
    check("a.json", b"{\"id\":1", &[], &["a.json:1 | not JSON: EOF while parsing an object at column 7"]);
    check(
        "a.json",
        b"[{\"id\":1,\"text\":\"One.\"},\n{\"id\":",
        &["1 | - | One."],
        &["a.json:2 | not JSON: EOF while parsing a value at column 6; the records before it were read"],
    );
    check("a.json", b"{\"id\":1,\"text\":\"a\xff\"}", &[], &["a.json:1 | not UTF-8 text, from byte 17"]);
    let large = format!("[{{\"id\":1,\"text\":\"One.\"}},{{\"id\":2,\"text\":\"{}\"}}]", "z".repeat(70));
    let reason = "a record of more than the 60 bytes that a document may have; the records before it were read";
    check("a.json", large.as_bytes(), &["1 | - | One."], &[&format!("a.json:1 | {reason}")]);
    check("a.json", &[b'['; 59], &[], &["a.json:1 | not JSON: EOF while parsing a list at column 59"]);
}

#[test]
fn a_record_without_an_id_is_called_by_the_line_on_which_it_begins() {
    check(
        "a.jsonl",
        b"\n{\"text\":\"One.\"}\n{\"id\":7,\"text\":\"Two.\"}\r\n{\"text\":\"Three.\"}",
        &["a.jsonl:2 | - | One.", "7 | - | Two.", "a.jsonl:4 | - | Three."],
        &[],
    );
    check("a.json", b"\xef\xbb\xbf\n \n{\"text\":\n\"One.\"}\n", &["a.json:3 | - | One."], &[]);
    let several = [
        r#"[{"text":"A"},"#,
        "",
        " {",
        r#""text":"#,
        r#""B"} , {"id":"x","text":"C"},{"text":"D"},"#,
        r#"{"text":"E"}"#,
        "]",
    ];
    let documents = ["a.json:1 | - | A", "a.json:3 | - | B", "x | - | C", "a.json:5#2 | - | D", "a.json:6 | - | E"];
    check("a.json", several.join("\n").as_bytes(), &documents, &[]);
    let minified = br#"[{"text":"A"},{"text":"B"},{"text":"C"}]"#;
    check("a.json", minified, &["a.json:1 | - | A", "a.json:1#2 | - | B", "a.json:1#3 | - | C"], &[]);
    // If the same id is used elsewhere, the first one counts.
    let taken = "{\"id\":\"a.jsonl:2\",\"text\":\"A\"}\n{\"text\":\"B\"}";
    let reason = "a.jsonl:2 | id `a.jsonl:2` was already used by a.jsonl:1";
    check("a.jsonl", taken.as_bytes(), &["a.jsonl:2 | - | A"], &[reason]);
}

#[test]
fn an_array_may_be_larger_than_a_document() {
    let items: Vec<String> = (0..100).map(|id| format!("{{\"id\":{id},\"text\":\"Text.\"}}")).collect();
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), &[("a.json", &format!("[{}]", items.join(",\n  ")))]);
    let options = IngestOptions { document_bytes_max: 60, ..IngestOptions::default() };
    let (documents, skips) = read_all(&[folder.path().join("a.json")], &options);
    assert_eq!((documents.len(), skips), (100, vec![]));
}

#[test]
fn a_folder_is_read_by_name_without_what_is_hidden_or_an_index() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("notes");
    write(
        &root,
        &[
            ("b.txt", "B."),
            ("a.txt", "A."),
            ("sub/c.md", "C."),
            (".hidden.txt", "no"),
            (".git/x.txt", "no"),
            (".cairn/x.txt", "no"),
            ("index/cairn.db", "no"),
            ("index/x.txt", "no"),
            ("one.png", ""),
            ("two.PNG", ""),
            ("sub/LICENSE", ""),
            ("sub/x.bin", ""),
        ],
    );
    let (documents, skips) = read_all(std::slice::from_ref(&root), &IngestOptions::default());
    assert_eq!(documents, ["notes/a.txt | - | A.", "notes/b.txt | - | B.", "notes/sub/c.md | - | C."]);
    let other = "unsupported kind of file";
    let expect = ["2 files .png", "1 file without an extension", "1 file .bin"].map(|it| format!("{it} | {other}"));
    assert_eq!(skips, expect);
    let (documents, skips) = read_all(&[root.join("index")], &IngestOptions::default());
    assert_eq!((documents, skips), (vec![], owned(&["index | it is an index"])));
    let (documents, _) = read_all(&[root.join(".git"), root.join("sub/..")], &IngestOptions::default());
    assert_eq!(documents.first().map(String::as_str), Some(".git/x.txt | - | no"));
    assert_eq!(documents.len(), 4);
}

#[test]
fn roots_that_overlap_or_share_names_give_each_document_once() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), &[("x/notes/a.txt", "A."), ("y/notes/a.txt", "Other."), ("x/notes/sub/b.txt", "B.")]);
    let root = |name| folder.path().join(name);
    let options = IngestOptions::default();
    let (documents, skips) = read_all(&[root("x/notes"), root("x/notes/sub"), root("x/notes/a.txt")], &options);
    assert_eq!(documents, ["notes/a.txt | - | A.", "notes/sub/b.txt | - | B."]);
    assert!(skips.is_empty());
    let (documents, skips) = read_all(&[root("x/notes/a.txt"), root("y/notes"), root("x/notes")], &options);
    assert_eq!(documents, ["a.txt | - | A.", "notes/a.txt | - | Other.", "notes/sub/b.txt | - | B."]);
    assert!(skips.is_empty());
    let (_, skips) = read_all(&[root("x/notes"), root("y/notes")], &options);
    assert_eq!(skips, ["notes/a.txt | id `notes/a.txt` was already used by notes/a.txt"]);
}

#[cfg(unix)]
#[test]
fn links_are_not_followed_and_other_special_files_are_named() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), &[("outside/secret.txt", "no"), ("root/a.txt", "A.")]);
    let root = folder.path().join("root");
    std::os::unix::fs::symlink(folder.path().join("outside"), root.join("folder")).unwrap();
    std::os::unix::fs::symlink("../outside/secret.txt", root.join("secret.txt")).unwrap();
    std::os::unix::fs::symlink("nowhere", root.join("broken.txt")).unwrap();
    let _socket = std::os::unix::net::UnixListener::bind(root.join("socket.txt")).unwrap();
    let (documents, skips) = read_all(std::slice::from_ref(&root), &IngestOptions::default());
    assert_eq!(documents, ["root/a.txt | - | A."]);
    let link = |name: &str| format!("root/{name} | links are not followed");
    let socket = "root/socket.txt | neither a file nor a folder".to_owned();
    assert_eq!(skips, [link("broken.txt"), link("folder"), link("secret.txt"), socket]);
    // A root that is a link is followed.
    std::os::unix::fs::symlink(&root, folder.path().join("link")).unwrap();
    let (documents, _) = read_all(&[folder.path().join("link")], &IngestOptions::default());
    assert_eq!(documents, ["link/a.txt | - | A."]);
}

#[test]
fn a_missing_root_is_an_error_before_anything_is_read() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), &[("a.txt", "A.")]);
    let roots = [folder.path().join("a.txt"), folder.path().join("absent")];
    let error = read_sources(&roots, &IngestOptions::default(), &mut |_| Err(Error::Cancelled)).unwrap_err();
    assert!(matches!(&error, Error::MissingPath { path } if *path == roots[1]), "{error}");
    assert_eq!(error.kind(), ErrorKind::Input);
}

#[test]
fn an_empty_folder_gives_nothing() {
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(read_all(&[folder.path().to_owned()], &IngestOptions::default()), (vec![], vec![]));
}

#[test]
fn files_beyond_the_limit_are_counted() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), &[("a.txt", "A."), ("b.txt", "B."), ("c.txt", "C.")]);
    let options = IngestOptions { files_max: 1, ..IngestOptions::default() };
    let (documents, skips) = read_all(&[folder.path().to_owned()], &options);
    assert_eq!((documents.len(), skips), (1, owned(&["2 files | beyond the limit of 1 files"])));
}

#[test]
fn what_could_not_be_read_names_its_file_and_what_was_read_twice_does_not() {
    let folder = tempfile::tempdir().unwrap();
    let again = r#"{"id":1,"text":"A."}"#;
    let lines = format!("{again}\n{again}\nno record");
    write(
        folder.path(),
        &[("n/a.jsonl", &lines), ("n/b.txt", ""), ("n/c.bin", ""), ("n/d.txt", "D."), ("n/e.txt", "")],
    );
    std::fs::write(folder.path().join("n/e.txt"), b"\xff\0\0").unwrap();
    let options = IngestOptions { files_max: 4, ..IngestOptions::default() };
    std::fs::write(folder.path().join("n/f.txt"), "F.").unwrap();
    let mut unread = Vec::new();
    read_sources(&[folder.path().join("n")], &options, &mut |item| {
        if let SourceItem::Unread { source, .. } = item {
            unread.push(source);
        }
        Ok(())
    })
    .unwrap();
    assert_eq!(unread, ["n/a.jsonl", "n/b.txt", "n/e.txt", ""]);
}

#[test]
fn an_error_of_the_visitor_ends_the_reading() {
    for (name, contents) in [
        ("a.txt", "A."),
        ("a.jsonl", "{\"id\":1,\"text\":\"A.\"}\n{\"id\":2,\"text\":\"B.\"}"),
        ("a.json", "[{\"id\":1,\"text\":\"A.\"},{\"id\":2,\"text\":\"B.\"}]"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        write(folder.path(), &[(name, contents), ("z.txt", "Z.")]);
        let mut count = 0;
        let ended = read_sources(&[folder.path().to_owned()], &IngestOptions::default(), &mut |_| {
            count += 1;
            Err(Error::Cancelled)
        });
        assert!(matches!(ended, Err(Error::Cancelled)), "{name}");
        assert_eq!(count, 1, "{name}");
    }
}

#[test]
fn an_item_knows_its_root_and_where_it_came_from() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), &[("notes/a.jsonl", r#"{"id":"x","text":"One.","year":1890}"#), ("notes/b.md", "Two.")]);
    let root = folder.path().join("notes");
    let mut found = Vec::new();
    read_sources(std::slice::from_ref(&root), &IngestOptions::default(), &mut |item| {
        if let SourceItem::Document(document) = item {
            found.push(document);
        }
        Ok(())
    })
    .unwrap();
    assert!(found.iter().all(|it| it.root == root_name(&root).unwrap()));
    let documents: Vec<&Document> = found.iter().map(|it| &it.document).collect();
    assert_eq!((documents[0].uri.as_str(), documents[0].media_type.as_str()), ("notes/a.jsonl#x", "text/plain"));
    assert_eq!(documents[0].metadata.get("year").map(String::as_str), Some("1890"));
    assert_eq!((documents[1].uri.as_str(), documents[1].media_type.as_str()), ("notes/b.md", "text/markdown"));
    assert_eq!(found[1].content, content_hash(documents[1]));
}

#[test]
fn a_file_that_the_system_refuses_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let reason = text_file::bytes(&folder.path().join("absent"), 10).unwrap_err();
    assert!(reason.starts_with("cannot be read: "), "{reason}");
    let mut reasons = Vec::new();
    let mut keep = |_: place::Place, record: Result<_, String>| {
        reasons.extend(record.err());
        Ok(())
    };
    lines::read(&folder.path().join("absent"), 10, &mut keep).unwrap();
    json::read(&folder.path().join("absent"), 10, &mut keep).unwrap();
    assert!(reasons.len() == 2 && reasons.iter().all(|it| it.starts_with("cannot be read: ")), "{reasons:?}");
}

#[test]
fn lines_of_many_batches_come_in_order_each_with_its_number() {
    const LINES: u32 = 40;
    const BAD: [u32; 3] = [7, 8, 25];
    let text = "a".repeat(100 << 10);
    let line = |number: u32| match number {
        7 => format!(r#"{{"text": "{}"}}"#, "a".repeat(200 << 10)).into_bytes(),
        8 => b"{\"text\": \"\xff\"}".to_vec(),
        25 => b"{".to_vec(),
        number => format!(r#"{{"text": "{number}{text}"}}"#).into_bytes(),
    };
    let file = (1..=LINES).flat_map(|number| [line(number), b"\n".to_vec()].concat()).collect::<Vec<u8>>();
    let bad_byte = file.iter().position(|byte| *byte == 0xff).unwrap();
    let mut found = Vec::new();
    let mut keep = |place: place::Place, record: Result<place::Record, String>| {
        found.push((place, record.map(|it| it.fields["text"].as_str().unwrap().to_owned())));
        Ok(())
    };
    lines::read_from(&mut file.as_slice(), 150 << 10, &mut keep).unwrap();
    let numbers: Vec<String> = found.iter().map(|(place, _)| place.to_string()).collect();
    assert_eq!(numbers, (1..=LINES).map(|number| format!(":{number}")).collect::<Vec<_>>());
    for (number, (_, text_or_reason)) in (1..).zip(&found) {
        match text_or_reason {
            Ok(read) => assert!(!BAD.contains(&number) && *read == format!("{number}{text}"), "{number}"),
            Err(reason) => assert!(BAD.contains(&number), "{number}: {reason}"),
        }
    }
    let reason = found[7].1.as_ref().unwrap_err();
    assert!(reason.contains(&bad_byte.to_string()), "{bad_byte}: {reason}");
}

/// Lines, and an error where they end.
struct Broken<'l>(&'l [u8]);

impl std::io::Read for Broken<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        match self.0.read(buffer)? {
            0 => Err(std::io::Error::other("the disk is gone")),
            read => Ok(read),
        }
    }
}

#[test]
fn reading_lines_stops_where_its_visitor_or_the_file_does() {
    let line = format!("{}\n", serde_json::json!({ "text": "a".repeat(100 << 10) }));
    let lines = line.repeat(40);
    for last in [1, 2, 17, 40] {
        let mut count = 0;
        let mut stop = |_: place::Place, _: Result<place::Record, String>| {
            count += 1;
            if count == last { Err(Error::Cancelled) } else { Ok(()) }
        };
        let ended = lines::read_from(&mut lines.as_bytes(), 1 << 20, &mut stop);
        assert!(matches!(ended, Err(Error::Cancelled)), "{last}");
        assert_eq!(count, last);
    }
    let mut found = Vec::new();
    let mut keep = |place: place::Place, record: Result<place::Record, String>| {
        found.push((place.to_string(), record.err()));
        Ok(())
    };
    lines::read_from(&mut std::io::BufReader::new(Broken(lines.as_bytes())), 1 << 20, &mut keep).unwrap();
    let (place, reason) = found.pop().unwrap();
    assert_eq!((place.as_str(), reason.as_deref()), (":41", Some("cannot be read: the disk is gone")));
    assert!(found.len() == 40 && found.iter().all(|(_, reason)| reason.is_none()));
}

/// Run it with `cargo test --lib --no-default-features ingest`.
#[test]
#[cfg(not(any(feature = "archives", feature = "html", feature = "pdf", feature = "tables")))]
fn a_file_of_a_format_outside_the_build_names_the_feature_that_reads_it() {
    for (name, bytes, feature) in [
        ("a.pdf", &b"%PDF-1.4\n"[..], "pdf"),
        ("named-otherwise.txt", b"%PDF-1.4\n", "pdf"),
        ("a.zip", b"PK\x03\x04", "archives"),
        ("a.docx", b"PK\x03\x04", "office"),
        ("a.html", b"<p>It stands.</p>", "html"),
        ("a.csv", b"part,price\n", "tables"),
    ] {
        let reason = format!("this build of Cairn does not read such files: its feature `{feature}` is off");
        check(name, bytes, &[], &[&format!("{name} | {reason}")]);
    }
}
