//! Files of procedures: formatting them, and writing their states as a plan spec.

use grammata::Limits;
use grammata_agents::procedures::{Format, Mode, Procedure, Supervisor, format};
use std::path::Path;

fn shipped() -> Vec<String> {
    let root = Path::new(crate::ROOT).join("grammars/procedures");
    let files = std::fs::read_dir(root).unwrap().map(|entry| entry.unwrap().path());
    let is_procedure =
        |path: &std::path::PathBuf| path.extension().is_some_and(|extension| extension == "yaml");
    let texts: Vec<String> =
        files.filter(is_procedure).map(|path| std::fs::read_to_string(path).unwrap()).collect();
    assert_eq!(texts.len(), 12);
    texts
}

fn read(text: &str) -> Procedure {
    Procedure::read(text, Format::Yaml, &Limits::default()).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// Returns the declarations of a procedure, without places in the file, and the size and graph of its automaton.
fn outline(procedure: &Procedure) -> String {
    let declared = procedure.nodes().iter().map(|node| {
        let lists =
            (&node.required, &node.request, &node.optional, &node.rebind, &node.response, &node.claims);
        format!(
            "{} {:?} {:?} {lists:?} {:?} {:?}",
            node.name, node.kind, node.description, node.max_calls, node.keep
        )
    });
    let slots =
        procedure.slots().iter().map(|slot| format!("{} {:?} {:?}", slot.name, slot.schema, slot.source));
    let mut lines: Vec<String> = declared.chain(slots).collect();
    let mut supervisor = Supervisor::new(procedure, Mode::Strict, &Limits::default()).unwrap();
    lines.push(format!("{:?} {}", supervisor.size(), supervisor.graph(500).unwrap().dot));
    lines.join("\n")
}

#[test]
fn formatting_keeps_the_procedure_and_is_idempotent() {
    let limits = Limits::default();
    let odd = "name: 'a: b'\nPDL: \"\\ta()\\n\\tif it is so:\\n\\t\\tb('x',\\n\\t 'y')  # c\\n\\n\"\n\
        apis: [{name: a, response: \"['s', 't']\", desc: 'yes'}, {name: b, max_calls: 2, desc: \"1\"}]\n";
    for text in shipped().into_iter().chain([odd.to_owned()]) {
        let formatted = format(&text, Format::Yaml, &limits).unwrap();
        assert_eq!(outline(&read(&formatted)), outline(&read(&text)), "{formatted}");
        assert_eq!(format(&formatted, Format::Yaml, &limits).unwrap(), formatted);
    }
}

#[test]
fn the_states_written_out_are_a_spec_of_plans() {
    use grammata::syntax::automaton_spec::{self, Spec};
    use grammata_agents::plan::PlanAutomaton;
    for text in shipped() {
        let procedure = read(&text);
        let name = procedure.name();
        let mut supervisor = Supervisor::new(&procedure, Mode::Guarded, &Limits::default()).unwrap();
        let spec = supervisor.spec().unwrap().to_string();
        let format = automaton_spec::Format::Json;
        let options = automaton_spec::Options::default().format(format);
        let spec = Spec::read(&spec, &options).unwrap_or_else(|error| panic!("{name}: {error}"));
        let symbols = spec.symbols().len();
        assert!(symbols > 3 && PlanAutomaton::new(spec).is_ok(), "{name}");
    }
}
