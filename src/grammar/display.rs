//! `Display` for grammars: one rule a line, in a notation close to EBNF, for people and tests. No front end can read
//! the notation.
//!
//! The notation: `"text"` with `\xNN` for bytes that are not UTF-8, `[a-z]` characters, `<00-1F>` bytes, `{m,n}`
//! repeats, `a & b` intersection, `!a` complement, `members(...)`, `graph(...)`, token terminals as in GBNF.

use super::expression::{Alternative, Condition, Expression, Order};
use super::ids::ExprId;
use super::{ByteSet, CharClass, Grammar, GrammarBuilder, WordGraph, WordTarget};
use std::fmt::{self, Write};

/// The most steps spent on showing one rule; the rest is replaced by `…`.
const MOST_STEPS: usize = 200_000;

/// A step of the explicit stack that replaces recursion: grammars may nest arbitrarily deep.
enum Step<'g> {
    Show(ExprId, Level),
    Text(&'g str),
    Owned(String),
}

/// How tightly a context binds; expressions that bind less tightly are parenthesised.
#[derive(Clone, Copy, PartialEq, PartialOrd)]
enum Level {
    Choice,
    Intersection,
    Sequence,
    Unit,
}

impl fmt::Debug for Grammar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Grammar")
            .field("rules", &self.rules().len())
            .field("expressions", &self.expressions().len())
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for GrammarBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GrammarBuilder").field("expressions", &self.len()).finish_non_exhaustive()
    }
}

impl fmt::Display for Grammar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for rule in self.rules() {
            write!(f, "{} ::= ", rule.name)?;
            self.show(rule.body, f)?;
            f.write_char('\n')?;
        }
        Ok(())
    }
}

impl Grammar {
    fn show(&self, id: ExprId, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut stack = vec![Step::Show(id, Level::Choice)];
        let mut steps = 0;
        while let Some(step) = stack.pop() {
            // expressions are shared, so their text can be exponentially long
            steps += 1;
            if steps > MOST_STEPS {
                return f.write_str(" …");
            }
            match step {
                Step::Text(text) => f.write_str(text)?,
                Step::Owned(text) => f.write_str(&text)?,
                Step::Show(id, level) => self.show_one(id, level, f, &mut stack)?,
            }
        }
        Ok(())
    }

    fn show_one<'g>(
        &'g self,
        id: ExprId,
        level: Level,
        f: &mut fmt::Formatter<'_>,
        stack: &mut Vec<Step<'g>>,
    ) -> fmt::Result {
        match self.expression(id) {
            Expression::Empty => f.write_str("\"\""),
            Expression::Never => f.write_str("never"),
            Expression::Bytes(bytes) => show_bytes(bytes, f),
            Expression::ByteSet(set) => show_set(set, f),
            Expression::Class(class) => show_class(class, f),
            Expression::Token(terminal) => write!(f, "{terminal}"),
            Expression::Rule(rule) => f.write_str(&self.rule(*rule).name),
            Expression::Sequence(list) => infix(list, " ", Level::Sequence, level, f, stack),
            Expression::Choice(list) => infix(list, " | ", Level::Choice, level, f, stack),
            Expression::Intersection(list) => infix(list, " & ", Level::Intersection, level, f, stack),
            Expression::Complement(body) => {
                stack.push(Step::Show(*body, Level::Unit));
                f.write_char('!')
            }
            Expression::Name(body, _) => {
                stack.push(Step::Text(")"));
                stack.push(Step::Show(*body, Level::Choice));
                f.write_str("name(")
            }
            Expression::MaxTokens { body, most } => {
                stack.push(Step::Text(")"));
                stack.push(Step::Show(*body, Level::Choice));
                write!(f, "max_tokens({most}, ")
            }
            Expression::Label(_, body) => {
                stack.push(Step::Show(*body, level));
                Ok(())
            }
            Expression::Repeat { body, min, max } => {
                let times = match (min, max) {
                    (0, None) => "*".into(),
                    (1, None) => "+".into(),
                    (0, Some(1)) => "?".into(),
                    (min, None) => format!("{{{min},}}"),
                    (min, Some(max)) if min == max => format!("{{{min}}}"),
                    (min, Some(max)) => format!("{{{min},{max}}}"),
                };
                stack.push(Step::Owned(times));
                stack.push(Step::Show(*body, Level::Unit));
                Ok(())
            }
            Expression::Distinct(list) => {
                stack.push(Step::Owned(match (list.min, list.max) {
                    (0, None) => ")".to_owned(),
                    (min, None) => format!("; at least {min})"),
                    (min, Some(max)) => format!("; {min} to {max})"),
                }));
                stack.push(Step::Show(list.separator, Level::Choice));
                stack.push(Step::Text("; separator "));
                for (place, &item) in list.items.iter().enumerate().rev() {
                    stack.push(Step::Show(item, Level::Choice));
                    stack.push(Step::Text(if place > 0 { ", " } else { "" }));
                }
                f.write_str("different(")
            }
            Expression::WordGraph(graph) => show_graph(graph, f, stack),
            Expression::Members(members) => {
                let bounds = match (members.min, members.max) {
                    (0, None) => ")".to_owned(),
                    (min, None) => format!("; at least {min})"),
                    (min, Some(max)) => format!("; {min} to {max})"),
                };
                stack.push(Step::Owned(bounds));
                stack.push(Step::Show(members.separator, Level::Choice));
                stack.push(Step::Text("; separator "));
                stack.push(Step::Owned(members.conditions.iter().map(condition_text).collect()));
                for &one in members.ones.iter().rev() {
                    stack.push(Step::Show(one, Level::Choice));
                    stack.push(Step::Text("; one "));
                }
                if let Some(rest) = members.rest {
                    stack.push(Step::Show(rest, Level::Choice));
                    stack.push(Step::Text("; rest "));
                }
                for (i, member) in members.members.iter().enumerate().rev() {
                    stack.push(Step::Show(member.value, Level::Choice));
                    let key = KeyText(&member.key).to_string();
                    let (comma, mark) =
                        (if i > 0 { ", " } else { "" }, if member.required { "" } else { "?" });
                    stack.push(Step::Owned(format!("{comma}{key}{mark}: ")));
                }
                f.write_str(match members.order {
                    Order::Declared => "members(",
                    Order::Any => "members in any order(",
                })
            }
        }
    }
}

/// A condition, with entries by their index: `; #1 or #4|#5, not #2 #3`.
fn condition_text(condition: &Condition) -> String {
    let places =
        |set: &[u32], mark: &str| set.iter().map(|at| format!("#{at}")).collect::<Vec<_>>().join(mark);
    let alternative = |alternative: &Alternative| {
        let some = alternative.some.iter().map(|set| places(set, "|"));
        let none = (!alternative.none.is_empty()).then(|| format!("not {}", places(&alternative.none, " ")));
        some.chain(none).collect::<Vec<_>>().join(", ")
    };
    format!("; {}", condition.0.iter().map(alternative).collect::<Vec<_>>().join(" or "))
}

fn show_graph<'g>(
    graph: &'g WordGraph,
    f: &mut fmt::Formatter<'_>,
    stack: &mut Vec<Step<'g>>,
) -> fmt::Result {
    stack.push(Step::Text(")"));
    for (place, &exit) in graph.exits().iter().enumerate().rev() {
        stack.push(Step::Show(exit, Level::Choice));
        stack.push(Step::Owned(format!("; exit {place}: ")));
    }
    f.write_str("graph(")?;
    for node in 0..graph.len() {
        write!(f, "{}{node}:", if node > 0 { "; " } else { "" })?;
        for edge in graph.own_edges(node) {
            f.write_char(' ')?;
            show_set(&ByteSet::range(edge.low, edge.high), f)?;
            match edge.to {
                WordTarget::Node(to) => write!(f, " {to}")?,
                WordTarget::Exit(exit) => write!(f, " exit {exit}")?,
            }
        }
        if let Some(otherwise) = graph.otherwise(node) {
            write!(f, " else {otherwise}")?;
        }
    }
    Ok(())
}

struct KeyText<'a>(&'a [u8]);

impl fmt::Display for KeyText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        show_bytes(self.0, f)
    }
}

fn infix<'g>(
    list: &[ExprId],
    between: &'static str,
    own: Level,
    outer: Level,
    f: &mut fmt::Formatter<'_>,
    stack: &mut Vec<Step<'g>>,
) -> fmt::Result {
    // operands bind one level tighter than the operator, so that the text is unambiguous
    let inner = match own {
        Level::Choice => Level::Intersection,
        Level::Intersection => Level::Sequence,
        Level::Sequence | Level::Unit => Level::Unit,
    };
    let parenthesised = own < outer;
    if parenthesised {
        stack.push(Step::Text(")"));
    }
    for (i, &operand) in list.iter().enumerate().rev() {
        stack.push(Step::Show(operand, inner));
        if i > 0 {
            stack.push(Step::Text(between));
        }
    }
    if parenthesised { f.write_char('(') } else { Ok(()) }
}

fn show_bytes(bytes: &[u8], f: &mut fmt::Formatter<'_>) -> fmt::Result {
    f.write_char('"')?;
    for chunk in bytes.utf8_chunks() {
        for c in chunk.valid().chars() {
            match c {
                '"' => f.write_str("\\\"")?,
                '\\' => f.write_str("\\\\")?,
                c if c.is_control() => write!(f, "{}", c.escape_default())?,
                c => f.write_char(c)?,
            }
        }
        for byte in chunk.invalid() {
            write!(f, "\\x{byte:02X}")?;
        }
    }
    f.write_char('"')
}

fn show_set(set: &ByteSet, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    f.write_char('<')?;
    for (i, (low, high)) in set.ranges().enumerate() {
        let comma = if i > 0 { "," } else { "" };
        if low == high { write!(f, "{comma}{low:02X}")? } else { write!(f, "{comma}{low:02X}-{high:02X}")? }
    }
    f.write_char('>')
}

fn show_class(class: &CharClass, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    f.write_char('[')?;
    for &(low, high) in class.ranges() {
        show_char(low, f)?;
        if low != high {
            if u32::from(high) - u32::from(low) > 1 {
                f.write_char('-')?;
            }
            show_char(high, f)?;
        }
    }
    f.write_char(']')
}

fn show_char(c: char, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    match c {
        '\\' | ']' | '[' | '-' | '^' => write!(f, "\\{c}"),
        ' '..='~' => f.write_char(c),
        c if c.is_alphanumeric() => f.write_char(c),
        c => write!(f, "\\u{{{:X}}}", u32::from(c)),
    }
}
