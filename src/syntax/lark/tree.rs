//! The parsed form of a grammar: definitions with their bodies and attributes.

/// The name of a rule or terminal. Names of one text in different scopes are different names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Name<'s> {
    pub(super) text: &'s str,
    /// The file, or the use of a template, to which the name belongs. The grammar itself is 0, and so is a grammar that
    /// is not resolved yet.
    pub(super) scope: u32,
}

impl<'s> Name<'s> {
    /// A name of the grammar itself.
    pub(super) fn new(text: &'s str) -> Name<'s> {
        Name { text, scope: 0 }
    }

    /// Whether this is the name of a terminal: its first ASCII letter is upper case.
    pub(super) fn is_terminal(self) -> bool {
        let letter = self.text.chars().find(|c| c.is_ascii_alphabetic());
        letter.is_some_and(|c| c.is_ascii_uppercase())
    }
}

/// Alternatives, each a sequence of parts.
pub(super) type Body<'s> = Vec<Vec<Part<'s>>>;

/// A part of a sequence, which occurs at least `min` and at most `max` times; `None` means no bound. `at` is its offset
/// in the source.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Part<'s> {
    pub(super) at: usize,
    pub(super) item: Item<'s>,
    pub(super) min: u32,
    pub(super) max: Option<u32>,
}

/// What a part of a sequence matches once.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Item<'s> {
    Name(Name<'s>),
    /// The use of a template with its arguments. Not in a resolved grammar.
    Template(Name<'s>, Vec<Item<'s>>),
    /// A parameter of the template that contains the item, by its index. Not in a resolved grammar.
    Parameter(usize),
    Text {
        text: String,
        ignores_case: bool,
    },
    Pattern {
        pattern: String,
        flags: &'s str,
    },
    /// The pattern of a terminal of the library `common`, in Rust's dialect.
    Common(&'static str),
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
    /// The texts that match all of these sequences: `A & B`. Only in terminals.
    And(Body<'s>),
    /// The texts that the item does not match: `~A`. Only in terminals.
    Not(Box<Item<'s>>),
    /// Matches no text. The item records that the lazy rules with which these alternatives begin may begin at its
    /// place.
    Beside(Body<'s>),
}

impl<'s> Item<'s> {
    /// Whether the item may be an argument of a template: a name, a literal, a pattern or a token.
    pub(super) fn is_value(&self) -> bool {
        matches!(
            self,
            Item::Name(_)
                | Item::Template(..)
                | Item::Parameter(_)
                | Item::Text { .. }
                | Item::Pattern { .. }
                | Item::Range(..)
                | Item::Special(_)
                | Item::Ids(_)
        )
    }

    /// The alternatives inside the item, if it is a group or an intersection.
    pub(super) fn body(&self) -> Option<&Body<'s>> {
        match self {
            Item::Group(body) | Item::And(body) | Item::Beside(body) => Some(body),
            _ => None,
        }
    }

    /// The items in a group, an intersection or a negation.
    pub(super) fn inner(&self) -> impl Iterator<Item = &Item<'s>> {
        let negated = if let Item::Not(inner) = self { Some(&**inner) } else { None };
        self.body().into_iter().flatten().flatten().map(|part| &part.item).chain(negated)
    }
}

/// The definition of a rule or a terminal. `at` is the offset of the name.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Definition<'s> {
    pub(super) at: usize,
    pub(super) name: Name<'s>,
    pub(super) kind: Kind,
    /// The parameters of a template; empty for other rules.
    pub(super) parameters: Vec<&'s str>,
    pub(super) attributes: Attributes<'s>,
    pub(super) body: Body<'s>,
}

impl<'s> Definition<'s> {
    /// The definition of a name without alternatives, which stands for one with an error.
    pub(super) fn without_words(at: usize, name: Name<'s>) -> Definition<'s> {
        Definition {
            at,
            name,
            kind: Kind::Define,
            parameters: Vec::new(),
            attributes: Attributes::default(),
            body: Body::new(),
        }
    }
}

/// What a definition does to the name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Kind {
    /// It gives the name a meaning.
    Define,
    /// It replaces the meaning of an imported or defined name.
    Override,
    /// It adds alternatives to an imported or defined name.
    Extend,
}

/// A parsed grammar.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Parsed<'s> {
    pub(super) definitions: Vec<Definition<'s>>,
    /// The bodies of the `%ignore` directives.
    pub(super) ignored: Vec<Body<'s>>,
    /// Whether ignored text may also occur before the first terminal.
    pub(super) skips_first: bool,
    /// The places of the priorities of rules and terminals, those in nested grammars included; empty in a nested
    /// grammar.
    pub(super) priorities: Vec<usize>,
    /// The imported rules and terminals. Empty in a resolved grammar.
    pub(super) imports: Vec<Import<'s>>,
    /// The start rule of a resolved grammar; `None` if it is not defined.
    pub(super) start: Option<Name<'s>>,
}

/// An imported rule or terminal: `name` in another grammar, `alias` in this one. `at` is the offset of `name`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Import<'s> {
    pub(super) at: usize,
    pub(super) from: Library<'s>,
    pub(super) name: &'s str,
    pub(super) alias: &'s str,
}

/// The grammar that an import names. `at` is the offset of its name.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Library<'s> {
    pub(super) at: usize,
    /// Whether the name begins with a dot: the grammar is in the folder of the one that imports it.
    pub(super) is_relative: bool,
    /// The folders and the name of the grammar.
    pub(super) path: Vec<&'s str>,
}

/// The attributes in brackets after a name. `capture`, `stop_capture` and `temperature` are checked, but not stored:
/// they do not affect the language.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
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
