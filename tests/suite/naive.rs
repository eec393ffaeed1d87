//! A matcher that is obviously right and slow: the ends of every expression from every place of a short
//! text, iterated until nothing changes.

use grammata::grammar::{Expression, Grammar};

/// Sets of places in the text, as bits.
type Places = u64;

/// Whether `text`, of fewer than 64 bytes, is in the language of `grammar`.
pub(crate) fn matches(grammar: &Grammar, text: &[u8]) -> bool {
    assert!(text.len() < 64, "the places of the text fit in 64 bits");
    let width = text.len() + 1;
    let mut ends: Vec<Vec<Places>> = vec![vec![0; width]; grammar.expressions().len()];
    loop {
        let mut changed = false;
        for (index, expression) in grammar.expressions().iter().enumerate() {
            for at in 0..width {
                let now = ends_of(grammar, expression, text, at, &ends);
                changed |= std::mem::replace(&mut ends[index][at], now) != now;
            }
        }
        if !changed {
            break;
        }
    }
    let body = grammar.rule(grammar.root()).body;
    ends[body.index()][0] >> text.len() & 1 == 1
}

fn ends_of(
    grammar: &Grammar,
    expression: &Expression,
    text: &[u8],
    at: usize,
    ends: &[Vec<Places>],
) -> Places {
    let rest = &text[at..];
    let after = |from: Places, ends: &[Places]| -> Places {
        (0..ends.len()).filter(|i| from >> i & 1 == 1).fold(0, |all, i| all | ends[i])
    };
    match expression {
        Expression::Empty => 1 << at,
        Expression::Never => 0,
        Expression::Bytes(bytes) if rest.starts_with(bytes) => 1 << (at + bytes.len()),
        Expression::Bytes(_) => 0,
        Expression::ByteSet(set) => match rest.first() {
            Some(byte) if set.contains(*byte) => 1 << (at + 1),
            _ => 0,
        },
        Expression::Class(class) => {
            let valid = rest.utf8_chunks().next().map_or("", |chunk| chunk.valid());
            match valid.chars().next() {
                Some(c) if class.contains(c) => 1 << (at + c.len_utf8()),
                _ => 0,
            }
        }
        Expression::Sequence(list) => {
            list.iter().fold(1 << at, |from, part| after(from, &ends[part.index()]))
        }
        Expression::Choice(list) => list.iter().fold(0, |all, part| all | ends[part.index()][at]),
        Expression::Intersection(list) => list.iter().fold(!0, |all, part| all & ends[part.index()][at]),
        Expression::Repeat { body, min, max } => {
            let body = &ends[body.index()];
            let mut all = 0;
            let mut from: Places = 1 << at;
            // after more rounds than there are places nothing new comes
            let last = 200;
            for round in 0..=last {
                if round == last || u64::from(*min) <= round {
                    all |= from;
                }
                if *max == u32::try_from(round).ok() {
                    break;
                }
                from = after(from, body);
            }
            all
        }
        Expression::Rule(rule) => ends[grammar.rule(*rule).body.index()][at],
        Expression::Label(_, body) => ends[body.index()][at],
        Expression::Members(_) | Expression::Complement(_) => {
            panic!("the front ends under test do not make these")
        }
    }
}
