//! The body of the fuzz target for the guard.

use grammata::Limits;
use grammata_agents::procedures::{
    Event, Format, Mode, NodeKind, Procedure, Session, Supervisor, read_trace, verify,
};
use grammata_guard::rules::{Ask, ProcedureOptions, ProcedureRules};
use grammata_guard::{Action, Guard, Line, Options, read_line};
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::time::{Duration, Instant};

const PROCEDURE: &str = include_str!("../../../grammars/procedures/taxi_order.yaml");
const MODE: Mode = Mode::Guarded;
const DEADLINE: Duration = Duration::from_secs(5);
/// Bytes of a line, at most.
const LINE: usize = 4096;

/// A procedure with its supervisor.
struct Bound {
    procedure: &'static Procedure,
    supervisor: Supervisor<'static>,
}

thread_local! {
    /// The procedure with open sources, and as it is.
    static BOUNDS: [Option<&'static Bound>; 2] = [bound(false), bound(true)];
}

/// The procedure as it is, for sessions whose agent reports the user's words, or with open sources. It is kept for the
/// whole run.
fn bound(hears_user: bool) -> Option<&'static Bound> {
    let mut procedure = Procedure::read(PROCEDURE, Format::Yaml, &Limits::default()).ok()?;
    if !hears_user {
        procedure.open_sources();
    }
    let procedure: &'static Procedure = Box::leak(Box::new(procedure));
    let supervisor = Supervisor::new(procedure, MODE, &Limits::default()).ok()?;
    Some(Box::leak(Box::new(Bound { procedure, supervisor })))
}

/// Reads bytes as a log to continue, and as lines of a session. The first byte of a line says whose it is: `s` the
/// server's, `r` the server's result for its oldest request, `e` an error for that, `t` none (time passes), others the
/// client's. What each side gets is one message a line, and no call that reaches the server breaks the procedure.
pub fn guard(bytes: &[u8]) {
    let hears_user = bytes.len() % 2 == 1;
    let Some(bound) = BOUNDS.with(|bounds| bounds[usize::from(hears_user)]) else { return };
    let rules = || {
        let session = Session::supervised(&bound.supervisor);
        ProcedureRules::new(session, ProcedureOptions { hears_user, ask: Ask::Agent })
    };
    resume(bound, &String::from_utf8_lossy(bytes), rules().ok());
    let Ok(Ok(guard)) = rules().map(|rules| {
        Guard::new(Box::new(rules), Options { deadline: DEADLINE, allow_others: true, ..Options::default() })
    }) else {
        return;
    };
    let mut world = World {
        bound,
        guard,
        now: Instant::now(),
        asked: VecDeque::new(),
        log: Vec::new(),
        is_stopped: false,
    };
    let mut input = bytes;
    while let Ok(Some(line)) = read_line(&mut input, LINE) {
        world.step(line);
        if world.is_stopped {
            break;
        }
    }
    let actions = world.guard.close("gone", world.now);
    world.act(actions);
    assert!(!world.guard.is_waiting());
}

/// A log is continued only if it breaks nothing.
fn resume(bound: &Bound, text: &str, rules: Option<ProcedureRules<'_>>) {
    let (Some(mut rules), Ok(trace)) = (rules, read_trace(text, &Limits::default())) else { return };
    let is_right = verify(bound.procedure, MODE, &trace, true).0.violations.is_empty();
    if rules.resume(&trace).is_ok() {
        assert!(is_right, "{text}");
        let Ok(mut guard) = Guard::new(Box::new(rules), Options::default()) else { return };
        let _ = guard.from_client(Line::Text(list().to_string()), Instant::now());
    }
}

fn list() -> Value {
    json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" })
}

struct World {
    bound: &'static Bound,
    guard: Guard<'static>,
    now: Instant,
    /// Requests that the server has to answer.
    asked: VecDeque<Value>,
    log: Vec<Event>,
    is_stopped: bool,
}

impl World {
    fn step(&mut self, line: Line) {
        let Line::Text(text) = line else {
            let actions = self.guard.from_client(line, self.now);
            return self.act(actions);
        };
        let mut characters = text.chars();
        let first = characters.next().unwrap_or(' ');
        let rest = characters.as_str();
        let actions = match first {
            's' => self.guard.from_server(Line::Text(rest.to_owned()), self.now),
            'r' | 'e' => {
                let Some(asked) = self.asked.pop_front() else { return };
                let answer = self.answer(&asked, first == 'e', rest);
                self.guard.from_server(Line::Text(answer), self.now)
            }
            't' => {
                self.now += DEADLINE;
                self.guard.tick(self.now)
            }
            _ => self.guard.from_client(Line::Text(text), self.now),
        };
        self.act(actions);
    }

    /// The answer to a request. The list of tools is the procedure's, unless the line says another.
    fn answer(&self, asked: &Value, is_error: bool, said: &str) -> String {
        let said = match (said.trim().is_empty(), asked["method"].as_str()) {
            (true, Some("tools/list")) => {
                let nodes = self.bound.procedure.nodes().iter();
                let apis = nodes.filter(|node| node.kind == NodeKind::Api);
                json!({ "tools": apis.map(|api| json!({ "name": api.name })).collect::<Value>() }).to_string()
            }
            (true, _) => "{}".to_owned(),
            (false, _) => said.to_owned(),
        };
        let member = if is_error { "error" } else { "result" };
        format!("{{\"jsonrpc\":\"2.0\",\"id\":{},\"{member}\":{said}}}", asked["id"])
    }

    fn act(&mut self, actions: Vec<Action>) {
        for action in actions {
            match action {
                Action::Client(line) => {
                    assert!(!line.contains(['\n', '\r']), "{line}");
                }
                Action::Server(line) => {
                    assert!(!line.contains(['\n', '\r']), "{line}");
                    // a passed message may be nested more deeply than can be parsed here
                    let Ok(message) = serde_json::from_str::<Value>(&line) else { continue };
                    if message["method"] == "tools/call" {
                        self.judge(&message["params"]);
                    }
                    if message.get("method").is_some() && message.get("id").is_some() {
                        self.asked.push_back(message);
                    }
                }
                Action::Log(line) => {
                    let event = serde_json::from_str(&line).ok().and_then(|event| Event::of(&event));
                    assert!(event.is_some());
                    self.log.extend(event);
                }
                Action::Note(_) => {}
                Action::Stop(_) => self.is_stopped = true,
            }
        }
    }

    /// A call of a tool of the procedure is the last of the log, which breaks no rule.
    fn judge(&self, params: &Value) {
        let name = params["name"].as_str().unwrap_or_default();
        if self.bound.procedure.node(name).is_none() {
            return;
        }
        let (verdict, _) = verify(self.bound.procedure, MODE, &self.log, true);
        assert!(verdict.violations.is_empty(), "{:?}\n{:?}", verdict.violations, self.log);
        let last = self.log.iter().rev().find(|event| matches!(event, Event::Call(..)));
        assert!(matches!(last, Some(Event::Call(api, _)) if api == name), "{name}: {last:?}");
    }
}
