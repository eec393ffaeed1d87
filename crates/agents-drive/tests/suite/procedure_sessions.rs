//! Sessions of procedures: the reference agent with the users of the shipped simulations, agents that repeat wrong
//! steps, and APIs that fail.

use crate::arm::Arm;
use crate::judge::judge;
use grammata::automaton::{Automaton, Cache, ConfigurationId, Lazy};
use grammata::grammar::Grammar;
use grammata::syntax::automaton_spec::Spec;
use grammata::{Limits, Result};
use grammata_agents::plan::{Environment, Observation, Step};
use grammata_agents::procedures::{
    Conversation, Format, Mode, Offer, Offering, Procedure, StepFormat, StepOptions, Texts, Workflow,
    step_grammar,
};
use grammata_agents_drive::procedures::{
    Agent, AgentOptions, Controllers, DecisionRequest, Ending, Entry, Mask, Record, Reply, RuleAgent,
    RunOptions, Said, ScriptedUser, Simulation, Situation, User, UserScript, run,
};
use serde_json::{Map, Value, json};
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(crate::ROOT).join("grammars/procedures")
}

fn read(text: &str) -> Procedure {
    Procedure::read(text, Format::Yaml, &Limits::default()).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

fn simulations() -> Vec<(Procedure, Simulation)> {
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(root().join("simulations")).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let pair = |file: &PathBuf| {
        let simulation =
            Simulation::read(&std::fs::read_to_string(file).unwrap(), &Limits::default()).unwrap();
        let text = std::fs::read_to_string(root().join(format!("{}.yaml", simulation.procedure))).unwrap();
        (read(&text), simulation)
    };
    files.iter().map(pair).collect()
}

/// Returns whether a text is a word of a grammar.
fn accepts(grammar: &Grammar, text: &str) -> bool {
    let automaton = Automaton::new(grammar, &Limits::default()).unwrap();
    let mut cache = Cache::new();
    let mut run = Lazy::new(&automaton, &mut cache);
    let mut at = run.start().unwrap();
    for &byte in text.as_bytes() {
        at = run.step(at, byte).unwrap();
        if at == ConfigurationId::DEAD {
            return false;
        }
    }
    cache.is_accepting(at)
}

/// An agent whose steps must be words of the grammar of the offered steps.
struct Checked<A>(A);

impl<A: Agent> Agent for Checked<A> {
    fn write(&mut self, situation: &Situation<'_, '_>) -> Result<String> {
        let text = self.0.write(situation)?;
        let options = StepOptions::default().format(situation.binding.format);
        let grammar = step_grammar(situation.offers, &options)?;
        assert!(accepts(&grammar, &text), "{text}\n{:?}", situation.offers);
        Ok(text)
    }

    fn decide(&mut self, request: &DecisionRequest<'_>) -> Result<Option<Value>> {
        self.0.decide(request)
    }
}

fn rule_agent(script: &UserScript) -> RuleAgent {
    RuleAgent::new(script.slots.clone(), script.prose.clone())
}

fn session(
    procedure: &Procedure,
    simulation: &Simulation,
    script: &UserScript,
    binding: &AgentOptions,
) -> Record {
    let workflows = [Workflow::new(procedure, binding.mode(), &Limits::default()).unwrap()];
    let mut user = ScriptedUser::new(script);
    let mut agent = Checked(rule_agent(script));
    let options = RunOptions::default();
    run(&workflows, binding, &mut agent, &mut user, &mut simulation.apis(), &options).unwrap()
}

#[test]
fn the_reference_agent_does_what_each_user_expects() {
    let mut sessions = 0;
    let mut different = Vec::new();
    for (procedure, simulation) in simulations() {
        for (place, script) in simulation.users.iter().enumerate() {
            // users alternate between the two step formats
            let format = [StepFormat::Published, StepFormat::Json][place % 2];
            // an answer without claims may have any text, so free replies of the agent are accepted
            let options = AgentOptions::default().format(format);
            let record = session(&procedure, &simulation, script, &options);
            let judgement = judge(&procedure, script, &record);
            sessions += 1;
            let is_as_expected = judgement.success && judgement.made == judgement.expected;
            if !is_as_expected || judgement.wrong() > 0 || record.refusals > 0 {
                let events: Vec<String> = record.events().iter().map(ToString::to_string).collect();
                different.push(format!(
                    "{} {}: {judgement:?}\n{}",
                    procedure.name(),
                    script.id,
                    events.join("\n")
                ));
            }
        }
    }
    assert_eq!(sessions, 69);
    assert!(different.is_empty(), "{} differ\n{}", different.len(), different.join("\n\n"));
}

/// An agent that writes the same steps in a cycle.
struct Stubborn(Vec<&'static str>, usize);

impl Agent for Stubborn {
    fn write(&mut self, _: &Situation<'_, '_>) -> Result<String> {
        self.1 += 1;
        Ok(self.0[(self.1 - 1) % self.0.len()].to_owned())
    }

    fn decide(&mut self, _: &DecisionRequest<'_>) -> Result<Option<Value>> {
        Ok(None)
    }
}

const SMALL: &str = "Name: x\nSLOTs:\n- {name: s, schema: {enum: [a, b]}}\n- {name: ok, schema: {type: boolean}}\nAPIs:\n\
    - {name: look, request: [s], response: [ok]}\n- {name: order, request: [s], precondition: [look], effect: write}\n\
    ANSWERs:\n- {name: done, desc: It is ordered., precondition: [order]}\n\
    Procedure: |\n  [ok] = look(s)\n  if ok == true:\n    order(s)\n    done()\n  else:\n    done()\n";

fn script() -> UserScript {
    serde_json::from_value(json!({"id": "x", "kind": "iw", "open": "Hello.", "slots": {"s": "a"}})).unwrap()
}

fn with_agent(
    procedure: &Procedure,
    binding: &AgentOptions,
    agent: &mut dyn Agent,
    environment: &mut dyn Environment,
) -> Result<Record> {
    let workflows = [Workflow::unsupervised(procedure, binding.mode())];
    run(&workflows, binding, agent, &mut ScriptedUser::new(&script()), environment, &RunOptions::default())
}

fn gives(value: Value) -> impl FnMut(&Spec, &Step) -> Result<Observation> {
    move |_, _| Ok(Observation { data: value.clone(), ..Observation::default() })
}

#[test]
fn the_published_controllers_stop_at_their_bound_or_never() {
    let procedure = read(SMALL);
    let blocked = "Action: order\nAction Input: {\"s\": \"a\"}";
    let options = Arm::named("A2").unwrap().options;
    let record =
        with_agent(&procedure, &options, &mut Stubborn(vec![blocked], 0), &mut gives(json!({}))).unwrap();
    let first: Vec<&str> = record.entries.iter().take(7).map(|(_, entry)| entry.line().0).collect();
    assert_eq!(first, ["user", "refused", "refused", "refused", "refused", "refused", "agent"]);
    let Entry::Refused { reason, .. } = &record.entries[1].1 else { panic!("{record:?}") };
    assert_eq!(reason, "precondition look");
    // the published code has no bound for refusals, so the session ends with an error
    let options = options.controllers(Some(Controllers::CODE));
    let error =
        with_agent(&procedure, &options, &mut Stubborn(vec![blocked], 0), &mut gives(json!({}))).unwrap_err();
    assert_eq!(error.code(), "procedure/refusals");
    // a repeated call is refused once, and is allowed again after a reply
    let look = "Action: look\nAction Input: {\"s\": \"a\"}";
    let steps = vec![look, look, "Answer: free\nResponse: One moment.", look, "Answer: free\nResponse: So."];
    let options = options.controllers(Some(Controllers::PAPER));
    let record =
        with_agent(&procedure, &options, &mut Stubborn(steps, 0), &mut gives(json!({"ok": true}))).unwrap();
    let kinds: Vec<&str> = record.entries.iter().take(8).map(|(_, entry)| entry.line().0).collect();
    assert_eq!(kinds, ["user", "call", "result", "refused", "agent", "user", "call", "result"]);
}

#[test]
fn an_agent_without_a_mask_has_three_tries() {
    let procedure = read(SMALL);
    let record = with_agent(
        &procedure,
        &Arm::named("A0").unwrap().options,
        &mut Stubborn(vec!["I think so."], 0),
        &mut gives(json!({})),
    )
    .unwrap();
    let kinds: Vec<&str> = record.entries.iter().take(5).map(|(_, entry)| entry.line().0).collect();
    assert_eq!(kinds, ["user", "unread", "unread", "unread", "agent"]);
    assert!(!record.is_complete);
}

#[test]
fn apis_that_fail_are_errors_of_the_call_or_end_the_session() {
    let look = "Action: look\nAction Input: {\"s\": \"a\"}";
    let options = Arm::named("A4").unwrap().options;
    let fails = |_: &Spec, _: &Step| -> Result<Observation> {
        let diagnostic = grammata::Diagnostic::new("environment/timeout", "it took too long");
        Err(grammata::Error::new(grammata::ErrorKind::Io, diagnostic))
    };
    // the procedure has no `except`, so an error of an API ends the session
    let procedure = read(SMALL);
    let record = with_agent(&procedure, &options, &mut Stubborn(vec![look], 0), &mut fails.clone()).unwrap();
    let Ending::Failed(error) = &record.ending else { panic!("{record:?}") };
    assert_eq!(error.code(), "environment/timeout");
    assert!(error.to_string().contains("it took too long"), "{error}");
    // the procedure catches the error: only the statements under `except` are open
    let caught = read(
        "Name: x\nAPIs:\n- {name: look}\nANSWERs:\n- {name: sorry, desc: No luck., precondition: [look]}\n\
         - {name: fine, desc: Fine., precondition: [look]}\n\
         Procedure: |\n  try:\n    look()\n  except:\n    sorry()\n    return\n  fine()\n",
    );
    let steps = vec!["Action: look\nAction Input: {}", "Answer: sorry\nResponse: No luck."];
    let record = with_agent(&caught, &options, &mut Stubborn(steps, 0), &mut fails.clone()).unwrap();
    assert!(record.is_complete && record.refusals == 0, "{record:?}");
    // invalid results: a value that the schema does not allow, and a response that is not an object
    let record =
        with_agent(&procedure, &options, &mut Stubborn(vec![look], 0), &mut gives(json!({"ok": "maybe"})))
            .unwrap();
    let Ending::Failed(error) = &record.ending else { panic!("{record:?}") };
    assert!(error.to_string().contains("ok = \"maybe\""), "{error}");
    let error =
        with_agent(&procedure, &options, &mut Stubborn(vec![look], 0), &mut gives(json!(1))).unwrap_err();
    assert_eq!(error.code(), "procedure/result");
    // a slot that is missing from a result stays unset, so conditions on it are false
    let record = with_agent(
        &procedure,
        &options,
        &mut Stubborn(vec![look, "Action: order\nAction Input: {\"s\": \"a\"}"], 0),
        &mut gives(json!({})),
    )
    .unwrap();
    let Entry::Refused { reason, .. } = &record.entries[3].1 else { panic!("{record:?}") };
    assert_eq!(reason, "guard ok == true (look.ok is not known)");
}

/// Returns a pseudo-random number below `bound`, from a generator with 64 bits of state (Knuth's MMIX constants).
fn draw(state: &mut u64, bound: usize) -> usize {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    ((*state >> 33) % bound as u64) as usize
}

#[test]
fn frames_are_pushed_and_popped_and_keep_their_values() {
    let text = |name: &str| SMALL.replace("Name: x", &format!("Name: {name}"));
    let procedures: Vec<Procedure> = ["one", "two", "three", "four"].map(|name| read(&text(name))).into();
    let workflows: Vec<Workflow<'_>> = procedures
        .iter()
        .map(|procedure| Workflow::new(procedure, Mode::Guarded, &Limits::default()).unwrap())
        .collect();
    let mut conversation = Conversation::new(&workflows).unwrap();
    let controls = |conversation: &Conversation<'_>| -> Vec<String> {
        let offers = conversation.offers(&Offering::default());
        let name = |offer: Offer| match offer {
            Offer::Control(name) => Some(name),
            _ => None,
        };
        offers.into_iter().filter_map(name).collect()
    };
    let act = |conversation: &mut Conversation<'_>, text: &str| {
        let act = grammata_agents::procedures::Act::read(text, StepFormat::Published).unwrap();
        let act = conversation.resolve(act);
        assert_eq!(conversation.obstacle(&act), None, "{text}");
        conversation.take(&act);
    };
    conversation.hear("Hello, a or b.");
    assert_eq!(controls(&conversation), ["switch two", "switch three", "switch four"]);
    act(&mut conversation, "Action: look\nAction Input: {\"s\": \"a\"}");
    conversation.result(&Map::from_iter([("ok".to_owned(), true.into())]));
    act(&mut conversation, "Action: switch two\nAction Input: {}");
    assert_eq!(conversation.session().value("s"), Some(&json!("a")));
    assert_eq!(controls(&conversation), ["switch three", "switch four", "return"]);
    act(&mut conversation, "Action: switch four\nAction Input: {}");
    // at the maximum depth of three no further procedure can begin
    assert_eq!(controls(&conversation), ["return"]);
    act(&mut conversation, "Action: return\nAction Input: {}");
    // when a procedure that interrupted another one ends, the interrupted one continues
    act(&mut conversation, "Action: look\nAction Input: {\"s\": \"b\"}");
    conversation.result(&Map::from_iter([("ok".to_owned(), true.into())]));
    act(&mut conversation, "Action: order\nAction Input: {\"s\": \"b\"}");
    conversation.result(&Map::new());
    act(&mut conversation, "Answer: done\nResponse: It is ordered.");
    assert_eq!((conversation.depth(), conversation.is_complete()), (1, false));
    assert_eq!(conversation.session().value("s"), Some(&json!("a")));
    act(&mut conversation, "Action: order\nAction Input: {\"s\": \"a\"}");
    conversation.result(&Map::new());
    act(&mut conversation, "Answer: done\nResponse: It is ordered.");
    assert!(conversation.is_complete());
}

#[test]
fn free_replies_end_after_three_and_a_dropped_request_has_no_effect() {
    let procedure = read(SMALL);
    let workflows = [Workflow::new(&procedure, Mode::Guarded, &Limits::default()).unwrap()];
    let mut conversation = Conversation::new(&workflows).unwrap();
    let names = |conversation: &Conversation<'_>| -> Vec<String> {
        let name = |offer: Offer| match offer {
            Offer::Call { api, .. } => api,
            Offer::Answer { name, .. } | Offer::Control(name) => name,
        };
        conversation.offers(&Offering::default()).into_iter().map(name).collect()
    };
    assert_eq!(names(&conversation), ["look", "ask", "free", "clarify", "decline"]);
    for kind in ["free", "clarify", "decline"] {
        conversation.take(&grammata_agents::procedures::Resolved::Free { kind, text: "So.".to_owned() });
    }
    assert_eq!(names(&conversation), ["look", "ask"]);
    let arguments = Map::from_iter([("s".to_owned(), "a".into())]);
    conversation.take(&grammata_agents::procedures::Resolved::Call { api: 0, arguments });
    conversation.result(&Map::from_iter([("ok".to_owned(), true.into())]));
    assert_eq!(names(&conversation), ["look", "order", "ask", "free", "clarify", "decline"]);
    conversation.session_mut().cancel();
    assert_eq!(names(&conversation), ["look", "ask", "free", "clarify", "decline"]);
    let obstacle = conversation.session().obstacle(1, None).unwrap();
    assert_eq!(obstacle.to_string(), "cancelled");
    assert!(draw(&mut 1, 9) < 9 && matches!(Texts::default(), Texts::Verbatim) && Mask::Form != Mask::None);
}

/// If the second of two calls in a `try` fails, the statements under `except` are open, and those after the `try` are
/// closed.
#[test]
fn an_error_of_the_second_call_leads_to_what_catches_it() {
    let procedure = read(
        "Name: x\nAPIs:\n- {name: look}\n- {name: order, precondition: [look]}\nANSWERs:\n\
         - {name: sorry, desc: No luck., precondition: [order]}\n- {name: fine, desc: Fine., precondition: [order]}\n\
         Procedure: |\n  try:\n    look()\n    order()\n  except:\n    sorry()\n    return\n  fine()\n",
    );
    let mut environment = |spec: &Spec, step: &Step| match spec.symbols()[step.action].id.as_str() {
        "order" => {
            let diagnostic = grammata::Diagnostic::new("environment/failed", "it is closed");
            Err(grammata::Error::new(grammata::ErrorKind::Io, diagnostic))
        }
        _ => Ok(Observation::default()),
    };
    let (look, order) = ("Action: look\nAction Input: {}", "Action: order\nAction Input: {}");
    let (fine, sorry) = ("Answer: fine\nResponse: Fine.", "Answer: sorry\nResponse: No luck.");
    let options = Arm::named("A4").unwrap().options;
    let steps = vec![look, order, fine, sorry];
    let record = with_agent(&procedure, &options, &mut Stubborn(steps, 0), &mut environment).unwrap();
    let lines: Vec<&str> = record.entries.iter().take(7).map(|(_, entry)| entry.line().0).collect();
    assert_eq!(lines, ["user", "call", "result", "call", "result", "refused", "agent"], "{record:?}");
    assert!(record.is_complete && record.refusals == 1, "{record:?}");
}

/// A user who leaves after a number of messages.
struct Leaves(usize);

impl User for Leaves {
    fn open(&mut self) -> Result<Reply> {
        match self.0.checked_sub(1) {
            Some(left) => {
                self.0 = left;
                Ok(Reply::text("Hello."))
            }
            None => Ok(Reply::End),
        }
    }

    fn reply(&mut self, _: &Said<'_>) -> Result<Reply> {
        self.open()
    }
}

/// A user may leave immediately, after a free reply, or while another procedure interrupts. The session is not
/// complete, and no step is judged wrong.
#[test]
fn users_who_leave_leave_nothing_wrong() {
    let procedures: Vec<Procedure> =
        ["one", "two"].map(|name| read(&SMALL.replace("Name: x", &format!("Name: {name}")))).into();
    let options = Arm::named("A4").unwrap().options;
    let workflows: Vec<Workflow<'_>> =
        procedures.iter().map(|procedure| Workflow::unsupervised(procedure, options.mode())).collect();
    let look = "Action: look\nAction Input: {\"s\": \"a\"}";
    let free = "Answer: free\nResponse: One moment.";
    let cases: [(usize, Vec<&str>, &[&str]); 3] = [
        (0, vec![look], &[]),
        (1, vec![free], &["user", "agent"]),
        (
            1,
            vec!["Action: switch two\nAction Input: {}", look, free],
            &["user", "switch", "call", "result", "agent"],
        ),
    ];
    for (messages, steps, expected) in cases {
        let record = run(
            &workflows,
            &options,
            &mut Stubborn(steps, 0),
            &mut Leaves(messages),
            &mut gives(json!({ "ok": true })),
            &RunOptions::default(),
        )
        .unwrap();
        let lines: Vec<&str> = record.entries.iter().map(|(_, entry)| entry.line().0).collect();
        assert_eq!(lines, expected, "{record:?}");
        assert!(matches!(record.ending, Ending::Left) && !record.is_complete, "{record:?}");
        let judged = judge(&procedures[0], &script(), &record);
        assert_eq!((judged.wrong(), record.refusals), (0, 0), "{record:?}");
    }
}

/// A `try` also catches the error of a call in a condition, in every mode. The branches and what follows are closed.
#[test]
fn an_error_of_a_call_in_a_condition_is_caught() {
    let procedure = read(
        "Name: x\nAPIs:\n- {name: look, response: [stock]}\nANSWERs:\n\
         - {name: sorry, desc: No luck., precondition: [look]}\n- {name: fine, desc: Fine., precondition: [look]}\n\
         - {name: some, desc: Some., precondition: [look]}\n\
         Procedure: |\n  try:\n    if look() > 3:\n      some()\n    fine()\n  except:\n    sorry()\n    return\n",
    );
    let fails = |_: &Spec, _: &Step| -> Result<Observation> {
        let diagnostic = grammata::Diagnostic::new("environment/timeout", "it took too long");
        Err(grammata::Error::new(grammata::ErrorKind::Io, diagnostic))
    };
    let look = "Action: look\nAction Input: {}";
    let (fine, some) = ("Answer: fine\nResponse: Fine.", "Answer: some\nResponse: Some.");
    let sorry = "Answer: sorry\nResponse: No luck.";
    for arm in ["A4", "A5", "A6"] {
        let options = Arm::named(arm).unwrap().options;
        let agent = &mut Stubborn(vec![look, fine, some, sorry], 0);
        let record = with_agent(&procedure, &options, agent, &mut fails.clone()).unwrap();
        let lines: Vec<&str> = record.entries.iter().take(6).map(|(_, entry)| entry.line().0).collect();
        assert_eq!(lines, ["user", "call", "result", "refused", "refused", "agent"], "{arm}: {record:?}");
        assert!(record.is_complete && record.refusals == 2, "{arm}: {record:?}");
    }
}
