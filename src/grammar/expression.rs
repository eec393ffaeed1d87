//! The kinds of expressions, and the data of the larger kinds.

use super::class::{ByteSet, CharClass};
use super::ids::{ExprId, LabelId, RuleId};
use super::token_terminal::TokenTerminal;
use super::word_graph::WordGraph;
use smallvec::SmallVec;

/// A byte string; up to 24 bytes are stored inline.
pub type Text = SmallVec<[u8; 24]>;

/// A list of expressions; up to six are stored inline.
pub type Operands = SmallVec<[ExprId; 6]>;

/// An expression: a language of byte strings that may also contain tokens given by their ids.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Expression {
    /// The language of the empty string alone.
    Empty,
    /// The empty language: no string at all.
    Never,
    /// One byte string, not empty.
    Bytes(Text),
    /// One byte of a set.
    ByteSet(ByteSet),
    /// One character of a set, in UTF-8.
    Class(CharClass),
    /// One token of a set, identified by its id; see [`TokenTerminal`].
    Token(Box<TokenTerminal>),
    /// The concatenation of at least two operands.
    Sequence(Operands),
    /// The union of at least two operands.
    Choice(Operands),
    /// `body` at least `min` and at most `max` times (`None`: without bound); one expression, however large the bounds
    /// are.
    Repeat {
        /// The repeated expression.
        body: ExprId,
        /// The least number of repetitions.
        min: u32,
        /// The greatest number of repetitions; `None` means unbounded.
        max: Option<u32>,
    },
    /// The language of a rule, by reference; so rules may be recursive.
    Rule(RuleId),
    /// Keyed members, each at most once, with separators; see [`Members`].
    Members(Box<Members>),
    /// Items that are pairwise different, with separators; see [`Distinct`].
    Distinct(Box<Distinct>),
    /// The words along the paths of an acyclic graph of bytes; see [`WordGraph`].
    WordGraph(Box<WordGraph>),
    /// The strings that are in the languages of all operands; there are at least two.
    Intersection(Operands),
    /// All byte strings that are *not* in the operand, including those that are not UTF-8.
    Complement(ExprId),
    /// The same language as the body; errors inside it are reported with the label.
    Label(LabelId, ExprId),
    /// The name of a member of a JSON object; see [`Names`].
    Name(ExprId, Names),
    /// The words of `body`, a rule, during which at most `most` tokens begin; see
    /// [`GrammarBuilder::max_tokens`](super::GrammarBuilder::max_tokens).
    MaxTokens {
        /// The bounded expression, which is a reference to a rule.
        body: ExprId,
        /// The greatest number of tokens, at least 1.
        most: u32,
    },
}

impl Expression {
    /// Calls `each` for every operand, in the order of [`children`](Expression::children).
    #[inline]
    pub fn for_each_child(&self, mut each: impl FnMut(ExprId)) {
        match self {
            Expression::Sequence(list) | Expression::Choice(list) | Expression::Intersection(list) => {
                list.iter().copied().for_each(each);
            }
            Expression::Repeat { body, .. }
            | Expression::Complement(body)
            | Expression::Label(_, body)
            | Expression::Name(body, _)
            | Expression::MaxTokens { body, .. } => each(*body),
            Expression::Distinct(list) => {
                list.items.iter().copied().chain([list.separator]).for_each(each);
            }
            Expression::WordGraph(graph) => graph.exits().iter().copied().for_each(each),
            Expression::Members(members) => {
                let further = [Some(members.separator), members.rest];
                further.into_iter().flatten().chain(members.ones.iter().copied()).for_each(&mut each);
                members.members.iter().for_each(|member| each(member.value));
            }
            _ => {}
        }
    }

    /// The operands, in order. For [`Members`]: the separator, the rest if any, the ones, then the values. For
    /// [`Distinct`]: the items, then the separator. A reference to a rule has no operands.
    pub fn children(&self) -> impl Iterator<Item = ExprId> + '_ {
        let (list, one, members): (&[ExprId], Option<ExprId>, Option<&Members>) = match self {
            Expression::Sequence(list) | Expression::Choice(list) | Expression::Intersection(list) => {
                (list, None, None)
            }
            Expression::Repeat { body, .. }
            | Expression::Complement(body)
            | Expression::Label(_, body)
            | Expression::Name(body, _)
            | Expression::MaxTokens { body, .. } => (&[], Some(*body), None),
            Expression::Members(members) => (&[], None, Some(members)),
            Expression::Distinct(list) => (&list.items, Some(list.separator), None),
            Expression::WordGraph(graph) => (graph.exits(), None, None),
            Expression::Empty
            | Expression::Never
            | Expression::Bytes(_)
            | Expression::ByteSet(_)
            | Expression::Class(_)
            | Expression::Token(_)
            | Expression::Rule(_) => (&[], None, None),
        };
        let members = members.into_iter().flat_map(|m| {
            let further = [Some(m.separator), m.rest].into_iter().flatten().chain(m.ones.iter().copied());
            further.chain(m.members.iter().map(|k| k.value))
        });
        list.iter().copied().chain(one).chain(members)
    }
}

/// How many names an [`Expression::Name`] has, according to the author of the grammar.
///
/// The words of such an expression are JSON strings, quotes included, used as names in JSON objects. No word of the
/// grammar has an object with two equal names, in any spelling, if at least one of them was read by such an expression.
/// (Text is split into JSON tokens; text that is not JSON has no objects.)
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Names {
    /// Every prefix of a name can be extended to more names than any text can hold.
    Endless,
    /// There are more names than any text can hold (a million suffice), but a prefix may have few extensions.
    Many,
    /// There may be few names.
    Few,
}

/// The order in which the members of a [`Members`] list must come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Order {
    /// The members in the order of the list, then the [`ones`](Members::ones) and the rest in any order.
    Declared,
    /// The members, the [`ones`](Members::ones) and the rest in any order.
    Any,
}

/// A list of members `key value`, separated by `separator`: each member at most once, the required ones exactly once;
/// each of the `ones` at most once; and, if there is a `rest`, any number of further members that it describes. The
/// list has at least `min` and at most `max` members in total and satisfies the conditions. The empty string is in the
/// language if no member is required, `min` is 0, and the conditions hold without members.
///
/// Adjacent members may have the same key if all of them are required or all are optional. At most one of them is
/// present, and exactly one if they are required.
///
/// JSON objects, use-once tools and sets are built from lists of members. In the automaton a list is a register (the
/// members seen so far), never an expansion into orders or subsets.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Members {
    /// Whether the members come in the order of the list or in any order.
    pub order: Order,
    /// The members; their keys are not empty.
    pub members: Box<[Member]>,
    /// Describes one further member, never the empty string. Any number of them may be present.
    pub rest: Option<ExprId>,
    /// Each describes a member without a fixed key, never the empty string, that may be present at most once. In
    /// declared order they follow the members, mixed with the rest in any order.
    pub ones: Box<[ExprId]>,
    /// Conditions on the entries that are present. Entries are numbered: the members by index, then the ones.
    pub conditions: Box<[Condition]>,
    /// The expression of the text between two adjacent members.
    pub separator: ExprId,
    /// The least number of members in total: members with keys, `ones` and the rest.
    pub min: u32,
    /// The greatest number of members in total: members with keys, `ones` and the rest; `None` means unbounded.
    pub max: Option<u32>,
}

/// A condition on the entries of [`Members`] that are present: at least one alternative holds.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Condition(pub Box<[Alternative]>);

/// An alternative of a [`Condition`]. The alternative holds if both fields are met.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Alternative {
    /// At least one entry of each of the sets is present.
    pub some: Box<[Box<[u32]>]>,
    /// None of the listed entries is present.
    pub none: Box<[u32]>,
}

/// One member of [`Members`]: the key's bytes, then the value.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Member {
    /// The prefix of the member; not empty.
    pub key: Text,
    /// The expression of the text after the key; may be [`Expression::Empty`].
    pub value: ExprId,
    /// Whether the member must be present. Of several required members with the same key, exactly one must be present.
    pub required: bool,
}

/// A list of at least `min` and at most `max` separated items, no two of which are the same JSON value: strings are
/// compared by their characters, numbers by their value, objects regardless of the order of their members. Items that
/// are not JSON are compared byte by byte. If `min` is 0, the empty string is in the language.
///
/// In the automaton the items seen so far are the value of a register.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Distinct {
    /// The expression of the item at each place; the last expression describes all further items, too. No item may be
    /// the empty string.
    pub items: Box<[ExprId]>,
    /// The expression of the text between two adjacent items.
    pub separator: ExprId,
    /// The least number of items.
    pub min: u32,
    /// The greatest number of items; `None` means unbounded.
    pub max: Option<u32>,
    /// Whether each place has more different items than any text can hold (a million suffice). The author of the
    /// grammar must know this; if the field is false, the engine searches for items that are left. With several places,
    /// `min` is then at most 1.
    pub endless: bool,
    /// Whether all items are JSON texts without surrounding white space, which the author of the grammar must know. If
    /// so, items are remembered without the white space between their parts.
    pub json: bool,
}

/// Valid UTF-8 text that is searched for strings while it is written, regardless of token boundaries.
///
/// A word is a text without any of the strings, followed by a word of `end`; or a text that ends with a trigger, before
/// which no trigger ends, followed by a word of that trigger's continuation. If several triggers end at the same
/// position, the longest one counts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct FreeText {
    /// Strings that end the text, each with its continuation.
    pub triggers: Vec<(Box<str>, ExprId)>,
    /// Strings that occur neither in the text nor in the text together with the trigger that ends it.
    pub forbidden: Vec<Box<str>>,
    /// The continuation of a text that no trigger ended, allowed at the beginning and after every character; the empty
    /// word, for instance. Without it only a trigger can end the text.
    pub end: Option<ExprId>,
}
