//! Random grammars.

use super::Choices;
use grammata::grammar::{
    Alternative, ByteSet, CharClass, Condition, ExprId, FreeText, Grammar, GrammarBuilder, Member, Members,
    Order, RuleId, Text, TokenScope, TokenSelector, TokenTerminal, WordEdge, WordGraph, WordTarget,
};

/// The constructs that random grammars may contain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GrammarShape {
    /// The texts from which literals, keys and classes are made, the simplest first. Not empty.
    pub letters: Vec<&'static str>,
    /// The most letters of a literal, at least 1.
    pub literal: usize,
    /// The most rules.
    pub rules: usize,
    /// The deepest nesting of expressions within a rule.
    pub depth: usize,
    /// The greatest bound of a repeat.
    pub count: u32,
    /// Whether there may be [`Members`](grammata::grammar::Members) and word graphs.
    pub members: bool,
    /// Whether there may be intersections and complements.
    pub locks: bool,
    /// Whether there may be byte sets and literals that are not UTF-8, and classes of many characters.
    pub bytes: bool,
    /// Whether there may be token terminals (never within intersections and complements).
    pub tokens: bool,
    /// Whether the words contain a part of bounded length in characters or bytes, between other texts. The inside of
    /// the part follows all other fields except `tokens`.
    pub bounds: bool,
    /// Whether the grammar begins with free text, which may have triggers.
    pub triggers: bool,
    /// Whether the matcher is given end tokens that differ from those of the vocabulary.
    pub ends: bool,
}

impl Default for GrammarShape {
    fn default() -> GrammarShape {
        GrammarShape {
            letters: vec!["a", "b", "c", "é", "ê", "😀"],
            literal: 3,
            rules: 5,
            depth: 4,
            count: 6,
            members: true,
            locks: false,
            bytes: true,
            tokens: false,
            bounds: false,
            ends: false,
            triggers: false,
        }
    }
}

/// Draws a grammar. Recursion of all kinds is likely, but an intersection or complement never contains itself.
pub fn random_grammar(choices: &mut Choices<'_>, shape: &GrammarShape) -> Grammar {
    let mut builder = GrammarBuilder::new();
    let rules: Vec<RuleId> =
        (0..=choices.below(shape.rules.max(1))).map(|i| builder.declare(format!("r{i}"))).collect();
    // rules from `inner` on refer to none before it, so that intersections in earlier rules may name them
    let inner = choices.below(rules.len()) + 1;
    for (i, &rule) in rules.iter().enumerate() {
        let (own, operands) = if i < inner { (0, inner) } else { (inner, rules.len()) };
        let mut generator = Generator {
            builder: &mut builder,
            choices,
            shape,
            rules: &rules[own..],
            inner: &rules[operands..],
            tokens: shape.tokens && !shape.bounds && (i < inner || !shape.locks),
            budget: 40,
        };
        let body = match shape.triggers && i == 0 {
            true => generator.free_text(shape.depth),
            false => generator.expression(shape.depth),
        };
        builder.define(rule, body);
    }
    let root = if shape.bounds { bounded(&mut builder, choices, shape, rules[0]) } else { rules[0] };
    builder.build(root).unwrap_or_else(|e| unreachable!("the generator makes good grammars: {e}"))
}

/// Defines a rule for the words of `rule` of at most some characters or bytes, between two texts, and returns it.
fn bounded(
    builder: &mut GrammarBuilder,
    choices: &mut Choices<'_>,
    shape: &GrammarShape,
    rule: RuleId,
) -> RuleId {
    let part = builder.rule(rule);
    let most = choices.below(14) as u32;
    let part = if choices.chance(50) { builder.max_chars(part, most) } else { builder.max_bytes(part, most) };
    let texts =
        [0, 1].map(|_| (0..choices.below(3)).map(|_| *choices.pick(&shape.letters)).collect::<String>());
    let [before, after] = texts.map(|text| builder.text(text));
    let root = builder.declare("bounded");
    let body = builder.sequence([before, part, after]);
    builder.define(root, body);
    root
}

struct Generator<'s, 'c, 'b> {
    builder: &'s mut GrammarBuilder,
    choices: &'s mut Choices<'c>,
    shape: &'b GrammarShape,
    /// The rules that may be referenced here.
    rules: &'b [RuleId],
    /// The rules that may be referenced within an intersection or complement here.
    inner: &'b [RuleId],
    /// Whether token terminals are allowed here.
    tokens: bool,
    /// The number of further expressions with operands.
    budget: usize,
}

impl Generator<'_, '_, '_> {
    fn expression(&mut self, depth: usize) -> ExprId {
        if depth == 0 || self.budget == 0 || self.choices.is_exhausted() {
            return self.leaf();
        }
        self.budget -= 1;
        match self.choices.below(20) {
            0..=3 => self.leaf(),
            4..=8 => {
                let parts = self.list(depth, 4);
                self.builder.sequence(parts)
            }
            9..=12 => {
                let parts = self.list(depth, 4);
                self.builder.choice(parts)
            }
            13 | 14 => self.repeat(depth),
            15 if self.shape.members && self.choices.chance(30) => self.free_text(depth),
            15 if self.shape.members => self.graph(depth),
            16 | 17 if self.shape.members => self.members(depth),
            18 if self.shape.locks => self.lock(depth),
            19 => {
                let body = self.expression(depth - 1);
                self.builder.label("label", body)
            }
            _ => self.reference(),
        }
    }

    fn list(&mut self, depth: usize, most: usize) -> Vec<ExprId> {
        (0..self.choices.below(most) + 1).map(|_| self.expression(depth - 1)).collect()
    }

    fn reference(&mut self) -> ExprId {
        match self.rules {
            [] => self.leaf(),
            rules => {
                let rule = *self.choices.pick(rules);
                self.builder.rule(rule)
            }
        }
    }

    fn literal(&mut self) -> String {
        (0..self.choices.below(self.shape.literal) + 1)
            .map(|_| *self.choices.pick(&self.shape.letters))
            .collect()
    }

    /// Draws a token terminal from a few names and low ids, so that terminals overlap.
    fn terminal(&mut self) -> ExprId {
        let names = ["<0>", "<1>", "<2>", "a", "b"];
        let selector = |choices: &mut Choices<'_>| match choices.below(4) {
            0 | 1 => TokenSelector::Name((*choices.pick(&names)).into()),
            _ => {
                let first = choices.below(12) as u32;
                let last = first + choices.below(4) as u32;
                TokenSelector::Ids { first, last }
            }
        };
        let first = selector(self.choices);
        let second = self.choices.chance(20).then(|| selector(self.choices));
        let scope = match self.choices.below(6) {
            0..=3 => TokenScope::Listed,
            4 => TokenScope::AllBut,
            _ => TokenScope::SpecialBut,
        };
        self.builder.token(TokenTerminal::new(scope, [first].into_iter().chain(second)))
    }

    fn leaf(&mut self) -> ExprId {
        if self.tokens && self.choices.chance(30) {
            return self.terminal();
        }
        match self.choices.below(16) {
            7..=9 => self.class(),
            10..=12 if !self.choices.is_exhausted() => self.reference(),
            13 => self.builder.empty(),
            14 if self.choices.chance(15) => self.builder.never(),
            15 if self.shape.bytes => self.raw_bytes(),
            _ => {
                let literal = self.literal();
                self.builder.text(literal)
            }
        }
    }

    fn class(&mut self) -> ExprId {
        let letters: CharClass = self.literal().chars().collect();
        let class = match self.choices.below(if self.shape.bytes { 8 } else { 1 }) {
            0..=3 => letters,
            4 => CharClass::any(),
            5 => letters.complement(),
            6 => CharClass::new([('a', 'ê')]),
            _ => CharClass::new([('b', '\u{7FF}'), ('\u{FFFF}', '\u{10FFFF}')]),
        };
        self.builder.char_class(class)
    }

    fn raw_bytes(&mut self) -> ExprId {
        let text = self.literal();
        let set: ByteSet = text.bytes().collect();
        match self.choices.below(5) {
            0 | 1 => self.builder.byte_set(set),
            2 => self.builder.byte_set(set.complement()),
            3 => self.builder.byte_set(ByteSet::range(0x80, 0xC3)),
            _ => self.builder.bytes(&text.as_bytes()[..1]),
        }
    }

    fn repeat(&mut self, depth: usize) -> ExprId {
        let body = self.expression(depth - 1);
        let most = (self.shape.count as usize / 2).max(3);
        let least = self.choices.below(most + 1) as u32;
        match self.choices.below(4) {
            0 => self.builder.optional(body),
            1 => self.builder.star(body),
            2 => self.builder.repeat(body, least, None),
            _ => {
                let more = self.choices.below(self.shape.count as usize + 1) as u32;
                self.builder.repeat(
                    body,
                    least.min(self.shape.count),
                    Some(self.shape.count.min(least + more)),
                )
            }
        }
    }

    fn graph(&mut self, depth: usize) -> ExprId {
        let mut letters: Vec<u8> = self.shape.letters.concat().into_bytes();
        letters.sort_unstable();
        letters.dedup();
        let most = self.choices.below(2).min(letters.len() - 1);
        let exits: Vec<ExprId> = (0..=most).map(|_| self.expression(depth - 1)).collect();
        let nodes = self.choices.below(4) as u32;
        let last = exits.len() as u32 - 1;
        let mut graph = WordGraph::new(exits);
        for node in 0..=nodes {
            // the first edges make every node and exit reachable
            let mut must: Vec<WordTarget> = Vec::new();
            if node < nodes {
                must.push(WordTarget::Node(node + 1));
            } else {
                must.extend((0..=last).map(WordTarget::Exit));
            }
            let mut edges = Vec::new();
            for &letter in &letters {
                let to = match must.pop() {
                    Some(to) => to,
                    None if self.choices.chance(50) => continue,
                    None if self.choices.chance(50) && node < nodes => {
                        WordTarget::Node(node + 1 + self.choices.below((nodes - node) as usize) as u32)
                    }
                    None => WordTarget::Exit(self.choices.below(last as usize + 1) as u32),
                };
                edges.push(WordEdge { low: letter, high: letter, to });
            }
            // the last node may be the fallback
            let otherwise = (node < nodes && edges.len() < 3 && self.choices.chance(50)).then_some(nodes);
            graph.push(edges, otherwise);
        }
        self.builder.word_graph(graph)
    }

    /// Draws free text without triggers that could not occur.
    fn free_text(&mut self, depth: usize) -> ExprId {
        let mut text = FreeText::default();
        let free = |text: &FreeText, new: &str| {
            !text.triggers.iter().any(|(trigger, _)| trigger.contains(new) || new.contains(&**trigger))
        };
        for _ in 0..self.choices.below(3) {
            let (trigger, after) = (self.literal(), self.expression(depth - 1));
            if free(&text, &trigger) {
                text.triggers.push((trigger.into(), after));
            }
        }
        for _ in 0..self.choices.below(2) {
            let string = self.literal();
            if free(&text, &string) {
                text.forbidden.push(string.into());
            }
        }
        if text.triggers.is_empty() || self.choices.chance(60) {
            text.end = Some(self.expression(depth - 1));
        }
        self.builder.free_text(&text)
    }

    fn members(&mut self, depth: usize) -> ExprId {
        let order = *self.choices.pick(&[Order::Declared, Order::Any]);
        let conditional = self.choices.chance(25);
        let mut members: Vec<Member> = Vec::new();
        for _ in 0..self.choices.below(5) {
            // short keys over few letters are often prefixes of one another
            let key: Text = self.literal().as_bytes().into();
            if members.iter().any(|member| member.key == key) {
                continue;
            }
            let required = self.choices.chance(40);
            let values = if conditional && self.choices.chance(40) { 2 } else { 1 };
            for _ in 0..values {
                let value =
                    if self.choices.chance(60) { self.expression(depth - 1) } else { self.builder.empty() };
                members.push(Member { key: key.clone(), value, required });
            }
        }
        let mut further = |chance| {
            self.choices.chance(chance).then(|| {
                // never the empty string, as `Members` requires
                let (first, more) = (self.literal(), self.expression(depth - 1));
                let first = self.builder.text(first);
                self.builder.sequence([first, more])
            })
        };
        let rest = further(40);
        let ones: Box<[ExprId]> = (0..2).filter_map(|_| further(if conditional { 40 } else { 5 })).collect();
        let separator = match self.choices.below(4) {
            0 | 1 => self.builder.text(self.shape.letters[0]),
            2 => self.leaf(),
            _ => self.builder.empty(),
        };
        let entries = members.len() + ones.len();
        let mut conditions = Vec::new();
        if conditional && entries > 0 {
            for _ in 0..1 + self.choices.below(3) {
                conditions.push(self.condition(entries));
            }
        }
        let bounded = self.choices.chance(40);
        let min = if bounded { self.choices.below(4) as u32 } else { 0 };
        let max = (bounded && self.choices.chance(50)).then(|| min + self.choices.below(3) as u32);
        let (members, conditions) = (members.into(), conditions.into());
        self.builder.member_list(Members { order, members, rest, ones, conditions, separator, min, max })
    }

    /// Draws a condition over the given number of entries.
    fn condition(&mut self, entries: usize) -> Condition {
        let mut set = |most: usize| -> Box<[u32]> {
            let count = self.choices.below(most + 1);
            (0..count).map(|_| self.choices.below(entries) as u32).collect()
        };
        let mut alternative = || {
            let some: Box<[Box<[u32]>]> =
                [set(2), set(2)].into_iter().filter(|set| !set.is_empty()).collect();
            Alternative { some, none: set(2) }
        };
        let (first, second) = (alternative(), alternative());
        Condition(if self.choices.chance(70) { [first, second].into() } else { [first].into() })
    }

    fn lock(&mut self, depth: usize) -> ExprId {
        let tokens = std::mem::replace(&mut self.tokens, false);
        let outer = std::mem::replace(&mut self.rules, self.inner);
        let outer_inner = std::mem::take(&mut self.inner);
        let lock = match self.choices.below(4) {
            0 => {
                let operand = self.expression(depth - 1);
                self.builder.complement(operand)
            }
            1 => {
                // the usual use: some text except another
                let (wide, narrow) = (self.wide(), self.expression(depth - 1));
                let not = self.builder.complement(narrow);
                self.builder.intersection([wide, not])
            }
            2 => {
                let (wide, narrow) = (self.wide(), self.expression(depth - 1));
                self.builder.intersection([wide, narrow])
            }
            _ => {
                let operands = self.list(depth, 3);
                self.builder.intersection(operands)
            }
        };
        (self.rules, self.inner, self.tokens) = (outer, outer_inner, tokens);
        lock
    }

    /// A language with many words.
    fn wide(&mut self) -> ExprId {
        let letters: CharClass = self.shape.letters.concat().chars().collect();
        let class = self.builder.char_class(letters);
        let most = self.choices.below(6) as u32 + 1;
        match self.choices.below(3) {
            0 => self.builder.star(class),
            1 => self.builder.repeat(class, 1, Some(most)),
            _ => self.builder.plus(class),
        }
    }
}
