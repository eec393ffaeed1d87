//! The errors of presets and of requests for structural tags.

use grammata::diagnostic::{Diagnostic, Place, did_you_mean, did_you_mean_field, excerpt};
use serde_json::Value;

fn at(pointer: &str) -> Place {
    Place::Pointer(pointer.to_owned())
}

/// Returns a JSON value as text, shortened for display.
fn shown(value: &Value) -> String {
    excerpt(&value.to_string())
}

grammata_base::errors! {
    pub(super) Usage;

    /// Returns the error for a table that is not a preset.
    preset(place: Place, found: &str) = Grammar "tools/preset", "not a preset of structural tags"
        at(place)
        found(found)
        allowed("description, models, source, layout, trigger, style, call, builtin_call, argument_excludes, markers, end, [calls], [text], [preamble], [reasoning]")
        help(did_you_mean_field(found, "name only these keys, each with a value of its kind"));

    /// Returns the error for contradicting fields of a preset.
    contradiction(found: &str, allowed: &str) =
        Grammar "tools/preset", "the fields of this preset do not fit each other"
        at(Place::Whole) found(found) allowed(allowed) help("change one of the fields");

    no_markers() = "tools/no-markers", "the family names no markers that are tokens"
        allowed("families with the field `markers`: glm_4_7, qwen_3, qwen_3_5, qwen_3_coder")
        help("match markers as text, or write a preset of your own with `markers`");

    reader_style(style: &str) =
        "tools/reader-style", "calls of this family cannot be read back as they come"
        found("arguments in the style `{style}`")
        allowed("families that write arguments in JSON, such as `hermes`, `qwen_3` and `harmony`")
        help("compile the tag and read the calls with the family's own parser");

    unbound_markers(found: &str) = "tools/no-markers", "this tag cannot be written with markers as tokens"
        found(found)
        allowed("markers at the beginning of each trigger, and at the end of tags with one end")
        help("match markers as text, or change the preset");

    /// Returns the error for a request that is not an object of known members.
    request(place: Place, found: &str) = "tools/tag-request", "not a request for a structural tag"
        at(place)
        found(found)
        allowed("an object with family, tools, answer, tool_choice, reasoning, parallel_tool_calls, any_order, exclude_special_tokens, max_whitespace_cnt, token_markers, exclude_spelled_markers")
        help(did_you_mean_field(found, "name only these members, each with a value of its kind"));

    unknown_family<'k>(name: &str, known: impl Iterator<Item = &'k str> + Clone) =
        "tools/unknown-family", "unknown preset"
        found(name)
        allowed(known.clone().collect::<Vec<_>>().join(", "))
        help(did_you_mean(name, known, "use one of these, or write a preset of your own in TOML"));

    /// Returns the error for a part of the list of tools with an invalid form.
    tools(pointer: &str, found: &Value, allowed: &str) =
        "tools/tag-tools", "this part of the list of tools has an unknown form"
        at(at(pointer))
        found(shown(found))
        allowed(allowed)
        help("write tools as requests for chat completions have them");

    /// Returns the error for two tools with the same name.
    duplicate(pointer: &str, name: &str) = "tools/tag-tools", "duplicate tool name"
        at(at(pointer)) found(name) allowed("each name once") help("rename or remove one of the tools");

    /// Returns the error for a builtin tool for a family without builtin tools.
    builtin(pointer: &str, kind: &str) = "tools/tag-tools", "the family has no builtin tools"
        at(at(pointer))
        found(kind)
        allowed("`function`, `custom`")
        help("describe the tool as a function, or remove it");

    /// Returns the error for an unrecognised `tool_choice`.
    choice(pointer: &str, found: &Value, allowed: &str) = "tools/tag-choice", "unrecognised `tool_choice`"
        at(at(pointer)) found(shown(found)) allowed(allowed) help("correct the choice");

    /// Returns the error for a choice of a tool that is not in the list.
    unknown_tool<'k>(pointer: &str, name: &str, known: impl Iterator<Item = &'k str>) =
        "tools/unknown-tool", "no tool has this name"
        at(at(pointer)) found(name) help(did_you_mean(name, known, "choose a tool of `tools`"));

    /// Returns the error for a choice of a type of builtin tool that no tool, or more than one tool, has.
    builtin_choice(pointer: &str, kind: &str, count: usize) =
        "tools/tag-choice", "the choice does not name exactly one builtin tool"
        at(at(pointer))
        found("{kind}: {count} tools")
        allowed("the type of one builtin tool")
        help("choose a function by name: {{\"type\": \"function\", \"function\": {{\"name\": …}}}}");

    /// Returns the reason that no text is a value of the schema.
    no_arguments() = Diagnostic "tools/no-arguments", "no arguments can be written";

    /// Returns the error for a schema of an answer that no value satisfies.
    no_answer() = Grammar "tools/no-answer", "no value satisfies the schema of the answer"
        at(Place::Pointer(String::new()))
        allowed("a schema that some value satisfies")
        help("correct the schema: `grammata check` shows which parts contradict each other");

    /// Returns the error for an answer that cannot be told from a call.
    answer_like_call(begin: &str) =
        Grammar "tools/answer-like-call", "an answer by this schema may begin as a call does"
        at(Place::Pointer(String::new()))
        found(excerpt(begin))
        allowed("a schema whose values begin otherwise than calls of this family")
        help("name the first member of the answer otherwise, or choose `none` or `required` as `tool_choice`");

    /// Returns the error for a required call without tools.
    no_tools(pointer: &str) = "tools/no-tools", "a call is required and no tool can be called"
        at(at(pointer)) allowed("at least one tool") help("add a tool, or choose `auto` or `none`");
}

/// Returns the warning for a tool that is left out, because the style of the family cannot write its arguments.
/// `place` is that of the schema of its arguments; the reason may have one inside it.
pub(super) fn left_out(name: &str, place: Place, style: &str, reason: &Diagnostic) -> Diagnostic {
    let place = if let Place::Pointer(_) = reason.place() { reason.place().clone() } else { place };
    let found = reason.found_text().map(|found| format!(": {found}")).unwrap_or_default();
    let message =
        format!("the tool `{}` is left out, because its arguments cannot be written", excerpt(name));
    Diagnostic::new("tools/left-out", message)
        .at(place)
        .found(excerpt(&format!("{}{found}", reason.message())))
        .allowed(format!("arguments that the style `{style}` can write"))
        .help("change the schema of the tool, or use a family that writes arguments in another style")
}

/// A diagnostic about a part of a document at `pointer`, with its place in the whole document.
pub(super) fn inside(diagnostic: Diagnostic, pointer: &str) -> Diagnostic {
    match diagnostic.place() {
        Place::Pointer(inside) if inside.is_empty() || inside.starts_with('/') => {
            let place = at(&format!("{pointer}{inside}"));
            diagnostic.at(place)
        }
        _ => diagnostic,
    }
}
