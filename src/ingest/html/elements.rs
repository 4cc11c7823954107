//! Classifies HTML elements by their names and attributes.

/// What an element is to a reader of the page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Element {
    /// `h1` to `h6`.
    Heading(u8),
    /// A block of text: `p`, `blockquote`, `figure` and the like.
    Paragraph,
    /// A section of the page, without text of its own.
    Block,
    /// `main`.
    Main,
    /// `article`.
    Article,
    /// `header` and `footer`, of the page or of a section.
    Margin,
    /// `ul` and `menu`.
    List,
    /// `ol`.
    NumberedList,
    /// `li`.
    Item,
    /// `dl`.
    Definitions,
    /// `dt`.
    Term,
    /// `dd`.
    Definition,
    /// `table`.
    Table,
    /// `tr`.
    Row,
    /// `td` and `th`.
    Cell,
    /// `pre`.
    Preformatted,
    /// `code` and the like.
    Code,
    /// `br`.
    Break,
    /// `img`.
    Image,
    /// `title`.
    Title,
    /// `meta`.
    Meta,
    /// `html`.
    Root,
    /// What readers do not see: scripts, styles, controls.
    Hidden,
    /// `nav` and the like: links to other pages.
    Navigation,
    /// `a`.
    Link,
    /// Anything else: its text is part of the line.
    Inline,
}

impl Element {
    /// Returns the element with this lower-case name.
    pub(super) fn of(name: &[u8]) -> Self {
        match name {
            b"h1" => Self::Heading(1),
            b"h2" => Self::Heading(2),
            b"h3" => Self::Heading(3),
            b"h4" => Self::Heading(4),
            b"h5" => Self::Heading(5),
            b"h6" => Self::Heading(6),
            b"p" | b"blockquote" | b"figure" | b"figcaption" | b"caption" | b"summary" | b"address" | b"hr" => {
                Self::Paragraph
            }
            b"div" | b"section" | b"body" | b"details" | b"aside" | b"fieldset" | b"form" | b"center" | b"hgroup"
            | b"head" => Self::Block,
            b"main" => Self::Main,
            b"article" => Self::Article,
            b"header" | b"footer" => Self::Margin,
            b"ul" | b"menu" | b"dir" => Self::List,
            b"ol" => Self::NumberedList,
            b"li" => Self::Item,
            b"dl" => Self::Definitions,
            b"dt" => Self::Term,
            b"dd" => Self::Definition,
            b"table" => Self::Table,
            b"tr" => Self::Row,
            b"td" | b"th" => Self::Cell,
            b"pre" | b"listing" | b"xmp" => Self::Preformatted,
            b"code" | b"tt" | b"samp" | b"kbd" => Self::Code,
            b"br" => Self::Break,
            b"img" => Self::Image,
            b"title" => Self::Title,
            b"meta" => Self::Meta,
            b"html" => Self::Root,
            b"script" | b"style" | b"template" | b"svg" | b"button" | b"select" | b"textarea" | b"iframe"
            | b"object" | b"audio" | b"video" | b"canvas" | b"map" | b"datalist" | b"dialog" | b"noscript" => {
                Self::Hidden
            }
            b"nav" => Self::Navigation,
            b"a" => Self::Link,
            _ => Self::Inline,
        }
    }

    /// Returns whether it begins a new line and thereby ends an open paragraph.
    pub(super) const fn ends_paragraph(self) -> bool {
        !matches!(
            self,
            Self::Inline
                | Self::Link
                | Self::Code
                | Self::Break
                | Self::Image
                | Self::Hidden
                | Self::Title
                | Self::Meta
                | Self::Root
        )
    }
}

/// Returns whether an element with this name has no contents and no end tag.
pub(super) fn is_void(name: &[u8]) -> bool {
    matches!(
        name,
        b"area"
            | b"base"
            | b"br"
            | b"col"
            | b"embed"
            | b"hr"
            | b"img"
            | b"input"
            | b"link"
            | b"meta"
            | b"param"
            | b"source"
            | b"track"
            | b"wbr"
    )
}

/// The attributes of a start tag that matter here.
#[derive(Debug, Default)]
pub(super) struct Attributes {
    pub(super) class: String,
    pub(super) id: String,
    pub(super) role: String,
    pub(super) lang: String,
    /// The `name` or `http-equiv` of a `meta`, in lower case.
    pub(super) name: String,
    pub(super) content: String,
    pub(super) alt: String,
    pub(super) is_hidden: bool,
}

/// Bytes of an attribute's value that are read.
const VALUE_BYTES_MAX: usize = 4_096;

impl Attributes {
    pub(super) fn clear(&mut self) {
        let all = [
            &mut self.class,
            &mut self.id,
            &mut self.role,
            &mut self.lang,
            &mut self.name,
            &mut self.content,
            &mut self.alt,
        ];
        all.into_iter().for_each(String::clear);
        self.is_hidden = false;
    }

    /// Takes an attribute; if a name is repeated, the first one counts.
    pub(super) fn set(&mut self, name: &[u8], value: &[u8]) {
        let shown = String::from_utf8_lossy(value.get(..VALUE_BYTES_MAX).unwrap_or(value));
        let field = match name {
            b"class" => &mut self.class,
            b"id" => &mut self.id,
            b"role" => &mut self.role,
            b"lang" | b"xml:lang" => &mut self.lang,
            b"name" | b"http-equiv" | b"property" => &mut self.name,
            b"content" => &mut self.content,
            b"alt" => &mut self.alt,
            b"hidden" => {
                self.is_hidden = !value.eq_ignore_ascii_case(b"false") && !value.eq_ignore_ascii_case(b"until-found");
                return;
            }
            b"aria-hidden" => {
                self.is_hidden |= value.eq_ignore_ascii_case(b"true");
                return;
            }
            b"style" => {
                self.is_hidden |= shown.replace(' ', "").to_ascii_lowercase().contains("display:none");
                return;
            }
            _ => return,
        };
        if field.is_empty() {
            field.push_str(&shown);
        }
    }

    fn has_class(&self, any: &[&str]) -> bool {
        self.class.split_ascii_whitespace().any(|class| any.contains(&class))
    }

    /// Returns whether the element is the main part of its page.
    pub(super) fn is_main(&self) -> bool {
        self.role.eq_ignore_ascii_case("main")
    }

    /// Returns whether readers do not see it, or it is only an aid: a link to a heading, line numbers.
    pub(super) fn is_aid(&self) -> bool {
        const CLASSES: &[&str] = &[
            "headerlink",
            "header-anchor",
            "anchorjs-link",
            "srclink",
            "rightside",
            "linenos",
            "linenodiv",
            "line-numbers",
            "src-line-numbers",
            "sr-only",
            "visually-hidden",
            "skip-link",
            "screen-reader-text",
            "mw-editsection",
            "noprint",
            "copybtn",
            "tooltip",
            "test-arrow",
            "hideme",
            "out-of-band",
            "sub-logo-container",
        ];
        self.is_hidden || self.has_class(CLASSES) || matches!(self.id.as_str(), "copy-path" | "toggle-all-docs")
    }

    /// Returns whether it leads to other pages, or is the same on every page.
    pub(super) fn is_navigation(&self) -> bool {
        const ROLES: &[&str] =
            &["navigation", "search", "banner", "contentinfo", "menu", "menubar", "toolbar", "tablist", "dialog"];
        const CLASSES: &[&str] = &[
            "sphinxsidebar",
            "related",
            "navheader",
            "navfooter",
            "nav-wrapper",
            "nav-wide-wrapper",
            "navbar",
            "breadcrumb",
            "breadcrumbs",
            "toc",
            "toc-tree",
            "table-of-contents",
            "menu-bar",
            "site-header",
            "site-footer",
            "page-footer",
            "prev-next",
            "edit-link",
            "edit-this-page",
            "sourcelink",
        ];
        ROLES.iter().any(|role| self.role.eq_ignore_ascii_case(role)) || self.has_class(CLASSES)
    }

    /// Returns whether it is beside the text of its page, unless it is in the main part.
    pub(super) fn is_beside(&self) -> bool {
        const CLASSES: &[&str] = &["sidebar", "side-bar", "menu", "footer", "header", "masthead", "topbar", "cookie"];
        self.has_class(CLASSES) || matches!(self.id.as_str(), "sidebar" | "footer" | "header" | "nav" | "navigation")
    }

    /// Returns the language of its code, if its classes name one.
    pub(super) fn code_language(&self) -> Option<&str> {
        let named = |class: &'_ str| -> Option<usize> {
            ["language-", "lang-", "highlight-", "brush:"].iter().find(|it| class.starts_with(**it)).map(|it| it.len())
        };
        let classes = || self.class.split_ascii_whitespace();
        let by_prefix = classes().find_map(|class| named(class).and_then(|at| class.get(at..)));
        let is_name = |name: &&str| !name.is_empty() && name.len() <= 20 && *name != "default" && *name != "none";
        by_prefix
            .or_else(|| classes().find(|class| matches!(*class, "rust" | "python" | "programlisting")))
            .map(|name| if name == "programlisting" { "" } else { name })
            .filter(is_name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn attributes(all: &[(&str, &str)]) -> Attributes {
        let mut found = Attributes::default();
        for (name, value) in all {
            found.set(name.as_bytes(), value.as_bytes());
        }
        found
    }

    #[test]
    fn attributes_show_what_is_not_text() {
        assert!(attributes(&[("class", "x headerlink")]).is_aid());
        assert!(attributes(&[("style", "color: red; display: none")]).is_aid());
        assert!(attributes(&[("hidden", "")]).is_aid());
        assert!(attributes(&[("role", "Navigation")]).is_navigation());
        assert!(attributes(&[("class", "navheader")]).is_navigation());
        assert!(!attributes(&[("class", "section note")]).is_navigation());
        assert!(attributes(&[("id", "sidebar")]).is_beside());
        assert!(attributes(&[("role", "main")]).is_main());
    }

    #[test]
    fn classes_name_the_language_of_code() {
        assert_eq!(attributes(&[("class", "highlight-python3 notranslate")]).code_language(), Some("python3"));
        assert_eq!(attributes(&[("class", "rust rust-example-rendered")]).code_language(), Some("rust"));
        assert_eq!(attributes(&[("class", "language-")]).code_language(), None);
        assert_eq!(attributes(&[("class", "programlisting")]).code_language(), None);
    }
}
