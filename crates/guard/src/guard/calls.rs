//! Calls of tools. Calls of tools that the rules name, and of the guard's own tools, are carried out one after another,
//! because the rules need the result of a call before the next one.

use super::call::{Call, Retry, Running, Tool, result};
use super::{Guard, Sent, stateless};
use crate::guard::Action;
use crate::outcome::{self, Outcome};
use crate::rules::Values;
use crate::wire::{self, Message, error};
use grammata::diagnostic::excerpt;
use serde_json::{Value, json};
use std::time::Instant;

/// Maximum number of calls in the queue, which wait for the end of the running call, or for the server's list of tools.
const MOST_CALLS: usize = 64;
/// Maximum bytes of the parameters of a refused call whose arguments are logged.
const MOST_LOGGED_BYTES: usize = 16 << 10;
/// Maximum bytes of the parameters of all calls in the queue.
const MOST_CALLS_BYTES: usize = 8 << 20;

impl Guard<'_> {
    /// Returns the owner of the tool with this name.
    pub(super) fn tool(&self, name: &str) -> Tool {
        let own = name.strip_prefix(&self.options.prefix);
        let own = own.and_then(|own| self.rules.own_names().into_iter().find(|known| *known == own));
        match (own, self.names.in_rules(name)) {
            (Some(own), _) => Tool::Own(own),
            (None, Some(_)) => Tool::Servers,
            (None, None) => Tool::Other,
        }
    }

    pub(super) fn add_call(&mut self, mut call: Call, now: Instant) {
        if let Some((one, other)) = wire::ambiguous(&call.arguments) {
            let reason = format!(
                "arguments: `{}` and `{}` are the same name to a server that ignores case",
                excerpt(one),
                excerpt(other)
            );
            return self.refused(&call, &reason);
        }
        let is_passed = call.tool == Tool::Other && self.catalogue.is_some();
        match Retry::take(&mut call) {
            Some(retry) if is_passed => return self.pass_retry(call, retry),
            Some(retry) => return self.retry(call, retry, now),
            None if is_passed => return self.pass_call(call),
            None => {}
        }
        self.leave_question(now);
        let bytes: usize = self.queue.iter().map(|call| call.bytes).sum();
        if self.queue.len() >= MOST_CALLS || bytes + call.bytes > MOST_CALLS_BYTES {
            let text = "too many calls wait: call again when one has its result";
            return self.answer(&call.id, &result(text, true));
        }
        self.queue.push_back(call);
        self.begin(now);
        self.advance(now);
    }

    /// Carries out queued calls until a call waits for the server or for the answer to a question, or none is left. Does
    /// nothing before the server has listed its tools.
    pub(super) fn advance(&mut self, now: Instant) {
        while self.running.is_none()
            && self.asking.is_none()
            && self.suspended.is_none()
            && self.catalogue.is_some()
        {
            let Some(call) = self.queue.pop_front() else { return };
            match call.tool {
                Tool::Own(tool) => self.act(tool, call, now),
                Tool::Servers => self.call(call, now),
                Tool::Other => self.pass_call(call),
            }
        }
    }

    fn act(&mut self, tool: &str, call: Call, now: Instant) {
        self.tell_time(now);
        let acted = self.rules.act(tool, &call.arguments);
        for event in acted.iter().flat_map(|(events, _)| events) {
            self.log(event);
        }
        if let Some(question) = self.rules.question() {
            self.announce(false);
            return self.ask(question, call, acted.ok().map(|(_, told)| told), now);
        }
        match acted {
            Ok((_, told)) => {
                self.announce(false);
                let text = format!("{told}\n{}", self.open_line());
                self.answer(&call.id, &result(&text, false));
            }
            Err(reason) => self.refused(&call, &reason),
        }
    }

    pub(super) fn call(&mut self, call: Call, now: Instant) {
        let Some(listed) = self.catalogue.as_ref().and_then(|catalogue| catalogue.listed(&call.name)) else {
            return self.refused(&call, "the server does not have this tool at present");
        };
        let Some(tool) = self.names.in_rules(&call.name).map(str::to_owned) else { return };
        let known = listed.names.iter().map(String::as_str);
        let bound = self.names.arguments(&tool).iter().map(String::as_str);
        for argument in call.arguments.keys() {
            // a tool may list both names, but its server may read one as the other
            let of_rules = wire::confused(argument, bound.clone());
            if let Some(alike) = of_rules.or_else(|| wire::confused(argument, known.clone())) {
                let reason = format!("argument {}: did you mean `{alike}`?", excerpt(argument));
                return self.refused(&call, &reason);
            }
        }
        let is_further = |argument: &str| !self.rules.governs(&tool, argument) && listed.has(argument);
        let (further, governed): (Values, Values) =
            call.arguments.clone().into_iter().partition(|(argument, _)| is_further(argument));
        self.tell_time(now);
        let allowed = self.rules.named(&tool, governed).and_then(|governed| {
            self.rules.call(&tool, &governed)?;
            Ok(governed)
        });
        let governed = match allowed {
            Ok(governed) => governed,
            Err(reason) => match self.rules.question() {
                Some(question) => return self.ask(question, call, None, now),
                None => return self.refused(&call, &reason),
            },
        };
        self.log(&match further.is_empty() {
            true => json!(["call", tool, governed]),
            false => json!(["call", tool, governed, further]),
        });
        self.send_call(call, now);
    }

    /// Sends a call that the rules have allowed to the server.
    pub(super) fn send_call(&mut self, mut call: Call, now: Instant) {
        stateless::call_without_tasks(&mut call.rest);
        let number = self.sent.add(Sent::Call);
        let deadline = now + self.options.deadline;
        let (id, name, arguments) = (call.id.clone(), call.name.clone(), call.arguments.clone());
        self.running = Some(Running { id, number, name, arguments, deadline });
        self.actions.push(Action::Server(wire::request(number, "tools/call", &call.params())));
    }

    /// Passes on a call of a tool that the rules do not name, if the options allow it and the server has the tool.
    /// Refuses other calls.
    pub(super) fn pass_call(&mut self, call: Call) {
        let is_known = self.catalogue.as_ref().is_some_and(|catalogue| catalogue.has(&call.name));
        if !self.options.allow_others || !is_known {
            return self.refused(&call, "unknown: the rules have no tool of this name");
        }
        let number = self.sent.add(Sent::Other(call.id.clone(), call.name.clone()));
        self.actions.push(Action::Server(wire::request(number, "tools/call", &call.params())));
    }

    /// Answers a call with the reason why it is not carried out, and the tools that are open. The log has the arguments
    /// of the call, too, unless they are long.
    pub(super) fn refused(&mut self, call: &Call, reason: &str) {
        let text = format!("{}: {reason}", excerpt(&call.name));
        let logged = format!("refused: {text}");
        match call.bytes <= MOST_LOGGED_BYTES {
            true => self.log(&json!(["guide", logged, call.arguments])),
            false => self.log(&json!(["guide", logged])),
        }
        let text = format!("Not carried out: {text}\n{}", self.open_line());
        self.answer(&call.id, &result(&text, true));
    }

    /// Handles the server's answer to the request `number`, if that is the running call. Any other answer is ignored.
    pub(super) fn call_answered(&mut self, number: u64, message: &Message, now: Instant) {
        let Some(running) = self.running.take_if(|running| running.number == number) else { return };
        let answered = message.value("result");
        if answered.as_ref().is_some_and(|result| self.asks(&running, result, now)) {
            self.in_use.remove(&running.id);
            return self.actions.push(Action::Client(message.line(Some(&running.id))));
        }
        // such as a task, whose result would reach the client later, and without the rules
        let is_unknown = answered.as_ref().is_some_and(outcome::is_of_unknown_type);
        let outcome = match (&answered, message.value("error")) {
            (Some(result), _) => Outcome::of(result),
            (None, Some(error)) => {
                Outcome::error(error.get("message").and_then(Value::as_str).unwrap_or_default())
            }
            (None, None) => Outcome::error(
                "the answer cannot be read: it is nested too deeply, or has a surrogate without its pair",
            ),
        };
        let unknown = || "it is of a type that the guard does not follow".to_owned();
        let judged = match self.rules.result(outcome) {
            Ok(logged) if is_unknown => Err((logged, unknown())),
            judged => judged,
        };
        match judged {
            Ok(logged) => {
                self.log(&json!(["result", logged]));
                self.announce(false);
                self.in_use.remove(&running.id);
                self.actions.push(Action::Client(message.line(Some(&running.id))));
            }
            Err((logged, reason)) => {
                self.log(&json!(["result", logged]));
                self.announce(false);
                let text = format!(
                    "{} was called, but its result counts as an error: {reason}\n{}",
                    running.name,
                    self.open_line()
                );
                let mut answer = result(&text, true);
                let content = answered.as_ref().and_then(|result| result.get("content")?.as_array());
                if let (Some(all), Some(content)) = (answer["content"].as_array_mut(), content) {
                    all.extend(content.iter().cloned());
                }
                self.answer(&running.id, &answer);
            }
        }
        self.advance(now);
    }

    /// Records that the running call failed without an answer, and returns it; `None` if no call is running.
    fn fail(&mut self, why: &str) -> Option<Running> {
        let running = self.running.take()?;
        self.sent.open.remove(&running.number);
        let (Ok(logged) | Err((logged, _))) = self.rules.result(Outcome::error(why));
        self.log(&json!(["result", logged]));
        Some(running)
    }

    pub(super) fn call_failed(&mut self, why: &str, now: Instant) {
        let Some(running) = self.fail(why) else { return };
        self.announce(false);
        self.refuse(&running.id, error::UNAVAILABLE, why);
        self.advance(now);
    }

    pub(super) fn call_timed_out(&mut self, now: Instant) {
        let Some(running) = self.fail("the server did not answer in time") else { return };
        let params = json!({ "requestId": running.number, "reason": "the deadline has passed" });
        let line = wire::notification("notifications/cancelled", Some(params));
        self.actions.push(Action::Server(line));
        self.announce(false);
        let text = format!(
            "{} counts as failed: the server did not answer within {} s\n{}",
            running.name,
            self.options.deadline.as_secs_f64(),
            self.open_line()
        );
        self.answer(&running.id, &result(&text, true));
        self.advance(now);
    }

    /// Records that the client has cancelled the running call. The client expects no answer.
    pub(super) fn call_cancelled(&mut self, now: Instant) {
        if self.fail("the call was cancelled").is_some() {
            self.announce(false);
            self.advance(now);
        }
    }
}
