//! The words of an expression in another spelling: each byte or character is replaced by the texts that spell it.
//!
//! A spelling is a code: a text spells at most one word. So the spelled words of an intersection are the intersection
//! of the spelled words, and those of a complement are the spelled texts outside the spelled words.

use crate::grammar::{ByteSet, CharClass, ExprId, Expression, GrammarBuilder, RuleId, WordGraph, WordTarget};
use rustc_hash::{FxHashMap, FxHashSet};

/// How bytes and characters are spelled.
pub(in crate::syntax::json_schema) trait Code {
    /// Returns the spellings of a byte string.
    fn literal(&mut self, g: &mut GrammarBuilder, bytes: &[u8]) -> ExprId;

    /// Returns the spellings of one byte of a set.
    fn bytes(&mut self, g: &mut GrammarBuilder, set: &ByteSet) -> ExprId;

    /// Returns the spellings of one character of a class.
    fn class(&mut self, g: &mut GrammarBuilder, class: &CharClass) -> ExprId;

    /// Returns the spellings of one byte or character that may be any.
    fn any(&mut self, g: &mut GrammarBuilder) -> ExprId;
}

/// A part of an expression that has no spelling, because it is not a language of texts alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::syntax::json_schema) struct Unspelled(pub(in crate::syntax::json_schema) &'static str);

/// Returns the spelled words of an expression.
///
/// # Errors
/// The expression has tokens, bounds in tokens, or members or items that must differ.
pub(in crate::syntax::json_schema) fn expression(
    g: &mut GrammarBuilder,
    all: ExprId,
    code: &mut dyn Code,
) -> Result<ExprId, Unspelled> {
    let mut speller =
        Speller { code, made: FxHashMap::default(), rules: FxHashMap::default(), open: Vec::new() };
    let all = speller.expression(g, all)?;
    while let Some((rule, copy)) = speller.open.pop() {
        if let Some(body) = g.body(rule) {
            let body = speller.expression(g, body)?;
            g.define(copy, body);
        }
    }
    Ok(all)
}

struct Speller<'s> {
    code: &'s mut dyn Code,
    made: FxHashMap<ExprId, ExprId>,
    /// The spelled copy of each rule.
    rules: FxHashMap<RuleId, RuleId>,
    /// Rules whose copies are not defined yet, with these.
    open: Vec<(RuleId, RuleId)>,
}

impl Speller<'_> {
    fn expression(&mut self, g: &mut GrammarBuilder, root: ExprId) -> Result<ExprId, Unspelled> {
        let mut reached = FxHashSet::default();
        let mut open = vec![root];
        while let Some(id) = open.pop() {
            if !self.made.contains_key(&id) && reached.insert(id) {
                open.extend(g.expression(id).children());
            }
        }
        // operands have smaller ids
        let mut order: Vec<ExprId> = reached.into_iter().collect();
        order.sort_unstable();
        for id in order {
            let spelled = self.spelled(g, id)?;
            self.made.insert(id, spelled);
        }
        Ok(self.of(root))
    }

    fn of(&self, id: ExprId) -> ExprId {
        self.made.get(&id).copied().unwrap_or(id)
    }

    fn all(&self, list: &[ExprId]) -> Vec<ExprId> {
        list.iter().map(|id| self.of(*id)).collect()
    }

    /// Returns the spelling of an expression whose operands are spelled.
    fn spelled(&mut self, g: &mut GrammarBuilder, id: ExprId) -> Result<ExprId, Unspelled> {
        Ok(match g.expression(id).clone() {
            Expression::Bytes(bytes) => self.code.literal(g, &bytes),
            Expression::ByteSet(set) => self.code.bytes(g, &set),
            Expression::Class(class) => self.code.class(g, &class),
            Expression::Sequence(parts) => g.sequence(self.all(&parts)),
            Expression::Choice(parts) => g.choice(self.all(&parts)),
            Expression::Intersection(parts) => {
                let complement = |g: &GrammarBuilder, id: ExprId| match g.expression(id) {
                    Expression::Complement(body) => Some(*body),
                    _ => None,
                };
                // next to an operand that has spelled texts only, a complement need not be restricted to these
                let is_bounded = parts.iter().any(|&part| complement(g, part).is_none());
                let parts = parts.iter().map(|&part| match complement(g, part).filter(|_| is_bounded) {
                    Some(body) => g.complement(self.of(body)),
                    None => self.of(part),
                });
                let parts: Vec<ExprId> = parts.collect();
                g.intersection(parts)
            }
            // the complement contains texts that spell nothing
            Expression::Complement(body) => {
                let any = self.code.any(g);
                let parts = [g.repeat(any, 0, None), g.complement(self.of(body))];
                g.intersection(parts)
            }
            Expression::Repeat { body, min, max } => g.repeat(self.of(body), min, max),
            // labels name places in the source of the expression, where spelled texts have none
            Expression::Label(_, body) => self.of(body),
            Expression::MaxTokens { .. } => return Err(Unspelled("a bound in tokens")),
            Expression::WordGraph(graph) => self.graph(g, &graph),
            Expression::Empty | Expression::Never => id,
            Expression::Rule(rule) => {
                let copy = match self.rules.get(&rule) {
                    Some(&copy) => copy,
                    None => {
                        let copy = g.declare(g.rule_name(rule).to_owned());
                        self.open.push((rule, copy));
                        self.rules.insert(rule, copy);
                        copy
                    }
                };
                g.rule(copy)
            }
            Expression::Token(_) => return Err(Unspelled("tokens")),
            Expression::Members(_) | Expression::Name(..) => return Err(Unspelled("objects of JSON")),
            Expression::Distinct(_) => return Err(Unspelled("items that must differ")),
        })
    }

    /// Returns the spelling of a graph of bytes. A node that several edges lead to becomes a rule.
    fn graph(&mut self, g: &mut GrammarBuilder, graph: &WordGraph) -> ExprId {
        let edges: Vec<_> = (0..graph.len()).map(|node| graph.edges(node)).collect();
        let mut ways = vec![0_usize; graph.len()];
        for edge in edges.iter().flat_map(|edges| edges.iter()) {
            if let WordTarget::Node(node) = edge.to {
                ways[node as usize] += 1;
            }
        }
        let mut nodes = vec![ExprId::NEVER; graph.len()];
        // edges lead to later nodes
        for (node, edges) in edges.iter().enumerate().rev() {
            let mut targets: Vec<(WordTarget, ByteSet)> = Vec::new();
            for edge in edges.iter() {
                let set = ByteSet::range(edge.low, edge.high);
                match targets.iter_mut().find(|(to, _)| *to == edge.to) {
                    Some((_, known)) => *known = known.union(&set),
                    None => targets.push((edge.to, set)),
                }
            }
            let mut alternatives = Vec::with_capacity(targets.len());
            for (to, set) in targets {
                let to = match to {
                    WordTarget::Node(to) => nodes[to as usize],
                    WordTarget::Exit(exit) => self.of(graph.exits()[exit as usize]),
                };
                let byte = self.code.bytes(g, &set);
                alternatives.push(g.sequence([byte, to]));
            }
            let body = g.choice(alternatives);
            nodes[node] = match ways[node] > 1 {
                true => {
                    let rule = g.declare_generated("spelled text");
                    g.define(rule, body);
                    g.rule(rule)
                }
                false => body,
            };
        }
        nodes.first().copied().unwrap_or(ExprId::NEVER)
    }
}

/// The spelling of texts whose characters a function spells. Characters outside of ASCII are spelled as they are, or
/// not at all.
pub(in crate::syntax::json_schema) struct Characters<'s> {
    spell: &'s mut dyn FnMut(&mut GrammarBuilder, &CharClass) -> ExprId,
    /// Whether characters outside of ASCII are spelled as they are.
    keeps_others: bool,
}

impl<'s> Characters<'s> {
    /// Creates the spelling; `None` if characters outside of ASCII are spelled in another way.
    pub(in crate::syntax::json_schema) fn new(
        g: &mut GrammarBuilder,
        spell: &'s mut dyn FnMut(&mut GrammarBuilder, &CharClass) -> ExprId,
    ) -> Option<Characters<'s>> {
        let others = others();
        let plain = g.char_class(others.clone());
        let spelled = spell(g, &others);
        let keeps_others = spelled == plain;
        (keeps_others || spelled == ExprId::NEVER).then_some(Characters { spell, keeps_others })
    }

    fn ascii(&mut self, g: &mut GrammarBuilder, set: &ByteSet) -> ExprId {
        let ascii = set.iter().filter(u8::is_ascii).map(|byte| (char::from(byte), char::from(byte)));
        (self.spell)(g, &CharClass::new(ascii))
    }
}

/// The characters outside of ASCII.
fn others() -> CharClass {
    CharClass::new([('\u{80}', char::MAX)])
}

impl Code for Characters<'_> {
    fn literal(&mut self, g: &mut GrammarBuilder, bytes: &[u8]) -> ExprId {
        let parts: Vec<ExprId> =
            bytes.iter().map(|&byte| self.bytes(g, &ByteSet::range(byte, byte))).collect();
        g.sequence(parts)
    }

    fn bytes(&mut self, g: &mut GrammarBuilder, set: &ByteSet) -> ExprId {
        let ascii = self.ascii(g, set);
        let others = set.intersection(&ByteSet::range(0x80, 0xFF));
        let others = match (others.iter().next(), others.len()) {
            _ if !self.keeps_others => ExprId::NEVER,
            (Some(byte), 1) => g.bytes([byte]),
            _ => g.byte_set(others),
        };
        g.choice([ascii, others])
    }

    fn class(&mut self, g: &mut GrammarBuilder, class: &CharClass) -> ExprId {
        if *class != CharClass::any() {
            return (self.spell)(g, class);
        }
        // a class of all characters may have more spellings than the sum of its parts
        self.any(g)
    }

    fn any(&mut self, g: &mut GrammarBuilder) -> ExprId {
        let ascii = (self.spell)(g, &CharClass::new([('\0', '\x7F')]));
        let others = (self.spell)(g, &others());
        g.choice([ascii, others])
    }
}
