//! The parsed form of a grammar: definitions with their bodies and attributes.

/// Alternatives, each a sequence of parts.
pub(super) type Body<'s> = Vec<Vec<Part<'s>>>;

/// A part of a sequence, which occurs at least `min` and at most `max` times; `None` means no bound. `at` is its offset
/// in the source.
#[derive(Clone, Debug)]
pub(super) struct Part<'s> {
    pub(super) at: usize,
    pub(super) item: Item<'s>,
    pub(super) min: u32,
    pub(super) max: Option<u32>,
}

/// What a part of a sequence matches once.
#[derive(Clone, Debug)]
pub(super) enum Item<'s> {
    Name(&'s str),
    Text {
        text: String,
        ignores_case: bool,
    },
    Pattern {
        pattern: String,
        flags: &'s str,
    },
    Range(char, char),
    Json(&'s str),
    /// The name of a special token, with its angle brackets.
    Special(&'s str),
    /// Tokens by id, as written between `<[` and `]>`: `5,7-9` lists ids; `^5` means all other tokens, `*` all tokens.
    Ids(&'s str),
    /// A nested grammar, `%lark {…}`, with names of its own.
    Lark(Box<Parsed<'s>>),
    /// Chunks of text, from `%regex`. The concatenation of any number of consecutive chunks matches.
    Chunks(Vec<String>),
    Group(Body<'s>),
    /// Matches no text. The item records that the lazy rules with which these alternatives begin may begin at its
    /// place.
    Beside(Body<'s>),
}

/// The definition of a rule or a terminal. `at` is the offset of the name.
#[derive(Clone, Debug)]
pub(super) struct Definition<'s> {
    pub(super) at: usize,
    pub(super) name: &'s str,
    pub(super) attributes: Attributes<'s>,
    pub(super) body: Body<'s>,
}

/// A parsed grammar.
#[derive(Clone, Debug, Default)]
pub(super) struct Parsed<'s> {
    pub(super) definitions: Vec<Definition<'s>>,
    /// The bodies of the `%ignore` directives.
    pub(super) ignored: Vec<Body<'s>>,
    /// Whether ignored text may also occur before the first terminal.
    pub(super) skips_first: bool,
    /// The places of the priorities of rules and terminals, those in nested grammars included; empty in a nested
    /// grammar.
    pub(super) priorities: Vec<usize>,
    /// The imported terminals, under their names in this grammar.
    pub(super) imports: Vec<Import<'s>>,
}

/// An imported terminal: `name` in the library `common`, `alias` in this grammar. `at` is the offset of `name`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Import<'s> {
    pub(super) at: usize,
    pub(super) name: &'s str,
    pub(super) alias: &'s str,
}

/// The attributes in brackets after a name. `capture`, `stop_capture` and `temperature` are checked, but not stored:
/// they do not affect the language.
#[derive(Clone, Debug, Default)]
pub(super) struct Attributes<'s> {
    /// Whether the rule takes its shortest word.
    pub(super) is_lazy: bool,
    /// The end of the rule, from `suffix` or `stop`, with its offset. A rule with an end is lazy.
    pub(super) end: Option<(usize, Item<'s>)>,
    pub(super) max_chars: Option<u32>,
    pub(super) max_tokens: Option<u32>,
}

impl Attributes<'_> {
    /// Whether no attribute restricts the words of the rule. An `end` makes the rule lazy, so it counts.
    pub(super) fn is_none(&self) -> bool {
        !self.is_lazy && self.max_chars.is_none() && self.max_tokens.is_none()
    }
}

/// Whether a name is the name of a terminal: its first ASCII letter is upper case.
pub(super) fn is_terminal(name: &str) -> bool {
    let letter = name.chars().find(|c| c.is_ascii_alphabetic());
    letter.is_some_and(|c| c.is_ascii_uppercase())
}
