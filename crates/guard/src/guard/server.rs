//! Messages of the server.

use super::subscriptions::LIST_CHANGED;
use super::{Asked, Guard, MOST_WAITING, Sent};
use crate::catalogue::{Catalogue, Names};
use crate::errors;
use crate::guard::Action;
use crate::wire::{self, Id, Kind, Message, WITHOUT_SESSIONS, error};
use grammata::diagnostic::excerpt;
use grammata::error::Result;
use serde_json::{Map, Value, json};
use std::time::Instant;

/// Maximum number of tools, and of arguments of a tool, that a remark names.
const MOST_SHOWN: usize = 20;

impl Guard<'_> {
    pub(super) fn server_message(&mut self, text: &str, now: Instant) {
        let message = match Message::read(text) {
            Ok(message) => message,
            Err(invalid) => {
                self.note(&format!("a message of the server was dropped: {}", invalid.text));
                return;
            }
        };
        match &message.kind {
            Kind::Response { id } => match self.sent.take(id) {
                Some((number, sent)) => self.answered(number, sent, &message, now),
                // the answer may be late, after a cancellation or a deadline
                None => self.note("an answer of the server to no request was dropped"),
            },
            Kind::Notification { method } if self.is_of_stream(method, &message, now) => {}
            Kind::Notification { method } => match method.as_str() {
                LIST_CHANGED => self.servers_list_changed(now),
                "notifications/cancelled" => self.cancelled_by_server(&message),
                _ => self.actions.push(Action::Client(message.line(None))),
            },
            Kind::Request { id, .. } if self.asked.open.len() >= MOST_WAITING => {
                let line = error::line(Some(id), error::UNAVAILABLE, "too many requests wait for an answer");
                self.actions.push(Action::Server(line));
            }
            Kind::Request { id, .. } => {
                let number = self.asked.add(Asked::Servers(id.clone()));
                self.actions.push(Action::Client(message.line(Some(&Id::Number(number.to_string())))));
            }
        }
    }

    fn answered(&mut self, number: u64, sent: Sent, message: &Message, now: Instant) {
        match sent {
            Sent::Passed(id) => {
                self.in_use.remove(&id);
                self.actions.push(Action::Client(message.line(Some(&id))));
            }
            Sent::Initialize(id) => match message.value("result") {
                Some(Value::Object(result)) => {
                    let version = result.get("protocolVersion").and_then(Value::as_str);
                    self.version = version.and_then(wire::known_version);
                    (self.envelope, self.is_initialized) = (None, true);
                    let result = self.described(result);
                    self.answer(&id, &result.into());
                }
                _ => {
                    self.in_use.remove(&id);
                    self.actions.push(Action::Client(message.line(Some(&id))));
                }
            },
            Sent::Discover(id, envelope) => match message.value("result") {
                Some(Value::Object(result)) => {
                    let (result, is_stateless) = self.discovered(result);
                    if is_stateless
                        && !self.is_initialized
                        && let Some(envelope) = envelope
                    {
                        self.enter(envelope);
                        self.begin(now);
                    }
                    self.answer(&id, &result);
                }
                _ => {
                    self.in_use.remove(&id);
                    self.actions.push(Action::Client(message.line(Some(&id))));
                }
            },
            Sent::Subscribed(id) => self.subscription_ended(&id, message),
            Sent::Listening => self.listening_ended(now),
            Sent::List => self.listed(message, now),
            Sent::Other(id, name) => {
                if let Some(result) = message.value("result") {
                    self.other_questions.add(name, &result);
                }
                self.in_use.remove(&id);
                self.actions.push(Action::Client(message.line(Some(&id))));
            }
            Sent::Call => self.call_answered(number, message, now),
        }
    }

    /// Returns the server's result of `initialize` or `server/discover`, changed for the client: the guard announces
    /// changes of the list, does not offer calls as tasks, and adds its instructions.
    pub(super) fn described(&self, mut result: Map<String, Value>) -> Map<String, Value> {
        let capabilities = result.entry("capabilities").or_insert_with(|| json!({}));
        if let Some(capabilities) = capabilities.as_object_mut() {
            let tools = capabilities.entry("tools").or_insert_with(|| json!({}));
            match tools.as_object_mut() {
                Some(tools) => drop(tools.insert("listChanged".to_owned(), true.into())),
                None => *tools = json!({ "listChanged": true }),
            }
            // rules cannot follow a task, because the response to its call does not have the result
            let requests = capabilities.get_mut("tasks").and_then(|tasks| tasks.get_mut("requests"));
            if let Some(requests) = requests.and_then(Value::as_object_mut) {
                requests.shift_remove("tools");
            }
        }
        let about = self.rules.about();
        let text = match result.get("instructions").and_then(Value::as_str) {
            Some(text) if !text.is_empty() => format!("{text}\n\n{about}"),
            _ => about,
        };
        result.insert("instructions".to_owned(), text.into());
        result
    }

    pub(super) fn servers_list_changed(&mut self, now: Instant) {
        match &mut self.reading {
            Some(reading) => reading.is_stale = true,
            None if self.catalogue.is_some() => self.ask_for_tools(None, now),
            None => {}
        }
    }

    /// Handles a page of the server's list of tools.
    fn listed(&mut self, message: &Message, now: Instant) {
        let Some(reading) = &mut self.reading else { return };
        let page = message.value("result").ok_or_else(|| match message.value("error") {
            Some(error) => format!("the error {error}"),
            None => "a result that cannot be read".to_owned(),
        });
        // a server of an earlier version may answer all the same, with results that the client cannot read
        let is_earlier = |page: &Value| self.envelope.is_some() && page.get("resultType").is_none();
        let page = page.and_then(|page| match is_earlier(&page) {
            true => Err(format!("no `resultType`: the server does not speak version {WITHOUT_SESSIONS}")),
            false => Ok(page),
        });
        let next = page.and_then(|page| reading.pages.add(page, message.bytes("result")));
        match next {
            Ok(Some(cursor)) => {
                let is_stale = reading.is_stale;
                self.ask_for_tools(Some(cursor), now);
                if let Some(reading) = &mut self.reading {
                    reading.is_stale = is_stale;
                }
            }
            Ok(None) => {
                let Some(reading) = self.reading.take() else { return };
                self.read_tools(Catalogue::new(reading.pages), now);
                if reading.is_stale {
                    self.ask_for_tools(None, now);
                }
            }
            Err(what) => {
                self.reading = None;
                match self.catalogue.is_some() {
                    true => self.note(&format!("the server's new list of tools was dropped: {what}")),
                    false => self.stop(errors::list(&what)),
                }
            }
        }
    }

    /// Gives the rules the server's tools, and checks that these have what the rules need.
    ///
    /// # Errors
    /// Those of [`Rules::bind`](crate::rules::Rules::bind), [`Names::new`] and [`Catalogue::check`].
    pub(super) fn bind(&mut self, catalogue: &Catalogue) -> Result<()> {
        // the rules must know the tools even if they lack one
        let bound = self.rules.bind(&catalogue.names());
        let names = Names::new(&*self.rules, &self.options.map);
        let checked = names.and_then(|names| {
            let checked = catalogue.check(&names, self.own_names(), self.options.open_arguments);
            self.names = names;
            checked
        });
        bound.and(checked)
    }

    fn read_tools(&mut self, catalogue: Catalogue, now: Instant) {
        let problem = self.bind(&catalogue).err();
        let is_first = self.catalogue.is_none();
        match problem {
            Some(error) if is_first => return self.stop(error),
            Some(error) => {
                self.note(&format!("the server's tools changed: {}", error.diagnostic().message()))
            }
            None if is_first => self.note_ungoverned(&catalogue),
            None => {}
        }
        self.catalogue = Some(catalogue);
        for mut call in std::mem::take(&mut self.queue) {
            call.tool = self.tool(&call.name);
            self.queue.push_back(call);
        }
        for id in std::mem::take(&mut self.lists) {
            self.list(&id);
        }
        if !is_first {
            self.announce(self.options.allow_others);
        }
        self.advance(now);
    }

    /// Tells the user which arguments the rules leave open.
    fn note_ungoverned(&mut self, catalogue: &Catalogue) {
        let tools = catalogue.ungoverned(&self.names, &*self.rules);
        if tools.is_empty() {
            return;
        }
        let line = |(tool, arguments): &(String, Vec<String>)| {
            let shown = arguments.iter().take(MOST_SHOWN).map(|name| excerpt(name)).collect::<Vec<_>>();
            format!("{} ({})", excerpt(tool), shown.join(", "))
        };
        let tools: Vec<String> = tools.iter().take(MOST_SHOWN).map(line).collect();
        self.note(&format!("the rules do not govern these arguments of tools: {}", tools.join(", ")));
    }

    fn cancelled_by_server(&mut self, message: &Message) {
        let Some(Value::Object(mut params)) = message.value("params") else { return };
        let Some(id) = message.cancelled() else { return };
        let asked =
            self.asked.open.iter().find(|(_, asked)| matches!(asked, Asked::Servers(asked) if *asked == id));
        let Some(number) = asked.map(|(number, _)| *number) else { return };
        self.asked.open.remove(&number);
        params.insert("requestId".to_owned(), json!(number));
        let line = wire::notification("notifications/cancelled", Some(Value::Object(params)));
        self.actions.push(Action::Client(line));
    }
}
