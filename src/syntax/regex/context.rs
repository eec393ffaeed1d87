//! Parts of a pattern by context, so that anchors are exact.
//!
//! The language of a part can depend on whether it begins at the start of the whole string and whether it ends at its
//! end. So a part has one language for each of the four contexts. An anchor only ever allows *more* in a context (there
//! is no "not at the start"), and so does every part that contains anchors: the language in a context contains the
//! language in a context with fewer ends. This keeps sequences small: in `ab` at the start, `b` is at the start only if
//! `a` matched nothing; letting `b` match what it matches elsewhere is right in either case. So only the nullability of
//! `a` is needed, never the "non-empty part of `a`".
//!
//! Parts without anchors are the same in all contexts and cost nothing extra; every other part costs a bounded number
//! of expressions, which share their subexpressions.

use crate::grammar::{ExprId, GrammarBuilder};

/// The language of a part in one context.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Language {
    pub(super) expression: ExprId,
    pub(super) nullable: bool,
}

/// The language of a part, by context.
#[derive(Clone, Copy)]
pub(super) struct Part {
    by_context: [Language; 4],
    plain: bool,
}

const CONTEXTS: [(bool, bool); 4] = [(false, false), (false, true), (true, false), (true, true)];

impl Part {
    /// A part that is the same in all contexts.
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

    /// Whether the part is the same in all contexts.
    pub(super) fn is_plain(&self) -> bool {
        self.plain
    }

    /// The language in one context.
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
            // the first part matches nothing, so the second is at the start too
            if start && first.nullable && b.at(true, end) != second {
                ways.push(b.at(true, end).expression);
            }
            // the second part matches nothing, so the first is at the end too
            if end && second.nullable && a.at(start, true) != first {
                ways.push(a.at(start, true).expression);
            }
            // both match nothing, which may be allowed only if the start and the end coincide
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

    /// Repeats the part `min` to `max` times; `None` means without an upper bound.
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
            // rounds at the start or the end that match nothing can make up for missing ones
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
