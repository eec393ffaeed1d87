//! Conditions and calls: an operator-precedence parser into an arena, without recursion.
//!
//! Children precede their parents in the arena, and the nodes of one condition are consecutive, so a condition is
//! traversed in a loop.

use crate::procedures::language::value::Literal;
use grammata::diagnostic::Place;
use std::cmp::Ordering;

/// The index of an expression in [`Expressions`].
pub(in crate::procedures) type ExprId = u32;

/// An operator of comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::procedures) enum Operator {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

impl Operator {
    /// Returns whether the comparison holds between two values of this order; between values without an order only `!=`
    /// holds.
    pub(in crate::procedures) fn holds(self, order: Option<Ordering>) -> bool {
        match (self, order) {
            (Operator::NotEqual, order) => order != Some(Ordering::Equal),
            (_, None) => false,
            (Operator::Equal, Some(order)) => order.is_eq(),
            (Operator::Less, Some(order)) => order.is_lt(),
            (Operator::LessOrEqual, Some(order)) => order.is_le(),
            (Operator::Greater, Some(order)) => order.is_gt(),
            (Operator::GreaterOrEqual, Some(order)) => order.is_ge(),
        }
    }
}

/// A node of a condition.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::procedures) enum Expr {
    /// Words that are not an expression.
    Prose,
    Literal(Literal),
    /// A slot by name, with its register once the meaning is computed.
    Slot {
        name: String,
        register: Option<u32>,
    },
    /// A call, by its index among [`Expressions::calls`]; its register is that of the first slot of its response.
    Call {
        call: usize,
        register: Option<u32>,
    },
    Not(ExprId),
    And(ExprId, ExprId),
    Or(ExprId, ExprId),
    Compare(Operator, ExprId, ExprId),
}

/// A call as it is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::procedures) struct Call {
    /// The name with its prefix (`API` or `ANSWER`), if it has one.
    pub(in crate::procedures) name: String,
    /// Names, strings and numbers, without quotes.
    pub(in crate::procedures) arguments: Vec<String>,
    pub(in crate::procedures) place: Place,
    /// The node that the name refers to; `None` before names are resolved, and for unknown names.
    pub(in crate::procedures) node: Option<usize>,
}

/// A condition: the consecutive nodes `first..=root`.
#[derive(Clone, Debug)]
pub(in crate::procedures) struct Condition {
    pub(in crate::procedures) first: ExprId,
    pub(in crate::procedures) root: ExprId,
    pub(in crate::procedures) text: String,
    pub(in crate::procedures) place: Place,
}

/// All conditions and calls of a procedure.
#[derive(Debug, Default)]
pub(in crate::procedures) struct Expressions {
    pub(in crate::procedures) nodes: Vec<Expr>,
    pub(in crate::procedures) calls: Vec<Call>,
    /// The conditions, in the order of the text.
    pub(in crate::procedures) conditions: Vec<Condition>,
}

#[derive(Clone, Debug, PartialEq)]
enum Token<'t> {
    Number(&'t str),
    Text(&'t str),
    Name(&'t str),
    Compare(Operator),
    Symbol(&'t str),
}

/// An open bracket, or an operator that waits for its right operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Pending {
    Bracket,
    Or,
    And,
    Not,
    Compare(Operator),
}

impl Pending {
    fn precedence(self) -> u8 {
        match self {
            Pending::Bracket => 0,
            Pending::Or => 1,
            Pending::And => 2,
            Pending::Not => 3,
            Pending::Compare(_) => 4,
        }
    }
}

impl Expressions {
    pub(in crate::procedures) fn get(&self, id: ExprId) -> &Expr {
        &self.nodes[id as usize]
    }

    fn add(&mut self, node: Expr) -> ExprId {
        self.nodes.push(node);
        (self.nodes.len() - 1) as ExprId
    }

    /// Reads a condition; a text that is not an expression is prose. Returns its index in [`Expressions::conditions`].
    pub(super) fn condition(&mut self, text: &str, place: &Place) -> usize {
        let (first, calls) = (self.nodes.len(), self.calls.len());
        let root = self.parse(text, place).unwrap_or_else(|| {
            self.nodes.truncate(first);
            self.calls.truncate(calls);
            self.add(Expr::Prose)
        });
        let condition =
            Condition { first: first as ExprId, root, text: text.to_owned(), place: place.clone() };
        self.conditions.push(condition);
        self.conditions.len() - 1
    }

    /// Reads a statement or the right side of an assignment. Returns `None` if it is neither one call nor one literal.
    pub(super) fn statement(&mut self, text: &str, place: &Place) -> Option<Expr> {
        let (first, calls) = (self.nodes.len(), self.calls.len());
        let read = self.parse(text, place).map(|root| self.get(root).clone());
        self.nodes.truncate(first);
        let read = read.filter(|read| matches!(read, Expr::Call { .. } | Expr::Literal(_)));
        if !matches!(read, Some(Expr::Call { .. })) {
            self.calls.truncate(calls);
        }
        read
    }

    fn parse(&mut self, text: &str, place: &Place) -> Option<ExprId> {
        let tokens = tokens(text)?;
        let mut tokens = tokens.iter();
        let mut pending: Vec<Pending> = Vec::new();
        let mut operands: Vec<ExprId> = Vec::new();
        loop {
            // an operand
            match tokens.next()? {
                Token::Symbol("(") => {
                    pending.push(Pending::Bracket);
                    continue;
                }
                Token::Name("not") if !matches!(pending.last(), Some(Pending::Compare(_))) => {
                    pending.push(Pending::Not);
                    continue;
                }
                Token::Number(number) => {
                    operands.push(self.add(Expr::Literal(Literal::Number(number.parse().ok()?))))
                }
                Token::Text(text) => {
                    operands.push(self.add(Expr::Literal(Literal::Text((*text).to_owned()))))
                }
                Token::Name(name) => {
                    let operand = self.named(name, &mut tokens, place)?;
                    operands.push(operand);
                }
                Token::Symbol(_) | Token::Compare(_) => return None,
            }
            // closing brackets, then an operator or the end
            let operator = loop {
                match tokens.next() {
                    None => break None,
                    Some(Token::Symbol(")")) => {
                        self.reduce(&mut pending, &mut operands, 1)?;
                        pending.pop().filter(|&last| last == Pending::Bracket)?;
                    }
                    Some(Token::Compare(operator)) => break Some(Pending::Compare(*operator)),
                    Some(Token::Name("and")) => break Some(Pending::And),
                    Some(Token::Name("or")) => break Some(Pending::Or),
                    Some(_) => return None,
                }
            };
            match operator {
                None => {
                    self.reduce(&mut pending, &mut operands, 1)?;
                    return if pending.is_empty() { operands.pop() } else { None };
                }
                // comparisons do not chain
                Some(Pending::Compare(_)) if matches!(pending.last(), Some(Pending::Compare(_))) => {
                    return None;
                }
                Some(operator) => {
                    self.reduce(&mut pending, &mut operands, operator.precedence())?;
                    pending.push(operator);
                }
            }
        }
    }

    /// Completes the pending operators of at least the precedence `least`. Returns `None` if an operand is missing.
    fn reduce(&mut self, pending: &mut Vec<Pending>, operands: &mut Vec<ExprId>, least: u8) -> Option<()> {
        while let Some(&operator) = pending.last().filter(|operator| operator.precedence() >= least) {
            pending.pop();
            let right = operands.pop()?;
            let node = match operator {
                Pending::Not => Expr::Not(right),
                Pending::And => Expr::And(operands.pop()?, right),
                Pending::Or => Expr::Or(operands.pop()?, right),
                Pending::Compare(operator) => Expr::Compare(operator, operands.pop()?, right),
                Pending::Bracket => return None,
            };
            operands.push(self.add(node));
        }
        Some(())
    }

    /// Reads a literal, a slot or a call that begins with a name. Returns `None` if the name is a keyword or the call
    /// is malformed.
    fn named(
        &mut self,
        name: &str,
        tokens: &mut std::slice::Iter<'_, Token<'_>>,
        place: &Place,
    ) -> Option<ExprId> {
        if matches!(name, "and" | "or" | "not" | "if" | "else") {
            return None;
        }
        if name.eq_ignore_ascii_case("true") || name.eq_ignore_ascii_case("false") {
            return Some(self.add(Expr::Literal(Literal::Boolean(name.eq_ignore_ascii_case("true")))));
        }
        if tokens.as_slice().first() != Some(&Token::Symbol("(")) {
            return Some(self.add(Expr::Slot { name: name.to_owned(), register: None }));
        }
        tokens.next();
        let mut arguments = Vec::new();
        loop {
            match tokens.next()? {
                Token::Symbol(")") => break,
                Token::Symbol("[" | "]" | "," | "...") => {}
                Token::Name(argument) | Token::Text(argument) | Token::Number(argument) => {
                    arguments.push((*argument).to_owned());
                }
                Token::Symbol(_) | Token::Compare(_) => return None,
            }
        }
        self.calls.push(Call { name: name.to_owned(), arguments, place: place.clone(), node: None });
        Some(self.add(Expr::Call { call: self.calls.len() - 1, register: None }))
    }
}

/// Returns whether a text is a name without a dot.
pub(in crate::procedures) fn is_name(text: &str) -> bool {
    name(text, false) == text.len() && !text.is_empty()
}

/// Returns the length in bytes of the name at the beginning of a text, 0 if there is none; with `dots` it may contain
/// one dot.
fn name(text: &str, dots: bool) -> usize {
    if !text.starts_with(|c: char| c.is_alphabetic() || c == '_') {
        return 0;
    }
    let word = |text: &str| text.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(text.len());
    let first = word(text);
    match text[first..].strip_prefix('.') {
        Some(rest) if dots && rest.starts_with(|c: char| c.is_alphabetic() || c == '_') => {
            first + 1 + word(rest)
        }
        _ => first,
    }
}

/// Returns the length in bytes of the number at the beginning of a text; 0 if there is none.
fn number(text: &str) -> usize {
    let digits = |text: &str| text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let sign = usize::from(text.starts_with('-'));
    let whole = digits(&text[sign..]);
    if whole == 0 {
        return 0;
    }
    let end = sign + whole;
    match text[end..].strip_prefix('.').map(digits) {
        Some(fraction) if fraction > 0 => end + 1 + fraction,
        _ => end,
    }
}

/// Returns the tokens of a text; `None` if it has other characters, or a string that is not closed.
fn tokens(text: &str) -> Option<Vec<Token<'_>>> {
    const COMPARISONS: [(&str, Operator); 6] = [
        ("==", Operator::Equal),
        ("!=", Operator::NotEqual),
        (">=", Operator::GreaterOrEqual),
        ("<=", Operator::LessOrEqual),
        (">", Operator::Greater),
        ("<", Operator::Less),
    ];
    const SYMBOLS: [&str; 7] = ["(", ")", "[", "]", ",", "=", "..."];
    let mut tokens = Vec::new();
    let mut rest = text.trim();
    while !rest.is_empty() {
        let (length, token) = if let (length @ 1.., _) = (number(rest), ()) {
            (length, Token::Number(&rest[..length]))
        } else if let (length @ 1.., _) = (name(rest, true), ()) {
            (length, Token::Name(&rest[..length]))
        } else if let Some(quote) = rest.chars().next().filter(|c| matches!(c, '"' | '\'')) {
            let inner = rest[1..].find(quote)?;
            (inner + 2, Token::Text(&rest[1..=inner]))
        } else if let Some((written, operator)) =
            COMPARISONS.iter().find(|(written, _)| rest.starts_with(written))
        {
            (written.len(), Token::Compare(*operator))
        } else {
            let symbol = SYMBOLS.iter().find(|symbol| rest.starts_with(**symbol))?;
            (symbol.len(), Token::Symbol(symbol))
        };
        tokens.push(token);
        rest = rest[length..].trim_start();
    }
    Some(tokens)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the condition with all brackets written.
    fn written(text: &str) -> String {
        let mut all = Expressions::default();
        let condition = all.condition(text, &Place::Whole);
        let condition = all.conditions[condition].clone();
        let mut texts: Vec<String> = Vec::new();
        for node in &all.nodes {
            let of = |id: &ExprId| texts[*id as usize].clone();
            let text = match node {
                Expr::Prose => "prose".to_owned(),
                Expr::Literal(literal) => format!("{literal:?}"),
                Expr::Slot { name, .. } => name.clone(),
                Expr::Call { call, .. } => {
                    format!("{}{:?}", all.calls[*call].name, all.calls[*call].arguments)
                }
                Expr::Not(a) => format!("(not {})", of(a)),
                Expr::And(a, b) => format!("({} and {})", of(a), of(b)),
                Expr::Or(a, b) => format!("({} or {})", of(a), of(b)),
                Expr::Compare(operator, a, b) => format!("({} {operator:?} {})", of(a), of(b)),
            };
            texts.push(text);
        }
        texts[condition.root as usize].clone()
    }

    #[test]
    fn precedence_is_that_of_the_grammar() {
        for (text, expected) in [
            ("a or b and not c == 1", "(a or (b and (not (c Equal Number(1.0)))))"),
            ("(a or b) and c", "((a or b) and c)"),
            ("a and b and c", "((a and b) and c)"),
            ("not not TRUE", "(not (not Boolean(true)))"),
            (
                "x.f(a, ['b', -1.5], ...) or \"s\" != s",
                "(x.f[\"a\", \"b\", \"-1.5\"] or (Text(\"s\") NotEqual s))",
            ),
            ("((a == b) == c)", "((a Equal b) Equal c)"),
            ("a == b == c", "prose"),
            ("a == not b", "prose"),
            ("the user agrees", "prose"),
            ("a and", "prose"),
            ("(a", "prose"),
            ("a)", "prose"),
            ("f(", "prose"),
            ("", "prose"),
            ("a = b", "prose"),
        ] {
            assert_eq!(written(text), expected, "{text}");
        }
    }

    #[test]
    fn depth_is_no_matter() {
        let deep = format!("{}a{}", "(".repeat(20_000), ")".repeat(20_000));
        assert_eq!(written(&deep), "a");
        let mut all = Expressions::default();
        all.condition(&"not ".repeat(20_000), &Place::Whole);
        all.condition(&format!("{}a", "not ".repeat(20_000)), &Place::Whole);
        assert_eq!(all.nodes.len(), 20_002);
    }
}
