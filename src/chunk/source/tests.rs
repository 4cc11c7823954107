//! What counts as a definition in each language, and that no code is lost.

use proptest::prelude::*;

use super::*;

const LANGUAGES: [Language; 10] = [
    Language::Rust,
    Language::C,
    Language::JavaScript,
    Language::Python,
    Language::Ruby,
    Language::Shell,
    Language::Sql,
    Language::Kotlin,
    Language::Go,
    Language::Php,
];

/// Checks the names of definitions, including enclosing ones, and the first line of each section.
fn check(language: Language, text: &str, expect: &[&str]) {
    let sections = sections(text, "f", language);
    let shown = |section: &Section| {
        let first = section.paragraphs.first().map_or("", |it| text[it.clone()].lines().next().unwrap_or_default());
        format!("{}: {first}", section.path[1..].join("/"))
    };
    assert_eq!(sections.iter().map(shown).collect::<Vec<_>>(), expect, "{text}");
}

#[test]
fn a_definition_is_a_section_with_the_comment_above_it() {
    check(
        Language::Rust,
        "//! Mills.\n\nuse a::{b, c};\n\n/// Turns.\n#[must_use]\
         \npub(crate) fn turn<'a>(x: &'a str) -> impl Iterator<Item = u8> {\n    '{'\n}\n\n\
         // Apart.\n\nstruct Mill {\n    a: u8,\n}\n\nimpl<T> Mill\nwhere\n    T: X,\n{\n    const A: u8 = 1;\n\
          \n    fn a(&self) {}\n    /// B.\n    fn b() {}\n}\n",
        &[
            ": //! Mills.",
            "turn: /// Turns.",
            "Mill: // Apart.",
            "impl<T> Mill: impl<T> Mill",
            "impl<T> Mill/a: fn a(&self) {}",
            "impl<T> Mill/b: /// B.",
        ],
    );
}

#[test]
fn definitions_without_a_body_stay_together() {
    check(Language::C, "/* A. */\nint a(void);\n\nextern int b;\n\n#include <x>\n", &[": /* A. */"]);
    check(Language::Rust, "const A: u8 = 1;\nstatic B: Foo = Foo { a: 1 };\nmod c;\n", &[": const A: u8 = 1;"]);
}

#[test]
fn functions_of_c_are_recognized_by_their_shape() {
    check(
        Language::C,
        "#include <a.h>\n#define M(x) \\\n  { x }\n\n/* Turns\n * it. */\
         \nstatic struct mill *turn(int a, int (*f)(void))\n{\n  if (a) { f(); }\n}\n\
         int x[] = { 1, 2 };\ntypedef struct { int a; } mill_t;\nstruct wheel {\n  int a;\n} __attribute__((packed));\
         \nTEST(Mill, Turns) { }\n\
         PyAPI_FUNC(int) other(void) { }\nvoid noisy(void) __attribute__((cold)) { }\n",
        &[
            ": #include <a.h>",
            "M: #define M(x) \\",
            "turn: /* Turns",
            ": int x[] = { 1, 2 };",
            "mill_t: typedef struct { int a; } mill_t;",
            "wheel: struct wheel {",
            "TEST(Mill, Turns): TEST(Mill, Turns) { }",
            "other: PyAPI_FUNC(int) other(void) { }",
            "noisy: void noisy(void) __attribute__((cold)) { }",
        ],
    );
    check(
        Language::C,
        "namespace a {\ntemplate <class T = int>\nclass Mill : public Wheel {\n public:\
         \n  Mill(int a) : a_(a), b_{a} { turn(); }\n  ~Mill() = default;\
         \n  bool operator==(const Mill& o) const { return true; }\n private:\n  int a_;\n};\n}  // namespace a\n\
         \nvoid Mill::turn() const noexcept { }\n",
        &[
            "a/Mill/Mill: namespace a {",
            "a/Mill: ~Mill() = default;",
            "a/Mill/operator==: bool operator==(const Mill& o) const { return true; }",
            "a/Mill: private:",
            "Mill::turn: void Mill::turn() const noexcept { }",
        ],
    );
}

#[test]
fn methods_are_definitions_in_their_class() {
    check(
        Language::Java,
        "package a;\n\n/** Mills. */\n@Entity(name = \"x\")\npublic class Mill extends Wheel implements A<B> {\
         \n  private int a = new X() { int y() { return 1; } }.y();\n\n  /** Turns. */\n  @Override\
         \n  public <T> List<T> turn(@Named(\"a\") int a) throws X {\n    for (;;) { }\n  }\n\
         \n  interface B { void c(); }\n}\n",
        &[": package a;", "Mill: /** Mills. */", "Mill/turn: /** Turns. */", "Mill/B: interface B { void c(); }"],
    );
    check(
        Language::CSharp,
        "namespace A\n{\n  public record P(int X);\n  class Mill : Wheel\n  {\n    public int A { get; set; }\
         \n    Mill(int a) : base(a) { }\n    T Turn<T>(T a) where T : class { return a; }\n    int B(int a) => a;\
         \n  }\n}\n",
        &[
            "A/P: namespace A",
            "A/Mill: class Mill : Wheel",
            "A/Mill/Mill: Mill(int a) : base(a) { }",
            "A/Mill/Turn: T Turn<T>(T a) where T : class { return a; }",
            "A/Mill/B: int B(int a) => a;",
        ],
    );
    check(
        Language::Php,
        "<?php\nnamespace A;\n\n/** Mills. */\nfinal class Mill {\n  use B;\
         \n  public function turn(): int { return B::class; }\n}\nfunction b() {}\n",
        &[
            ": <?php",
            "Mill: /** Mills. */",
            "Mill/turn: public function turn(): int { return B::class; }",
            "b: function b() {}",
        ],
    );
}

#[test]
fn languages_without_semicolons_end_statements_at_lines() {
    check(
        Language::Go,
        "package a\n\nvar x = []int{1}\n\n// Turn turns.\nfunc (m *Mill) Turn(a interface{}) (int, error) {\
         \n\treturn 1, nil\n}\n\ntype Mill struct {\n\ta int\n}\n\ntype (\n\tA int\n)\n",
        &[": package a", "Mill.Turn: // Turn turns.", "Mill: type Mill struct {", ": type ("],
    );
    check(
        Language::Kotlin,
        "val a by lazy { 1 }\n\n/** Turns. */\nfun <T> Mill.turn(a: T) =\n  a.b()\n\ndata class P(val a: Int)\n\n@A\
         \nclass Mill(\n  val a: Int,\n) : Wheel() {\n  override fun b() { }\n  companion object {\n    fun c() = 1\
         \n  }\n}\n",
        &[
            ": val a by lazy { 1 }",
            "turn: /** Turns. */",
            "P: data class P(val a: Int)",
            "Mill/b: @A",
            "Mill/Companion/c: companion object {",
        ],
    );
    check(
        Language::Swift,
        "import A\n\nextension Mill: Turning where T: X {\n  var a: Int { 1 }\n  init(a: Int) { }\
         \n  class func turn() -> Int { 1 }\n}\n\nprotocol B {\n  func c()\n}\n",
        &[
            ": import A",
            "extension Mill: Turning/init: extension Mill: Turning where T: X {",
            "extension Mill: Turning/turn: class func turn() -> Int { 1 }",
            "B: protocol B {",
        ],
    );
    check(
        Language::JavaScript,
        "import a from 'a'\nconst x = 1\n\n/** Turns. */\nexport const turn = async (a) => {\n  if (a) { b() }\n}\n\
         \nexport default class Mill extends Wheel {\n  #a = 1\n  get wheel() { return /}/ }\n  b = () => { }\n}\
         \nMill.prototype.stop = function () { }\nfunction* c() { }\n",
        &[
            ": import a from 'a'",
            "turn: /** Turns. */",
            "Mill/wheel: export default class Mill extends Wheel {",
            "Mill/b: b = () => { }",
            "Mill.prototype.stop: Mill.prototype.stop = function () { }",
            "c: function* c() { }",
        ],
    );
}

#[test]
fn names_are_recognized_among_other_words() {
    let names = |language, text| {
        let all = sections(text, "f", language);
        all.iter().map(|it| it.path[1..].join("/")).collect::<Vec<_>>()
    };
    for (language, text, expect) in [
        (Language::C, "class EXPORT Mill final : public Wheel { };", "Mill"),
        (Language::C, "namespace std VISIBILITY(default) { void f() { } }", "std/f"),
        (Language::C, "namespace { void f() { } }", "f"),
        (Language::C, "struct [[deprecated(\"x\")]] Mill { };", "Mill"),
        (Language::C, "bool Mill::operator()(int a) { }", "operator()"),
        (Language::Kotlin, "@A\npublic class Mill\n@A\nconstructor(private var a: B?) : C {\n  val a = 1\n}\n", "Mill"),
        (Language::Kotlin, "fun interface Mill {\n  fun turn()\n}\n", "Mill"),
        (Language::JavaScript, "declare module 'mill' { function f() { } }", "'mill'/f"),
    ] {
        assert_eq!(names(language, text), [expect], "{text}");
    }
}

#[test]
fn definitions_inside_a_single_call_are_found() {
    let inside = "function turn() { mill(); }\n".repeat(300);
    let text = format!("(function () {{\n{inside}}})();\n");
    let sections = sections(&text, "f", Language::JavaScript);
    assert!(sections.len() >= 300 && sections.iter().filter(|it| it.path.len() == 2).count() == 300);
    assert!(defines(&text, Language::JavaScript));
    assert!(!defines("setIndex({a: 1, b: [2]});", Language::JavaScript));
}

#[test]
fn indentation_tells_where_a_definition_ends() {
    check(
        Language::Python,
        "\"\"\"Mills.\"\"\"\nimport a\n\n# Turns.\n@cached\n@a(\n  b\n)\nasync def turn(a,\n  b):\n    '''\nleft\
         \n    '''\n    def inner(): pass\n    return (\n1)\n\nclass Mill(Wheel):\n    \"\"\"A mill.\"\"\"\n    a = 1\
         \n\n    def b(self): pass\n\nx = 1\n",
        &[": \"\"\"Mills.\"\"\"", "turn: # Turns.", "Mill: class Mill(Wheel):", "Mill/b: def b(self): pass", ": x = 1"],
    );
    check(
        Language::Ruby,
        "module A\n  # Turns.\n  def self.turn(a)\n    a\n  rescue\n    b\n  end\n\n  class Mill < Wheel\
         \n    def b = 1\n  end\nend\n\nputs 1\n",
        &["A/self.turn: module A", "A/Mill/b: class Mill < Wheel", ": puts 1"],
    );
    check(
        Language::Shell,
        "set -e\n# Turns.\nturn() {\n  cat <<E\n}\nE\n}\nfunction stop\n{\n  :\n}\nturn\n",
        &[": set -e", "turn: # Turns.", "stop: function stop", ": turn"],
    );
    check(
        Language::Lua,
        "local M = {}\n--- Turns.\nfunction M.turn(a)\n  if a then b() end\nend\nM.stop = function()\nend\nreturn M\n",
        &[": local M = {}", "M.turn: --- Turns.", "M.stop: M.stop = function()", ": return M"],
    );
}

#[test]
fn what_sql_creates_is_a_definition() {
    check(
        Language::Sql,
        "\\echo 'a\nSET a = 1;\n-- Mills.\nCREATE TABLE mill (a int CHECK (a > 0));\nINSERT INTO mill VALUES (1);\
         \nCREATE TRIGGER t AFTER INSERT ON mill BEGIN\n  UPDATE a SET b = CASE WHEN 1 THEN 2 END;\nEND;\
         \nCREATE FUNCTION f() RETURNS int AS $$ a; $$;\n",
        &[
            ": \\echo 'a",
            "CREATE TABLE mill: -- Mills.",
            ": INSERT INTO mill VALUES (1);",
            "CREATE TRIGGER t AFTER INSERT: CREATE TRIGGER t AFTER INSERT ON mill BEGIN",
            "CREATE FUNCTION f: CREATE FUNCTION f() RETURNS int AS $$ a; $$;",
        ],
    );
}

#[test]
fn brackets_that_are_not_closed_lose_nothing() {
    check(
        Language::C,
        "#ifdef A\nint a(int b) {\n#else\nint a(void) {\n#endif\n  b();\n}\n\nint c(void)\n{\n}\n",
        &[": #ifdef A", "a: int a(int b) {", "c: int c(void)"],
    );
    let deep = "{".repeat(50_000) + &"class A {".repeat(20_000);
    assert!(!sections(&deep, "f", Language::Java).is_empty());
}

proptest! {
    #[test]
    fn sections_hold_all_but_white_space_once(
        text in "(fn a|class B|def c|\\{|\\}|\\(|\\)|;|=|\"|'|//|/\\*|\\*/|#|\n|    |\n\
         \n| |x|:|end|function|=>|CREATE TABLE|BEGIN){0,40}"
    ) {
        for language in LANGUAGES {
            let found = sections(&text, "f", language);
            let mut at = 0;
            for paragraph in found.iter().flat_map(|it| &it.paragraphs) {
                prop_assert!(text[at..paragraph.start].trim().is_empty(), "{language:?} {at} {paragraph:?}");
                prop_assert!(paragraph.start < paragraph.end);
                at = paragraph.end;
            }
            prop_assert!(text[at..].trim().is_empty(), "{language:?}");
        }
    }
}
