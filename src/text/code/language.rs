//! The known languages of source code, with the signs that distinguish their tokens.

/// A language, or several that are written alike.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Language {
    Rust,
    Python,
    /// C, C++ and what is written like them.
    C,
    Java,
    /// `JavaScript` and `TypeScript`.
    JavaScript,
    Go,
    CSharp,
    Kotlin,
    Swift,
    Php,
    Ruby,
    Shell,
    Sql,
    Lua,
}

/// The media types of source code, with their languages.
const MEDIA_TYPES: &[(&str, Language)] = &[
    ("text/x-rust", Language::Rust),
    ("text/x-python", Language::Python),
    ("text/x-c", Language::C),
    ("text/x-c++", Language::C),
    ("text/x-java", Language::Java),
    ("text/javascript", Language::JavaScript),
    ("text/x-typescript", Language::JavaScript),
    ("text/x-go", Language::Go),
    ("text/x-csharp", Language::CSharp),
    ("text/x-kotlin", Language::Kotlin),
    ("text/x-swift", Language::Swift),
    ("text/x-php", Language::Php),
    ("text/x-ruby", Language::Ruby),
    ("text/x-shellscript", Language::Shell),
    ("text/x-sql", Language::Sql),
    ("text/x-lua", Language::Lua),
];

impl Language {
    /// Returns the language of documents with this media type, if they are source code.
    #[must_use]
    pub(crate) fn of_media_type(media_type: &str) -> Option<Self> {
        MEDIA_TYPES.iter().find(|it| it.0 == media_type).map(|it| it.1)
    }

    /// Returns whether comments stand behind `//` and between `/*` and `*/`.
    pub(super) const fn has_slash_comments(self) -> bool {
        !matches!(self, Self::Python | Self::Ruby | Self::Shell | Self::Sql | Self::Lua)
    }

    /// Returns whether block comments may stand in one another.
    pub(super) const fn nests_comments(self) -> bool {
        matches!(self, Self::Rust | Self::Kotlin | Self::Swift)
    }

    /// Returns whether a string between single signs may continue over the end of a line.
    pub(super) const fn has_long_strings(self) -> bool {
        matches!(self, Self::Rust | Self::Php | Self::Shell | Self::Sql)
    }

    /// Returns what lines begin with that are for another program: a preprocessor, a client.
    pub(super) const fn directive(self) -> Option<u8> {
        match self {
            Self::C | Self::CSharp => Some(b'#'),
            Self::Sql => Some(b'\\'),
            _ => None,
        }
    }
}
