//! The grammar of one step: the allowed bytes, arguments that depend on the conversation, texts and claims. Words are
//! checked byte by byte, so the results hold for any vocabulary.

use grammata::Limits;
use grammata::automaton::{Automaton, Cache, ConfigurationId, Lazy};
use grammata::grammar::Grammar;
use grammata_agents::procedures::{
    Arguments, Conversation, Format, Mode, Obstacle, Offering, Origin, Procedure, Session, StepFormat,
    StepOptions, Texts, Workflow, step_grammar,
};
use serde_json::{Map, Value, json};

fn read(text: &str) -> Procedure {
    Procedure::read(text, Format::Yaml, &Limits::default()).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// A compiled grammar that is run byte by byte.
struct Words {
    automaton: Automaton,
    cache: Cache,
}

impl Words {
    fn of(grammar: &Grammar) -> Words {
        Words { automaton: Automaton::new(grammar, &Limits::default()).unwrap(), cache: Cache::new() }
    }

    fn after(&mut self, text: &[u8]) -> ConfigurationId {
        let mut at = Lazy::new(&self.automaton, &mut self.cache).start().unwrap();
        for &byte in text {
            at = Lazy::new(&self.automaton, &mut self.cache).step(at, byte).unwrap();
        }
        at
    }

    fn accepts(&mut self, text: &str) -> bool {
        let at = self.after(text.as_bytes());
        at != ConfigurationId::DEAD && self.cache.is_accepting(at)
    }

    /// Returns the bytes that may follow a text.
    fn next(&mut self, text: impl AsRef<[u8]>) -> Vec<u8> {
        let at = self.after(text.as_ref());
        let (cache, automaton) = (&mut self.cache, &self.automaton);
        let mut is_open = |byte| Lazy::new(automaton, cache).step(at, byte).unwrap() != ConfigurationId::DEAD;
        (0..=255).filter(|&byte| is_open(byte)).collect()
    }

    /// Returns the bytes that must follow a text, up to a choice or a possible end.
    fn forced(&mut self, text: &str) -> String {
        let mut bytes = text.as_bytes().to_vec();
        loop {
            let at = self.after(&bytes);
            match self.next(&bytes)[..] {
                [byte] if !self.cache.is_accepting(at) => bytes.push(byte),
                _ => break,
            }
        }
        String::from_utf8(bytes).unwrap()[text.len()..].to_owned()
    }
}

fn step(conversation: &Conversation<'_>, offering: &Offering, options: &StepOptions) -> Words {
    Words::of(&step_grammar(&conversation.offers(offering), options).unwrap())
}

fn values(value: Value) -> Map<String, Value> {
    value.as_object().unwrap().clone()
}

const ALIKE: &str = "Name: x\nSLOTs:\n- {name: hospital_name, schema: {type: string}, source: user}\n\
    - {name: there, schema: {type: boolean}}\n- {name: day, schema: {enum: [Mon, Tue]}}\n- {name: places, schema: {type: array}}\n\
    - {name: place, schema: {type: string}, source: \"result:query_slots.places\"}\nAPIs:\n\
    - {name: check, request: [hospital_name], response: [there]}\n\
    - {name: check_department, request: [day], precondition: [booked]}\n\
    - {name: query_slots, request: [hospital_name, day], response: [places], precondition: [check], optional: [day]}\n\
    - {name: take, request: [place], precondition: [query_slots]}\n\
    ANSWERs:\n- {name: request_information, kind: request}\n\
    - {name: booked, desc: \"It is booked for $hospital_name on $day.\", precondition: [take], claims: [booked]}\n\
    - {name: told, desc: There is a place., precondition: [check], claims: auto}\n\
    Procedure: |\n  [there] = check(hospital_name)\n  query_slots()\n  told()\n  take()\n  booked()\n  check_department()\n";

#[test]
fn names_that_begin_alike_end_where_one_is_blocked() {
    let procedure = read(ALIKE);
    let workflows = [Workflow::new(&procedure, Mode::Guarded, &Limits::default()).unwrap()];
    let mut conversation = Conversation::new(&workflows).unwrap();
    conversation.hear("Elm");
    let mut words = step(&conversation, &Offering::default(), &StepOptions::default());
    assert_eq!(words.next("Action: check"), b"\n");
    assert_eq!(words.forced("Act"), "ion: check\nAction Input: {\"hospital_name\": \"Elm\"}");
    let everything = Offering { only_open: false, narrow: false, ..Offering::default() };
    let mut words = step(&conversation, &everything, &StepOptions::default());
    assert_eq!(words.next("Action: check"), b"\n_");
    assert_eq!(words.next("Action: check_department"), b"\n");
}

#[test]
fn without_an_open_call_no_action_begins() {
    let procedure = read(
        "Name: x\nAPIs:\n- {name: a}\n- {name: b, precondition: [a]}\nANSWERs:\n- {name: done, desc: So., precondition: [b]}\n\
        Procedure: |\n  a()\n  b()\n  done()\n",
    );
    let workflows = [Workflow::new(&procedure, Mode::Guarded, &Limits::default()).unwrap()];
    let mut conversation = Conversation::new(&workflows).unwrap();
    // the user said nothing: the call has no arguments and may be made
    let mut words = step(&conversation, &Offering::default(), &StepOptions::default());
    assert_eq!(words.next(""), b"A");
    assert_eq!(words.next("A"), b"cn");
    conversation.take(&grammata_agents::procedures::Resolved::Call { api: 0, arguments: Map::new() });
    conversation.result(&values(json!({"error": "no"})));
    let mut words = step(&conversation, &Offering::default(), &StepOptions::default());
    // making the call again would repeat the last act
    assert_eq!(conversation.session().arguments(0), Err(Obstacle::Again));
    assert!(!words.accepts("Action: a\nAction Input: {}"));
}

#[test]
fn a_call_that_was_wrongly_repeated_leaves_the_other_values() {
    let procedure = read(
        "Name: x\nSLOTs:\n- {name: day, schema: {enum: [Mon, Tue]}}\nAPIs:\n- {name: a, request: [day]}\n\
        ANSWERs:\n- {name: done, kind: inform}\nProcedure: |\n  a()\n  done()\n",
    );
    let mut session = Session::new(&procedure, Mode::Guarded);
    for (day, expected) in [("Mon", None), ("Mon", None), ("Tue", Some(Obstacle::Again))] {
        session.call(0, values(json!({ "day": day })), false);
        session.result(&values(json!({})));
        assert_eq!(session.arguments(0).err(), expected, "{day}");
    }
}

#[test]
fn a_value_of_an_earlier_call_is_forced_with_its_escapes() {
    let procedure = read(ALIKE);
    let name = "Elm \"Street\" 5\nKöln";
    let mut session = Session::new(&procedure, Mode::Guarded);
    session.hear(name);
    session.call(0, values(json!({"hospital_name": name})), true);
    session.result(&values(json!({"there": true})));
    let arguments = session.arguments(2).unwrap();
    assert_eq!(arguments.slots[0].origin, Origin::Fixed(json!(name)));
    let workflows = [Workflow::new(&procedure, Mode::Guarded, &Limits::default()).unwrap()];
    for format in [StepFormat::Published, StepFormat::Json] {
        let mut conversation = Conversation::new(&workflows).unwrap();
        conversation.hear("Mon or Tue");
        conversation.hear(name);
        conversation.take(&grammata_agents::procedures::Resolved::Call {
            api: 0,
            arguments: values(json!({"hospital_name": name})),
        });
        conversation.result(&values(json!({"there": true})));
        let options = StepOptions::default().format(format);
        let mut words = step(&conversation, &Offering::default(), &options);
        let before = match format {
            StepFormat::Published => "Action: query_slots\nAction Input: {\"hospital_name\": ",
            StepFormat::Json => "{\"call\": \"query_slots\", \"arguments\": {\"hospital_name\": ",
        };
        assert_eq!(words.forced(before), json!(name).to_string());
    }
}

/// Returns all completions of `before`, sorted. Panics if a text reaches `most` bytes after `before`.
fn all_words(words: &mut Words, before: &str, most: usize) -> Vec<String> {
    let mut found = Vec::new();
    let mut open: Vec<Vec<u8>> = vec![before.as_bytes().to_vec()];
    while let Some(text) = open.pop() {
        let at = words.after(&text);
        if words.cache.is_accepting(at) {
            found.push(String::from_utf8(text[before.len()..].to_vec()).unwrap());
        }
        assert!(text.len() < before.len() + most);
        open.extend(words.next(&text).into_iter().map(|byte| [&text[..], &[byte]].concat()));
    }
    found.sort();
    found
}

#[test]
fn quotes_are_what_the_user_wrote() {
    let procedure = read(ALIKE);
    let workflows = [Workflow::new(&procedure, Mode::Guarded, &Limits::default()).unwrap()];
    let mut conversation = Conversation::new(&workflows).unwrap();
    conversation.hear("Köln, köln");
    conversation.hear("in Köln");
    let mut words = step(&conversation, &Offering::default(), &StepOptions::default());
    let found = all_words(&mut words, "Action: check\nAction Input: {\"hospital_name\": \"", 40);
    assert_eq!(found, ["Köln\"}", "Köln, köln\"}", "in Köln\"}", "in\"}", "köln\"}"]);
    // the user said nothing that could be the value
    let mut conversation = Conversation::new(&workflows).unwrap();
    let mut nothing = step(&conversation, &Offering::default(), &StepOptions::default());
    assert_eq!(nothing.next("A"), b"n");
    assert_eq!(conversation.session().arguments(0), Err(Obstacle::Argument("hospital_name".to_owned())));
    // a long message is read within the default limits; a smaller limit is named in the error
    let long: Vec<String> = (0..4_096).map(|word| format!("word{word}")).collect();
    conversation.hear(&long.join(" "));
    let mut words = step(&conversation, &Offering::default(), &StepOptions::default());
    assert!(words.accepts("Action: check\nAction Input: {\"hospital_name\": \"word7 word8\"}"));
    assert!(!words.accepts("Action: check\nAction Input: {\"hospital_name\": \"word7 word9\"}"));
    let few = StepOptions::default().limits(Limits::default().grammar_nodes(10_000));
    let error = step_grammar(&conversation.offers(&Offering::default()), &few).unwrap_err();
    assert!(error.to_string().contains("`grammar_nodes`"), "{error}");
}

#[test]
fn results_are_an_enumeration_and_the_last_call_is_not_repeated() {
    let procedure = read(ALIKE);
    let mut session = Session::new(&procedure, Mode::Guarded);
    session.hear("Elm");
    session.call(0, values(json!({"hospital_name": "Elm"})), true);
    session.result(&values(json!({"there": true})));
    let query = values(json!({"hospital_name": "Elm", "day": "Mon"}));
    session.call(2, query.clone(), true);
    session.result(&values(json!({"places": ["A", "B \"b\""]})));
    let arguments: Arguments = session.arguments(3).unwrap();
    assert_eq!(arguments.slots[0].origin, Origin::Told(vec![json!("A"), json!("B \"b\"")]));
    assert_eq!(arguments.schema()["properties"]["place"], json!({"enum": ["A", "B \"b\""]}));
    let again = session.arguments(2).unwrap();
    assert_eq!(again.excluded, [query]);
    let workflows = [Workflow::new(&procedure, Mode::Guarded, &Limits::default()).unwrap()];
    let conversation = after_two_calls(&workflows);
    let mut words = step(&conversation, &Offering::default(), &StepOptions::default());
    let call = |arguments: &str| {
        format!("Action: query_slots\nAction Input: {{\"hospital_name\": \"Elm\"{arguments}}}")
    };
    assert!(!words.accepts(&call(", \"day\": \"Mon\"")));
    assert!(words.accepts(&call(", \"day\": \"Tue\"")) && words.accepts(&call("")));
    assert_eq!(words.forced("Action: take\nAction Input: "), "{\"place\": \"A\"}");
}

/// Returns a conversation in which the hospital was checked and its free places were queried.
fn after_two_calls<'p>(workflows: &'p [Workflow<'p>]) -> Conversation<'p> {
    let mut conversation = Conversation::new(workflows).unwrap();
    conversation.hear("Elm, Mon or Tue");
    for (api, arguments, result) in [
        (0, json!({"hospital_name": "Elm"}), json!({"there": true})),
        (2, json!({"hospital_name": "Elm", "day": "Mon"}), json!({"places": ["A"]})),
    ] {
        conversation.take(&grammata_agents::procedures::Resolved::Call { api, arguments: values(arguments) });
        conversation.result(&values(result));
    }
    conversation
}

#[test]
fn texts_are_verbatim_or_hold_their_values_and_claim_nothing_of_others() {
    let procedure = read(ALIKE);
    let workflows = [Workflow::unsupervised(&procedure, Mode::Graph)];
    let mut conversation = after_two_calls(&workflows);
    let free = |text: &str| format!("Answer: free\nResponse: {text}");
    let mut words = step(&conversation, &Offering::default(), &StepOptions::default());
    assert!(words.accepts(&free("A moment, please.")));
    // the claims of an answer are excluded from all other texts: `booked`, and with `auto` the words of `told`
    for text in ["It is Booked.", "I booked it", "There it is"] {
        assert!(!words.accepts(&free(text)), "{text}");
    }
    assert_eq!(words.forced("Answer: told\nResponse: "), "There is a place.");
    for text in ["", " so", "two\nlines", &"x".repeat(401)] {
        assert!(!words.accepts(&free(text)), "{text:?}");
    }
    conversation.take(&grammata_agents::procedures::Resolved::Call {
        api: 3,
        arguments: values(json!({"place": "A"})),
    });
    conversation.result(&Map::new());
    let guided = Offering { texts: Texts::Guided, ..Offering::default() };
    for format in [StepFormat::Published, StepFormat::Json] {
        let options = StepOptions::default().format(format);
        let mut words = step(&conversation, &guided, &options);
        let text = |text: &str| match format {
            StepFormat::Published => format!("Answer: booked\nResponse: {text}"),
            StepFormat::Json => json!({"say": "booked", "text": text})
                .to_string()
                .replace(":", ": ")
                .replace(",\"text", ", \"text"),
        };
        assert!(words.accepts(&text("Elm on Mon, booked.")));
        assert!(!words.accepts(&text("Elm, booked.")));
    }
    let without = Offering { claims: false, ..Offering::default() };
    assert!(step(&conversation, &without, &StepOptions::default()).accepts(&free("It is booked.")));
    let thought = StepOptions::default().thought(Some(9));
    let mut words = step(&conversation, &without, &thought);
    assert!(words.accepts(&format!("Thought: so it is\n{}", free("Yes."))));
    assert!(!words.accepts(&format!("Thought: so it is so\n{}", free("Yes."))));
}

#[test]
fn a_value_inside_another_may_overlap_it() {
    let procedure = read(
        "Name: x\nSLOTs:\n- {name: a}\n- {name: b}\nAPIs:\n- {name: look, request: [a, b]}\n\
        ANSWERs:\n- {name: told, desc: \"$a and $b\", precondition: [look]}\nProcedure: |\n  look()\n  told()\n",
    );
    let workflows = [Workflow::new(&procedure, Mode::Guarded, &Limits::default()).unwrap()];
    let mut conversation = Conversation::new(&workflows).unwrap();
    let arguments = values(json!({"a": "New York", "b": "York"}));
    conversation.take(&grammata_agents::procedures::Resolved::Call { api: 0, arguments });
    conversation.result(&Map::new());
    let guided = Offering { texts: Texts::Guided, ..Offering::default() };
    let mut words = step(&conversation, &guided, &StepOptions::default());
    assert!(words.accepts("Answer: told\nResponse: In New York."));
    assert!(!words.accepts("Answer: told\nResponse: In York."));
}
