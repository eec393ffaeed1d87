//! The kinds of expressions.

use super::class::{ByteSet, CharClass};
use super::ids::{ExprId, LabelId, RuleId};
use super::token_terminal::TokenTerminal;
use super::word_graph::WordGraph;
use smallvec::SmallVec;

/// A byte string; a short one lies where it stands.
pub type Text = SmallVec<[u8; 24]>;

/// Expressions; a few of them lie where they stand.
pub type Operands = SmallVec<[ExprId; 6]>;

/// One expression: a language of byte strings, in which tokens may stand that come by their ids.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Expression {
    /// The empty string alone.
    Empty,
    /// No string at all.
    Never,
    /// One byte string, not empty.
    Bytes(Text),
    /// One byte of a set.
    ByteSet(ByteSet),
    /// One character of a set, in UTF-8.
    Class(CharClass),
    /// One token of a set, by its id; see [`TokenTerminal`].
    Token(Box<TokenTerminal>),
    /// One after the other; at least two.
    Sequence(Operands),
    /// Any one of them; at least two.
    Choice(Operands),
    /// `body` at least `min` and at most `max` times (`None`: without bound). Never unrolled.
    Repeat {
        /// What is repeated.
        body: ExprId,
        /// At least so often.
        min: u32,
        /// At most so often.
        max: Option<u32>,
    },
    /// What a rule describes.
    Rule(RuleId),
    /// Keyed members, each at most once, with separators; see [`Members`].
    Members(Box<Members>),
    /// Items that are pairwise different, with separators; see [`Distinct`].
    Distinct(Box<Distinct>),
    /// The ways through an acyclic graph of bytes; see [`WordGraph`].
    WordGraph(Box<WordGraph>),
    /// The strings in all of them; at least two.
    Intersection(Operands),
    /// All byte strings that are *not* in the operand (also those that are not UTF-8).
    Complement(ExprId),
    /// The same language as the body; errors inside it are reported with the label.
    Label(LabelId, ExprId),
    /// A name in a JSON object; see [`Names`].
    Name(ExprId, Names),
    /// The words of `body`, a rule, along which at most `most` tokens begin; see
    /// [`GrammarBuilder::max_tokens`](super::GrammarBuilder::max_tokens).
    MaxTokens {
        /// What is bounded.
        body: ExprId,
        /// At most this many tokens.
        most: u32,
    },
}

impl Expression {
    /// Does something with each operand, as [`children`](Expression::children) has them.
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

    /// The operands, in order; for [`Members`]: the separator, the rest if any, the ones, then the
    /// values; for [`Distinct`]: the items, then the separator.
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

/// How many names an [`Expression::Name`] has, as far as the author of the grammar knows.
///
/// The words of such an expression are JSON strings, quotes included, that stand as names in JSON objects. No word of the
/// grammar has an object with the same name twice, in any spelling, if at least one of the two was read by such an
/// expression. (A text is taken for JSON token by token; what is no JSON has no objects.)
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Names {
    /// Every beginning of a name can become more names than any text could hold.
    Endless,
    /// There are more names than any text could hold (a million are enough), but a beginning may leave few.
    Many,
    /// There may be few.
    Few,
}

/// The order in which [`Members`] may come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Order {
    /// In the order of the list; the rest after them.
    Declared,
    /// In every order; the rest anywhere between.
    Any,
}

/// A list of members `key value`, separated by `separator`: each member at most once, the required ones
/// exactly once; each of the `ones` at most once; and, if there is a `rest`, any number of further members
/// that it describes. All together are at least `min` and at most `max`, and the conditions hold. Where nothing must come,
/// the empty string is in the language.
///
/// Members that stand side by side may have the same key, if they are all required or all optional. One of them comes at
/// most, and exactly one if they are required.
///
/// This is what JSON objects, use-once tools and sets are made of. It is a register in the automaton (which
/// members were seen), never an expansion into orders or subsets.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Members {
    /// The order.
    pub order: Order,
    /// The members; their keys are not empty.
    pub members: Box<[Member]>,
    /// Describes one further member, never the empty string; any number of such may come.
    pub rest: Option<ExprId>,
    /// Each describes a member without a fixed key, never the empty string, that may come once. In declared order they
    /// come among the rest.
    pub ones: Box<[ExprId]>,
    /// What must hold of the entries that come: the members by their places, then the ones.
    pub conditions: Box<[Condition]>,
    /// What stands between two members.
    pub separator: ExprId,
    /// At least this many members come, further ones included.
    pub min: u32,
    /// At most this many members come, further ones included.
    pub max: Option<u32>,
}

/// A condition on the entries of [`Members`] that come: one of these holds.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Condition(pub Box<[Alternative]>);

/// One way in which a [`Condition`] holds.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Alternative {
    /// Of each of these sets of entries, one comes.
    pub some: Box<[Box<[u32]>]>,
    /// None of these entries comes.
    pub none: Box<[u32]>,
}

/// One member of [`Members`]: the key's bytes, then the value.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Member {
    /// What the member starts with; not empty.
    pub key: Text,
    /// What follows the key; may be [`Expression::Empty`].
    pub value: ExprId,
    /// Whether the member must be there.
    pub required: bool,
}

/// A list of at least `min` and at most `max` items with separators between them, no two of which are the same JSON
/// value: strings are compared by their characters, numbers by their value, objects whatever the order of their members.
/// Items that are no JSON are compared byte by byte. With no minimum, the empty string is in the language.
///
/// The texts of the items seen are a register in the automaton.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Distinct {
    /// Describe the items, place by place, and the last one all further ones; none of them the empty string.
    pub items: Box<[ExprId]>,
    /// What stands between two items.
    pub separator: ExprId,
    /// At least this many items come.
    pub min: u32,
    /// At most this many items come.
    pub max: Option<u32>,
    /// Whether at each place there are more different items than any text could hold (a million are enough). That is for
    /// the author of the grammar to know; where it is false, what is left is searched for. With several places, `min` is
    /// then at most 1.
    pub endless: bool,
    /// Whether all items are JSON texts without white space before and after them. Then what was read of an item is
    /// remembered without the white space between its parts. That too is for the author of the grammar to know.
    pub json: bool,
}
