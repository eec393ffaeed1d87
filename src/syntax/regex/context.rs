//! The languages of a part of a pattern by context, so that anchors are exact.
//!
//! The language of a part can depend on whether the part begins at the start of the whole string and whether it ends at
//! the end of the string. So a part has one language for each of the four contexts. An anchor allows *more* in a
//! context at an end, never less: there is no anchor "not at the start". The same holds for every part that contains
//! anchors: its language in a context includes its language in each context with fewer ends. This keeps sequences
//! small. Take `ab` at the start: `b` is at the start only if `a` matched nothing, and its language elsewhere is right
//! in either case. So only the nullability of `a` is needed, never the non-empty words of `a` separately.
//!
//! A part without anchors has the same language in all contexts and needs no further expressions. Every other part
//! needs a bounded number of further expressions, which share their subexpressions.

use crate::grammar::{ExprId, GrammarBuilder};

/// The language of a part in one context, and whether it contains the empty text.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Language {
    pub(super) expression: ExprId,
    pub(super) nullable: bool,
}

/// The languages of a part in all four contexts. `plain` says that they are equal.
#[derive(Clone, Copy)]
pub(super) struct Part {
    by_context: [Language; 4],
    plain: bool,
}

/// All contexts: whether the part begins at the start of the string, and whether it ends at its end.
const CONTEXTS: [(bool, bool); 4] = [(false, false), (false, true), (true, false), (true, true)];

impl Part {
    /// A part that has the same language in all contexts.
    pub(super) fn plain(expression: ExprId, nullable: bool) -> Part {
        Part { by_context: [Language { expression, nullable }; 4], plain: true }
    }

    /// The anchor at the start of the whole string.
    pub(super) fn start(builder: &mut GrammarBuilder) -> Part {
        Part::each(|start, _| Part::allowed_if(builder, start))
    }

    /// The anchor at the end of the whole string.
    pub(super) fn end(builder: &mut GrammarBuilder) -> Part {
        Part::each(|_, end| Part::allowed_if(builder, end))
    }

    fn allowed_if(builder: &mut GrammarBuilder, yes: bool) -> Language {
        Language { expression: if yes { builder.empty() } else { builder.never() }, nullable: yes }
    }

    fn each(mut make: impl FnMut(bool, bool) -> Language) -> Part {
        Part { by_context: CONTEXTS.map(|(start, end)| make(start, end)), plain: false }
    }

    /// Whether the part is known to have the same language in all contexts.
    pub(super) fn is_plain(&self) -> bool {
        self.plain
    }

    /// The language in one context: whether the part begins at the start of the whole string, and whether it ends at
    /// its end.
    pub(super) fn at(&self, start: bool, end: bool) -> Language {
        self.by_context[usize::from(start) * 2 + usize::from(end)]
    }

    /// The concatenation of this part and `next`.
    pub(super) fn then(&self, next: &Part, builder: &mut GrammarBuilder) -> Part {
        let (a, b) = (self, next);
        if a.plain && b.plain {
            let (a, b) = (a.at(false, false), b.at(false, false));
            let expression = builder.sequence([a.expression, b.expression]);
            return Part::plain(expression, a.nullable && b.nullable);
        }
        Part::each(|start, end| {
            let (first, second) = (a.at(start, false), b.at(false, end));
            let mut ways = vec![builder.sequence([first.expression, second.expression])];
            // if the first part matches nothing, the second is at the start too
            if start && first.nullable && b.at(true, end) != second {
                ways.push(b.at(true, end).expression);
            }
            // if the second part matches nothing, the first is at the end too
            if end && second.nullable && a.at(start, true) != first {
                ways.push(a.at(start, true).expression);
            }
            // both may match nothing only where the start and the end coincide: the empty string
            let nullable = a.at(start, end).nullable && b.at(start, end).nullable;
            let covered =
                first.nullable && b.at(start, end).nullable || second.nullable && a.at(start, end).nullable;
            if nullable && !covered {
                ways.push(builder.empty());
            }
            Language { expression: builder.choice(ways), nullable }
        })
    }

    /// The union of the parts.
    pub(super) fn any(parts: &[Part], builder: &mut GrammarBuilder) -> Part {
        let mut in_context = |start, end| Language {
            expression: builder.choice(parts.iter().map(|part| part.at(start, end).expression)),
            nullable: parts.iter().any(|part| part.at(start, end).nullable),
        };
        if parts.iter().all(Part::is_plain) {
            let Language { expression, nullable } = in_context(false, false);
            return Part::plain(expression, nullable);
        }
        Part::each(in_context)
    }

    /// Repeats the part at least `min` and at most `max` times; `None` means no bound.
    pub(super) fn repeat(&self, min: u32, max: Option<u32>, builder: &mut GrammarBuilder) -> Part {
        let inner = self.at(false, false);
        if self.plain {
            return Part::plain(builder.repeat(inner.expression, min, max), min == 0 || inner.nullable);
        }
        if max == Some(0) {
            return Part::plain(builder.empty(), true);
        }
        let at_most = |less: u32| max.map(|max| max.saturating_sub(less));
        Part::each(|start, end| {
            if !start && !end {
                let expression = builder.repeat(inner.expression, min, max);
                return Language { expression, nullable: min == 0 || inner.nullable };
            }
            let (alone, first, last) = (self.at(start, end), self.at(start, false), self.at(false, end));
            // repetitions that match nothing at the start or the end can replace missing ones
            let min_filled = if first.nullable || last.nullable { min.min(1) } else { min };
            let inner_rounds = |less: u32, builder: &mut GrammarBuilder| {
                builder.repeat(inner.expression, min_filled.max(less) - less, at_most(less))
            };
            let mut ways = Vec::new();
            match (start, end) {
                (true, false) => {
                    let rest = inner_rounds(1, builder);
                    ways.push(builder.sequence([first.expression, rest]));
                }
                (false, _) => {
                    let rest = inner_rounds(1, builder);
                    ways.push(builder.sequence([rest, last.expression]));
                }
                (true, true) => {
                    if min_filled <= 1 {
                        ways.push(alone.expression);
                    }
                    if max.is_none_or(|max| max >= 2) {
                        let rest = inner_rounds(2, builder);
                        ways.push(builder.sequence([first.expression, rest, last.expression]));
                    }
                }
            }
            let nullable = min == 0 || alone.nullable;
            if nullable {
                ways.push(builder.empty());
            }
            Language { expression: builder.choice(ways), nullable }
        })
    }
}
