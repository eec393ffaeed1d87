//! Conformity of a value to a schema, to disambiguate texts with several readings.

use grammata::error::ErrorKind;
use grammata::mask::{CompiledGrammar, Compiler};
use grammata::syntax::json_schema::{Options, PropertyOrder, Whitespace, compile_value};
use grammata::syntax::lark;
use grammata::vocabulary::{TokenId, VocabularyBuilder};
use serde_json::Value;
use std::cell::OnceCell;
use std::sync::{Arc, OnceLock};

/// Returns whether a value conforms to a schema; true if that cannot be decided.
pub(super) fn conforms(schema: &Value, value: &Value) -> bool {
    compiled(schema).holds(value)
}

/// The values that a schema allows: those of a compiled grammar, no values, or unknown.
enum Language {
    Words(CompiledGrammar),
    Nothing,
    Unknown,
}

impl Language {
    fn holds(&self, value: &Value) -> bool {
        match self {
            Language::Words(compiled) => {
                let mut matcher = compiled.matcher();
                match matcher.accept_bytes(value.to_string().as_bytes()) {
                    Ok(()) => matcher.is_accepting(),
                    Err(error) => error.kind() != ErrorKind::Rejected,
                }
            }
            Language::Nothing => false,
            Language::Unknown => true,
        }
    }
}

fn compiled(schema: &Value) -> Language {
    static COMPILER: OnceLock<Option<Compiler>> = OnceLock::new();
    let compiler = COMPILER.get_or_init(|| {
        let tokens = (0..=255_u8).map(|byte| vec![byte]).chain([b"</s>".to_vec()]);
        let built = VocabularyBuilder::from_tokens(tokens).eos([TokenId::new(256)]).build();
        built.ok().map(|vocabulary| Compiler::new(Arc::new(vocabulary)).without_token_bounds())
    });
    let options = Options::default()
        .whitespace(Whitespace::Compact)
        .property_order(PropertyOrder::Any)
        .grammars(Some(lark::IN_STRINGS));
    let made = compile_value(schema, &options);
    match (compiler, made) {
        (Some(compiler), Ok(made)) => {
            compiler.compile(&made.grammar).map_or(Language::Unknown, Language::Words)
        }
        (_, Err(error)) if error.code() == "json-schema/unsatisfiable" => Language::Nothing,
        _ => Language::Unknown,
    }
}

/// A schema whose references point into `root`, compiled on first use.
pub(super) struct Conformity<'s> {
    schema: &'s Value,
    root: &'s Value,
    language: OnceCell<Language>,
}

impl<'s> Conformity<'s> {
    pub(super) fn new(schema: &'s Value, root: &'s Value) -> Conformity<'s> {
        Conformity { schema, root, language: OnceCell::new() }
    }

    /// Returns whether a value, known to be of one of the schema's types, conforms; true if that cannot be decided.
    pub(super) fn holds(&self, value: &Value) -> bool {
        self.language.get_or_init(|| self.language()).holds(value)
    }

    fn language(&self) -> Language {
        const SILENT: [&str; 5] = ["type", "title", "description", "default", "example"];
        // the types alone decide, except that a number may have to be an integer
        let says_more = self.schema.as_object().is_some_and(|object| {
            let of_integers = object.get("type").is_some_and(|types| types.to_string().contains("integer"));
            of_integers || object.keys().any(|keyword| !SILENT.contains(&keyword.as_str()))
        });
        if !says_more {
            return Language::Unknown;
        }
        let mut alone = self.schema.clone();
        if let (Some(object), Some(definitions)) = (alone.as_object_mut(), self.root.get("$defs"))
            && !object.contains_key("$defs")
        {
            object.insert("$defs".to_owned(), definitions.clone());
        }
        compiled(&alone)
    }
}
