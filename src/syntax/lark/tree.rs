//! The parsed form of a grammar: definitions with their bodies and attributes.

/// Alternatives, each a sequence.
pub(super) type Body<'s> = Vec<Vec<Part<'s>>>;

/// A part of a sequence with its number of repetitions.
#[derive(Clone, Debug)]
pub(super) struct Part<'s> {
    pub(super) at: usize,
    pub(super) item: Item<'s>,
    pub(super) min: u32,
    pub(super) max: Option<u32>,
}

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
    /// A special token, by its text.
    Special(&'s str),
    /// Tokens by id: `5,7-9`; `^5` means all others, `*` all.
    Ids(&'s str),
    /// A nested grammar with its own names.
    Lark(Box<Parsed<'s>>),
    /// Chunks of text. Any run of consecutive chunks matches.
    Chunks(Vec<String>),
    Group(Body<'s>),
    /// Matches nothing; the lazy rules that these alternatives begin with may begin here.
    Beside(Body<'s>),
}

/// A rule or a terminal.
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
    /// The imported terminals, under their names in this grammar.
    pub(super) imports: Vec<Import<'s>>,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Import<'s> {
    pub(super) at: usize,
    pub(super) name: &'s str,
    pub(super) alias: &'s str,
}

/// The attributes in brackets after a name. `capture`, `stop_capture` and `temperature` do not affect the language;
/// only their values are checked.
#[derive(Clone, Debug, Default)]
pub(super) struct Attributes<'s> {
    /// Whether the rule ends with its shortest word.
    pub(super) is_lazy: bool,
    /// The end of the rule, from `suffix` or `stop`, with its place. The rule is lazy then.
    pub(super) end: Option<(usize, Item<'s>)>,
    pub(super) max_chars: Option<u32>,
    pub(super) max_tokens: Option<u32>,
}

impl Attributes<'_> {
    /// Whether no attribute affects the language.
    pub(super) fn is_none(&self) -> bool {
        !self.is_lazy && self.max_chars.is_none() && self.max_tokens.is_none()
    }
}

/// Whether a name is the name of a terminal: its first letter is a capital.
pub(super) fn is_terminal(name: &str) -> bool {
    let letter = name.chars().find(|c| c.is_ascii_alphabetic());
    letter.is_some_and(|c| c.is_ascii_uppercase())
}
