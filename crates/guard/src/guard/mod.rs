//! The guard decides what each side receives for each message of the other side.
//!
//! `client` handles the messages of the client, whose names `names` checks, `server` those of the server, `calls` the
//! calls of tools, and `asking` the questions for the person who uses the client; `open` says which tools are open, and
//! `review` what the guard will do with a server. `stateless`, `subscriptions` and `retries` are about sessions without
//! `initialize`. Requests that are passed on get new ids from the guard, so that the ids of the client, the server and the
//! guard cannot be confused.

mod asking;
mod call;
mod calls;
mod client;
mod identity;
mod names;
mod open;
mod retries;
mod review;
mod server;
mod stateless;
mod subscriptions;

pub use review::{Review, ReviewedTool};

use crate::catalogue::{self, Catalogue, Names, Pages};
use crate::errors;
use crate::rules::{ClientNames, Rules};
use crate::wire::{self, Id, Line};
use asking::{Asking, Way};
use call::{Call, Running};
use grammata::error::{Error, Result};
use retries::{OtherQuestions, Suspended};
use rustc_hash::{FxHashMap, FxHashSet};
use serde_json::Value;
use serde_json::value::RawValue;
use stateless::Envelope;
use std::collections::VecDeque;
use std::time::{Duration, Instant};
use subscriptions::Streams;

/// Maximum number of requests of one side that wait for an answer.
const MOST_WAITING: usize = 1_000;
/// Maximum bytes of the parameters of a call, and of an answer to a question.
const MOST_CALL_BYTES: usize = 1 << 20;
/// Maximum number of messages of a batch.
const MOST_BATCH: usize = 100;
/// Maximum number of remarks of a session; further ones are dropped.
const MOST_NOTES: usize = 20;

/// Options of a guard.
#[derive(Clone, Debug)]
pub struct Options {
    /// Pairs of a name in the rules and the name of the server's tool. A name without a pair is the same on the server.
    pub map: Vec<(String, String)>,
    /// The prefix of the names of the guard's own tools, which tells them from the server's. `guard_` by default.
    pub prefix: String,
    /// Whether the client sees, and may call, tools that the rules do not name. False by default.
    pub allow_others: bool,
    /// Whether the client's list has all tools of the rules, as the server describes them, and not only those that may
    /// be called now. This is meant for clients that read the list only once. Calls are checked in any case. False by
    /// default.
    pub list_all: bool,
    /// Whether a slot of the rules may have a name that the tool's schema does not list, if the schema allows further
    /// arguments. False by default, because a slot that no argument carries binds nothing.
    pub open_arguments: bool,
    /// Members of messages and of their `params` that are passed on although the protocol does not have them. None by
    /// default. A name that equals that of a known member but for its case is never passed on.
    pub allow_members: Vec<String>,
    /// Methods that are passed on although the protocol does not have them. None by default.
    pub allow_methods: Vec<String>,
    /// How long the server may take for a call of a tool that the rules name, and for a page of its list of tools. 60 s
    /// by default.
    pub deadline: Duration,
    /// How long the person may take for the answer to a question. 10 minutes by default.
    pub ask_deadline: Duration,
    /// An instant, and the time since 1970 at this instant. Rules with limits by time need it to continue an earlier
    /// session. By default the time begins with zero at the first call.
    pub epoch: Option<(Instant, Duration)>,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            map: Vec::new(),
            prefix: "guard_".to_owned(),
            allow_others: false,
            list_all: false,
            open_arguments: false,
            allow_members: Vec::new(),
            allow_methods: Vec::new(),
            deadline: Duration::from_secs(60),
            ask_deadline: Duration::from_secs(600),
            epoch: None,
        }
    }
}

/// A step that the caller must carry out. The steps of one list are carried out in order.
#[derive(Clone, Debug)]
pub enum Action {
    /// Send a line to the client. The line has no line end.
    Client(String),
    /// Send a line to the server. The line has no line end.
    Server(String),
    /// Write a line to the log. This must be done before the steps that follow are carried out.
    Log(String),
    /// Tell the user a remark, such as that a message was broken.
    Note(String),
    /// End the session with this error.
    Stop(Error),
}

/// A request that the server must answer.
#[derive(Debug)]
enum Sent {
    /// A request of the client with this id, passed on.
    Passed(Id),
    /// The client's `initialize`, with its id.
    Initialize(Id),
    /// The client's `server/discover`, with its id and its envelope.
    Discover(Id, Option<Envelope>),
    /// The client's `subscriptions/listen`, with its id.
    Subscribed(Id),
    /// The guard's own `subscriptions/listen`.
    Listening,
    /// A call of a tool that the rules name.
    Call,
    /// A call of a tool that the rules do not name, with the id and the name of the tool.
    Other(Id, String),
    /// The guard's own `tools/list`.
    List,
}

/// A request that the client must answer.
#[derive(Debug, PartialEq, Eq)]
enum Asked {
    /// A request of the server with this id, passed on.
    Servers(Id),
    /// A question of the guard.
    Guards,
}

/// Requests that wait for an answer, by the ids that the guard gave them.
#[derive(Debug)]
struct Waiting<T> {
    last: u64,
    open: FxHashMap<u64, T>,
}

impl<T> Waiting<T> {
    fn new() -> Waiting<T> {
        Waiting { last: 0, open: FxHashMap::default() }
    }

    /// Returns a number that is not used yet.
    fn number(&mut self) -> u64 {
        self.last += 1;
        self.last
    }

    fn add(&mut self, request: T) -> u64 {
        let number = self.number();
        self.open.insert(number, request);
        number
    }

    fn take(&mut self, id: &Id) -> Option<(u64, T)> {
        let number = id.number()?;
        Some((number, self.open.remove(&number)?))
    }
}

/// The server's list of tools while it is read.
#[derive(Debug)]
struct Reading {
    pages: Pages,
    deadline: Instant,
    /// Whether the server's list has changed since reading it began.
    is_stale: bool,
}

/// A proxy between a client and a server that holds the client to rules.
pub struct Guard<'r> {
    rules: Box<dyn Rules + 'r>,
    names: Names,
    options: Options,
    /// The version of the protocol, once the server has agreed to one that the guard knows.
    version: Option<&'static str>,
    catalogue: Option<Catalogue>,
    reading: Option<Reading>,
    /// Ids of the client's requests that wait for an answer.
    in_use: FxHashSet<Id>,
    sent: Waiting<Sent>,
    asked: Waiting<Asked>,
    /// How the client is asked; `None` if it cannot be asked.
    way: Option<Way>,
    /// The call that waits for the answer to a question.
    asking: Option<Asking>,
    /// `tools/list` requests that wait for the server's list.
    lists: Vec<Id>,
    queue: VecDeque<Call>,
    running: Option<Running>,
    /// The call that waits for its retry, because its result asks a question.
    suspended: Option<Suspended>,
    other_questions: OtherQuestions,
    /// The client's latest envelope; `None` in a session that begins with `initialize`, or before its beginning.
    envelope: Option<Envelope>,
    /// Whether the server has answered `initialize`, so that envelopes have no meaning for the guard.
    is_initialized: bool,
    streams: Streams,
    /// The client's list of tools, without those that the rules do not name, when it was last sent or announced.
    shown: Option<Vec<Value>>,
    notes: usize,
    identity: identity::Identity,
    actions: Vec<Action>,
}

impl std::fmt::Debug for Guard<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Guard").field("options", &self.options).finish_non_exhaustive()
    }
}

impl<'r> Guard<'r> {
    /// Creates a guard at the beginning of a session.
    ///
    /// # Errors
    /// `guard/unknown-api` if the rules lack a name of [`Options::map`]; `guard/shared-tool` if two names of the rules
    /// have the same tool; `guard/method` if [`Options::allow_methods`] has a name that equals a method of the protocol
    /// but for its case.
    pub fn new(rules: Box<dyn Rules + 'r>, options: Options) -> Result<Guard<'r>> {
        let mut rules = rules;
        for method in &options.allow_methods {
            if let Some(alike) = wire::alike(method) {
                return Err(errors::method(method, alike));
            }
        }
        let names = Names::new(&*rules, &options.map)?;
        let pairs = names.pairs().map(|(name, tool)| (name.to_owned(), tool.to_owned()));
        rules.use_names(ClientNames::new(pairs, &options.prefix));
        Ok(Guard {
            rules,
            names,
            options,
            version: None,
            catalogue: None,
            reading: None,
            in_use: FxHashSet::default(),
            sent: Waiting::new(),
            asked: Waiting::new(),
            way: None,
            asking: None,
            lists: Vec::new(),
            queue: VecDeque::new(),
            running: None,
            suspended: None,
            other_questions: OtherQuestions::default(),
            envelope: None,
            is_initialized: false,
            streams: Streams::default(),
            shown: None,
            notes: 0,
            identity: identity::Identity::default(),
            actions: Vec::new(),
        })
    }

    /// Handles a line of the client at the time `now`. Returns the steps to carry out.
    pub fn from_client(&mut self, line: Line, now: Instant) -> Vec<Action> {
        match self.messages(line) {
            Ok(messages) => messages.iter().for_each(|message| self.client_message(message, now)),
            Err(text) => {
                let line = wire::error::line(None, wire::error::PARSE, text);
                self.actions.push(Action::Client(line));
            }
        }
        std::mem::take(&mut self.actions)
    }

    /// Handles a line of the server at the time `now`. Returns the steps to carry out.
    pub fn from_server(&mut self, line: Line, now: Instant) -> Vec<Action> {
        match self.messages(line) {
            Ok(messages) => messages.iter().for_each(|message| self.server_message(message, now)),
            Err(text) => self.note(&format!("a line of the server was dropped: {text}")),
        }
        std::mem::take(&mut self.actions)
    }

    /// Returns the time at which [`tick`](Guard::tick) must be called if no line arrives before; `None` if no deadline
    /// is set.
    pub fn deadline(&self) -> Option<Instant> {
        let list = self.reading.as_ref().map(|reading| reading.deadline);
        let call = self.running.as_ref().map(|running| running.deadline);
        let question = self.asking.as_ref().map(|asking| asking.deadline);
        let suspended = self.suspended.as_ref().map(|suspended| suspended.deadline);
        list.into_iter().chain(call).chain(question).chain(suspended).min()
    }

    /// Handles the deadlines that have passed at the time `now`. Returns the steps to carry out.
    pub fn tick(&mut self, now: Instant) -> Vec<Action> {
        if self.running.as_ref().is_some_and(|running| running.deadline <= now) {
            self.call_timed_out(now);
        }
        if self.asking.as_ref().is_some_and(|asking| asking.deadline <= now) {
            self.question_timed_out(now);
        }
        if self.suspended.as_ref().is_some_and(|suspended| suspended.deadline <= now) {
            self.abandon("the deadline has passed");
            self.advance(now);
        }
        if self.reading.as_ref().is_some_and(|reading| reading.deadline <= now) {
            self.reading = None;
            match self.catalogue.is_some() {
                true => self.note("the server did not list its tools in time"),
                false => self.stop(errors::silent(self.options.deadline)),
            }
        }
        std::mem::take(&mut self.actions)
    }

    /// Returns whether a request of the client waits for an answer.
    pub fn is_waiting(&self) -> bool {
        // streams last until the client ends them
        self.running.is_some() || self.in_use.len() > self.streams.len()
    }

    /// Ends the session after one side has ended. Returns the steps to carry out: open requests of the client get an
    /// error with the text `why`, and the running call counts as failed.
    pub fn close(&mut self, why: &str, now: Instant) -> Vec<Action> {
        self.queue.clear();
        self.lists.clear();
        self.reading = None;
        if let Some(asking) = self.asking.take() {
            self.withdraw(asking.number);
        }
        if self.running.is_some() {
            self.call_failed(why, now);
        }
        self.abandon(why);
        self.streams.clear();
        // later answers of the server have no receiver
        self.sent.open.clear();
        for id in std::mem::take(&mut self.in_use) {
            let line = wire::error::line(Some(&id), wire::error::UNAVAILABLE, why);
            self.actions.push(Action::Client(line));
        }
        std::mem::take(&mut self.actions)
    }

    /// Returns the messages of a line: one, or those of a batch.
    ///
    /// # Errors
    /// A text that says why the line has no messages.
    fn messages(&mut self, line: Line) -> std::result::Result<Vec<String>, &'static str> {
        let text = match line {
            Line::Text(text) => text,
            Line::TooLong => return Err("the line is too long"),
            Line::NotUtf8 => return Err("the line is not UTF-8"),
        };
        if !text.trim_start().starts_with('[') {
            return Ok(vec![text]);
        }
        match serde_json::from_str::<Vec<Box<RawValue>>>(&text) {
            Ok(messages) if (1..=MOST_BATCH).contains(&messages.len()) => {
                Ok(messages.into_iter().map(|message| message.get().to_owned()).collect())
            }
            Ok(_) => Err("a batch has 1 to 100 messages"),
            Err(_) => Err("the line is not JSON"),
        }
    }

    fn note(&mut self, text: &str) {
        self.notes += 1;
        if self.notes <= MOST_NOTES {
            self.actions.push(Action::Note(text.to_owned()));
        }
    }

    /// Logs an event, if the rules have a log line for it.
    fn log(&mut self, event: &Value) {
        self.log_client();
        let line = self.rules.line(event);
        self.actions.extend(line.map(Action::Log));
    }

    fn stop(&mut self, error: Error) {
        let text = error.diagnostic().message().to_owned();
        let found = error.diagnostic().found_text().unwrap_or_default().to_owned();
        self.queue.clear();
        self.lists.clear();
        self.asking = None;
        self.suspended = None;
        self.sent.open.clear();
        for id in std::mem::take(&mut self.in_use) {
            let line = wire::error::line(Some(&id), wire::error::UNAVAILABLE, &format!("{text}: {found}"));
            self.actions.push(Action::Client(line));
        }
        self.actions.push(Action::Stop(error));
    }

    /// Answers a request of the client with a result.
    fn answer(&mut self, id: &Id, result: &Value) {
        self.in_use.remove(id);
        self.actions.push(Action::Client(wire::response(id, &self.typed(result))));
    }

    /// Answers a request of the client with an error.
    fn refuse(&mut self, id: &Id, code: i32, text: &str) {
        self.in_use.remove(id);
        self.actions.push(Action::Client(wire::error::line(Some(id), code, text)));
    }

    /// Requests a page of the server's list of tools. Without a cursor, the first page is requested, and pages that
    /// were already read are dropped.
    fn ask_for_tools(&mut self, cursor: Option<String>, now: Instant) {
        let pages = match cursor {
            Some(_) => self.reading.take().map(|reading| reading.pages),
            None => None,
        };
        let deadline = now + self.options.deadline;
        self.reading = Some(Reading { pages: pages.unwrap_or_default(), deadline, is_stale: false });
        let number = self.sent.add(Sent::List);
        let params = cursor.map(|cursor| ("cursor".to_owned(), cursor.into())).into_iter().collect();
        self.actions.push(Action::Server(wire::request(number, "tools/list", &self.enveloped(params))));
    }

    /// Begins to read the server's list of tools, unless it was read or is being read.
    fn begin(&mut self, now: Instant) {
        if self.catalogue.is_none() && self.reading.is_none() {
            self.listen(now);
            self.ask_for_tools(None, now);
        }
    }

    /// Tells the rules the time.
    fn tell_time(&mut self, now: Instant) {
        let (instant, time) = *self.options.epoch.get_or_insert((now, Duration::ZERO));
        self.rules.at(time + now.saturating_duration_since(instant));
    }

    /// Returns the names of all own tools of the guard, with the prefix.
    fn own_names(&self) -> Vec<String> {
        self.rules.own_names().iter().map(|name| format!("{}{name}", self.options.prefix)).collect()
    }

    /// Returns the tools that the client sees, without those that the rules do not name.
    fn visible(&self, catalogue: &Catalogue) -> Vec<Value> {
        let mut tools = match self.options.list_all {
            true => catalogue.all(&self.names),
            false => catalogue.open(&self.names, &self.rules.open()),
        };
        tools.extend(self.rules.own().iter().map(|tool| catalogue::own(&self.options.prefix, tool)));
        tools
    }

    /// Answers a `tools/list` request of the client. Does nothing before the server's list was read.
    fn list(&mut self, id: &Id) {
        let Some(catalogue) = &self.catalogue else { return };
        let visible = self.visible(catalogue);
        let mut tools = visible.clone();
        if self.options.allow_others {
            tools.extend(catalogue.others(&self.names));
        }
        self.shown = Some(visible);
        self.answer(id, &self.tool_list(tools));
    }

    /// Tells the client that its list of tools has changed, if it differs from the one last sent or announced, or
    /// always if `is_servers`, which means that the server's own list has changed and the client sees tools that the
    /// rules do not name. Sends nothing before the client has read a list.
    fn announce(&mut self, is_servers: bool) {
        let (Some(catalogue), Some(shown)) = (&self.catalogue, &self.shown) else { return };
        let visible = self.visible(catalogue);
        if is_servers || visible != *shown {
            self.shown = Some(visible);
            self.tell_list_changed();
        }
    }
}
