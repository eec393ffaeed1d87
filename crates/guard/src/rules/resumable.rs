//! Rules whose log can be replayed: it has every call with its arguments, and every result with its data.

use super::events::{self, LoggedEvent};
use super::observed::INTERRUPTED;
use super::{ClientNames, Open, OwnTool, Rules, Values};
use crate::errors;
use crate::outcome::Outcome;
use grammata::error::Error;
use serde_json::{Value, json};

/// Rules of any kind with a log of JSON lines, from which a later session can continue:
/// - `["call", TOOL, {ARGUMENTS}]`;
/// - `["result", {"data": VALUE}]` or `["result", {"error": TEXT}]` after a call;
/// - `["own", TOOL, {ARGUMENTS}]` for a call of one of the guard's own tools;
/// - `["guide", TEXT]` for a refused call, and `["client", {…}]` for the name of the client, which a replay skips.
pub struct ResumableRules<'r> {
    rules: Box<dyn Rules + 'r>,
}

impl std::fmt::Debug for ResumableRules<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ResumableRules").finish_non_exhaustive()
    }
}

impl<'r> ResumableRules<'r> {
    /// Replays a log on rules at the beginning of a session. An empty log begins a session. If the last call has no
    /// result, it counts as failed, and the event of that result is returned for the log; otherwise `None`.
    ///
    /// # Errors
    /// `guard/trace` for a line that is not an event of such a log, or that the rules refuse.
    pub fn resume(
        rules: Box<dyn Rules + 'r>,
        log: &str,
    ) -> Result<(ResumableRules<'r>, Option<Value>), Error> {
        let mut resumed = ResumableRules { rules };
        let mut waits = false;
        for read in events::read(log) {
            let LoggedEvent { number, line, event } = read?;
            let wrong = |what: &str, why: &str| errors::trace(number, what, why);
            let part = |place: usize| event.get(place).cloned().unwrap_or_default();
            let name = part(1);
            let name = name.as_str().unwrap_or_default();
            let arguments = || match part(2) {
                Value::Object(arguments) => Ok(arguments),
                _ => Err(wrong(name, "the event has no arguments")),
            };
            match event.get(0).and_then(Value::as_str) {
                Some("call") if !waits => {
                    resumed.rules.call(name, &arguments()?).map_err(|reason| wrong(name, &reason))?;
                    waits = true;
                }
                Some("result") if waits => {
                    let result = part(1);
                    let outcome = match (result.get("data"), result.get("error").and_then(Value::as_str)) {
                        (Some(data), _) => Outcome::Data(data.clone()),
                        (None, Some(text)) => Outcome::error(text),
                        (None, None) => return Err(wrong("result", "it has neither `data` nor `error`")),
                    };
                    // the rules may not be able to continue with a result; the call has then failed, as it had before
                    let _ = resumed.rules.result(outcome);
                    waits = false;
                }
                Some("own") if !waits => {
                    resumed.rules.act(name, &arguments()?).map_err(|reason| wrong(name, &reason))?;
                }
                _ => return Err(wrong(line, "such an event cannot follow here")),
            }
        }
        let event = waits.then(|| {
            let (Ok(logged) | Err((logged, _))) = resumed.result(Outcome::error(INTERRUPTED));
            json!(["result", logged])
        });
        Ok((resumed, event))
    }
}

impl Rules for ResumableRules<'_> {
    fn about(&self) -> String {
        self.rules.about()
    }

    fn tools(&self) -> Vec<(String, Vec<String>)> {
        self.rules.tools()
    }

    fn server_name(&self, tool: &str) -> Option<&str> {
        self.rules.server_name(tool)
    }

    fn use_names(&mut self, names: ClientNames) {
        self.rules.use_names(names);
    }

    fn open(&self) -> Vec<Open> {
        self.rules.open()
    }

    fn named(&self, tool: &str, arguments: Values) -> Result<Values, String> {
        self.rules.named(tool, arguments)
    }

    fn call(&mut self, tool: &str, arguments: &Values) -> Result<(), String> {
        self.rules.call(tool, arguments)
    }

    fn result(&mut self, outcome: Outcome) -> Result<Values, (Values, String)> {
        let (name, value) = match &outcome {
            Outcome::Data(data) => ("data", data.clone()),
            Outcome::Error(text) => ("error", text.clone().into()),
        };
        let logged = Values::from_iter([(name.to_owned(), value)]);
        match self.rules.result(outcome) {
            Ok(_) => Ok(logged),
            Err((_, reason)) => Err((logged, reason)),
        }
    }

    fn own(&self) -> Vec<OwnTool> {
        self.rules.own()
    }

    fn own_names(&self) -> Vec<&'static str> {
        self.rules.own_names()
    }

    fn act(&mut self, tool: &str, arguments: &Values) -> Result<(Vec<Value>, String), String> {
        let (_, told) = self.rules.act(tool, arguments)?;
        Ok((vec![json!(["own", tool, arguments])], told))
    }

    fn may_end(&self) -> bool {
        self.rules.may_end()
    }
}
