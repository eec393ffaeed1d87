//! Free text in which strings, the triggers, introduce other content.

use crate::grammar::{ExprId, FreeText, GrammarBuilder, RuleId};

/// Free text under construction, with the continuations of each trigger.
pub(super) struct Text<'v> {
    /// The rule of the whole text, which follows each continuation of a trigger; `None` if the text ends after the
    /// first continuation.
    again: Option<RuleId>,
    /// Triggers, each with all its continuations. Triggers with a continuation are distinct; those without are
    /// forbidden.
    tails: Vec<(&'v str, Vec<ExprId>)>,
}

impl<'v> Text<'v> {
    /// A text without triggers. With `is_loop`, the text continues after a trigger's continuation; otherwise it ends
    /// there.
    pub(super) fn new(builder: &mut GrammarBuilder, is_loop: bool) -> Text<'v> {
        Text { again: is_loop.then(|| builder.declare("text")), tails: Vec::new() }
    }

    /// Adds a continuation of a trigger: any one of the added continuations may follow the trigger.
    pub(super) fn add(&mut self, trigger: &'v str, tail: ExprId) {
        match self.tails.iter_mut().find(|(known, _)| *known == trigger) {
            Some((_, tails)) => tails.push(tail),
            None => self.tails.push((trigger, vec![tail])),
        }
    }

    /// Forbids a trigger, for which no continuation was added: text must not contain it.
    pub(super) fn forbid(&mut self, trigger: &'v str) {
        self.tails.push((trigger, Vec::new()));
    }

    /// Builds the expression of the text, which must not contain the `forbidden` strings.
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
