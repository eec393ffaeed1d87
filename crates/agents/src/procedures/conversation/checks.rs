//! Checks of the arguments of a call.

use super::arguments::Origin;
use super::obstacle::Obstacle;
use super::session::{Session, Values};
use crate::procedures::language::declarations::NodeKind;
use crate::procedures::language::value::Scalar;
use serde_json::Value;

impl Session<'_> {
    /// Returns why a call of an API may not have these arguments; `None` if it may, and for other nodes.
    pub(super) fn wrong_arguments(&self, node: usize, arguments: &Values) -> Option<Obstacle> {
        let declared = &self.procedure.nodes[node];
        if declared.kind != NodeKind::Api {
            return None;
        }
        let given = |slot: &String| arguments.get(slot).filter(|value| !value.is_null());
        for (api, base) in self.bases(node) {
            let request = &self.procedure.nodes[api].request;
            let shared = declared.request.iter().filter(|slot| request.contains(slot));
            for slot in shared.filter(|slot| !declared.rebind.contains(slot)) {
                let before = base.get(slot).filter(|value| !value.is_null());
                if let (Some(before), Some(now)) = (before, given(slot))
                    && Scalar::of(before) != Scalar::of(now)
                {
                    let api = self.procedure.nodes[api].name.clone();
                    return Some(Obstacle::Stale { api, slot: slot.clone() });
                }
            }
        }
        let required = |slot: &&String| !declared.optional.contains(slot) && !arguments.contains_key(*slot);
        if let Some(slot) = declared.request.iter().find(required) {
            return Some(Obstacle::Argument(slot.clone()));
        }
        if let Some(wrong) = self.wrong_schema(node, arguments) {
            return Some(wrong);
        }
        let is_unsaid = |slot: &&String| given(slot).is_some_and(|value| !self.is_owned(node, slot, value));
        if self.asks_for_owners()
            && let Some(slot) = declared.request.iter().find(is_unsaid)
        {
            return Some(Obstacle::Unsaid(slot.clone()));
        }
        let is_made = self.made.iter().any(|(api, made)| *api == node && made == arguments);
        is_made.then_some(Obstacle::Again)
    }

    /// Returns the first argument that the request does not have, or whose value is not of the schema of its slot and
    /// comes neither from an earlier call nor from a result. Null stands for an optional slot that is left out.
    fn wrong_schema(&self, node: usize, arguments: &Values) -> Option<Obstacle> {
        let declared = &self.procedure.nodes[node];
        let wrong = |slot: &String, schema: Value| Some(Obstacle::Schema { slot: slot.clone(), schema });
        for (slot, value) in arguments {
            if !declared.request.contains(slot) {
                return wrong(slot, Value::Bool(false));
            }
            let is_left_out = value.is_null() && declared.optional.contains(slot);
            if is_left_out || self.procedure.conforms(slot, value) {
                continue;
            }
            let is_taken = match self.origin(node, slot) {
                Origin::Fixed(known) => known == *value,
                Origin::Told(known) => known.contains(value),
                Origin::Words(_) | Origin::Schema => false,
            };
            if !is_taken {
                let schema = self.procedure.slot(slot).and_then(|slot| slot.schema.clone());
                return wrong(slot, schema.unwrap_or_default());
            }
        }
        None
    }
}
