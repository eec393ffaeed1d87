//! What a text says: definitions, their bodies and attributes.

/// Alternatives, each a sequence.
pub(super) type Body<'s> = Vec<Vec<Part<'s>>>;

/// A part of a sequence, and how often it comes.
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
    /// A special token by its text.
    Special(&'s str),
    /// Tokens by their ids: `5,7-9`; `^5` is all others, `*` all.
    Ids(&'s str),
    /// A grammar with names of its own.
    Lark(Box<Parsed<'s>>),
    /// Chunks of which those next to each other come.
    Chunks(Vec<String>),
    Group(Body<'s>),
    /// No word. Where it stands the lazy rules may begin that these alternatives begin with.
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

/// All that a text says.
#[derive(Clone, Debug, Default)]
pub(super) struct Parsed<'s> {
    pub(super) definitions: Vec<Definition<'s>>,
    /// What `%ignore` names.
    pub(super) ignored: Vec<Body<'s>>,
    /// Whether what `%ignore` names may stand before the first terminal too.
    pub(super) skips_first: bool,
    /// What `%import` names, by the names that it has here.
    pub(super) imports: Vec<Import<'s>>,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Import<'s> {
    pub(super) at: usize,
    pub(super) name: &'s str,
    pub(super) alias: &'s str,
}

/// What stands in brackets after a name. `capture`, `stop_capture` and `temperature` say nothing of texts; their values are checked.
#[derive(Clone, Debug, Default)]
pub(super) struct Attributes<'s> {
    /// Whether the shortest word counts.
    pub(super) is_lazy: bool,
    /// What ends the rule, of `suffix` or `stop`, and where it stands. The rule is lazy then.
    pub(super) end: Option<(usize, Item<'s>)>,
    pub(super) max_chars: Option<u32>,
    pub(super) max_tokens: Option<u32>,
}

impl Attributes<'_> {
    /// Whether nothing is said of texts.
    pub(super) fn is_none(&self) -> bool {
        !self.is_lazy && self.max_chars.is_none() && self.max_tokens.is_none()
    }
}

/// Whether a name is that of a terminal.
pub(super) fn is_terminal(name: &str) -> bool {
    let letter = name.chars().find(|c| c.is_ascii_alphabetic());
    letter.is_some_and(|c| c.is_ascii_uppercase())
}
