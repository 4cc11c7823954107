//! The page in Chromium: on a phone and a wide screen, light and dark, by keyboard, and without scripts.

use serde_json::json;

use super::{QUESTION, of_harbor, pictures, reported, seen, shown};
use crate::support::browser::{Browser, Scheme, key};

/// Less contrast is hard to read (WCAG 2.2, 1.4.3).
const CONTRAST_MIN: f64 = 4.5;

/// Returns the texts with the least contrast to their background, and that contrast.
const CONTRAST: &str = "
    const parts = (color) => color.match(/[\\d.]+/g).map(Number);
    const linear = (it) => (it /= 255) <= 0.04045 ? it / 12.92 : ((it + 0.055) / 1.055) ** 2.4;
    const light = (color) => { const [r, g, b] = parts(color).map(linear); return 0.2126*r + 0.7152*g + 0.0722*b; };
    const behind = (element) => {
        for (let at = element; at; at = at.parentElement) {
            const color = getComputedStyle(at).backgroundColor;
            if ((parts(color)[3] ?? 1) > 0) return color;
        }
        throw new Error('no background');
    };
    const found = [];
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
        const element = node.parentElement;
        if (!node.data.trim() || !element.checkVisibility() || element.closest('script')) continue;
        const [a, b] = [light(getComputedStyle(element).color), light(behind(element))].sort((x, y) => y - x);
        found.push([(a + 0.05) / (b + 0.05), element.tagName + '.' + element.className + ' ' + node.data.slice(0, 40)]);
    }
    found.sort((x, y) => x[0] - y[0]);
    return found.slice(0, 3);";

fn drawn(browser: &Browser) {
    browser.wait_for("globalThis.cairn && document.querySelectorAll('#stage canvas').length > 3");
}

#[test]
#[ignore = "slow: `.ci/run` runs it"]
fn the_page_is_readable_on_a_phone_and_a_wide_screen_in_light_and_dark() {
    let cli = of_harbor();
    reported(&cli, &["--question", QUESTION, "--question", "Who taught the engineer of Heron Bridge?"]);
    let Some(browser) = shown(&cli, "report.html") else { return };
    for (width, height) in [(360, 740), (1280, 900)] {
        for scheme in [Scheme::Light, Scheme::Dark] {
            browser.resize(width, height);
            browser.prefer(scheme);
            browser.go_to_file(&cli.folder().join("report.html"));
            drawn(&browser);
            assert_eq!(browser.run("return document.documentElement.scrollWidth"), width, "{scheme:?}");
            let worst = browser.run(CONTRAST);
            assert!(worst[0][0].as_f64().unwrap() >= CONTRAST_MIN, "{width} {scheme:?}: {worst}");
            let is_dark = browser.run("return getComputedStyle(document.body).backgroundColor") == "rgb(22, 24, 27)";
            assert_eq!(is_dark, scheme == Scheme::Dark);
            assert_eq!(browser.run("return performance.getEntriesByType('resource').length"), 0);
            assert_eq!(browser.console(), Vec::<String>::new());
            if let Some(folder) = pictures() {
                for part in ["contents", "graph", "answers", "hubs", "unanswered", "left-out"] {
                    browser.run(&format!("document.getElementById({part:?}).scrollIntoView({{behavior: 'instant'}})"));
                    browser.wait_for("true");
                    browser.picture(&folder.join(format!("{part}-{width}-{scheme:?}.png")));
                }
            }
        }
    }
}

#[test]
#[ignore = "slow: `.ci/run` runs it"]
fn the_page_has_landmarks_headings_in_order_and_tables_with_headers() {
    let cli = of_harbor();
    let (_, summary) = reported(&cli, &["--question", QUESTION]);
    let Some(browser) = shown(&cli, "report.html") else { return };
    drawn(&browser);
    let count = |selector: &str| browser.run(&format!("return document.querySelectorAll({selector:?}).length"));
    for landmark in ["header", "main", "footer", "nav[aria-label]", "h1"] {
        assert_eq!(count(landmark), 1, "{landmark}");
    }
    assert_eq!(count("section:not([aria-labelledby])"), 0);
    assert_eq!(count("th:not([scope])"), 0);
    assert_eq!(count("table:not(:has(caption))"), 0);
    let levels = browser.run("return [...document.querySelectorAll('h1,h2,h3,h4')].map(it => Number(it.tagName[1]))");
    let levels: Vec<i64> = levels.as_array().unwrap().iter().map(|it| it.as_i64().unwrap()).collect();
    assert!(levels.windows(2).all(|pair| pair[1] <= pair[0] + 1), "{levels:?}");
    let nameless = "return [...document.querySelectorAll('a, button')].filter(it => !it.innerText.trim()).length";
    assert_eq!(browser.run(nameless), 0);
    let broken = "return [...document.querySelectorAll('a[href^=\"#\"]')].map(it => it.getAttribute('href').slice(1))
        .filter(it => !document.getElementById(it))";
    assert_eq!(browser.run(broken), json!([]));
    let ids =
        "const ids = [...document.querySelectorAll('[id]')].map(it => it.id); return ids.length - new Set(ids).size";
    assert_eq!(browser.run(ids), 0);

    // The list has what the drawing shows: the same passages, and the same lines between them.
    let same = "return [cairn.graph.order, cairn.graph.size, document.querySelectorAll('#list > ol > li').length,
        document.querySelectorAll('#list li li').length]";
    let shown = &summary["graph"];
    let (nodes, lines) = (&shown["passages"]["shown"], &shown["lines"]["shown"]);
    assert_eq!(browser.run(same), json!([nodes, lines, nodes, lines]));
    let path = seen(&browser, "#answers .path");
    assert!(path.contains("Edda Varnholt") && path.contains("Cornelius Pellam"), "{path}");
}

#[test]
#[ignore = "slow: `.ci/run` runs it"]
fn everything_can_be_reached_and_done_by_keyboard() {
    let cli = of_harbor();
    reported(&cli, &["--document", "Edda Varnholt"]);
    let Some(browser) = shown(&cli, "report.html") else { return };
    browser.resize(1280, 900);
    drawn(&browser);
    let focused = |what: &str| browser.run(&format!("return document.activeElement.{what}"));
    browser.press(key::TAB);
    assert_eq!(focused("className"), "skip");
    browser.press(key::ENTER);
    browser.wait_for("document.activeElement.id === 'report'");
    let mut reached = Vec::new();
    let mut topics = 0;
    while reached.len() < 12 && reached.last() != Some(&json!("list")) {
        browser.press(key::TAB);
        if focused("tagName") == "SUMMARY" {
            topics += 1;
            browser.press(key::ENTER);
            assert_eq!(focused("parentElement.open"), true);
            browser.press(key::ENTER);
        } else {
            reached.push(focused("id"));
        }
        let outline = browser.run("return getComputedStyle(document.activeElement).outlineWidth");
        assert_eq!(outline, "3px", "{reached:?}");
    }
    assert_eq!(reached, ["nearer", "farther", "whole", "stage", "list"].map(|it| json!(it)), "{reached:?}");
    assert!(topics > 0, "topics open and close");

    browser.run("document.getElementById('stage').focus()");
    let camera = || browser.run("const { x, y, ratio } = cairn.sigma.getCamera(); return [x, y, ratio]");
    browser.press(key::RIGHT);
    browser.wait_for("cairn.sigma.getCamera().x > 0.59");
    browser.press("+");
    browser.wait_for("cairn.sigma.getCamera().ratio < 0.7");
    browser.press("0");
    browser.wait_for("cairn.sigma.getCamera().x === 0.5 && cairn.sigma.getCamera().ratio === 1");
    assert_eq!(camera(), json!([0.5, 0.5, 1]));

    // A passage that is selected in the list is selected and announced in the drawing.
    browser.run("document.querySelector('#node-1 h4 a').focus()");
    browser.press(key::ENTER);
    assert_eq!(browser.run("return cairn.chosen()"), "1");
    assert!(seen(&browser, "#said").contains(&seen(&browser, "#node-1 h4")));
    assert_eq!(browser.run("return document.querySelectorAll('#list .chosen').length"), 1);
    browser.run("document.getElementById('stage').focus()");
    browser.press(key::ESCAPE);
    assert_eq!(browser.run("return [cairn.chosen(), document.activeElement.tagName]"), json!([null, "BODY"]));
}

#[test]
fn a_click_in_the_drawing_chooses_a_passage_and_the_page_scrolls_over_it() {
    let cli = of_harbor();
    reported(&cli, &["--document", "Edda Varnholt"]);
    let Some(browser) = shown(&cli, "report.html") else { return };
    browser.resize(1280, 900);
    drawn(&browser);
    browser.run("document.getElementById('stage').scrollIntoView({ behavior: 'instant', block: 'center' })");
    let place = browser.run(
        "const its = cairn.sigma.getNodeDisplayData('0');
        const at = cairn.sigma.framedGraphToViewport(its);
        const box = document.getElementById('stage').getBoundingClientRect();
        return [Math.round(box.left + at.x), Math.round(box.top + at.y)]",
    );
    let wheel = |x: &serde_json::Value, y: &serde_json::Value| {
        browser.command(
            "Input.dispatchMouseEvent",
            &json!({ "type": "mouseWheel", "x": x, "y": y, "deltaX": 0, "deltaY": 60 }),
        );
    };
    let before = browser.run("return scrollY").as_f64().unwrap();
    wheel(&place[0], &place[1]);
    browser.wait_for(&format!("scrollY > {before}"));
    assert_eq!(browser.run("return cairn.sigma.getCamera().ratio"), 1);
    browser.run(&format!("scrollTo({{ top: {before}, behavior: 'instant' }})"));
    for kind in ["mouseMoved", "mousePressed", "mouseReleased"] {
        let button = if kind == "mouseMoved" { "none" } else { "left" };
        let event = json!({ "type": kind, "x": place[0], "y": place[1], "button": button, "clickCount": 1 });
        browser.command("Input.dispatchMouseEvent", &event);
    }
    browser.wait_for("cairn.chosen() === '0'");
    wheel(&place[0], &place[1]);
    browser.wait_for("cairn.sigma.getCamera().ratio > 1");
}

#[test]
#[ignore = "slow: `.ci/run` runs it"]
fn without_scripts_the_page_is_whole_but_for_the_drawing() {
    let cli = of_harbor();
    reported(&cli, &["--question", QUESTION]);
    let Some(browser) = shown(&cli, "report.html") else { return };
    browser.command("Emulation.setScriptExecutionDisabled", &json!({ "value": true }));
    browser.go_to_file(&cli.folder().join("report.html"));
    browser.command("Emulation.setScriptExecutionDisabled", &json!({ "value": false }));
    // The page's scripts did not run; those of this test do.
    assert_eq!(browser.run("return typeof globalThis.cairn"), "undefined");
    assert_eq!(browser.run("return document.getElementById('drawing').checkVisibility()"), false);
    assert!(seen(&browser, "#no-drawing").contains("needs JavaScript"));
    for part in ["contents", "coverage", "graph", "answers", "hubs", "unanswered", "left-out"] {
        assert!(seen(&browser, &format!("#{part}")).len() > 40, "{part}");
    }
    assert!(seen(&browser, "#list").contains("Cornelius Pellam"));
}
