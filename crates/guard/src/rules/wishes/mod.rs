//! Wishes as the rules of an agent: tools that are hidden, tools before whose calls the person is asked, and limits of
//! calls by time.

mod file;

pub use file::Wishes;

use super::events::{self, LoggedEvent};
use super::observed::{INTERRUPTED, failure, logged};
use super::{Ask, Open, Question, Reply, Rules, Values};
use crate::errors;
use crate::outcome::Outcome;
use file::{Limit, Wish};
use grammata::diagnostic::{visible_json, visible_lines};
use grammata::error::{Error, Result as Fallible};
use rustc_hash::FxHashMap;
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::time::Duration;

/// Maximum bytes of arguments that the person is shown. Calls with longer arguments are refused, because nobody would
/// read them.
const MOST_SHOWN: usize = 16 << 10;

/// The rules of a file of wishes, with the current state of a session. Its log has JSON lines:
/// - `["call", TOOL, {ARGUMENTS}, {"at": SECONDS}]`, with the time of the call as seconds since 1970;
/// - `["result", {DATA}]` after a call;
/// - `["asked", TOOL, "accepted"]` before a call that the person has accepted;
/// - `["guide", TEXT]` for a refused call, and `["client", {…}]` for the name of the client.
#[derive(Debug)]
pub struct WishRules<'w> {
    wishes: &'w Wishes,
    ask: Ask,
    /// The names of the server's tools, in its order.
    tools: Vec<String>,
    /// For each limit, the times of the latest calls by the name of the tool. The name is empty if the limit counts the
    /// calls of all its tools together.
    recent: Vec<FxHashMap<String, VecDeque<Duration>>>,
    /// The time of the last call of [`Rules::at`]; `None` at the beginning.
    now: Option<Duration>,
    /// The tool and arguments that the last question is about.
    asked: Option<(String, Values)>,
    question: Option<Question>,
    /// The call that the person has accepted, and that was not carried out yet.
    accepted: Option<(String, Values)>,
}

impl<'w> WishRules<'w> {
    /// Creates the rules at the beginning of a session. With [`Ask::Refuse`], calls that need the person's consent are
    /// refused; otherwise the person is asked: an agent cannot report a consent.
    pub fn new(wishes: &'w Wishes, ask: Ask) -> WishRules<'w> {
        WishRules {
            wishes,
            ask,
            tools: Vec::new(),
            recent: vec![FxHashMap::default(); wishes.limit.len()],
            now: None,
            asked: None,
            question: None,
            accepted: None,
        }
    }

    /// Counts the calls of the log of an earlier session. If the last call has no result, it counts as failed, and the
    /// event of that result is returned for the log; otherwise `None`.
    ///
    /// # Errors
    /// `guard/trace` for a line that is not an event of such a log.
    pub fn resume(&mut self, log: &str) -> Fallible<Option<Value>> {
        let mut waits = false;
        for read in events::read(log) {
            let LoggedEvent { number, line, event } = read?;
            let wrong = |why: &str| errors::trace(number, line, why);
            match event.get(0).and_then(Value::as_str) {
                Some("asked") => {}
                Some("result") if waits => waits = false,
                Some("call") if !waits => {
                    let tool =
                        event.get(1).and_then(Value::as_str).ok_or_else(|| wrong("the event has no tool"))?;
                    let at = event.get(3).and_then(|stamp| stamp.get("at")?.as_f64());
                    let at = at.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
                    self.count(tool, at.ok_or_else(|| wrong("the event has no time"))?);
                    waits = true;
                }
                _ => return Err(wrong("such an event cannot follow here")),
            }
        }
        Ok(waits.then(|| json!(["result", failure(INTERRUPTED)])))
    }

    fn now(&self) -> Duration {
        self.now.unwrap_or_default()
    }

    /// Counts a call for the limits of its tool.
    fn count(&mut self, tool: &str, at: Duration) {
        for (limit, recent) in self.wishes.limit.iter().zip(&mut self.recent) {
            if limit.counts(tool) {
                let times = recent.entry(key(limit, tool).to_owned()).or_default();
                times.push_back(at);
                // earlier calls cannot decide when the next call is allowed
                if times.len() > limit.calls {
                    times.pop_front();
                }
            }
        }
    }

    /// Returns the limit that a call would exceed now, with the time until a call is allowed. If there are several, the
    /// one with the longest time; `None` if the call is allowed.
    fn exceeded(&self, tool: &str) -> Option<(&'w Limit, Duration)> {
        let wait = |(limit, recent): (&'w Limit, &FxHashMap<String, VecDeque<Duration>>)| {
            let times = recent.get(key(limit, tool)).filter(|times| times.len() >= limit.calls)?;
            let free = *times.front()? + limit.per.time();
            (limit.counts(tool) && free > self.now()).then(|| (limit, free.saturating_sub(self.now())))
        };
        self.wishes.limit.iter().zip(&self.recent).filter_map(wait).max_by_key(|(_, time)| *time)
    }

    /// Raises the question whether a call may be carried out.
    ///
    /// # Errors
    /// Always: the reason why the call is not carried out without an answer.
    fn raise(&mut self, tool: &str, arguments: &Values) -> Result<(), String> {
        if self.ask == Ask::Refuse {
            return Err(
                "the user would have to be asked, and this guard asks nobody (`--ask refuse`)".to_owned()
            );
        }
        let shown = serde_json::to_string_pretty(arguments).unwrap_or_default();
        if shown.len() > MOST_SHOWN {
            return Err(format!(
                "the user would have to be asked, and the arguments are too long to be shown: {} bytes, at most \
                 {MOST_SHOWN}",
                shown.len()
            ));
        }
        let text = format!("The agent wants to call the tool {tool} with these arguments:\n{shown}");
        self.question = Some(Question { text: visible_lines(&text).into_owned(), fields: Vec::new() });
        self.asked = Some((tool.to_owned(), arguments.clone()));
        Err("the user must be asked".to_owned())
    }
}

/// Returns the name under which a limit counts the calls of a tool.
fn key<'t>(limit: &Limit, tool: &'t str) -> &'t str {
    if limit.each { tool } else { "" }
}

impl Rules for WishRules<'_> {
    fn about(&self) -> String {
        "Some tools may be hidden or limited, and before some calls the user is asked. A call that is not allowed is not \
         carried out, and its result says why."
            .to_owned()
    }

    fn tools(&self) -> Vec<(String, Vec<String>)> {
        self.tools.iter().map(|tool| (tool.clone(), Vec::new())).collect()
    }

    fn bind(&mut self, tools: &[&str]) -> Result<(), Error> {
        self.tools = tools.iter().map(|&tool| tool.to_owned()).collect();
        let is_unused = |pattern: &&str| !tools.iter().any(|tool| file::matches(pattern, tool));
        match self.wishes.patterns().find(is_unused) {
            Some(pattern) => Err(errors::unused_wish(pattern, tools)),
            None => Ok(()),
        }
    }

    fn at(&mut self, now: Duration) {
        if self.now.is_none() {
            // the clock may have been set back since an earlier session
            let times = self.recent.iter_mut().flat_map(FxHashMap::values_mut).flatten();
            times.for_each(|time| *time = now.min(*time));
        }
        self.now = Some(now);
    }

    fn open(&self) -> Vec<Open> {
        let open =
            |tool: &String| Open { tool: tool.clone(), properties: Values::new(), required: Vec::new() };
        self.tools.iter().filter(|tool| !self.hides(tool)).map(open).collect()
    }

    fn checks_arguments(&self) -> bool {
        false
    }

    fn hides(&self, tool: &str) -> bool {
        self.wishes.of(tool) == Wish::Hide
    }

    fn remarks(&self) -> Vec<String> {
        let wished = |wish: Wish| {
            let tools = self.tools.iter().filter(|tool| self.wishes.of(tool) == wish);
            tools.map(String::as_str).collect::<Vec<_>>().join(", ")
        };
        let asked = match self.ask {
            Ask::Refuse => "refused, because nobody is asked (`--ask refuse`)",
            Ask::Elicit | Ask::Agent => "the user is asked before each call",
        };
        let by_wish = [("hidden", Wish::Hide), (asked, Wish::Ask)].map(|(what, wish)| (what, wished(wish)));
        let by_wish = by_wish.into_iter().filter(|(_, tools)| !tools.is_empty());
        let by_wish = by_wish.map(|(what, tools)| format!("{what}: {tools}"));
        let limit = |limit: &Limit| {
            let counted = self.tools.iter().filter(|tool| limit.counts(tool)).map(String::as_str);
            let counted = counted.collect::<Vec<_>>().join(", ");
            let apart = if limit.each { " for each tool" } else { "" };
            format!("at most {} per {}{apart}: {counted}", limit.calls, limit.per.name())
        };
        by_wish.chain(self.wishes.limit.iter().map(limit)).collect()
    }

    fn call(&mut self, tool: &str, arguments: &Values) -> Result<(), String> {
        let accepted = self.accepted.take();
        let wish = self.wishes.of(tool);
        if wish == Wish::Hide {
            return Err("hidden: this tool may not be called".to_owned());
        }
        if let Some((limit, time)) = self.exceeded(tool) {
            let apart = if limit.each { ", each tool apart" } else { "" };
            return Err(format!(
                "limit: {} per {}{apart}; call again in {} s",
                limit.calls,
                limit.per.name(),
                time.as_secs() + u64::from(time.subsec_nanos() > 0)
            ));
        }
        let is_accepted = |(known, shown): (String, Values)| known == tool && shown == *arguments;
        if wish == Wish::Ask && !accepted.is_some_and(is_accepted) {
            return self.raise(tool, arguments);
        }
        self.count(tool, self.now());
        Ok(())
    }

    fn result(&mut self, outcome: Outcome) -> Result<Values, (Values, String)> {
        Ok(logged(outcome))
    }

    fn question(&mut self) -> Option<Question> {
        self.question.take()
    }

    fn reply(&mut self, reply: Reply) -> Result<(Vec<Value>, String), String> {
        let (tool, arguments) = self.asked.take().ok_or("nothing was asked")?;
        reply.accepted()?;
        let event = json!(["asked", tool, "accepted"]);
        self.accepted = Some((tool, arguments));
        Ok((vec![event], String::new()))
    }

    fn line(&self, event: &Value) -> Option<String> {
        if event.get(0).and_then(Value::as_str) != Some("call") {
            return visible_json(event).ok();
        }
        let at = self.now().as_millis() as f64 / 1000.0;
        visible_json(&json!([event.get(0), event.get(1), event.get(2), { "at": at }])).ok()
    }
}
