//! The calls of the text of a procedure, with the conditions around them.

use super::session::{Session, Values};
use crate::procedures::language::declarations::NodeKind;
use crate::procedures::language::pdl::{Expr, ExprId};
use crate::procedures::language::status::Status;
use crate::procedures::language::value::Truth;
use crate::procedures::semantics::guards::Test;
use crate::procedures::semantics::procedure::Procedure;
use std::collections::BTreeMap;
use std::fmt::Write;

impl Procedure {
    /// Returns the nodes that the text calls, in the order of the text. The place of a call in this order is the number
    /// of its *site*.
    pub fn sites(&self) -> impl ExactSizeIterator<Item = usize> {
        self.sites.iter().map(|site| site.node)
    }

    /// Returns whether a condition consists of words only, and, if so, whether `prose` says that it holds. A condition
    /// that `prose` lacks does not hold.
    fn prose_of(&self, expr: ExprId, prose: &BTreeMap<String, bool>) -> Option<bool> {
        let expressions = &self.program.expressions;
        if !matches!(expressions.get(expr), Expr::Prose) {
            return None;
        }
        let place = expressions.conditions.partition_point(|condition| condition.root < expr);
        let text = expressions.conditions.get(place).map_or("", |condition| condition.text.as_str());
        Some(prose.get(text).copied().unwrap_or(false))
    }
}

impl Session<'_> {
    /// Returns whether all conditions around a call of the text hold, if the user has also told the values `told`. A
    /// condition whose values are unknown does not count as held; a condition in words holds as `prose` says. False for
    /// unknown sites.
    pub fn holds_at(&self, site: usize, told: &Values, prose: &BTreeMap<String, bool>) -> bool {
        let procedure = self.procedure();
        let Some(site) = procedure.sites.get(site) else { return false };
        let evaluation = self.evaluation_with(told);
        let path = procedure.guards.path(site.guard, None);
        path.into_iter().all(|guard| {
            let truth = evaluation.test(procedure, &self.marks, &guard.test);
            match (&guard.test, truth) {
                (Test::Condition { expr, wanted }, Truth::Open) => {
                    procedure.prose_of(*expr, prose).is_some_and(|holds| holds == *wanted)
                }
                (_, truth) => truth == Truth::True,
            }
        })
    }

    /// Returns the basis of an answer as text: the values that its conditions read, and the arguments and results of
    /// the calls on which the answer or its conditions depend. Empty for unknown indices.
    pub fn basis(&self, node: usize) -> String {
        let procedure = self.procedure();
        let mut text = String::new();
        let (Some(closure), Some(sites)) = (procedure.closure.get(node), procedure.sites_of.get(node)) else {
            return text;
        };
        let mut apis: Vec<usize> = closure.ones().collect();
        for &site in sites {
            for guard in procedure.guards.path(procedure.sites[site].guard, None) {
                let Test::Condition { expr, .. } = guard.test else { continue };
                let expressions = &procedure.program.expressions;
                let place = expressions.conditions.partition_point(|condition| condition.root < expr);
                let Some(condition) = expressions.conditions.get(place) else { continue };
                for id in condition.first..=condition.root {
                    if let Expr::Slot { register: Some(register), .. }
                    | Expr::Call { register: Some(register), .. } = expressions.get(id)
                    {
                        let _ = write!(text, "{:?} ", self.marks.values[*register as usize]);
                        let writers = &procedure.registers[*register as usize].writers;
                        apis.extend(
                            writers.iter().flat_map(|&api| procedure.closure[api].ones().chain([api])),
                        );
                    }
                }
            }
        }
        apis.sort_unstable();
        apis.dedup();
        for api in apis.into_iter().filter(|&api| procedure.nodes[api].kind == NodeKind::Api) {
            let answer = self.answers[api].as_ref().filter(|_| self.status(api) != Status::No);
            let _ = write!(text, "{:?}; ", answer.map(|answer| (&answer.arguments, &answer.response)));
        }
        text
    }

    /// Returns the arguments of the last answered call of an API. `None` for unknown indices, without an answer, and if
    /// the answer was taken back.
    pub fn answered(&self, api: usize) -> Option<&Values> {
        let answer = self.answers.get(api)?.as_ref().filter(|_| self.status(api) != Status::No);
        answer.map(|answer| &answer.arguments)
    }

    /// Returns whether the user has decided on a slot, and the decision was not taken back.
    pub fn is_decided(&self, slot: &str) -> bool {
        self.decided.contains_key(slot)
    }
}
