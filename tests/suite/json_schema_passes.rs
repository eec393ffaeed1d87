//! Each pass over JSON Schemas names all fields of the parts that it handles. A new field therefore does not compile
//! until each pass states what to do with it. This holds only as long as no pass writes `..` in a pattern, or reads
//! single fields instead.

use crate::tidy::sources;

const FOLDER: &str = "src/syntax/json_schema";

/// Structs whose patterns must name all fields.
const PARTS: &[&str] = &[
    // assertions
    "Schema",
    "Unevaluated",
    "NumberRange",
    "StringPart",
    "ArrayPart",
    "Contains",
    "ObjectPart",
    "SomeMember",
    // shapes
    "Typed",
    "Test",
    "ArrayShape",
    "ItemClass",
    "ItemRun",
    "ObjectShape",
    "MemberShape",
    "RestShape",
    // evaluations
    "Evaluated",
];

/// The passes: file, function, and the parts whose fields the function must all name.
const PASSES: &[(&str, &str, &[&str])] = &[
    // `unevaluatedProperties` and `unevaluatedItems`
    ("normal/unevaluated.rs", "keyword_of", &["Unevaluated"]),
    ("normal/unevaluated.rs", "own", &["Schema", "ArrayPart", "Contains", "ObjectPart"]),
    ("normal/unevaluated.rs", "add", &["Evaluated"]),
    ("normal/unevaluated.rs", "contains", &["Evaluated"]),
    ("normal/unevaluated.rs", "size", &["Evaluated"]),
    ("normal/unevaluated.rs", "close", &["Evaluated"]),
    // negation
    ("normal/rewrite.rs", "rewrite", &["ArrayPart", "Contains"]),
    ("normal/rewrite.rs", "failures", &["Schema", "StringPart", "ObjectPart"]),
    ("normal/rewrite.rs", "array_failures", &["ArrayPart", "Contains"]),
    ("normal/rewrite.rs", "some_failing", &["ObjectPart"]),
    ("model/numbers/range.rs", "failures", &["NumberRange"]),
    // references
    ("model/schema.rs", "in_place", &["Schema"]),
    // contradictions
    ("normal/empty.rs", "types", &["Schema"]),
    ("normal/empty.rs", "no_strings", &["StringPart"]),
    ("normal/empty.rs", "no_arrays", &["ArrayPart", "Contains"]),
    ("normal/empty.rs", "no_objects", &["ObjectPart"]),
    ("normal/empty.rs", "member", &["ObjectPart"]),
    ("normal/empty.rs", "may_be_name", &["StringPart"]),
    ("model/numbers/range.rs", "is_empty", &["NumberRange"]),
    // values that schemas list
    ("normal/validate.rs", "own", &["Schema"]),
    ("normal/validate.rs", "string", &["StringPart"]),
    ("normal/validate.rs", "array", &["ArrayPart", "Contains"]),
    ("normal/validate.rs", "object", &["ObjectPart", "SomeMember"]),
    ("normal/validate.rs", "schemas_of_member", &["ObjectPart"]),
    ("normal/validate.rs", "is_additional", &["ObjectPart"]),
    ("normal/validate.rs", "is_of_class", &["SomeMember"]),
    ("model/numbers/range.rs", "contains", &["NumberRange"]),
    // parts to shapes
    ("normal/merge.rs", "typed", &["Schema", "StringPart", "Typed"]),
    ("normal/items.rs", "array", &["ArrayPart"]),
    ("normal/members.rs", "object", &["ObjectPart"]),
    ("normal/members.rs", "schemas_of_member", &["ObjectPart"]),
    ("normal/members.rs", "cubes", &["ObjectPart"]),
    ("normal/some_members.rs", "some_members", &["ObjectPart"]),
    ("normal/some_members.rs", "with_some", &["SomeMember", "RestShape"]),
    ("normal/conditional.rs", "ways", &["Schema", "ObjectPart"]),
    ("normal/conditional.rs", "conditional_object", &["ObjectPart"]),
    ("normal/conditional.rs", "names_beside", &["SomeMember"]),
    ("normal/conditional.rs", "is_same", &["SomeMember"]),
    ("normal/shape.rs", "is_conditional", &["ObjectShape"]),
    ("normal/shape.rs", "clauses", &["ObjectShape"]),
    (
        "normal/shape.rs",
        "children",
        &["Typed", "ArrayShape", "ItemClass", "ObjectShape", "MemberShape", "RestShape"],
    ),
    // which shapes have values
    ("normal/satisfiable.rs", "holds", &["Typed"]),
    ("normal/satisfiable.rs", "array", &["ArrayShape"]),
    ("normal/satisfiable.rs", "unmet_contains", &["ArrayShape", "ItemClass"]),
    ("normal/satisfiable.rs", "object", &["ObjectShape", "MemberShape"]),
    ("normal/satisfiable.rs", "conditional_object", &["ObjectShape"]),
    ("normal/satisfiable.rs", "is_possible", &["RestShape"]),
    ("normal/satisfiable.rs", "step", &["Typed"]),
    // shapes to expressions
    ("emit/mod.rs", "declare", &["Typed"]),
    ("emit/mod.rs", "typed", &["Typed"]),
    ("emit/mod.rs", "number", &["Typed"]),
    ("emit/mod.rs", "string", &["Typed"]),
    ("emit/mod.rs", "tested", &["Test"]),
    ("emit/array.rs", "array", &["ArrayShape"]),
    ("emit/array.rs", "item", &["ItemClass"]),
    ("emit/object.rs", "members", &["ObjectShape", "MemberShape"]),
    ("emit/object.rs", "rest_name", &["RestShape"]),
    ("emit/text.rs", "typed_text", &["Typed"]),
    ("emit/text.rs", "string_text", &["Typed", "Test"]),
    ("model/numbers/mod.rs", "expression", &["NumberRange"]),
    ("model/numbers/mod.rs", "one_by_one", &["NumberRange"]),
    // which shapes have more values than a text could hold
    ("emit/endless.rs", "is_endless", &["Typed"]),
    ("emit/endless.rs", "may_be_no_number", &["Typed"]),
    ("emit/endless.rs", "is_unbounded", &["NumberRange"]),
    ("emit/endless.rs", "may_be_no_array", &["ArrayShape", "ItemClass"]),
    ("emit/endless.rs", "array_grows", &["ArrayShape"]),
    ("emit/endless.rs", "may_be_no_object", &["ObjectShape"]),
    ("emit/endless.rs", "object_grows", &["ObjectShape"]),
    ("emit/endless.rs", "is_tested", &["RestShape"]),
];

/// Returns the code of a file, without comments.
fn code(text: &str) -> String {
    let lines = text.lines().map(|line| line.split("//").next().unwrap_or_default().trim_end());
    lines.flat_map(|line| [line, "\n"]).collect()
}

/// Returns the text between the braces after each `name {`, together with the code before it.
fn braced<'t>(text: &'t str, name: &str) -> Vec<(&'t str, &'t str)> {
    let start = format!("{name} {{");
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let places = text.match_indices(&start).filter(|(at, _)| !text[..*at].ends_with(is_word));
    let braced = places.filter_map(|(at, _)| {
        let inner = &text[at + start.len()..];
        let mut depth = 1;
        let end = inner.char_indices().find(|(_, c)| {
            depth += i32::from(*c == '{') - i32::from(*c == '}');
            depth == 0
        })?;
        Some((&text[..at], &inner[..end.0]))
    });
    braced.collect()
}

/// Returns whether the code before a name begins a pattern: with `let`, with `for`, or as the parameters of a closure.
fn is_pattern(before: &str) -> bool {
    let before = before.trim_end_matches('&');
    ["let ", "for ", "|"].iter().any(|start| before.ends_with(start))
}

/// Returns the functions of a name in a file, each without its last brace.
fn functions<'t>(text: &'t str, name: &str) -> Vec<&'t str> {
    let starts = [format!("fn {name}("), format!("fn {name}<")];
    let places = starts.iter().flat_map(|start| text.match_indices(start.as_str()));
    let functions = places.map(|(at, _)| {
        let line = text[..at].rfind('\n').map_or(0, |end| end + 1);
        let indent = text[line..].len() - text[line..].trim_start().len();
        let end = text[at..].find(&format!("\n{}}}\n", " ".repeat(indent))).unwrap();
        &text[at..at + end]
    });
    functions.collect()
}

#[test]
fn no_pattern_of_a_part_leaves_out_fields() {
    let (mut wrong, mut patterns) = (Vec::new(), 0);
    for (path, text) in sources(FOLDER) {
        let text = code(&text);
        for part in PARTS {
            for (before, inner) in braced(&text, part) {
                patterns += usize::from(is_pattern(before));
                if inner.trim_end().ends_with("..") {
                    wrong.push(format!("{}:{}: {part}", path.display(), before.lines().count()));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "name all fields, with `_` for those that do not matter: {wrong:#?}");
    assert!(patterns >= PASSES.iter().map(|(_, _, parts)| parts.len()).sum(), "{patterns} patterns");
}

#[test]
fn each_pass_names_the_fields_of_its_parts() {
    let files = sources(FOLDER);
    let mut wrong = Vec::new();
    for (file, name, parts) in PASSES {
        let (_, text) = files.iter().find(|(path, _)| path.ends_with(format!("{FOLDER}/{file}"))).unwrap();
        let text = code(text);
        let functions = functions(&text, name);
        for part in *parts {
            assert!(PARTS.contains(part), "{part}");
            let patterns = functions.iter().flat_map(|function| braced(function, part));
            if !patterns.into_iter().any(|(before, _)| is_pattern(before)) {
                wrong.push(format!("{file}: no function `{name}` names the fields of `{part}`"));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn parts_are_structs_of_the_front_end() {
    let files = sources(FOLDER);
    for part in PARTS {
        let is_declared = |text: &str| {
            let starts = [format!("struct {part} {{"), format!("struct {part}<")];
            starts.iter().any(|start| text.contains(start.as_str()))
        };
        assert!(files.iter().any(|(_, text)| is_declared(text)), "there is no struct {part}");
    }
}

#[test]
fn patterns_are_told_from_expressions() {
    let text =
        "let Part { a, b: _ } = x; f(Part { a, ..y }); for &Part { a, .. } in z {} |&Part { a }| Part { a }";
    let found: Vec<(bool, &str)> =
        braced(text, "Part").iter().map(|(before, inner)| (is_pattern(before), inner.trim())).collect();
    let expected = [(true, "a, b: _"), (false, "a, ..y"), (true, "a, .."), (true, "a"), (false, "a")];
    assert_eq!(found, expected);
}
