//! A naive recogniser of the IR, for small grammars and short texts. It shares no code with the engine: for
//! each place of the text, from the last to the first, the ends of every expression are grown to a fixpoint.

use grammata::grammar::{ExprId, Expression, Grammar, Members, Order};
use std::collections::BTreeSet;

type Ends = BTreeSet<usize>;

/// Whether `text` is in the grammar's language. Complements are not handled: no front end tested with this
/// makes any.
pub(crate) fn matches(grammar: &Grammar, text: &[u8]) -> bool {
    let count = grammar.expressions().len();
    let mut table: Vec<Vec<Ends>> = vec![vec![Ends::new(); count]; text.len() + 1];
    for start in (0..=text.len()).rev() {
        loop {
            let mut grown = false;
            for index in 0..count {
                let ends = ends(grammar, text, &table, start, &grammar.expressions()[index]);
                if ends.len() > table[start][index].len() {
                    table[start][index] = ends;
                    grown = true;
                }
            }
            if !grown {
                break;
            }
        }
    }
    table[0][grammar.rule(grammar.root()).body.index()].contains(&text.len())
}

fn after(table: &[Vec<Ends>], starts: &Ends, id: ExprId) -> Ends {
    starts.iter().flat_map(|&start| table[start][id.index()].iter().copied()).collect()
}

fn ends(grammar: &Grammar, text: &[u8], table: &[Vec<Ends>], start: usize, expression: &Expression) -> Ends {
    let rest = &text[start..];
    match expression {
        Expression::Empty => Ends::from([start]),
        Expression::Never => Ends::new(),
        Expression::Bytes(bytes) if rest.starts_with(bytes) => Ends::from([start + bytes.len()]),
        Expression::ByteSet(set) if rest.first().is_some_and(|&byte| set.contains(byte)) => {
            Ends::from([start + 1])
        }
        Expression::Class(class) => {
            let first = rest.utf8_chunks().next().and_then(|chunk| chunk.valid().chars().next());
            let inside = |c: &char| class.ranges().iter().any(|(low, high)| low <= c && c <= high);
            first.filter(inside).map(|c| start + c.len_utf8()).into_iter().collect()
        }
        Expression::Bytes(_) | Expression::ByteSet(_) => Ends::new(),
        Expression::Sequence(list) => {
            list.iter().fold(Ends::from([start]), |starts, &id| after(table, &starts, id))
        }
        Expression::Choice(list) => {
            list.iter().flat_map(|id| table[start][id.index()].iter().copied()).collect()
        }
        Expression::Repeat { body, min, max } => {
            let mut starts = Ends::from([start]);
            for _ in 0..*min {
                starts = after(table, &starts, *body);
            }
            let mut all = starts.clone();
            for _ in 0..max.map_or(text.len() as u32 + 1, |max| max - min) {
                starts = after(table, &starts, *body);
                if starts.is_subset(&all) {
                    break;
                }
                all.extend(&starts);
            }
            all
        }
        Expression::Rule(rule) => table[start][grammar.rule(*rule).body.index()].clone(),
        Expression::Members(members) => member_ends(text, table, start, members),
        Expression::Intersection(list) => {
            let mut sets = list.iter().map(|id| &table[start][id.index()]);
            let first = sets.next().cloned().unwrap_or_default();
            sets.fold(first, |all, set| all.intersection(set).copied().collect())
        }
        Expression::Label(_, body) => table[start][body.index()].clone(),
        Expression::Complement(_) => unreachable!("see the contract"),
    }
}

/// All ends of a list of members: a search over (place, members seen).
fn member_ends(text: &[u8], table: &[Vec<Ends>], start: usize, members: &Members) -> Ends {
    assert_eq!(members.order, Order::Any, "no front end tested with this makes declared orders");
    let required: u64 =
        members.members.iter().enumerate().filter(|(_, m)| m.required).map(|(i, _)| 1 << i).sum();
    let mut ends = Ends::new();
    if required == 0 {
        ends.insert(start);
    }
    let mut seen = BTreeSet::new();
    let mut open = vec![(start, 0_u64, true)];
    while let Some((at, taken, first)) = open.pop() {
        let starts =
            if first { Ends::from([at]) } else { after(table, &Ends::from([at]), members.separator) };
        for start in starts {
            let mut next: Vec<(usize, u64)> = Vec::new();
            for (i, member) in members.members.iter().enumerate().filter(|(i, _)| taken >> i & 1 == 0) {
                if text[start..].starts_with(&member.key) {
                    let value = &table[start + member.key.len()][member.value.index()];
                    next.extend(value.iter().map(|&end| (end, taken | 1 << i)));
                }
            }
            if let Some(rest) = members.rest {
                next.extend(table[start][rest.index()].iter().map(|&end| (end, taken)));
            }
            for (end, taken) in next {
                if taken & required == required {
                    ends.insert(end);
                }
                if seen.insert((end, taken)) {
                    open.push((end, taken, false));
                }
            }
        }
    }
    ends
}
