//! The grammar section: the intermediate representation, from which the engine is built for places that a mask file
//! does not cover.
//!
//! Reading uses the [`GrammarBuilder`], as front ends do, so the result is a valid grammar even if the file is forged.

use super::codec::{Reader, put, put_text};
use super::errors;
use crate::error::Result;
use crate::grammar::{
    Alternative, ByteSet, CharClass, Condition, Distinct, ExprId, Expression, Grammar, GrammarBuilder,
    Member, Members, Names, Operands, Order, RuleId, Text, TokenScope, TokenSelector, TokenTerminal,
    WordEdge, WordGraph, WordTarget,
};
use crate::limits::Limits;

/// The kinds of expressions; see `docs/mask-file-format.md`.
mod tag {
    pub(super) const EMPTY: u8 = 0;
    pub(super) const NEVER: u8 = 1;
    pub(super) const BYTES: u8 = 2;
    pub(super) const BYTE_SET: u8 = 3;
    pub(super) const CLASS: u8 = 4;
    pub(super) const TOKEN: u8 = 5;
    pub(super) const SEQUENCE: u8 = 6;
    pub(super) const CHOICE: u8 = 7;
    pub(super) const INTERSECTION: u8 = 8;
    pub(super) const REPEAT: u8 = 9;
    pub(super) const RULE: u8 = 10;
    pub(super) const MEMBERS: u8 = 11;
    pub(super) const DISTINCT: u8 = 12;
    pub(super) const WORD_GRAPH: u8 = 13;
    pub(super) const COMPLEMENT: u8 = 14;
    pub(super) const LABEL: u8 = 15;
    pub(super) const NAME: u8 = 16;
    pub(super) const MAX_TOKENS: u8 = 17;
}

/// Encodes a grammar as the bytes of a grammar section.
pub(super) fn write(grammar: &Grammar) -> Vec<u8> {
    let mut out = Vec::new();
    put(&mut out, grammar.rules().len() as u64);
    grammar.rules().iter().for_each(|rule| put_text(&mut out, rule.name.as_bytes()));
    put(&mut out, grammar.expressions().len() as u64);
    for expression in grammar.expressions() {
        put_expression(&mut out, grammar, expression);
    }
    grammar.rules().iter().for_each(|rule| put(&mut out, rule.body.index() as u64));
    put(&mut out, grammar.root().index() as u64);
    out
}

fn put_ids(out: &mut Vec<u8>, ids: &[ExprId]) {
    put(out, ids.len() as u64);
    ids.iter().for_each(|id| put(out, id.index() as u64));
}

fn put_places(out: &mut Vec<u8>, places: &[u32]) {
    put(out, places.len() as u64);
    places.iter().for_each(|&place| put(out, u64::from(place)));
}

/// Appends an optional number: 0 if it is missing, otherwise one more than its value.
fn put_optional(out: &mut Vec<u8>, number: Option<u64>) {
    put(out, number.map_or(0, |number| number + 1));
}

fn put_expression(out: &mut Vec<u8>, grammar: &Grammar, expression: &Expression) {
    match expression {
        Expression::Empty => out.push(tag::EMPTY),
        Expression::Never => out.push(tag::NEVER),
        Expression::Bytes(bytes) => {
            out.push(tag::BYTES);
            put_text(out, bytes);
        }
        Expression::ByteSet(set) => {
            out.push(tag::BYTE_SET);
            put(out, set.ranges().count() as u64);
            set.ranges().for_each(|(low, high)| out.extend([low, high]));
        }
        Expression::Class(class) => {
            out.push(tag::CLASS);
            put(out, class.ranges().len() as u64);
            for &(low, high) in class.ranges() {
                put(out, u64::from(u32::from(low)));
                put(out, u64::from(u32::from(high)));
            }
        }
        Expression::Token(terminal) => put_token(out, terminal),
        Expression::Sequence(list) => {
            out.push(tag::SEQUENCE);
            put_ids(out, list);
        }
        Expression::Choice(list) => {
            out.push(tag::CHOICE);
            put_ids(out, list);
        }
        Expression::Intersection(list) => {
            out.push(tag::INTERSECTION);
            put_ids(out, list);
        }
        Expression::Repeat { body, min, max } => {
            out.push(tag::REPEAT);
            put(out, body.index() as u64);
            put(out, u64::from(*min));
            put_optional(out, max.map(u64::from));
        }
        Expression::Rule(rule) => {
            out.push(tag::RULE);
            put(out, rule.index() as u64);
        }
        Expression::Members(members) => put_members(out, members),
        Expression::Distinct(list) => {
            out.push(tag::DISTINCT);
            put_ids(out, &list.items);
            put(out, list.separator.index() as u64);
            put(out, u64::from(list.min));
            put_optional(out, list.max.map(u64::from));
            out.push(u8::from(list.endless) | u8::from(list.json) << 1);
        }
        Expression::WordGraph(graph) => put_graph(out, graph),
        Expression::Complement(body) => {
            out.push(tag::COMPLEMENT);
            put(out, body.index() as u64);
        }
        Expression::Label(label, body) => {
            out.push(tag::LABEL);
            put_text(out, grammar.label(*label).as_bytes());
            put(out, body.index() as u64);
        }
        Expression::MaxTokens { body, most } => {
            out.push(tag::MAX_TOKENS);
            put(out, body.index() as u64);
            put(out, u64::from(*most));
        }
        Expression::Name(body, names) => {
            out.push(tag::NAME);
            put(out, body.index() as u64);
            out.push(match names {
                Names::Endless => 0,
                Names::Many => 1,
                Names::Few => 2,
            });
        }
    }
}

fn put_token(out: &mut Vec<u8>, terminal: &TokenTerminal) {
    out.push(tag::TOKEN);
    out.push(match terminal.scope() {
        TokenScope::Listed => 0,
        TokenScope::AllBut => 1,
        TokenScope::SpecialBut => 2,
    });
    put(out, terminal.listed().len() as u64);
    for selector in terminal.listed() {
        match selector {
            TokenSelector::Ids { first, last } => {
                out.push(0);
                put(out, u64::from(*first));
                put(out, u64::from(*last));
            }
            TokenSelector::Name(name) => {
                out.push(1);
                put_text(out, name.as_bytes());
            }
        }
    }
}

fn put_members(out: &mut Vec<u8>, list: &Members) {
    out.push(tag::MEMBERS);
    out.push(match list.order {
        Order::Declared => 0,
        Order::Any => 1,
    });
    put(out, list.members.len() as u64);
    for member in &list.members {
        put_text(out, &member.key);
        put(out, member.value.index() as u64);
        out.push(u8::from(member.required));
    }
    put_optional(out, list.rest.map(|rest| rest.index() as u64));
    put_ids(out, &list.ones);
    put(out, list.conditions.len() as u64);
    for Condition(alternatives) in &list.conditions {
        put(out, alternatives.len() as u64);
        for alternative in alternatives {
            put(out, alternative.some.len() as u64);
            alternative.some.iter().for_each(|places| put_places(out, places));
            put_places(out, &alternative.none);
        }
    }
    put(out, list.separator.index() as u64);
    put(out, u64::from(list.min));
    put_optional(out, list.max.map(u64::from));
}

fn put_graph(out: &mut Vec<u8>, graph: &WordGraph) {
    out.push(tag::WORD_GRAPH);
    put_ids(out, graph.exits());
    put(out, graph.len() as u64);
    for node in 0..graph.len() {
        put_optional(out, graph.otherwise(node).map(|other| other as u64));
        put(out, graph.own_edges(node).len() as u64);
        for edge in graph.own_edges(node) {
            out.extend([edge.low, edge.high]);
            match edge.to {
                WordTarget::Node(to) => put(out, u64::from(to) * 2),
                WordTarget::Exit(to) => put(out, u64::from(to) * 2 + 1),
            }
        }
    }
}

/// Reads a grammar from the bytes of a grammar section.
///
/// # Errors
/// `mask-file/grammar` with the offset in the section at which it cannot be decoded; those of
/// [`GrammarBuilder::build`], such as `limit/exceeded`.
pub(super) fn read(bytes: &[u8], limits: &Limits) -> Result<Grammar> {
    let mut reader = Reader::new(bytes);
    let unreadable = |at: usize| errors::unreadable_grammar(at);
    let (builder, root) = read_all(&mut reader, limits).ok_or_else(|| unreadable(reader.position()))?;
    if reader.position() != bytes.len() {
        return Err(unreadable(reader.position()));
    }
    builder.build(root)
}

fn read_all(reader: &mut Reader<'_>, limits: &Limits) -> Option<(GrammarBuilder, RuleId)> {
    let mut builder = GrammarBuilder::with_limits(limits.clone());
    let mut rules = Vec::new();
    for _ in 0..reader.count()? {
        rules.push(builder.declare(reader.text()?));
    }
    let count = reader.count()?;
    let mut read = Expressions { builder, rules, ids: Vec::new() };
    for _ in 0..count {
        // after an error nothing more is added, and building the grammar reports the error
        if read.builder.error().is_some() {
            break;
        }
        let id = read.expression(reader)?;
        read.ids.push(id);
    }
    let Expressions { mut builder, rules, ids } = read;
    if builder.error().is_some() {
        // the rest is skipped, since building the grammar will fail
        let root = *rules.first()?;
        reader.skip();
        return Some((builder, root));
    }
    for &rule in &rules {
        builder.define(rule, *ids.get(reader.number()? as usize)?);
    }
    let root = *rules.get(reader.number()? as usize)?;
    Some((builder, root))
}

/// The state of reading: the ids of the file's rules and expressions in the builder.
struct Expressions {
    builder: GrammarBuilder,
    rules: Vec<RuleId>,
    ids: Vec<ExprId>,
}

fn optional(reader: &mut Reader<'_>) -> Option<Option<u32>> {
    match reader.long_number()?.checked_sub(1) {
        Some(number) => Some(Some(u32::try_from(number).ok()?)),
        None => Some(None),
    }
}

fn flag(reader: &mut Reader<'_>) -> Option<bool> {
    match reader.byte()? {
        0 => Some(false),
        1 => Some(true),
        _ => None,
    }
}

fn places(reader: &mut Reader<'_>, entries: usize) -> Option<Box<[u32]>> {
    let count = reader.count()?;
    (0..count).map(|_| reader.number().filter(|&place| (place as usize) < entries)).collect()
}

impl Expressions {
    fn id(&self, reader: &mut Reader<'_>) -> Option<ExprId> {
        self.ids.get(reader.number()? as usize).copied()
    }

    fn operands(&self, reader: &mut Reader<'_>) -> Option<Operands> {
        let count = reader.count()?;
        (0..count).map(|_| self.id(reader)).collect()
    }

    fn expression(&mut self, reader: &mut Reader<'_>) -> Option<ExprId> {
        Some(match reader.byte()? {
            tag::EMPTY => self.builder.empty(),
            tag::NEVER => self.builder.never(),
            tag::BYTES => self.builder.bytes(reader.bytes()?),
            tag::BYTE_SET => {
                let mut set = ByteSet::EMPTY;
                for _ in 0..reader.count()? {
                    let (low, high) = (reader.byte()?, reader.byte()?);
                    set.insert_range(low, if low <= high { high } else { return None });
                }
                self.builder.byte_set(set)
            }
            tag::CLASS => {
                let count = reader.count()?;
                let mut end = || char::from_u32(reader.number()?);
                let ranges: Option<Vec<_>> = (0..count).map(|_| Some((end()?, end()?))).collect();
                self.builder.char_class(CharClass::new(ranges?))
            }
            tag::TOKEN => {
                let terminal = token(reader)?;
                self.builder.token(terminal)
            }
            tag::SEQUENCE => {
                let list = self.operands(reader)?;
                self.builder.sequence(list)
            }
            tag::CHOICE => {
                let list = self.operands(reader)?;
                self.builder.choice(list)
            }
            tag::INTERSECTION => {
                let list = self.operands(reader)?;
                self.builder.intersection(list)
            }
            tag::REPEAT => {
                let (body, min, max) = (self.id(reader)?, reader.number()?, optional(reader)?);
                self.builder.repeat(body, min, max)
            }
            tag::RULE => {
                let rule = *self.rules.get(reader.number()? as usize)?;
                self.builder.rule(rule)
            }
            tag::MEMBERS => {
                let list = self.members(reader)?;
                self.builder.member_list(list)
            }
            tag::DISTINCT => {
                let items = self.operands(reader)?.into_boxed_slice();
                let separator = self.id(reader)?;
                let (min, max) = (reader.number()?, optional(reader)?);
                let flags = reader.byte().filter(|&flags| flags < 4)?;
                let (endless, json) = (flags & 1 != 0, flags & 2 != 0);
                self.builder.distinct(Distinct { items, separator, min, max, endless, json })
            }
            tag::WORD_GRAPH => {
                let graph = self.graph(reader)?;
                self.builder.word_graph(graph)
            }
            tag::COMPLEMENT => {
                let body = self.id(reader)?;
                self.builder.complement(body)
            }
            tag::LABEL => {
                let (label, body) = (reader.text()?, self.id(reader)?);
                self.builder.label(label, body)
            }
            tag::MAX_TOKENS => {
                let (body, most) = (self.id(reader)?, reader.number()?);
                self.builder.max_tokens(body, most)
            }
            tag::NAME => {
                let body = self.id(reader)?;
                let names = match reader.byte()? {
                    0 => Names::Endless,
                    1 => Names::Many,
                    2 => Names::Few,
                    _ => return None,
                };
                self.builder.name(body, names)
            }
            _ => return None,
        })
    }

    fn members(&self, reader: &mut Reader<'_>) -> Option<Members> {
        let order = if flag(reader)? { Order::Any } else { Order::Declared };
        let count = reader.count()?;
        let mut member = || {
            let key = Text::from_slice(reader.bytes().filter(|key| !key.is_empty())?);
            Some(Member { key, value: self.id(reader)?, required: flag(reader)? })
        };
        let members: Box<[Member]> = (0..count).map(|_| member()).collect::<Option<_>>()?;
        let rest = match optional(reader)? {
            Some(rest) => Some(*self.ids.get(rest as usize)?),
            None => None,
        };
        let ones = self.operands(reader)?.into_boxed_slice();
        let entries = members.len() + ones.len();
        let count = reader.count()?;
        let mut condition = || {
            let count = reader.count()?;
            let mut alternative = || {
                let count = reader.count()?;
                let some = (0..count).map(|_| places(reader, entries)).collect::<Option<_>>()?;
                Some(Alternative { some, none: places(reader, entries)? })
            };
            Some(Condition((0..count).map(|_| alternative()).collect::<Option<_>>()?))
        };
        let conditions = (0..count).map(|_| condition()).collect::<Option<_>>()?;
        let separator = self.id(reader)?;
        let (min, max) = (reader.number()?, optional(reader)?);
        Some(Members { order, members, rest, ones, conditions, separator, min, max })
    }

    fn graph(&self, reader: &mut Reader<'_>) -> Option<WordGraph> {
        let mut graph = WordGraph::new(self.operands(reader)?);
        for _ in 0..reader.count()? {
            let otherwise = optional(reader)?;
            let count = reader.count()?;
            let mut edge = || {
                let (low, high, to) = (reader.byte()?, reader.byte()?, reader.number()?);
                let target = if to % 2 == 0 { WordTarget::Node(to / 2) } else { WordTarget::Exit(to / 2) };
                Some(WordEdge { low, high, to: target })
            };
            let edges: Vec<WordEdge> = (0..count).map(|_| edge()).collect::<Option<_>>()?;
            graph.push(edges, otherwise.filter(|&node| node > 0));
        }
        Some(graph)
    }
}

fn token(reader: &mut Reader<'_>) -> Option<TokenTerminal> {
    let scope = match reader.byte()? {
        0 => TokenScope::Listed,
        1 => TokenScope::AllBut,
        2 => TokenScope::SpecialBut,
        _ => return None,
    };
    let count = reader.count()?;
    let mut selector = || {
        Some(match reader.byte()? {
            0 => TokenSelector::Ids { first: reader.number()?, last: reader.number()? },
            1 => TokenSelector::Name(reader.text()?.into()),
            _ => return None,
        })
    };
    let listed: Vec<TokenSelector> = (0..count).map(|_| selector()).collect::<Option<_>>()?;
    Some(TokenTerminal::new(scope, listed))
}
