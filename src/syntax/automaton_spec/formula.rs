//! Boolean formulas over the variables of a spec: the notation of `requires`, and its evaluation.
//!
//! A formula is stored in postfix order, so that it is read, evaluated and rewritten by loops instead of recursion.

use std::fmt;

/// A boolean formula over the variables of a spec (see [`Facts`](super::Facts)).
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Formula {
    /// Nodes in postfix order; empty means true.
    nodes: Vec<Node>,
}

/// One node of a formula in postfix order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Node {
    /// Whether the variable (first number) has the value (second number).
    Is(usize, u32),
    Not,
    And,
    Or,
}

impl Formula {
    /// The formula that is always true.
    pub const ALWAYS: Formula = Formula { nodes: Vec::new() };

    /// The formula that is always true, [`Formula::ALWAYS`].
    pub fn always() -> Formula {
        Formula::ALWAYS
    }

    /// Whether the formula is [`Formula::ALWAYS`]. `false` does not mean that the formula can be false.
    pub fn is_always(&self) -> bool {
        self.nodes.is_empty()
    }

    /// The formula that `variable` has `value`.
    pub(super) fn is(variable: usize, value: u32) -> Formula {
        Formula { nodes: vec![Node::Is(variable, value)] }
    }

    /// The negation of a formula other than [`Formula::ALWAYS`].
    pub(super) fn negated(mut self) -> Formula {
        self.nodes.push(Node::Not);
        self
    }

    /// The conjunction of the formulas; [`Formula::ALWAYS`] if there are none.
    pub(super) fn all(parts: impl IntoIterator<Item = Formula>) -> Formula {
        Formula::joined(parts, Node::And)
    }

    /// The disjunction of the formulas. There must be at least one, and none may be [`Formula::ALWAYS`].
    pub(super) fn any(parts: impl IntoIterator<Item = Formula>) -> Formula {
        Formula::joined(parts, Node::Or)
    }

    fn joined(parts: impl IntoIterator<Item = Formula>, operator: Node) -> Formula {
        let mut nodes = Vec::new();
        for part in parts.into_iter().filter(|part| !part.is_always()) {
            let is_first = nodes.is_empty();
            nodes.extend(part.nodes);
            if !is_first {
                nodes.push(operator);
            }
        }
        Formula { nodes }
    }

    /// Evaluates the formula; `value` returns the number of a variable's value.
    pub fn holds(&self, value: impl Fn(usize) -> u32) -> bool {
        let mut stack: Vec<bool> = Vec::new();
        for node in &self.nodes {
            match *node {
                Node::Is(variable, wanted) => stack.push(value(variable) == wanted),
                Node::Not => {
                    if let Some(top) = stack.last_mut() {
                        *top = !*top;
                    }
                }
                Node::And | Node::Or => {
                    let right = stack.pop().unwrap_or_default();
                    if let Some(left) = stack.last_mut() {
                        *left = if *node == Node::And { *left && right } else { *left || right };
                    }
                }
            }
        }
        stack.pop().unwrap_or(true)
    }

    /// The comparisons in the formula, in its order, duplicates included: variables, and the values that they are
    /// compared with.
    pub fn atoms(&self) -> impl Iterator<Item = (usize, u32)> {
        self.nodes.iter().filter_map(|node| match *node {
            Node::Is(variable, value) => Some((variable, value)),
            Node::Not | Node::And | Node::Or => None,
        })
    }

    /// The variables that occur under an odd number of negations, in reverse order. A variable is listed once for each
    /// such occurrence.
    pub(crate) fn negated_variables(&self) -> Vec<usize> {
        let mut found = Vec::new();
        // from the root backwards: the last operand of a node directly precedes the node
        let mut signs = vec![true];
        for node in self.nodes.iter().rev() {
            let Some(sign) = signs.pop() else { break };
            match *node {
                Node::Is(variable, _) if !sign => found.push(variable),
                Node::Is(..) => {}
                Node::Not => signs.push(!sign),
                Node::And | Node::Or => signs.extend([sign, sign]),
            }
        }
        found
    }

    /// The conjuncts: formulas without `and` at their root whose conjunction is this formula. Empty for
    /// [`Formula::ALWAYS`].
    pub(crate) fn conjuncts(&self) -> Vec<Formula> {
        // for each node, the index where its subtree begins
        let mut starts: Vec<usize> = Vec::with_capacity(self.nodes.len());
        for (place, node) in self.nodes.iter().enumerate() {
            let before = |end: usize, starts: &[usize]| end.checked_sub(1).map_or(0, |last| starts[last]);
            starts.push(match node {
                Node::Is(..) => place,
                Node::Not => before(place, &starts),
                Node::And | Node::Or => before(before(place, &starts), &starts),
            });
        }
        let mut found = Vec::new();
        let mut open = vec![self.nodes.len()];
        while let Some(end) = open.pop() {
            let Some(last) = end.checked_sub(1) else { continue };
            match self.nodes[last] {
                Node::And => open.extend([last, starts[last - 1]]),
                _ => found.push(Formula { nodes: self.nodes[starts[last]..end].to_vec() }),
            }
        }
        found
    }

    /// The formula with each variable replaced by `number(variable)`.
    pub fn renumbered(&self, number: impl Fn(usize) -> usize) -> Formula {
        let renumber = |node: &Node| match *node {
            Node::Is(variable, value) => Node::Is(number(variable), value),
            other => other,
        };
        Formula { nodes: self.nodes.iter().map(renumber).collect() }
    }

    /// The formula as text; `atom` returns the text of a comparison. Each operand with another operator than its parent
    /// is in parentheses, except `not`. Empty for [`Formula::ALWAYS`].
    pub(crate) fn text(&self, atom: impl Fn(usize, u32) -> String) -> String {
        let mut stack: Vec<(String, Option<Node>)> = Vec::new();
        let wrap = |(text, operator): (String, Option<Node>), around: Node| match operator {
            Some(inner) if inner != around && inner != Node::Not => format!("({text})"),
            _ => text,
        };
        for &node in &self.nodes {
            let made = match node {
                Node::Is(variable, value) => (atom(variable, value), None),
                Node::Not => {
                    let inner = stack.pop().unwrap_or_default();
                    (format!("not {}", wrap(inner, Node::Not)), Some(Node::Not))
                }
                Node::And | Node::Or => {
                    let right = wrap(stack.pop().unwrap_or_default(), node);
                    let left = wrap(stack.pop().unwrap_or_default(), node);
                    let word = if node == Node::And { "and" } else { "or" };
                    (format!("{left} {word} {right}"), Some(node))
                }
            };
            stack.push(made);
        }
        stack.pop().map(|(text, _)| text).unwrap_or_default()
    }
}

/// A syntax error in a formula: what was found at a character (from 1), and what was expected there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Fault {
    pub(super) found: String,
    pub(super) character: usize,
    pub(super) wanted: &'static str,
}

/// A name in a formula as written, and the value with which it is compared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct WrittenAtom {
    pub(super) name: String,
    /// The value, and whether it is compared by `==` (true) or `!=` (false); `None` without a comparison.
    pub(super) compared: Option<(String, bool)>,
    /// The character, from 1, at which the name begins.
    pub(super) character: usize,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Token {
    Open,
    Close,
    Not,
    And,
    Or,
    Equal,
    Unequal,
    Name(String),
}

impl fmt::Display for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Token::Open => "(",
            Token::Close => ")",
            Token::Not => "not",
            Token::And => "and",
            Token::Or => "or",
            Token::Equal => "==",
            Token::Unequal => "!=",
            Token::Name(name) => name,
        })
    }
}

const OPERAND: &str = "a name, `not` or `(`";
const OPERATOR: &str = "`and`, `or`, `)` or the end";

/// Parses the text of a formula; `atom` returns the formula of a name and its comparison.
///
/// ```text
/// formula = term { "or" term }    term = factor { "and" factor }
/// factor  = "not" factor | "(" formula ")" | name [ ("==" | "!=") name ]
/// ```
/// A name is a run of characters other than white space, parentheses, quotes, `=` and `!`, or any text between two
/// quotes of one kind. Without quotes, `and`, `or` and `not` are not names. `atom` may return `None` after reporting an
/// error; the result is then `None`.
///
/// # Errors
/// The first syntax error.
pub(super) fn parse(
    text: &str,
    mut atom: impl FnMut(&WrittenAtom) -> Option<Formula>,
) -> Result<Option<Formula>, Fault> {
    let tokens = tokens(text)?;
    let end = text.chars().count() + 1;
    let mut tokens = tokens.into_iter().peekable();
    // the shunting-yard algorithm (Dijkstra 1961), with operands, and with operators and their positions
    let mut operands: Vec<Formula> = Vec::new();
    let mut operators: Vec<(Token, usize)> = Vec::new();
    let mut is_known = true;
    loop {
        // an operand
        loop {
            match tokens.next() {
                Some((token @ (Token::Not | Token::Open), at)) => operators.push((token, at)),
                Some((Token::Name(name), character)) => {
                    let mut written = WrittenAtom { name, compared: None, character };
                    if let Some((sign, _)) =
                        tokens.next_if(|(token, _)| matches!(token, Token::Equal | Token::Unequal))
                    {
                        match tokens.next() {
                            Some((Token::Name(value), _)) => {
                                written.compared = Some((value, sign == Token::Equal));
                            }
                            other => return Err(fault(other, end, "a value")),
                        }
                    }
                    let made = atom(&written);
                    is_known &= made.is_some();
                    // an unresolved name is replaced, to keep the shape of the formula
                    operands.push(made.unwrap_or_else(|| Formula::is(0, 0)));
                    break;
                }
                other => return Err(fault(other, end, OPERAND)),
            }
        }
        // what follows an operand: closing parentheses, then an operator or the end
        loop {
            match tokens.next() {
                Some((Token::Close, at)) => {
                    reduce(&mut operators, &mut operands, 0);
                    if operators.pop().is_none() {
                        return Err(fault(Some((Token::Close, at)), end, "`and`, `or` or the end"));
                    }
                    reduce(&mut operators, &mut operands, 3);
                }
                Some((token @ (Token::And | Token::Or), at)) => {
                    reduce(&mut operators, &mut operands, if token == Token::And { 2 } else { 1 });
                    operators.push((token, at));
                    break;
                }
                None => {
                    reduce(&mut operators, &mut operands, 0);
                    return match operators.pop() {
                        None => Ok(operands.pop().filter(|_| is_known)),
                        Some((open, at)) => Err(fault(Some((open, at)), end, "a `)` for each `(`")),
                    };
                }
                other => return Err(fault(other, end, OPERATOR)),
            }
        }
    }
}

/// Applies the operators on the stack that bind at least as strongly as `strength` (3 for `not`, 2 for `and`, 1 for
/// `or`), down to the last open parenthesis. 0 counts as 1.
fn reduce(operators: &mut Vec<(Token, usize)>, operands: &mut Vec<Formula>, strength: u8) {
    let of = |token: &Token| match token {
        Token::Not => 3,
        Token::And => 2,
        Token::Or => 1,
        _ => 0,
    };
    while let Some((token, _)) = operators.last() {
        if of(token) < strength.max(1) {
            return;
        }
        let Some((token, _)) = operators.pop() else { return };
        let Some(right) = operands.pop() else { return };
        let made = match token {
            Token::Not => right.negated(),
            other => {
                let Some(left) = operands.pop() else { return };
                if other == Token::And { Formula::all([left, right]) } else { Formula::any([left, right]) }
            }
        };
        operands.push(made);
    }
}

fn fault(found: Option<(Token, usize)>, end: usize, wanted: &'static str) -> Fault {
    match found {
        Some((token, character)) => Fault { found: token.to_string(), character, wanted },
        None => Fault { found: "the end".to_owned(), character: end, wanted },
    }
}

/// The tokens of a formula, each with the character, from 1, at which it begins.
///
/// # Errors
/// A single `=` or `!`, and an unclosed quote.
fn tokens(text: &str) -> Result<Vec<(Token, usize)>, Fault> {
    let mut found = Vec::new();
    let mut rest = text.chars().zip(1..).peekable();
    while let Some((c, at)) = rest.next() {
        let token = match c {
            _ if c.is_whitespace() => continue,
            '(' => Token::Open,
            ')' => Token::Close,
            '=' | '!' => match rest.next_if(|&(next, _)| next == '=') {
                Some(_) if c == '=' => Token::Equal,
                Some(_) => Token::Unequal,
                None => {
                    let wanted = "`==`, `!=` or `not`";
                    return Err(Fault { found: c.to_string(), character: at, wanted });
                }
            },
            '"' | '\'' => {
                let mut name = String::new();
                loop {
                    match rest.next() {
                        Some((next, _)) if next == c => break Token::Name(name),
                        Some((next, _)) => name.push(next),
                        None => {
                            let wanted = "a second quote after the name";
                            return Err(Fault { found: c.to_string(), character: at, wanted });
                        }
                    }
                }
            }
            _ => {
                let mut name = String::from(c);
                let goes_on = |c: char| !c.is_whitespace() && !"()='\"!".contains(c);
                while let Some((next, _)) = rest.next_if(|&(next, _)| goes_on(next)) {
                    name.push(next);
                }
                match name.as_str() {
                    "and" => Token::And,
                    "or" => Token::Or,
                    "not" => Token::Not,
                    _ => Token::Name(name),
                }
            }
        };
        found.push((token, at));
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::{Formula, parse};

    /// Parses a formula over the variables `a` to `z`. A name alone means that the variable has the value 1.
    fn read(text: &str) -> Result<Formula, String> {
        let atom = |atom: &super::WrittenAtom| {
            let variable = usize::from(atom.name.as_bytes()[0] - b'a');
            Some(match &atom.compared {
                None => Formula::is(variable, 1),
                Some((value, true)) => Formula::is(variable, value.parse().unwrap()),
                Some((value, false)) => Formula::is(variable, value.parse().unwrap()).negated(),
            })
        };
        match parse(text, atom) {
            Ok(formula) => Ok(formula.unwrap()),
            Err(fault) => Err(format!("{} {}: {}", fault.character, fault.found, fault.wanted)),
        }
    }

    #[test]
    fn operators_bind_as_documented() {
        let cases = [
            ("a or b and c", "a or (b and c)"),
            ("not a and b", "not a and b"),
            ("not (a or b)", "not (a or b)"),
            ("not not a", "not not a"),
            ("a and (b or c) and not d", "a and (b or c) and not d"),
            ("(((a)))", "a"),
            ("'a' or \"b\"", "a or b"),
            ("z == 2 and y != 1", "z=2 and not y=1"),
            ("a or b or c and d or e", "a or b or (c and d) or e"),
        ];
        for (text, expected) in cases {
            let shown = read(text).unwrap().text(|variable, value| {
                let name = char::from(b'a' + variable as u8);
                if name < 'n' { name.to_string() } else { format!("{name}={value}") }
            });
            assert_eq!(shown, expected, "{text}");
        }
    }

    #[test]
    fn faults_have_their_place() {
        let cases = [
            ("", "1 the end"),
            ("a and", "6 the end"),
            ("a b", "3 b"),
            ("(a", "1 ("),
            ("a)", "2 )"),
            ("a = b", "3 ="),
            ("a == ", "6 the end"),
            ("not", "4 the end"),
            ("'a", "1 '"),
            ("a or or b", "6 or"),
            ("()", "2 )"),
            ("a == not", "6 not"),
        ];
        for (text, expected) in cases {
            let found = read(text).unwrap_err();
            assert!(found.starts_with(expected), "{text}: {found}");
        }
    }

    #[test]
    fn a_deep_formula_takes_no_stack() {
        let deep = format!("{}a{}", "not (".repeat(50_000), ")".repeat(50_000));
        let formula = read(&deep).unwrap();
        assert!(formula.holds(|_| 1));
        assert_eq!(formula.negated_variables(), [0; 0]);
        assert_eq!(formula.conjuncts().len(), 1);
    }

    #[test]
    fn conjuncts_are_the_parts_of_a_conjunction() {
        let formula = read("a and (b or c and d) and not (e and f)").unwrap();
        let shown = |formula: &Formula| formula.text(|variable, _| char::from(b'a' + variable as u8).into());
        let parts: Vec<String> = formula.conjuncts().iter().map(shown).collect();
        assert_eq!(parts.len(), 3);
        for part in ["a", "b or (c and d)", "not (e and f)"] {
            assert!(parts.iter().any(|found| found == part), "{parts:?}");
        }
        for bits in 0..64u32 {
            let value = |variable: usize| bits >> variable & 1;
            assert_eq!(formula.holds(value), formula.conjuncts().iter().all(|part| part.holds(value)));
        }
        assert_eq!(formula.negated_variables(), [5, 4]);
    }
}
