//! Which parts of a page become text.

use super::*;

fn text(html: &str) -> String {
    parse(html.to_owned()).unwrap().text
}

#[test]
fn headings_lists_tables_and_code_keep_their_form() {
    let html = "<body><h1>Mills &amp; <em>bridges</em></h1><p>Of\n  the <b>Arden</b>.<p>More<ul><li>one<li><p>two</p>\
        <ol><li>inner</li></ol></li></ul><table><tr><th>Name</th><th>Year</th></tr><tr><td><p>Harl</p></td>\
        <td>1799</td></tr></table><pre><code class=\"language-rust\">\nfn main() {\n    go();\n}</code></pre>\
        <dl><dt><code>wheel</code></dt><dd><p>It turns.</p></dd></dl>See <a href=x>the <code>map</code></a>.";
    let expect = "# Mills & bridges\n\nOf the Arden.\n\nMore\n\n- one\n- two\n  1. inner\n\n\
        | Name | Year |\n| Harl | 1799 |\n\n\
        ```rust\nfn main() {\n    go();\n}\n```\n\n`wheel`\nIt turns.\n\nSee the `map`.";
    assert_eq!(text(html), expect);
}

#[test]
fn menus_footers_and_what_nobody_sees_are_left_out() {
    let html = "<html lang=en><head><title>Mill | Site</title><style>p{}</style><script>x<y</script></head><body>\
        <nav>Home</nav><header><h1>Site</h1></header><div class=sphinxsidebar>On this page</div>\
        <div role=main><header><h1>The mill<a class=headerlink>¶</a></h1></header><p>It stands.</p>\
        <p hidden>Not seen.</p><div style='display: none'>Nor this.</div></div><footer>Imprint</footer>";
    let page = parse(html.to_owned()).unwrap();
    assert_eq!(page.text, "# The mill\n\nIt stands.");
    assert_eq!(page.title.as_deref(), Some("The mill"));
    let metadata = [("language", "en"), ("page_title", "Mill | Site")];
    assert_eq!(page.metadata, metadata.map(|(key, value)| (key.to_owned(), value.to_owned())).into());
}

#[test]
fn a_main_part_is_what_holds_enough_of_the_text() {
    let rest = "<p>A long page of words that no mark tells to be the main part of it.</p>".repeat(3);
    assert!(text(&format!("<main>Short.</main>{rest}")).contains("A long page"));
    assert_eq!(text(&format!("<p>Before.</p><article>{rest}</article>")).matches("A long page").count(), 3);
    assert!(!text(&format!("<p>Before.</p><article>{rest}</article>")).contains("Before"));
    assert_eq!(text("<article>One.</article><p>x</p><article>Two.</article>"), "One.\n\nTwo.");
    // A page that is nothing but menus is read as text.
    assert!(text(&format!("<nav>{rest}</nav>")).contains("A long page"));
}

#[test]
fn a_title_is_the_one_heading_of_the_first_level_or_what_the_page_says() {
    let title = |html: &str| parse(html.to_owned()).unwrap().title;
    assert_eq!(title("<title>T</title><h1>A</h1><p>x").as_deref(), Some("A"));
    assert_eq!(title("<title> T\n U</title><h1>A</h1><h1>B</h1><p>x").as_deref(), Some("T U"));
    assert_eq!(title("<h2>A §</h2><p>x").as_deref(), Some("A"));
    assert_eq!(title("<p>x"), None);
}

#[test]
fn a_page_without_text_says_so() {
    let script = format!("<html><div id=app></div><script>{}</script>", "x".repeat(9_000));
    assert!(parse(script).unwrap_err().starts_with("no text: 0 bytes of text in"));
    let leads = "<meta http-equiv=Refresh content='0; URL=a.html'><p>Redirecting</p>";
    assert_eq!(parse(leads.to_owned()).unwrap_err(), "it only redirects to another page");
}

#[test]
fn xhtml_closes_elements_by_a_slash() {
    let html = "<?xml version='1.0'?><html><head><title/><script src='x'/></head><body><div/><p>Text<br/>more</p>";
    assert_eq!(text(html), "Text\nmore");
}

#[test]
fn a_page_is_recognized_by_its_first_bytes() {
    for (head, expect) in [
        (&b"<!DOCTYPE HTML PUBLIC"[..], true),
        (b"<?xml version='1.0'?>\n<!-- x -->\n<!DOCTYPE html>", true),
        (b"<HTML>", true),
        (b"<?xml version='1.0'?><svg>", false),
        (b"<!-- html", false),
        (b"# <html>", false),
        (b"", false),
    ] {
        assert_eq!(is_recognized_by(head), expect, "{}", head.escape_ascii());
    }
}

/// Each page would take hours, or all memory, if any work were repeated for each level, attribute or end tag.
#[test]
fn hostile_pages_take_time_and_memory_by_their_size() {
    const BYTES: usize = 4 << 20;
    let repeated = |part: &str| part.repeat(BYTES / part.len());
    let attributes = format!("<p {}>text", (0..BYTES / 9).map(|it| format!("a{it:07}")).collect::<Vec<_>>().join(" "));
    let started = std::time::Instant::now();
    for html in [
        repeated("<div>"),
        repeated("<b>"),
        repeated("<p>x"),
        repeated("<b><p>x"),
        repeated("</p>"),
        repeated("<ul><li>"),
        repeated("<table><tr><td>"),
        repeated("<a></b>"),
        repeated("<h1>x"),
        repeated("<main>x</main>"),
        repeated("<pre>x"),
        repeated("&amp"),
        repeated("<!--"),
        repeated("<svg><title>"),
        format!("<{}>x", repeated("y")),
        format!("<p class='{}'>x", repeated("y ")),
        format!("<nav>{}", repeated("<i>x")),
        format!("{}{}", "<i>".repeat(600), repeated("<p>x</q>")),
        attributes,
    ] {
        match parse(html) {
            Ok(page) => assert!(page.text.len() <= 4 * BYTES),
            Err(reason) => assert!(reason.starts_with("no text"), "{reason}"),
        }
    }
    assert!(started.elapsed().as_secs() < 120, "{:?}", started.elapsed());
}
