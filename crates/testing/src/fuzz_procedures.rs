//! The body of the fuzz target for procedures.

use super::fuzz_limits::limits;
use grammata_agents::procedures::{self, Event, Format, Mode, NodeKind, Session, Severity, check, verify};
use serde_json::{Map, Value};

/// The most acts of a walk.
const STEPS: usize = 24;

/// Reads bytes as a procedure in YAML and in TOML, and runs its checks. A procedure without errors is walked along its
/// open nodes, and the trace of that walk must have no violations.
pub fn procedure(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    for format in [Format::Yaml, Format::Toml] {
        let Ok(report) = check(&text, format, &limits()) else { continue };
        let has_errors = report.findings.iter().any(|finding| finding.severity == Severity::Error);
        assert_eq!(report.procedure.is_none(), has_errors);
        let Some(procedure) = report.procedure else { continue };
        for (turn, mode) in [Mode::Graph, Mode::Guarded, Mode::Strict].into_iter().enumerate() {
            let mut session = Session::new(&procedure, mode);
            let trace = walk(&mut session, bytes, turn);
            let (verdict, replayed) = verify(&procedure, mode, &trace, false);
            assert_eq!(verdict.violations, [], "{mode} {trace:?}");
            assert_eq!(replayed.open(), session.open(), "{mode} {trace:?}");
            session.feedback();
        }
    }
}

/// Takes open nodes as the bytes decide. Results and decisions are short texts, numbers or booleans.
fn walk(session: &mut Session<'_>, bytes: &[u8], turn: usize) -> Vec<Event> {
    let mut trace = Vec::new();
    let mut choices = bytes.iter().rev().skip(turn).map(|&byte| usize::from(byte)).take(2 * STEPS);
    while let (Some(first), Some(second)) = (choices.next(), choices.next()) {
        let open = session.open();
        let Some(&node) = open.get(first % open.len().max(1)) else { break };
        let procedure = session.procedure();
        let declared = &procedure.nodes()[node];
        let value =
            [Value::Bool(true), Value::Bool(false), 0.into(), "a".into(), 7.into()][second % 5].clone();
        let events = if declared.kind == NodeKind::Api {
            let mut result =
                Map::from_iter(declared.response.iter().map(|slot| (slot.clone(), value.clone())));
            if second % 7 == 0 {
                result.insert("error".to_owned(), "failed".into());
            }
            vec![Event::Call(declared.name.clone(), Map::new()), Event::Result(result)]
        } else {
            let slot = procedure.slots().get(second % procedure.slots().len().max(1));
            let slot = slot.map_or_else(|| "s".to_owned(), |slot| slot.name.clone());
            let (answer, text) = (declared.name.clone(), String::new());
            vec![Event::Say { answer, text, asks: Vec::new() }, Event::Decide(slot, value)]
        };
        events.iter().for_each(|event| procedures::follow(session, event));
        trace.extend(events);
    }
    trace
}
