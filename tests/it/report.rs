//! `cairn report`: one file, complete and safe, opened in a real browser.

mod looks;

use std::fs;
use std::path::PathBuf;

use cairn::report::{About, ReportOptions};
use cairn::{Document, IndexOptions, Performers, Sources};
use serde_json::Value;

use crate::support::browser::{Browser, browser};
use crate::support::{Cli, assert_valid, block_on, harbor, index, workspace};

const QUESTION: &str = "Where was the man who taught Edda Varnholt's father at college born?";

/// Returns the program in a folder with an index of the demo collection.
fn of_harbor() -> Cli {
    let cli = Cli::new();
    cli.run(["index".as_ref(), harbor().as_os_str()]).succeeded();
    cli
}

/// Makes a report and returns its page with its figures.
#[track_caller]
fn reported(cli: &Cli, args: &[&str]) -> (String, Value) {
    let summary = cli.json(&[&["report"], args].concat());
    assert_valid("report", &summary);
    let page = fs::read_to_string(cli.folder().join(summary["out"].as_str().unwrap())).unwrap();
    assert_eq!(summary["bytes"], page.len());
    (page, summary)
}

/// Shows a page; none, after reporting it, if there is no browser.
fn shown(cli: &Cli, page: &str) -> Option<Browser> {
    let browser = browser()?;
    browser.go_to_file(&cli.folder().join(page));
    Some(browser)
}

/// Returns the text that a reader sees in an element.
#[track_caller]
fn seen(browser: &Browser, selector: &str) -> String {
    let text = browser.run(&format!("return document.querySelector({selector:?}).innerText"));
    text.as_str().unwrap().to_owned()
}

#[test]
fn a_report_is_the_same_file_again_and_loads_nothing() {
    let cli = of_harbor();
    let (page, summary) = reported(&cli, &["--question", QUESTION]);
    assert_eq!(reported(&cli, &["--question", QUESTION, "--out", "again.html"]).0, page);
    assert_eq!(summary["counts"]["documents"], 42);
    assert_eq!(summary["graph"]["query"], QUESTION);
    assert_eq!(summary["questions"][0]["kind"], "extractive");
    // Anything that a browser would fetch is named in attributes; all of them point into this page.
    let markup: String = page.split("<script").map(|part| part.split("</script>").last().unwrap()).collect();
    for attribute in ["src=", "url(", "@import", "srcset", "http-equiv=\"refresh\""] {
        assert!(!markup.contains(attribute), "{attribute}");
    }
    let links = markup.split("href=\"").skip(1).map(|it| it.split('"').next().unwrap());
    assert!(links.clone().count() > 50 && links.clone().all(|it| it.starts_with('#') || it == "data:,"));
    assert!(page.contains("Permission is hereby granted"), "the licenses of the scripts stand in the page");

    let plain = cli.run(["report", "--out", "plain.html"]).succeeded();
    assert_eq!(plain.stdout, "plain.html\n");
    assert!(plain.stderr.contains("42 documents, 58 passages, 188 question edges"), "{plain:#?}");
}

#[test]
fn lists_are_cut_at_their_limits_and_say_so() {
    let cli = Cli::new();
    for number in 0..30 {
        cli.write(&format!("docs/{number}.md"), format!("# Mill {number}\n\nMill {number} was built by Anna Roe."));
        cli.write(&format!("docs/{number}.png"), "no text");
        cli.write(&format!("docs/{number}.md.jsonl"), "{\"id\": \n");
    }
    cli.run(["index", "docs"]).succeeded();
    let (page, summary) = reported(&cli, &[]);
    let sources = &summary["left_out"]["sources"];
    assert!(sources["total"].as_u64().unwrap() >= 30 && sources["shown"].as_u64() < sources["total"].as_u64());
    assert!(page.contains("and 10 more</li>"), "{}", summary["left_out"]);
    for list in ["hubs", "names", "unanswered"] {
        assert!(summary[list]["shown"].as_u64() <= summary[list]["total"].as_u64(), "{summary}");
    }
}

#[test]
fn what_cannot_be_reported_on_is_refused_with_what_to_do() {
    let cli = of_harbor();
    cli.refuses(&["report", "--index", "nowhere"], "no_index", &["no index", "index PATH"]);
    cli.refuses(&["report", "--document", "Lukas"], "input", &["Lukas Varnholt"]);
    cli.refuses(&["report", "--document", "Atlantis"], "input", &["give the id or the title"]);
    cli.refuses(&["report", "--question", " "], "input", &["word"]);
    cli.refuses(&["report", "--out", "no/such/folder/report.html"], "io", &["cannot write"]);
    let many: Vec<&str> = ["report"].into_iter().chain([["--question", "Who?"]; 21].into_iter().flatten()).collect();
    cli.refuses(&many, "input", &["20 at most"]);
    assert_eq!(cli.run(["report", "--about", "a", "--document", "b"]).status, Some(2));
    assert!(!cli.folder().join("report.html").exists());
}

#[test]
fn an_index_without_documents_or_vectors_has_a_report() {
    let cli = Cli::new();
    let path = cli.folder().join(".cairn");
    index(&path, &Sources::documents([Document::new("a", None, "Harl Mill was built by Anna Roe.")]));
    let name = |name: &str| About::Document(name.to_owned());
    let options = ReportOptions { about: Some(name("a")), ..ReportOptions::default() };
    let never = async { Err(cairn::Error::Internal("a model was asked for".to_owned())) };
    let made = block_on(cairn::report::report(&workspace(&path), never, &options)).unwrap();
    assert_eq!(made.summary.graph.unwrap().passages.total, 1);

    let gone =
        block_on(cairn::remove(&mut workspace(&path), &["a"], &Performers::built_in(), &IndexOptions::default()));
    gone.unwrap();
    let (page, summary) = reported(&cli, &[]);
    assert_eq!((&summary["graph"], &summary["counts"]["documents"]), (&Value::Null, &Value::from(0)));
    assert!(page.contains("holds no document") && page.contains("There is nothing to draw"));

    cli.write("docs/a.md", "# Harl Mill\n\nHarl Mill was built by Anna Roe.");
    cli.run(["index", "docs", "--index", "words", "--embedder", "none"]).succeeded();
    let (page, _) = reported(&cli, &["--index", "words", "--question", "Who built Harl Mill?"]);
    assert!(page.contains("made without an embedder") && page.contains("by Anna Roe"), "{page:.3000}");
}

#[test]
fn the_text_of_a_document_stays_text() {
    let cli = Cli::new();
    let attack = "</script><script>document.title='taken'</script><img src=x onerror=\"document.title='taken'\">";
    let title = format!("Harl Mill {attack} ' \" {{{{script}}}} \u{2028}\u{0}\u{202e} <!-- ]]> &lt;");
    let record = |id: &str, title: &str, text: &str| {
        serde_json::json!({ "id": format!("{id}{attack}"), "title": title, "text": text }).to_string()
    };
    let texts = [
        record("a", &title, &format!("Harl Mill was built by Anna Roe. {attack} It stands near Eaststead {attack}.")),
        record("b", &format!("Anna Roe {attack}"), &format!("Anna Roe was born in Eaststead. {attack}")),
        "{ no json </td></table><script>document.title='taken'</script>".to_owned(),
    ];
    cli.write("docs/all.jsonl", texts.join("\n"));
    cli.run(["index", "docs"]).succeeded();
    let question = format!("Where was the builder of Harl Mill born? {attack}");
    let (page, _) = reported(&cli, &["--question", &question]);
    assert!(!page.contains(attack) && !page.contains('\0') && !page.contains('\u{2028}'));

    let Some(browser) = shown(&cli, "report.html") else { return };
    browser.wait_for("document.title !== ''");
    assert_eq!(browser.run("return document.title"), "2 documents in Cairn");
    assert_eq!(browser.run("return document.querySelectorAll('img, b, main script').length"), 0);
    assert_eq!(browser.console(), Vec::<String>::new());
    for part in ["#answers h3", "#list h4", "#answers blockquote"] {
        assert!(seen(&browser, part).contains("document.title='taken'"), "{part}: {}", seen(&browser, part));
    }
    // Even if a script got in, the page's policy would neither run it nor allow it to fetch anything.
    browser.run(
        "document.body.insertAdjacentHTML('beforeend', '<img src=x onerror=\"document.title=1\"><p onclick=\"a()\">');
        const script = document.createElement('script');
        script.textContent = 'document.title = 1';
        document.body.append(script);",
    );
    browser.wait_for("performance.now() > 500");
    assert_eq!(browser.run("return document.title"), "2 documents in Cairn");
    assert!(browser.console().iter().any(|it| it.contains("Content Security Policy")));
}

#[test]
fn a_graph_is_drawn_around_what_is_asked_for() {
    let cli = of_harbor();
    for wanted in ["harbor/edda-varnholt.md", "Edda Varnholt", "edda varnholt"] {
        let (_, summary) = reported(&cli, &["--document", wanted]);
        assert_eq!(summary["graph"]["document"], "Edda Varnholt", "{wanted}");
    }
    let (page, summary) = reported(&cli, &["--about", "paper mill"]);
    assert_eq!(summary["graph"]["query"], "paper mill");
    let nodes = summary["graph"]["passages"]["shown"].as_u64().unwrap();
    assert!(nodes >= 10, "{summary}");
    assert_eq!(page.matches("<li id=\"node-").count() as u64, nodes);
    let data = page.split("id=\"data\">").nth(1).unwrap().split("</script>").next().unwrap();
    let data: Value = serde_json::from_str(data).unwrap();
    assert_eq!(data["nodes"].as_array().unwrap().len() as u64, nodes);
    let lines = data["lines"].as_array().unwrap();
    assert_eq!(lines.len() as u64, summary["graph"]["lines"]["shown"].as_u64().unwrap());
    // The list has every line of the drawing: one link, from the item where it begins to the one where it ends.
    let items: Vec<&str> = page.split("<li id=\"node-").skip(1).collect();
    for line in lines {
        let (from, to) = (line[0].as_u64().unwrap() as usize, line[1].as_u64().unwrap());
        assert!(items[from].contains(&format!("data-node=\"{to}\"")), "{line}");
    }
}

/// Returns the folder for pictures, if somebody wants to look at them.
fn pictures() -> Option<PathBuf> {
    std::env::var_os("CAIRN_PICTURES").map(PathBuf::from)
}
