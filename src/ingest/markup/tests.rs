//! What becomes of markup line by line: headings, code, or nothing.

use super::*;

type Parse = fn(String) -> Result<Extracted, String>;

fn check(parse: Parse, text: &str, title: Option<&str>, expect: &str) {
    let found = parse(text.to_owned()).unwrap();
    assert_eq!((found.title.as_deref(), found.text.trim_end()), (title, expect.trim_end()), "{text}");
    assert_eq!(found.positions, Positions::of_lines());
}

#[test]
fn rst_titles_are_headings_by_the_order_of_their_underlines() {
    check(
        rst,
        ".. SPDX-License: x\n   more\n\n==========\n The mill\n==========\n\nText.\n\n\
         Below\n-----\nMore.\n\nAgain\n-----\n",
        Some("The mill"),
        "\n\n\n\n# The mill\n\n\nText.\n\n## Below\n\nMore.\n\n## Again\n\n",
    );
    check(rst, "No title\nof any kind\n", None, "No title\nof any kind");
    check(rst, "a\n\n   \n\nb\n", None, "a\n\n\n\nb");
    check(rst, "Text of a line.\n--\n", None, "Text of a line.\n--");
}

#[test]
fn rst_directives_and_literal_blocks_become_what_they_show() {
    check(
        rst,
        ".. highlight:: c\n\n:mod:`os` --- Misc\n=================\n\n\
         Code::\n\n   if x:\n       y\n\nSee :func:`~os.open` \
         and `the page <a.html>`_ or ``raw``.\n\n.. code-block:: python\n   :linenos:\n\n   z\n\n.. note:: Mind.\n\n   \
         More.\n\n.. function:: open(path)\n   :noindex:\n\n   Opens.\n\n.. _target:\n\n.. versionadded:: 3.2\n",
        Some("`os` --- Misc"),
        "\n\n# `os` --- Misc\n\n\nCode:\n```\nif x:\n    y\n```\nSee `os.open` and the page or `raw`.\n\n\n\n\
         ```python\nz\n```\nNote: Mind.\n\n   More.\n\nopen(path)\n\n\n   Opens.\n\n\n\nNew in version 3.2",
    );
}

#[test]
fn rst_is_recognized_by_a_directive_and_a_title() {
    assert!(is_like_rst("Title\n=====\n\n.. note:: x\n"));
    assert!(!is_like_rst("Title\n=====\n\nText.\n"));
    assert!(!is_like_rst(".. note:: x\n"));
}

#[test]
fn asciidoc_headings_blocks_and_attributes() {
    check(
        asciidoc,
        "= The mill\n:author: Zoë\n// no\n\n[source,rust]\n----\n= no heading\n----\n\n\
         == Below\n.A block\nText.\n////\nx\n////\n",
        Some("The mill"),
        "# The mill\n\n\n\n\n```rust\n= no heading\n```\n\n## Below\nA block\nText.",
    );
    assert_eq!(asciidoc(":author: Zoë\nx".to_owned()).unwrap().metadata["author"], "Zoë");
}

#[test]
fn asciidoc_titles_of_two_lines_are_headings_and_blocks_stay_blocks() {
    check(
        asciidoc,
        "machine(1)\n==========\n\nNAME\n----\nmachine - a machine\n\n[[opt]]\nOPTIONS\n-------\nText.\n\n\
         Of the wheel\n~~~~~~~~~~~~\nx\n\nOf teeth\n^^^^^^^\n\nÄrger\n+++++\n",
        Some("machine(1)"),
        "# machine(1)\n\n\n## NAME\n\nmachine - a machine\n\n\n## OPTIONS\n\nText.\n\n\
         ### Of the wheel\n\nx\n\n#### Of teeth\n\n\n##### Ärger\n",
    );
    for (text, expect) in [
        ("Do this first:\n----\nls\n----\nDone", "Do this first:\n```\nls\n```\nDone"),
        (".List\n-----\nls\n-----", "List\n```\nls\n```"),
        ("[sh]\n----\nls\n----", "\n```\nls\n```"),
        ("----\nNAME\n----\n\nNAME\n----", "```\nNAME\n```\n\n## NAME"),
        ("It runs\nls -l\n-----\nx\n-----", "It runs\nls -l\n```\nx\n```"),
        ("* item\n+\nls\n----\nx\n----", "* item\n+\nls\n```\nx\n```"),
        ("NAME\n--\n", "NAME\n--"),
        ("Run it\n----\nls\n----", "Run it\n```\nls\n```"),
        ("====\n----\n====\n----", "====\n```\n====\n```"),
    ] {
        check(asciidoc, text, expect.contains('#').then_some("NAME"), expect);
    }
}

#[test]
fn org_headings_blocks_and_drawers() {
    check(
        org,
        "#+TITLE: Notes\n* TODO The mill :a:b:\n:PROPERTIES:\n:id: x\n:END:\nText.\n#+BEGIN_SRC sh\n* no heading\n\
         #+END_SRC\n** Below\n# a comment\n*bold* text\n",
        Some("Notes"),
        "\n# The mill\n\n\n\nText.\n```sh\n* no heading\n```\n## Below\n\n*bold* text",
    );
}

#[test]
fn latex_sections_lists_and_code() {
    check(
        latex,
        "\\documentclass{article}\n\\title{The \\emph{mill}}\n\\begin{document}\n\\section{Wheels}\\label{s}\nIt \
         \\textbf{turns} 5\\% faster % really\n\\begin{itemize}\n\\item one\n\\end{itemize}\n\\begin{verbatim}\n\
         \\x{y}\n\\end{verbatim}\n$a_b$ \\\\ c\n\\end{document}\n",
        Some("The mill"),
        "\n\n\n## Wheels\nIt turns 5% faster\n\n- one\n\n```\n\\x{y}\n```\n$a_b$   c",
    );
}

#[test]
fn a_line_stays_a_line_whatever_stands_in_it() {
    let hostile =
        ["::\n", ".. a::\n\n   b\n", "=\n", "====\n", "\\a{\n", "* *\n", "----\n", "`\n", ":a:`\n", "\\[[{\n"];
    for parse in [rst as Parse, asciidoc, org, latex] {
        for piece in hostile {
            let text = piece.repeat(20_000);
            let found = parse(text.clone()).unwrap();
            let lines = found.text.lines().count();
            assert!(lines.abs_diff(text.lines().count()) <= 1, "{piece:?}: {lines}");
        }
    }
}
