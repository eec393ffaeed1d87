//! `Debug` of types with tables is one short line, so that a log of a session stays readable.

use grammata::explore::ExploreBudget;
use grammata::grammar::GrammarBuilder;
use grammata::mask_file::{ArchiveBuilder, MaskArchive};
use grammata::serve::GrammarCache;
use grammata::syntax::json_schema;
use grammata::vocabulary::VocabularyBuilder;
use grammata::{Compiler, Limits, MaskFile, Vocabulary};
use std::fmt::Debug;
use std::sync::Arc;

/// The most characters of a line.
const LONGEST: usize = 400;

fn is_short(what: &str, value: &dyn Debug) {
    let line = format!("{value:?}");
    assert!(line.len() <= LONGEST && !line.contains('\n'), "{what}: {} characters", line.len());
    assert!(line.starts_with(what), "{line}");
}

#[test]
fn types_with_tables_are_shown_in_one_short_line() {
    let load = || Vocabulary::from_file("tests/data/smollm2/tokenizer.json", &Default::default()).unwrap();
    let compiler = Compiler::new(Arc::new(load()));
    let schema = r#"{"type": "object", "required": ["name"], "properties": {"name": {"type": "string"}, "age": {"type": "integer"}}}"#;
    let schema = json_schema::compile(schema, &json_schema::Options::default()).unwrap();
    let compiled = compiler.compile(&schema.grammar).unwrap();
    let mut matcher = compiled.matcher();
    for byte in br#"{"name": "Ada Lovelace", "age": 3"# {
        matcher.mask().unwrap();
        matcher.mask_within(60).unwrap();
        matcher.accept_bytes(&[*byte]).unwrap();
    }
    is_short("Matcher", &matcher);
    is_short("CompiledGrammar", &compiled);
    is_short("Compiler", &compiler);
    is_short("Vocabulary", &**compiler.vocabulary());
    is_short("Automaton", compiled.automaton());
    is_short("Grammar", &schema.grammar);
    is_short("TokenMask", &matcher.mask().unwrap());
    is_short("GrammarCache", &GrammarCache::new(compiler.clone(), 1 << 20));
    let mut builder = GrammarBuilder::new();
    for number in 0..500 {
        builder.text(number.to_string());
    }
    is_short("GrammarBuilder", &builder);
    let tokens: Vec<String> = (0..500).map(|number| number.to_string()).collect();
    is_short("VocabularyBuilder", &VocabularyBuilder::from_tokens(&tokens));
    let file = compiled.explore(&ExploreBudget::default().states(50), &[]).unwrap();
    let mut archive = ArchiveBuilder::new(compiler.vocabulary(), &Limits::default());
    archive.add("person", &file).unwrap();
    is_short("ArchiveBuilder", &archive);
    let archive = MaskArchive::from_bytes(archive.to_bytes()).unwrap();
    is_short("MaskArchive", &archive);
    is_short("MaskFile", &MaskFile::from_bytes(file.as_bytes()).unwrap());
}
