//! Arrays that are declared once: the declaration generates the struct that a build fills, the one that borrows from a
//! file, their names there, and a check of their rules.

/// The numbers of elements that other arrays list.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Elsewhere {
    /// Documents.
    pub(super) documents: usize,
    /// Passages.
    pub(super) passages: usize,
    /// In-coming questions.
    pub(super) incoming: usize,
    /// Out-coming questions.
    pub(super) outgoing: usize,
    /// Entities.
    pub(super) entities: usize,
    /// Sentences.
    pub(super) sentences: usize,
    /// Mentions.
    pub(super) mentions: usize,
    /// Relations.
    pub(super) relations: usize,
    /// Communities.
    pub(super) communities: usize,
    /// Summary entities.
    pub(super) summaries: usize,
}

/// Returns how many elements an array lists, or how many are listed elsewhere.
macro_rules! count {
    (documents, $graph:expr, $elsewhere:expr) => {
        $elsewhere.documents
    };
    (passages, $graph:expr, $elsewhere:expr) => {
        $elsewhere.passages
    };
    (incoming, $graph:expr, $elsewhere:expr) => {
        $elsewhere.incoming
    };
    (outgoing, $graph:expr, $elsewhere:expr) => {
        $elsewhere.outgoing
    };
    (entities, $graph:expr, $elsewhere:expr) => {
        $elsewhere.entities
    };
    (sentences, $graph:expr, $elsewhere:expr) => {
        $elsewhere.sentences
    };
    (mentions, $graph:expr, $elsewhere:expr) => {
        $elsewhere.mentions
    };
    (communities, $graph:expr, $elsewhere:expr) => {
        $elsewhere.communities
    };
    (summaries, $graph:expr, $elsewhere:expr) => {
        $elsewhere.summaries
    };
    (relations, $graph:expr, $elsewhere:expr) => {
        $elsewhere.relations
    };
    ($elements:ident, $graph:expr, $elsewhere:expr) => {
        $graph.$elements.len()
    };
}

/// Checks whether an array obeys a rule.
macro_rules! keeps {
    ($items:expr, ends $texts:ident; $graph:expr, $elsewhere:expr) => {
        $crate::graph::structure::ends($items, $graph.$texts.items())
    };
    ($items:expr, $rule:ident $($elements:ident)+; $graph:expr, $elsewhere:expr) => {
        $crate::graph::structure::$rule($items, $(count!($elements, $graph, $elsewhere)),+)
    };
}

/// Returns the kind of an array's items: starts of the rows of each owner.
macro_rules! items {
    (Column $item:ty) => {
        $item
    };
    (Rows $item:ty) => {
        u32
    };
}

/// Returns whether a word marks an array as later.
macro_rules! is_later {
    () => {
        false
    };
    (later) => {
        true
    };
}

/// Declares the arrays: each with its name in a file, and the rules that it obeys, so that a walk can index without
/// checks. Files of earlier programs may lack `later` ones, which are then empty. Numbered elements belong to an array
/// that has an item for each, or are [`Elsewhere`].
///
/// - `each elements`: there is an item for each,
/// - `below elements`: each item is the ordinal of one,
/// - `below_or_none elements`: each item is the ordinal of one, or [`u32::MAX`],
/// - `rows owners elements`: it bounds the row of elements that each owner has,
/// - `around mentions cues`: there are `CUES` items for each mention, each the ordinal of a cue or `NO_CUE`,
/// - `ends texts`: it bounds texts stored back to back in that array.
macro_rules! arrays {
    ($owned:ident, $borrowed:ident; $($(#[$doc:meta])* $field:ident: $form:ident<$key:ty, $item:ty> =
        $name:literal $($later:ident)? [$($rule:ident $($of:ident)+),*],)*) => {
        /// The arrays of one version, owned, as a build fills them.
        #[derive(Debug, Clone, Default, PartialEq)]
        pub struct $owned { $($(#[$doc])* pub $field: Vec<items!($form $item)>,)* }

        /// The arrays of one version, borrowed.
        #[derive(Debug, Clone, Copy, Default, PartialEq)]
        pub struct $borrowed<'a> { $($(#[$doc])* pub $field: $form<'a, $key, $item>,)* }

        impl $owned {
            /// Returns the arrays as a reader sees them.
            #[must_use]
            pub fn view(&self) -> $borrowed<'_> {
                $borrowed { $($field: $form::new(&self.$field),)* }
            }

            /// Returns every array as bytes, by name, in a fixed order.
            #[must_use]
            pub fn sections(&self) -> Vec<(&'static str, &[u8])> {
                self.view().sections()
            }

            /// Returns them, with those of `other` for arrays that are empty.
            #[must_use]
            pub fn or(self, other: Self) -> Self {
                Self { $($field: if self.$field.is_empty() { other.$field } else { self.$field },)* }
            }
        }

        impl<'a> $borrowed<'a> {
            /// The names of the arrays in a file, in the order in which [`Self::from_sections`] asks for them, each
            /// with whether it is a later one.
            pub const NAMES: &'static [(&'static str, bool)] = &[$(($name, is_later!($($later)?)),)*];

            /// Returns every array as bytes, by name, in a fixed order.
            #[must_use]
            pub fn sections(&self) -> Vec<(&'static str, &'a [u8])> {
                vec![$(($name, bytemuck::cast_slice(self.$field.items())),)*]
            }

            /// Returns them, with those of `other` for arrays that are empty.
            #[must_use]
            pub fn or(self, other: Self) -> Self {
                Self { $($field: if self.$field.items().is_empty() { other.$field } else { self.$field },)* }
            }

            /// Returns a copy of the arrays.
            #[must_use]
            pub fn to_packed(&self) -> $owned {
                $owned { $($field: self.$field.items().to_vec(),)* }
            }

            /// Returns the arrays in `section(name)`, without copying.
            ///
            /// # Errors
            ///
            /// The name of a section that is missing, misaligned, or no whole number of items.
            pub fn from_sections(section: impl Fn(&str) -> Option<&'a [u8]>) -> Result<Self, &'static str> {
                Ok(Self { $($field: section($name)
                    .and_then(|bytes| bytemuck::try_cast_slice(bytes).ok())
                    .map($form::new)
                    .ok_or($name)?,)* })
            }

            /// Checks that every array keeps its rules.
            ///
            /// # Errors
            ///
            /// The name of an array that breaks a rule, and the rule.
            pub(super) fn check_arrays(
                &self,
                elsewhere: $crate::graph::arrays::Elsewhere,
            ) -> Result<(), (&'static str, &'static str)> {
                $($(keeps!(self.$field.items(), $rule $($of)+; self, elsewhere).map_err(|rule| ($name, rule))?;)*)*
                Ok(())
            }
        }
    };
}
