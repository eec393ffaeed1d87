//! Text in which triggers begin something else.

use crate::grammar::{ExprId, FreeText, GrammarBuilder, RuleId};

/// Free text in the making: what each trigger leads to.
pub(super) struct Text<'v> {
    /// The rule of the whole, which comes again after what a trigger leads to; `None` if text ends there.
    again: Option<RuleId>,
    /// Triggers with all that they may lead to; none are equal.
    tails: Vec<(&'v str, Vec<ExprId>)>,
}

impl<'v> Text<'v> {
    pub(super) fn new(builder: &mut GrammarBuilder, is_loop: bool) -> Text<'v> {
        Text { again: is_loop.then(|| builder.declare("text")), tails: Vec::new() }
    }

    /// Adds what a trigger may lead to.
    pub(super) fn add(&mut self, trigger: &'v str, tail: ExprId) {
        match self.tails.iter_mut().find(|(known, _)| *known == trigger) {
            Some((_, tails)) => tails.push(tail),
            None => self.tails.push((trigger, vec![tail])),
        }
    }

    /// Says that a trigger leads to nothing, so that it does not come.
    pub(super) fn forbid(&mut self, trigger: &'v str) {
        self.tails.push((trigger, Vec::new()));
    }

    /// The text, which does not hold some strings.
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
