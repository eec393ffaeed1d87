//! An environment with predefined answers.

use super::errors;
use grammata::diagnostic::{Notation, Source, did_you_mean};
use grammata::error::Result;
use grammata::syntax::automaton_spec::Spec;
use grammata_agents::plan::{Environment, Observation, Step};
use rustc_hash::FxHashMap;
use serde::Deserialize;
use serde_json::{Map, Value};
use std::collections::BTreeMap;

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Answer {
    /// Members that the arguments must contain.
    #[serde(default)]
    when: Map<String, Value>,
    outcome: Option<String>,
    #[serde(default)]
    facts: Map<String, Value>,
    #[serde(default)]
    data: Value,
    /// If present, the step fails with this message.
    fail: Option<String>,
    /// Whether the step times out.
    #[serde(default)]
    timeout: bool,
}

/// Gives predefined answers, read from TOML: a list for each action.
///
/// Only answers whose `when` matches the arguments are candidates. Each is given once, in order; the last one is
/// repeated. If no answer is a candidate, the step of an action with outcomes fails; the step of another action has an
/// empty observation.
/// ```toml
/// [[check]]
/// when = { order = "AB-1" }
/// outcome = "due"
/// [[check]]
/// outcome = "denied"
/// data = { reason = "too old" }
/// ```
/// `facts` are those of an [`Observation`]. `fail = "message"` and `timeout = true` are answers that are errors.
#[derive(Clone, Debug)]
pub struct MockEnvironment {
    answers: FxHashMap<String, Vec<Answer>>,
    /// The number of answers given, per action and index.
    given: FxHashMap<(String, usize), usize>,
}

impl MockEnvironment {
    /// Parses the answers to the actions of a spec.
    ///
    /// # Errors
    /// `environment/mock`: the text is not TOML of this form, or names an unknown action or outcome; the limit
    /// `source_bytes`.
    pub fn parse(text: &str, spec: &Spec) -> Result<MockEnvironment> {
        spec.limits().check_source(text)?;
        let source = Source::new(text, Notation::Toml);
        MockEnvironment::read(text, spec).map_err(|error| error.in_source(&source))
    }

    fn read(text: &str, spec: &Spec) -> Result<MockEnvironment> {
        let answers: BTreeMap<String, Vec<Answer>> =
            toml::from_str(text).map_err(|cause| errors::unreadable_mock(text, &cause))?;
        for (id, list) in &answers {
            let ids = spec.symbols().iter().map(|symbol| symbol.id.as_str());
            let Some(symbol) = spec.symbols().iter().find(|symbol| symbol.id == *id) else {
                let help = did_you_mean(id, ids, "name an action of the spec");
                let place = format!("/{}", escaped(id));
                return Err(errors::bad_mock(id, "the ids of the spec's actions".to_owned(), help, place));
            };
            for (number, answer) in list.iter().enumerate() {
                let Some(outcome) = &answer.outcome else { continue };
                if !symbol.outcomes.contains(outcome) {
                    let known = symbol.outcomes.iter().map(String::as_str);
                    let allowed = if symbol.outcomes.is_empty() {
                        "no `outcome`: the action has none".to_owned()
                    } else {
                        symbol.outcomes.join(", ")
                    };
                    let help = did_you_mean(outcome, known, "name an outcome of the action");
                    let place = format!("/{}/{number}/outcome", escaped(id));
                    return Err(errors::bad_mock(outcome, allowed, help, place));
                }
            }
        }
        Ok(MockEnvironment { answers: answers.into_iter().collect(), given: FxHashMap::default() })
    }
}

fn escaped(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}

impl Environment for MockEnvironment {
    fn execute(&mut self, spec: &Spec, step: &Step) -> Result<Observation> {
        let Some(symbol) = spec.symbols().get(step.action) else { return Ok(Observation::default()) };
        let answers = self.answers.get(&symbol.id).map_or(&[][..], Vec::as_slice);
        let has = |answer: &Answer| {
            answer.when.iter().all(|(name, value)| {
                step.arguments.as_ref().and_then(|arguments| arguments.get(name)) == Some(value)
            })
        };
        let matching: Vec<usize> = (0..answers.len()).filter(|&place| has(&answers[place])).collect();
        let is_new = |place: &&usize| !self.given.contains_key(&(symbol.id.clone(), **place));
        let Some(&place) = matching.iter().find(is_new).or(matching.last()) else {
            return match symbol.outcomes.is_empty() {
                true => Ok(Observation::default()),
                false => Err(errors::failed(
                    &symbol.id,
                    "the mock environment has no answer for the step",
                    "add an answer without `when` for the action",
                )),
            };
        };
        *self.given.entry((symbol.id.clone(), place)).or_default() += 1;
        let answer = &answers[place];
        match (&answer.fail, answer.timeout) {
            (Some(message), _) => Err(errors::failed(
                &symbol.id,
                message,
                "the plan stays as it was: try the step again, or take another step",
            )),
            (None, true) => Err(errors::timeout(&symbol.id, None)),
            (None, false) => Ok(Observation {
                outcome: answer.outcome.clone(),
                facts: answer.facts.clone(),
                data: answer.data.clone(),
            }),
        }
    }
}
