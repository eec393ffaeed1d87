//! Text in which triggers introduce other content.

use crate::grammar::{ExprId, FreeText, GrammarBuilder, RuleId};

/// Free text under construction, with the continuations of each trigger.
pub(super) struct Text<'v> {
    /// The rule of the whole text, to be repeated after the continuation of a trigger; `None` if the text ends there.
    again: Option<RuleId>,
    /// Distinct triggers, each with all its continuations.
    tails: Vec<(&'v str, Vec<ExprId>)>,
}

impl<'v> Text<'v> {
    pub(super) fn new(builder: &mut GrammarBuilder, is_loop: bool) -> Text<'v> {
        Text { again: is_loop.then(|| builder.declare("text")), tails: Vec::new() }
    }

    /// Adds a possible continuation of a trigger.
    pub(super) fn add(&mut self, trigger: &'v str, tail: ExprId) {
        match self.tails.iter_mut().find(|(known, _)| *known == trigger) {
            Some((_, tails)) => tails.push(tail),
            None => self.tails.push((trigger, vec![tail])),
        }
    }

    /// Forbids a trigger: it has no continuation, so it cannot occur.
    pub(super) fn forbid(&mut self, trigger: &'v str) {
        self.tails.push((trigger, Vec::new()));
    }

    /// Makes the expression of the text, which must not contain the `forbidden` strings.
    pub(super) fn finish(self, builder: &mut GrammarBuilder, forbidden: &[Box<str>]) -> ExprId {
        let mut forbidden = forbidden.to_vec();
        let mut triggers = Vec::with_capacity(self.tails.len());
        let again = self.again.map(|rule| builder.rule(rule));
        for (trigger, tails) in self.tails {
            if tails.is_empty() {
                forbidden.push(trigger.into());
                continue;
            }
            let tail = builder.choice(tails);
            let tail = again.map_or(tail, |again| builder.sequence([tail, again]));
            triggers.push((Box::from(trigger), tail));
        }
        let end = Some(builder.empty());
        let text = builder.free_text(&FreeText { triggers, forbidden, end });
        match (self.again, again) {
            (Some(rule), Some(again)) => {
                builder.define(rule, text);
                again
            }
            _ => text,
        }
    }
}
