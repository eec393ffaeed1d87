//! Rules of this repository that the compiler does not check: which module may use which, a doc comment at the top of
//! each file, the length of files, and nothing left undone. A top-level module is called a room.

use crate::imports::{absolute, module_of, named, product};
use std::path::{Path, PathBuf};

const LONGEST: usize = 600;

/// The rooms, each with the rooms that it may use in addition to `diagnostic`, `error` and `limits`.
const ROOMS: &[(&str, &[&str])] = &[
    ("embeddings", &[]),
    ("endpoint", &[]),
    ("process", &[]),
    ("report", &[]),
    ("collections", &[]),
    ("json", &["collections"]),
    ("document", &[]),
    ("grammar", &[]),
    ("vocabulary", &[]),
    ("token_index", &["vocabulary"]),
    ("template", &[]),
    ("syntax", &["collections", "grammar", "template"]),
    ("transitions", &["collections"]),
    ("automaton", &["collections", "grammar", "json", "transitions"]),
    ("mask_file", &["grammar", "vocabulary"]),
    ("mask", &["automaton", "collections", "grammar", "mask_file", "token_index", "vocabulary"]),
    ("matcher", &["automaton", "grammar", "json", "mask", "mask_file", "token_index", "vocabulary"]),
    ("explore", &["automaton", "grammar", "mask", "mask_file", "vocabulary"]),
    ("serve", &["explore", "grammar", "mask", "mask_file", "matcher", "syntax", "vocabulary"]),
    ("decode", &["embeddings", "matcher", "template", "vocabulary"]),
    ("tools", &["automaton", "document", "grammar", "mask", "matcher", "syntax", "vocabulary"]),
    ("plan", &["automaton", "grammar", "syntax", "template", "transitions"]),
    ("retrieval", &["embeddings"]),
    ("procedures", &["automaton", "document", "grammar", "syntax", "template", "tools", "transitions"]),
    ("flows", &["grammar", "mask", "matcher", "transitions", "vocabulary"]),
    (
        "drive",
        &[
            "automaton",
            "decode",
            "embeddings",
            "endpoint",
            "flows",
            "grammar",
            "mask",
            "matcher",
            "plan",
            "procedures",
            "process",
            "retrieval",
            "syntax",
            "template",
            "tools",
            "transitions",
            "vocabulary",
        ],
    ),
    (
        "guard",
        &["document", "endpoint", "flows", "plan", "procedures", "process", "syntax", "tools", "transitions"],
    ),
    ("server", &["decode", "mask", "matcher", "serve", "syntax", "tools", "vocabulary"]),
    (
        "testing",
        &[
            "decode",
            "endpoint",
            "explore",
            "flows",
            "grammar",
            "guard",
            "mask",
            "mask_file",
            "matcher",
            "plan",
            "procedures",
            "syntax",
            "tools",
            "transitions",
            "vocabulary",
        ],
    ),
    (
        "cli",
        &[
            "automaton",
            "decode",
            "drive",
            "embeddings",
            "endpoint",
            "report",
            "explore",
            "flows",
            "grammar",
            "guard",
            "mask",
            "mask_file",
            "matcher",
            "plan",
            "procedures",
            "retrieval",
            "serve",
            "server",
            "process",
            "syntax",
            "tools",
            "transitions",
            "vocabulary",
        ],
    ),
];

/// Front ends, each with a sibling that it may use.
const SIBLINGS: &[(&str, &str)] = &[
    ("json_schema", "regex"),
    ("automaton_spec", "json_schema"),
    ("gbnf", "regex"),
    ("lark", "json_schema"),
    ("lark", "regex"),
    ("structural_tag", "gbnf"),
    ("structural_tag", "json_schema"),
    ("structural_tag", "lark"),
    ("structural_tag", "regex"),
];

pub(crate) fn sources(folder: &str) -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    let mut open = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join(folder)];
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() && !path.ends_with("target") {
                open.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let text = std::fs::read_to_string(&path).unwrap();
                found.push((path, text));
            }
        }
    }
    found.sort();
    found
}

/// The files that may open files for writing. All reading goes through the room `files`.
const WRITERS: &[&str] = &[
    "src/mask_file/save.rs",
    "crates/agents/src/retrieval/store.rs",
    "crates/cli/src/cmd/generation_events.rs",
    "crates/cli/src/cmd/plan/run.rs",
    "crates/cli/src/cmd/procedure/new.rs",
    "crates/cli/src/cmd/procedure/simulate.rs",
];

#[test]
fn files_are_opened_in_one_place() {
    const READING: &[&str] = &["fs::read(", "fs::read_to_string(", "tokenizers::Tokenizer::from_file("];
    const OPENING: &[&str] = &["File::open(", "File::options(", "OpenOptions::new", "File::create"];
    let (mut wrong, mut writers) = (Vec::new(), Vec::new());
    for (path, text) in product() {
        let name = path.strip_prefix(env!("CARGO_MANIFEST_DIR")).unwrap().display().to_string();
        if name.starts_with("crates/base/src/files/") || name.starts_with("crates/testing/") {
            continue;
        }
        let code = text.split("#[cfg(test)]\nmod tests").next().unwrap_or_default();
        for line in code.lines().filter(|line| !line.trim_start().starts_with("//")) {
            // these functions take paths, and open files through `files`
            let line = line.replace("MaskFile::open(", "").replace("DraftFile::open(", "");
            let has = |patterns: &[&str]| patterns.iter().any(|pattern| line.contains(pattern));
            if has(OPENING) && WRITERS.contains(&&*name) {
                writers.push(name.clone());
            } else if has(READING) || has(OPENING) {
                wrong.push(format!("{name}: {}", line.trim()));
            }
        }
    }
    assert!(wrong.is_empty(), "open files by `files`: {wrong:#?}");
    writers.dedup();
    assert_eq!(writers, WRITERS);
}

/// Returns the room of a file: the first segment of its module.
fn room(path: &Path) -> String {
    module_of(path).0.into_iter().next().unwrap_or_default()
}

#[test]
fn rooms_use_only_rooms_before_them() {
    let mut wrong = Vec::new();
    for (path, text) in product() {
        let room = room(&path);
        let Some((_, allowed)) = ROOMS.iter().find(|(name, _)| *name == room) else { continue };
        // tests may use items that exist for tests
        let is_test = path.ends_with("tests.rs");
        let (module, is_parent) = module_of(&path);
        for named in named(&module, is_parent, &text).iter().filter(|named| !named.is_child) {
            let Some(first) = named.path.first() else { continue };
            let is_other = *first != room && ROOMS.iter().any(|(other, _)| other == first);
            if is_other && !allowed.contains(&first.as_str()) && !(is_test && first == "testing") {
                wrong.push(format!("{}: {}", path.display(), named.path.join("::")));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn rooms_are_on_the_map() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/architecture.md");
    let page = std::fs::read_to_string(page).unwrap();
    for (room, _) in ROOMS {
        assert!(page.contains(&format!("`{room}`")), "docs/architecture.md does not name `{room}`");
    }
}

/// The folders of the program. A folder imports only from itself and from those before it.
const FOLDERS_OF_PROGRAM: &[&str] = &["io", "args", "draw", "cmd"];

#[test]
fn folders_of_the_program_go_one_way() {
    let (mut wrong, mut seen) = (Vec::new(), 0);
    for (path, text) in product() {
        let Some((_, inside)) = path.to_str().and_then(|path| path.split_once("crates/cli/src/")) else {
            continue;
        };
        let Some((folder, _)) = inside.split_once('/') else { continue };
        let own = FOLDERS_OF_PROGRAM.iter().position(|name| *name == folder);
        let own = own.unwrap_or_else(|| panic!("{folder} is not in FOLDERS_OF_PROGRAM"));
        for (other, name) in FOLDERS_OF_PROGRAM.iter().enumerate() {
            let imports = text.contains(&format!("crate::{name}::"));
            seen += usize::from(imports && other < own);
            if imports && other > own {
                wrong.push(format!("{inside}: crate::{name}"));
            }
        }
    }
    assert!(seen > 50, "only {seen} imports were seen");
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// The folders of `procedures`. A folder imports only from itself and from those before it.
const FOLDERS_OF_PROCEDURES: &[&str] =
    &["language", "semantics", "automaton", "check", "export", "conversation", "record"];

#[test]
fn folders_of_procedures_go_one_way() {
    let (mut wrong, mut seen) = (Vec::new(), 0);
    for (path, text) in product() {
        let (module, is_parent) = module_of(&path);
        let layer = |path: &[String]| {
            let folder = path.get(1).filter(|_| path[0] == "procedures")?;
            FOLDERS_OF_PROCEDURES.iter().position(|name| name == folder)
        };
        let Some(own) = layer(&module) else { continue };
        for named in named(&module, is_parent, &text) {
            let Some(other) = layer(&named.path) else { continue };
            seen += usize::from(other < own);
            if other > own {
                wrong.push(format!("{}: {}", path.display(), named.path.join("::")));
            }
        }
    }
    assert!(wrong.is_empty() && seen > 100, "{seen} imports: {wrong:#?}");
}

/// Methods whose room comes after the room of their type: each is a step to a later room that users expect at the type.
const METHODS_ABOVE: &[(&str, &str)] = &[
    ("matcher", "CompiledGrammar"),
    // a macro in the room defines this type
    ("grammar", "ExprId"),
];

#[test]
fn types_have_their_methods_in_their_own_rooms() {
    let core =
        ["automaton", "collections", "grammar", "json", "mask", "matcher", "token_index", "vocabulary"];
    let files = product();
    let code = |room: &str| -> String {
        let of_room = files.iter().filter(|(path, _)| self::room(path) == room);
        of_room.map(|(_, text)| text.as_str()).collect()
    };
    let rooms: Vec<(&str, String)> = core.iter().map(|room| (*room, code(room))).collect();
    let defines = |text: &str, name: &str| {
        [format!("struct {name}"), format!("enum {name}")].iter().any(|start| {
            text.match_indices(start.as_str()).any(|(at, _)| {
                let after = text[at + start.len()..].chars().next();
                after.is_some_and(|after| !after.is_alphanumeric() && after != '_')
            })
        })
    };
    let mut found = 0;
    for (room, text) in &rooms {
        for line in text.lines().filter(|line| line.starts_with("impl") && !line.contains(" for ")) {
            let rest = line.trim_start_matches("impl");
            // the type parameters of the block are skipped
            let rest =
                if rest.starts_with('<') { rest.split_once("> ").map_or(rest, |two| two.1) } else { rest };
            let rest = rest.trim();
            let name: String = rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
            found += 1;
            assert!(
                defines(text, &name) || METHODS_ABOVE.contains(&(*room, &*name)),
                "{room}: `{line}` is of another room"
            );
        }
    }
    assert!(found > 100, "{found} blocks of methods");
}

/// Returns the paths of a use tree, each as its segments.
pub(crate) fn flatten(tree: &str, before: &[String]) -> Vec<Vec<String>> {
    let tree = tree.trim();
    let segments = |path: &str| -> Vec<String> {
        let path = path.split(" as ").next().unwrap_or_default();
        path.split("::").map(str::trim).filter(|part| !part.is_empty()).map(str::to_owned).collect()
    };
    let Some((head, inner)) = tree.split_once('{') else {
        return vec![[before, &segments(tree)].concat()];
    };
    let before = [before, &segments(head)].concat();
    let inner = inner.rsplit_once('}').map_or(inner, |(inner, _)| inner);
    let (mut depth, mut start, mut paths) = (0, 0, Vec::new());
    for (at, c) in inner.char_indices().chain([(inner.len(), ',')]) {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                if !inner[start..at].trim().is_empty() {
                    paths.extend(flatten(&inner[start..at], &before));
                }
                start = at + 1;
            }
            _ => {}
        }
    }
    paths
}

/// Returns the modules of some rooms, and for each the modules that it imports from, outside of its tests. A folder's
/// `mod.rs` may name its own files: such imports have no `super`, `crate` or `self` and are not counted.
fn imports(rooms: &[&str]) -> (Vec<Vec<String>>, Vec<Vec<usize>>) {
    let files: Vec<_> = product().into_iter().filter(|(path, _)| rooms.contains(&&*room(path))).collect();
    let modules: Vec<Vec<String>> = files.iter().map(|(path, _)| module_of(path).0).collect();
    let edges = files.iter().enumerate().map(|(at, (_, text))| {
        let text = text.split("#[cfg(test)]").next().unwrap_or_default();
        let mut to = Vec::new();
        for statement in text.split(';').filter_map(|part| {
            let start = part.rfind("\nuse ").or_else(|| part.rfind(" use "))?;
            Some(part[start + 5..].trim())
        }) {
            for path in flatten(statement, &[]) {
                let Some(full) = absolute(&modules[at], &path) else { continue };
                let target =
                    (1..=full.len()).rev().find_map(|k| modules.iter().position(|m| *m == full[..k]));
                to.extend(target.filter(|target| *target != at));
            }
        }
        to
    });
    let edges = edges.collect();
    (modules, edges)
}

/// The files that import each other, by circle. Each circle is a recursion of what the files describe.
const CIRCLES: &[&[&str]] = &[
    // clauses are decided by a search, which simplifies clauses
    &["grammar::conditions::clauses", "grammar::conditions::search"],
    // the methods of a spec: its grammar, and the codes of its actions
    &["syntax::automaton_spec::actions", "syntax::automaton_spec::lower", "syntax::automaton_spec::spec"],
    // a class is a part of a pattern, with the escapes of a pattern
    &["syntax::regex::ecma", "syntax::regex::ecma_class"],
    // a form is the body of a request, with the pairs of a query
    &["tools::form", "tools::request"],
    // compiled tools make turns; a turn compiles the tools that its own limits allow
    &["tools::session::compiled", "tools::session::turn", "tools::session::values", "tools::session::walk"],
];

/// Returns the files of some rooms that import each other, directly or indirectly.
fn in_circles(rooms: &[&str]) -> Vec<String> {
    let (modules, edges) = imports(rooms);
    assert!(modules.len() > 100 && edges.iter().map(Vec::len).sum::<usize>() > 300);
    let reaches = |from: usize| {
        let mut seen = vec![false; modules.len()];
        let mut open = edges[from].clone();
        while let Some(at) = open.pop() {
            if !std::mem::replace(&mut seen[at], true) {
                open.extend(&edges[at]);
            }
        }
        seen
    };
    (0..modules.len()).filter(|&at| reaches(at)[at]).map(|at| modules[at].join("::")).collect()
}

#[test]
fn imports_go_one_way() {
    let all: Vec<&str> = ROOMS.iter().map(|(name, _)| *name).collect();
    let mut found = in_circles(&all);
    found.sort();
    assert_eq!(found, CIRCLES.concat(), "mend the circle, or take one that is gone out of the list");
}

/// The folders and files of the front end for JSON Schema, each with those that it uses.
const PARTS_OF_JSON_SCHEMA: &[(&str, &[&str])] = &[
    ("values", &[]),
    ("documents", &[]),
    ("summary", &[]),
    ("grammars", &[]),
    ("elements", &["values"]),
    ("errors", &["values", "grammars"]),
    ("options", &["documents", "elements", "grammars"]),
    ("strings", &["values", "errors", "grammars"]),
    ("model", &["values", "errors", "options", "strings"]),
    ("read", &["values", "errors", "grammars", "options", "summary", "strings", "model"]),
    ("normal", &["values", "errors", "strings", "model"]),
    ("emit", &["values", "errors", "elements", "options", "strings", "model", "normal"]),
];

#[test]
fn folders_of_json_schema_go_one_way() {
    let (mut wrong, mut seen) = (Vec::new(), 0);
    for (path, text) in product() {
        let (module, is_parent) = module_of(&path);
        let row = |path: &[String]| {
            let part = path.get(2).filter(|_| path[0] == "syntax" && path[1] == "json_schema")?;
            PARTS_OF_JSON_SCHEMA.iter().find(|(name, _)| name == part)
        };
        let Some((own, allowed)) = row(&module) else { continue };
        for named in named(&module, is_parent, &text) {
            let Some((other, _)) = row(&named.path).filter(|(other, _)| other != own) else { continue };
            seen += 1;
            if !allowed.contains(other) {
                wrong.push(format!("{}: {}", path.display(), named.path.join("::")));
            }
        }
    }
    assert!(wrong.is_empty() && seen > 100, "{seen} imports: {wrong:#?}");
}

/// Idioms of this repository for which the literature has better words; see `docs/glossary.md`.
const IDIOMS: &[&str] = &[
    concat!("told ", "apart"),
    concat!("tells ", "apart"),
    concat!("gone ", "through"),
    concat!("made ", "anew"),
    concat!("at ", "hand"),
    concat!("so ", "many"),
    concat!("come ", "to "),
    concat!("leads ", "on"),
    concat!("looked ", "at"),
    concat!("worth ", "while"),
];

#[test]
fn the_engine_is_described_in_the_words_of_its_field() {
    let core = ["automaton", "collections", "json", "mask", "token_index"];
    let mut found = Vec::new();
    for (path, text) in product().into_iter().filter(|(path, _)| core.contains(&&*room(path))) {
        let comments = text.lines().filter(|line| line.contains("//"));
        found.extend(
            comments
                .filter(|line| IDIOMS.iter().any(|idiom| line.contains(idiom)))
                .map(|line| format!("{}: {}", path.display(), line.trim())),
        );
    }
    assert!(found.is_empty(), "{found:#?}");
}

#[test]
fn front_ends_do_not_know_each_other() {
    let front_ends = ["automaton_spec", "gbnf", "json_schema", "lark", "regex", "structural_tag"];
    let mut wrong = Vec::new();
    for (path, text) in sources("src/syntax") {
        let Some(own) = front_ends.iter().find(|name| path.iter().any(|part| part == **name)) else {
            continue;
        };
        for other in front_ends.iter().filter(|other| other != &own && !SIBLINGS.contains(&(own, other))) {
            let code = text.lines().filter(|line| !line.trim_start().starts_with("//"));
            wrong.extend(
                code.filter(|line| line.contains(&format!("syntax::{other}")))
                    .map(|line| format!("{}: {line}", path.display())),
            );
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn only_one_room_knows_onnx_runtime() {
    let ort = Path::new(env!("CARGO_MANIFEST_DIR")).join("crates/decode/src/ort");
    for (path, text) in product().into_iter().filter(|(path, _)| !path.starts_with(&ort)) {
        let code = text.lines().filter(|line| !line.trim_start().starts_with("//"));
        let uses = code.filter(|line| line.starts_with("use ort::") || line.contains(" ::ort::"));
        assert_eq!(uses.count(), 0, "{}", path.display());
    }
}

#[test]
fn files_are_short_documented_and_finished() {
    let mut wrong = Vec::new();
    for folder in [
        "src",
        "crates",
        "tests",
        "xtask",
        "benches",
        "bindings/agents",
        "bindings/border",
        "bindings/c",
        "bindings/js",
        "bindings/llg",
        "bindings/python",
        "examples",
        "fuzz/fuzz_targets",
    ] {
        for (path, text) in sources(folder) {
            let name = path.display();
            if !text.starts_with("//!") {
                wrong.push(format!("{name}: no doc comment at the top"));
            }
            if text.lines().count() > LONGEST {
                wrong.push(format!("{name}: {} lines", text.lines().count()));
            }
            for mark in
                [concat!("TO", "DO"), concat!("FIX", "ME"), concat!("#[ign", "ore"), concat!("todo", "!(")]
            {
                if text.contains(mark) {
                    wrong.push(format!("{name}: {mark}"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
