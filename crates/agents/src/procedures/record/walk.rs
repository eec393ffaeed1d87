//! Random sessions: the agent takes random offered steps, the user says and decides random values, and APIs return
//! random values of their slots. Calls sometimes fail, and results sometimes lack slots.

use crate::procedures::conversation::arguments::{Arguments, Origin};
use crate::procedures::conversation::session::Values;
use crate::procedures::conversation::step::Offer;
use crate::procedures::conversation::{Conversation, Offering, Resolved, Workflow};
use crate::procedures::language::declarations::Node;
use crate::procedures::semantics::procedure::Procedure;
use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// The difference between the greatest and the least number if a schema has no maximum.
const NUMBERS: i64 = 60;

grammata_base::options! {
    /// Options of random sessions.
    #[derive(Clone, Debug)]
    #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
    #[non_exhaustive]
    pub struct WalkOptions {
        /// The maximum number of acts of the agent. The number is random, from 4 (or this number, if it is smaller). 24
        /// by default.
        pub acts: usize = 24,
        /// The probability that a call fails. 1 in 8 by default.
        pub errors: f64 = 0.125,
        /// The probability that a slot of a response is missing. 1 in 20 by default.
        pub missing: f64 = 0.05,
        /// The probability that the user leaves a decision open. 1 in 4 by default.
        pub undecided: f64 = 0.25,
        /// Whether the agent always takes a call with an effect if one is offered. Off by default.
        pub eager: bool,
        /// Options of the offered steps.
        pub offering: Offering,
    }
}

/// A random session.
#[derive(Clone, Debug)]
pub struct Walk {
    /// The events, as [`verify`](fn@crate::procedures::verify) reads them.
    pub events: Vec<Value>,
    /// Whether a closing answer was said when it was allowed.
    pub is_complete: bool,
}

/// Runs a random session under the first of the workflows; without workflows it is empty. Equal arguments give equal
/// sessions. `known` has values that users may tell, by slot; texts of other slots are placeholders.
pub fn random_walk(
    workflow: &[Workflow<'_>],
    known: &BTreeMap<String, Vec<Value>>,
    options: &WalkOptions,
    seed: u64,
) -> Walk {
    let mut walk = Walk { events: Vec::new(), is_complete: false };
    let Some(mut conversation) = Conversation::new(workflow) else { return walk };
    let mut world = World { known, options, random: ChaCha8Rng::seed_from_u64(seed) };
    let slots: Vec<&String> = known.keys().collect();
    let fewest = options.acts.min(4);
    for _ in 0..world.random.random_range(fewest..=options.acts.max(fewest)) {
        if world.random.random() {
            let told = slots.choose(&mut world.random).and_then(|slot| world.told(slot));
            let text = told.unwrap_or_else(|| "Please go on.".to_owned());
            conversation.hear(&text);
            walk.events.push(json!(["user", text]));
        }
        world.act(&mut conversation, &mut walk.events);
    }
    walk.is_complete = conversation.is_complete();
    walk
}

struct World<'o> {
    known: &'o BTreeMap<String, Vec<Value>>,
    options: &'o WalkOptions,
    random: ChaCha8Rng,
}

impl World<'_> {
    fn told(&mut self, slot: &str) -> Option<String> {
        let value = self.known.get(slot)?.choose(&mut self.random)?;
        Some(format!("{slot}: {}", value.as_str().map_or_else(|| value.to_string(), str::to_owned)))
    }

    fn act(&mut self, conversation: &mut Conversation<'_>, events: &mut Vec<Value>) {
        let procedure = conversation.session().procedure();
        let offers = conversation.offers(&self.options.offering);
        let is_write = |offer: &&Offer| match offer {
            Offer::Call { api, .. } => procedure.node(api).is_some_and(|api| procedure.nodes()[api].writes),
            _ => false,
        };
        let write = offers.iter().find(is_write).filter(|_| self.options.eager);
        // a node is chosen first, because a question is offered for each set of slots
        let mut nodes: Vec<&str> = offers.iter().map(node_of).collect();
        nodes.sort_unstable();
        nodes.dedup();
        let Some(node) = nodes.choose(&mut self.random) else { return };
        let of_node: Vec<&Offer> = offers.iter().filter(|offer| node_of(offer) == *node).collect();
        let Some(offer) = write.or_else(|| of_node.choose(&mut self.random).copied()) else { return };
        match offer {
            Offer::Call { api, arguments } => {
                let Some(node) = procedure.node(api) else { return };
                let Some(values) = self.arguments(arguments) else { return };
                conversation.take(&Resolved::Call { api: node, arguments: values.clone() });
                let result = self.result(procedure, &procedure.nodes()[node]);
                conversation.result(&result);
                events.push(json!(["call", api, values]));
                events.push(json!(["result", result]));
            }
            Offer::Answer { name: written, .. } => {
                let name = base(written);
                let Some(node) = procedure.node(name) else {
                    conversation.take(&Resolved::Free { kind: "free", text: String::new() });
                    events.push(json!(["free", "So."]));
                    return;
                };
                let asks = asks_of(written);
                conversation.take(&Resolved::Say { node, asks: asks.clone(), text: String::new() });
                events.push(json!(["say", name, "", asks]));
                for slot in procedure.decisions(node) {
                    if self.random.random_bool(share(self.options.undecided)) {
                        continue;
                    }
                    let decided = self.value_of(procedure, slot, true);
                    conversation.decide(slot, &decided);
                    events.push(json!(["slot", slot, decided]));
                }
            }
            // only one procedure is followed, so controls have no effect
            Offer::Control(_) => {}
        }
    }

    /// Chooses arguments; `None` if a slot has no value to choose from, or if they would repeat a call of this turn.
    fn arguments(&mut self, arguments: &Arguments) -> Option<Values> {
        let mut values = Map::new();
        for slot in &arguments.slots {
            if !slot.is_required && self.random.random() {
                continue;
            }
            let value = match &slot.origin {
                Origin::Fixed(value) => value.clone(),
                Origin::Told(told) => told.choose(&mut self.random)?.clone(),
                Origin::Words(words) => words.choose(&mut self.random)?.as_str().into(),
                Origin::Schema => self.value(&slot.schema, self.known.get(&slot.slot)),
            };
            values.insert(slot.slot.clone(), value);
        }
        (!arguments.excluded.contains(&values)).then_some(values)
    }

    fn result(&mut self, procedure: &Procedure, api: &Node) -> Values {
        if self.random.random_bool(share(self.options.errors)) {
            return Map::from_iter([("error".to_owned(), "failed".into())]);
        }
        let mut values = Map::new();
        for slot in &api.response {
            if !self.random.random_bool(share(self.options.missing)) {
                let value = self.value_of(procedure, slot, false);
                values.insert(slot.clone(), value);
            }
        }
        values
    }

    /// Chooses a value of a slot by its schema. For a decision of the user, known values are preferred to placeholder
    /// texts.
    fn value_of(&mut self, procedure: &Procedure, slot: &str, is_users: bool) -> Value {
        let schema = procedure.slot(slot).and_then(|slot| slot.schema.as_ref());
        let known = self.known.get(slot).filter(|_| is_users);
        self.value(schema.unwrap_or(&Value::Null), known)
    }

    /// Chooses a value by a schema: one of an enumeration, a boolean, a number or a list of two texts; otherwise a
    /// known value or, if there is none, a placeholder text.
    fn value(&mut self, schema: &Value, known: Option<&Vec<Value>>) -> Value {
        if let Some(value) =
            schema.get("enum").and_then(Value::as_array).and_then(|all| all.choose(&mut self.random))
        {
            return value.clone();
        }
        match schema.get("type").and_then(Value::as_str) {
            Some("boolean") => self.random.random::<bool>().into(),
            Some("integer" | "number") => {
                let least = schema.get("minimum").and_then(Value::as_i64).unwrap_or(0);
                let most = schema.get("maximum").and_then(Value::as_i64);
                let most = most.unwrap_or_else(|| least.saturating_add(NUMBERS)).max(least);
                // conditions change most often at the ends of a range
                match self.random.random_range(0..4) {
                    0 => least.into(),
                    1 => most.into(),
                    _ => self.random.random_range(least..=most).into(),
                }
            }
            Some("array") => json!([format!("thing {}", self.random.random_range(0..3)), "other"]),
            _ => match known.and_then(|known| known.choose(&mut self.random)) {
                Some(value) => value.clone(),
                None => format!("value {}", self.random.random_range(0..3)).into(),
            },
        }
    }
}

/// Returns the name of an answer without the slots that it asks for.
fn base(name: &str) -> &str {
    name.split('(').next().unwrap_or_default()
}

/// Returns the slots that an answer asks for.
fn asks_of(name: &str) -> Vec<String> {
    let inside = name.split_once('(').and_then(|(_, rest)| rest.strip_suffix(')'));
    inside.map_or_else(Vec::new, |slots| slots.split(", ").map(str::to_owned).collect())
}

fn node_of(offer: &Offer) -> &str {
    match offer {
        Offer::Call { api, .. } => api,
        Offer::Answer { name, .. } => base(name),
        Offer::Control(name) => name,
    }
}

fn share(share: f64) -> f64 {
    // clamp keeps NaN, which is not a probability
    if share.is_nan() { 0.0 } else { share.clamp(0.0, 1.0) }
}
