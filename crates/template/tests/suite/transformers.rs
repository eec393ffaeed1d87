//! Templates and the outputs that the chat template environment of transformers gives (`tests/make_cases.py`).

use grammata_base::{Diagnostic, Error, ErrorKind, Limits};
use grammata_template::chat;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// 5 February 2024, 07:08:09, the time of the outputs.
const NOW: u64 = 1_707_116_889;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases")
}

fn json(path: &Path) -> Value {
    let text = std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    serde_json::from_str(&text).unwrap()
}

/// Renders a template; `Err` is the text of the error.
fn render(template: &str, context: &Value) -> Result<String, String> {
    let dialect = chat::dialect(Some(SystemTime::UNIX_EPOCH + Duration::from_secs(NOW)));
    let limits = Limits::default();
    let template = dialect.without_generation_tags(template);
    let rendered = dialect
        .check(&template)
        .and_then(|()| dialect.render(&template, || chat::from_json(context), &limits));
    rendered.map_err(|fault| {
        let wrong = |text: String, place| {
            let diagnostic = Diagnostic::new("test/template", "a template fails").at(place).cause(text);
            Error::new(ErrorKind::Grammar, diagnostic)
        };
        fault.into_error(&limits, wrong).to_string()
    })
}

/// Returns what is wrong with each case of a file whose output is not that of transformers. Where transformers fails,
/// so must we. A case with the member `ours` is a known difference: we refuse the template if it is null, and otherwise
/// give this output.
fn differences(path: &Path) -> (usize, Vec<String>) {
    let file = json(path);
    let cases = file["cases"].as_array().unwrap();
    let mut wrong = Vec::new();
    for case in cases {
        let template = case["template"].as_str().unwrap();
        let ours = render(template, &file["context"]);
        let known = case.get("ours");
        let theirs = match known {
            Some(known) => known.as_str(),
            None => case["output"].as_str(),
        };
        match (theirs, &ours) {
            (Some(theirs), Ok(ours)) if theirs == ours => {}
            (None, Err(_)) => {}
            (Some(theirs), _) => wrong.push(format!("{template}\n   theirs {theirs:?}\n   ours   {ours:?}")),
            (None, _) => wrong.push(format!("{template}\n   theirs {}\n   ours   {ours:?}", case["error"])),
        }
    }
    (cases.len(), wrong)
}

#[test]
fn expressions_are_those_of_transformers() {
    let (count, wrong) = differences(&folder().join("expressions.json"));
    assert!(count >= 148, "{count} expressions");
    assert!(wrong.is_empty(), "{} of {count} differ\n{}", wrong.len(), wrong.join("\n"));
}

/// The whole templates, each with each conversation.
#[test]
fn whole_templates_are_those_of_transformers() {
    let folder = folder().join("templates");
    let conversations = json(&folder.join("conversations.json"));
    let outputs = json(&folder.join("outputs.json"));
    let outputs = outputs["outputs"].as_object().unwrap();
    assert!(outputs.len() >= 10, "{} templates", outputs.len());
    let mut wrong = Vec::new();
    for (name, expected) in outputs {
        let source = std::fs::read_to_string(folder.join(format!("{name}.jinja"))).unwrap();
        for (conversation, expected) in
            conversations["conversations"].as_array().unwrap().iter().zip(expected.as_array().unwrap())
        {
            // what `apply_chat_template` sets where the caller gives nothing
            let mut context = serde_json::json!({"messages": [], "tools": null, "documents": null, "add_generation_prompt": false});
            for (name, value) in conversation.as_object().unwrap() {
                context[name] = value.clone();
            }
            match (expected["output"].as_str(), render(&source, &context)) {
                (Some(theirs), Ok(ours)) if theirs == ours => {}
                (None, Err(_)) => {}
                (_, ours) => wrong.push(format!("{name}:\n   theirs {expected}\n   ours   {ours:?}")),
            }
        }
    }
    assert!(wrong.is_empty(), "{} differ\n{}", wrong.len(), wrong.join("\n"));
}

/// Random templates that `cargo xtask full templates` makes and renders with transformers: the file is named by
/// `GRAMMATA_TEMPLATES`. Without it, those that are kept. An expression that we refuse is no difference, as long as
/// most are read: the output of a template is never another.
#[test]
fn random_templates_are_those_of_transformers() {
    let kept = folder().join("random.json");
    let path = std::env::var_os("GRAMMATA_TEMPLATES").map_or(kept, PathBuf::from);
    let file = json(&path);
    let cases = file["cases"].as_array().unwrap();
    let (mut wrong, mut refused) = (Vec::new(), Vec::new());
    for case in cases {
        let template = case["template"].as_str().unwrap();
        match (case["output"].as_str(), render(template, &file["context"])) {
            (Some(theirs), Ok(ours)) if theirs != ours => {
                wrong.push(format!("{template}\n   theirs {theirs:?}\n   ours   {ours:?}"));
            }
            (Some(theirs), Err(ours)) => {
                refused.push(format!("{template}\n   theirs {theirs:?}\n   ours   {ours}"))
            }
            _ => {}
        }
    }
    let all = [wrong.as_slice(), refused.as_slice()].concat().join("\n");
    assert!(
        wrong.is_empty() && refused.len() * 50 <= cases.len(),
        "{} differ, {} refused\n{all}",
        wrong.len(),
        refused.len()
    );
}
