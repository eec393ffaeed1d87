//! Mask files: explored masks equal those of the engine, in complete files and damaged ones.

use grammata::explore::ExploreBudget;
use grammata::mask_file::resealed;
use grammata::syntax::{Source, parse};
use grammata::vocabulary::{LoadOptions, TokenId, Vocabulary, VocabularyBuilder};
use grammata::{Compiler, ErrorKind, Limits, MaskFile, Matcher, Result};
use std::path::Path;
use std::sync::Arc;

const SCHEMA: &str = r#"{"type": "object",
    "properties": {"name": {"type": "string", "maxLength": 20}, "age": {"type": "integer"},
                   "tags": {"type": "array", "items": {"enum": ["a", "b"]}, "uniqueItems": true}},
    "required": ["name"], "additionalProperties": {"type": "boolean"}}"#;

const DOCUMENTS: [&str; 4] = [
    r#"{"name": "Ada", "age": 36}"#,
    r#"{"name": "a rather long na", "age": -0, "tags": ["b", "a"], "x": true, "y": false}"#,
    r#"{"name":"\u00e9","tags":[],"other":true}"#,
    "{ \"name\" : \"\" , \"age\":1,\"x\" : true }",
];

fn smollm2() -> Compiler {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/smollm2/tokenizer.json");
    let vocabulary = Vocabulary::from_file(path, &LoadOptions::default()).unwrap();
    Compiler::new(Arc::new(vocabulary))
}

/// Returns a compiler for a vocabulary of all bytes and an end token.
fn bytes_alone() -> Compiler {
    let tokens = (0..=255u8).map(|byte| vec![byte]);
    let end = TokenId::new(256);
    let vocabulary = VocabularyBuilder::from_tokens(tokens).special(end, "<end>").eos([end]).build();
    Compiler::new(Arc::new(vocabulary.unwrap()))
}

fn explored(compiler: &Compiler, states: usize) -> MaskFile {
    let grammar = parse(&Source::json_schema(SCHEMA)).unwrap().grammar;
    let compiled = compiler.detached().compile(&grammar).unwrap();
    compiled.explore(&ExploreBudget::default().states(states), &[]).unwrap()
}

/// Walks both matchers along a document, and compares their masks. Returns the number of steps that the file has
/// explored, and the number of all steps.
fn walk_beside(file: &mut Matcher, lazy: &mut Matcher, document: &str) -> (usize, usize) {
    let tokens = lazy.compiled().vocabulary().encode_greedy(document.as_bytes()).unwrap();
    let mut hits = 0;
    for &token in &tokens {
        hits += usize::from(file.is_explored());
        assert_eq!(file.mask().unwrap(), lazy.mask().unwrap(), "{document}");
        file.accept_token(token).unwrap();
        lazy.accept_token(token).unwrap();
    }
    assert!(file.is_accepting() && lazy.is_accepting(), "{document}");
    (hits, tokens.len())
}

#[test]
fn masks_along_documents_are_lazy_ones_however_little_was_explored() {
    let compiler = smollm2();
    let grammar = parse(&Source::json_schema(SCHEMA)).unwrap().grammar;
    let compiled = compiler.compile(&grammar).unwrap();
    let mut most = 0;
    for states in [0, 1, 7, 60, 500, 4_000] {
        let file = Arc::new(explored(&compiler, states));
        assert!(compiler.load(Arc::clone(&file)).unwrap().verify_masks().unwrap() <= states);
        let loaded = compiler.load(file).unwrap();
        let (mut hits, mut steps) = (0, 0);
        for document in DOCUMENTS {
            let walked = walk_beside(&mut loaded.matcher(), &mut compiled.matcher(), document);
            (hits, steps) = (hits + walked.0, steps + walked.1);
        }
        eprintln!("{states} places: {hits} of {steps} steps");
        most = most.max(hits * 100 / steps);
        assert!(states > 0 || hits == 0);
    }
    assert!(most > 60, "{most} % of the steps were explored");
}

/// Results that a file does not have are computed by the engine: explanations of rejected texts, distances, forced
/// tokens and masks within budgets are the same. After a rollback the masks are the same, too.
#[test]
fn what_is_not_in_a_file_is_found_by_the_engine() {
    let compiler = smollm2();
    let grammar = parse(&Source::json_schema(SCHEMA)).unwrap().grammar;
    let (compiled, loaded) =
        (compiler.compile(&grammar).unwrap(), compiler.load(explored(&compiler, 900)).unwrap());
    let (mut lazy, mut file) = (compiled.matcher(), loaded.matcher());
    for text in ["", "{\"name\"", ": \"abc", "\", \"age\": 12", ", \"tags\": [\"a\""] {
        file.accept_bytes(text.as_bytes()).unwrap();
        lazy.accept_bytes(text.as_bytes()).unwrap();
        assert_eq!(file.explain(b"!").unwrap(), lazy.explain(b"!").unwrap());
        assert_eq!(file.distance().unwrap(), lazy.distance().unwrap());
        assert_eq!(file.forced_tokens().unwrap(), lazy.forced_tokens().unwrap());
        assert_eq!(file.mask_within(40).unwrap(), lazy.mask_within(40).unwrap());
        let error = file.accept_bytes(b"!!").map_err(|error| error.to_string());
        assert_eq!(error, lazy.accept_bytes(b"!!").map_err(|error| error.to_string()));
    }
    file.rollback(3).unwrap();
    lazy.rollback(3).unwrap();
    assert_eq!(file.mask().unwrap(), lazy.mask().unwrap());
}

/// If a text leaves the explored part and later reaches an explored place, the file is read again.
#[test]
fn a_matcher_comes_back_to_what_was_explored() {
    let compiler = smollm2();
    let mut came_back = 0;
    for states in [30, 60, 120, 250] {
        let loaded = compiler.load(explored(&compiler, states)).unwrap();
        let mut matcher = loaded.matcher();
        for document in DOCUMENTS.repeat(40) {
            let tokens = loaded.vocabulary().encode_greedy(document.as_bytes()).unwrap();
            let mut was_outside = false;
            for token in tokens {
                came_back += usize::from(was_outside && matcher.is_explored());
                was_outside = !matcher.is_explored();
                matcher.accept_token(token).unwrap();
            }
            matcher.reset();
        }
    }
    assert!(came_back > 40, "{came_back} times");
}

#[test]
fn the_same_grammar_makes_the_same_bytes_on_any_thread() {
    let compiler = bytes_alone();
    let first = explored(&compiler, 300);
    // tables computed for other grammars have no effect
    compiler
        .compile(&parse(&Source::json_schema(SCHEMA)).unwrap().grammar)
        .unwrap()
        .matcher()
        .mask()
        .unwrap();
    let threads: Vec<Vec<u8>> = std::thread::scope(|scope| {
        let threads = (0..3).map(|_| scope.spawn(|| explored(&compiler, 300).as_bytes().to_vec()));
        let threads: Vec<_> = threads.collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert!(threads.iter().all(|bytes| bytes == first.as_bytes()));
    let contents = first.contents();
    assert_eq!((contents.states, contents.bytes), (300, first.as_bytes().len()));
}

#[test]
fn every_part_of_a_file_that_is_missing_or_changed_is_noticed() {
    let file = explored(&bytes_alone(), 40).as_bytes().to_vec();
    for len in (0..file.len()).step_by(7).chain(0..200) {
        let error = MaskFile::from_bytes(file[..len].to_vec()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Grammar, "{len}");
    }
    let mut longer = file.clone();
    longer.push(0);
    assert!(MaskFile::from_bytes(longer).is_err());
    for at in 0..file.len() {
        let mut changed = file.clone();
        changed[at] ^= 1 << (at % 8);
        assert!(MaskFile::from_bytes(changed).is_err(), "the byte {at}");
    }
}

/// A mapped file is read only when it is needed. The contents of a damaged block count as unexplored.
#[test]
fn a_damaged_block_of_a_mapped_file_changes_no_mask() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.gmask");
    let compiler = smollm2();
    let grammar = parse(&Source::json_schema(SCHEMA)).unwrap().grammar;
    let compiled = compiler.compile(&grammar).unwrap();
    let file = explored(&compiler, 900);
    let good = file.as_bytes().to_vec();
    let limits = Limits::default();
    let grammar_end = good.windows(8).position(|window| window == b"\0\0\0\0\0\0\0\0").unwrap().max(4096);
    let mut noticed = 0;
    for at in (grammar_end + 8192..good.len()).step_by(good.len() / 9) {
        let mut bytes = good.clone();
        bytes[at] ^= 0x40;
        std::fs::write(&path, &bytes).unwrap();
        assert_eq!(MaskFile::open(&path, &limits).unwrap_err().code(), "mask-file/damaged");
        #[allow(unsafe_code)] // safe, because nobody changes the file while it is mapped
        let mapped = unsafe { MaskFile::map(&path, &limits) }.unwrap();
        noticed += usize::from(mapped.check().is_err());
        let copied = mapped.with_token_index(&[]).map(|_| "a copy");
        assert_eq!(copied.unwrap_err().code(), "mask-file/damaged", "a copy would hide the damage");
        let Ok(loaded) = compiler.load(mapped) else { continue };
        for document in DOCUMENTS {
            walk_beside(&mut loaded.matcher(), &mut compiled.matcher(), document);
        }
    }
    assert!(noticed > 4, "{noticed}");
}

#[test]
fn files_for_something_else_are_refused_by_the_field() {
    let file = explored(&bytes_alone(), 20);
    let error = smollm2().load(file).unwrap_err();
    assert_eq!(error.code(), "mask-file/other-vocabulary");
    let bytes = explored(&bytes_alone(), 20).as_bytes().to_vec();
    for (at, field) in [(8, "format version"), (12, "semantics version"), (16, "byte order")] {
        let mut other = bytes.clone();
        other[at] += 1;
        let error = MaskFile::from_bytes(resealed(other)).unwrap_err();
        assert_eq!(error.code(), "mask-file/other-version");
        assert!(error.to_string().contains(field), "{error}");
    }
}

#[test]
fn what_is_no_regular_file_is_refused() {
    let limits = Limits::default();
    let folder = tempfile::tempdir().unwrap();
    let code = |result: Result<MaskFile>| result.unwrap_err().code();
    assert_eq!(code(MaskFile::open(folder.path(), &limits)), "io/no-file");
    let empty = folder.path().join("empty");
    std::fs::write(&empty, b"").unwrap();
    assert_eq!(code(MaskFile::open(&empty, &limits)), "mask-file/no-mask-file");
    #[allow(unsafe_code)] // safe, because nobody changes the file while it is mapped
    let mapped = unsafe { MaskFile::map(&empty, &limits) };
    assert_eq!(code(mapped), "mask-file/no-mask-file");
    assert_eq!(code(MaskFile::open(folder.path().join("none"), &limits)), "io/file");
    #[cfg(unix)]
    {
        let pipe = folder.path().join("pipe");
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        assert_eq!(code(MaskFile::open(&pipe, &limits)), "io/no-file");
        let file = explored(&bytes_alone(), 5);
        assert_eq!(file.save(&pipe).unwrap_err().code(), "io/no-file");
    }
    let small = Limits::default().mask_file_bytes(100);
    let path = folder.path().join("x.gmask");
    explored(&bytes_alone(), 5).save(&path).unwrap();
    assert_eq!(code(MaskFile::open(&path, &small)), "limit/exceeded");
    MaskFile::open(&path, &limits).unwrap().check().unwrap();
}

/// Concurrent writers leave one complete file, and nothing next to it.
#[test]
fn a_file_is_there_as_a_whole_or_not_at_all() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.gmask");
    let files = [explored(&bytes_alone(), 5), explored(&bytes_alone(), 90)];
    std::thread::scope(|scope| {
        for file in &files {
            scope.spawn(|| (0..20).for_each(|_| file.save(&path).unwrap()));
        }
        for _ in 0..200 {
            match MaskFile::open(&path, &Limits::default()) {
                Ok(read) => assert!(files.iter().any(|file| file.as_bytes() == read.as_bytes())),
                Err(error) => assert_eq!(error.code(), "io/file"),
            }
        }
    });
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    let nowhere = files[0].save(folder.path().join("no/x.gmask")).unwrap_err();
    assert_eq!(nowhere.code(), "io/file");
}

#[test]
fn warming_up_makes_masks_and_stops_when_told() {
    let compiler = smollm2();
    let grammar = parse(&Source::json_schema(SCHEMA)).unwrap().grammar;
    let compiled = compiler.compile(&grammar).unwrap();
    let (states, masks) = compiled.warm(ExploreBudget::default().states(300)).wait();
    assert!(states > 100 && masks > 50, "{states} places, {masks} masks");
    assert!(compiled.statistics().masks_computed >= masks as u64);
    let lazy = compiler.detached().compile(&grammar).unwrap();
    for document in DOCUMENTS {
        walk_beside(&mut compiled.matcher(), &mut lazy.matcher(), document);
    }
    // a grammar is warmed up while sequences run
    let compiled = compiler.detached().compile(&grammar).unwrap();
    let warm = compiled.warm(ExploreBudget::default().states(1 << 20).work(u64::MAX).bytes(usize::MAX));
    for document in DOCUMENTS {
        walk_beside(&mut compiled.matcher(), &mut lazy.matcher(), document);
    }
    // on a busy machine the thread may not have begun yet
    let before = compiled.statistics().masks_computed;
    while compiled.statistics().masks_computed == before && !warm.is_finished() {
        std::thread::yield_now();
    }
    assert!(warm.cancel().0 > 0);
}

/// Returns the texts for both readers: all prefixes of the documents, and some texts that mostly are not prefixes of
/// words.
fn texts() -> Vec<Vec<u8>> {
    let beginnings = |document: &&str| {
        let document = document.as_bytes().to_vec();
        (0..=document.len()).map(move |len| document[..len].to_vec()).collect::<Vec<_>>()
    };
    let nowhere = [&b"x"[..], b"{\"", b"{\"a\":1", b"[[[", b"{\"name\": \"\\q"];
    DOCUMENTS.iter().flat_map(beginnings).chain(nowhere.map(<[u8]>::to_vec)).collect()
}

/// Returns the line that `tests/mask_file_reader.py` should print for a text, as computed by the library.
fn said(matcher: &mut Matcher, text: &[u8]) -> String {
    if matcher.accept_bytes(text).is_err() {
        return "dead".to_owned();
    }
    let mut words = vec![0; matcher.compiled().vocabulary().mask_words()];
    matcher.fill_mask(&mut words).unwrap();
    let tokens: u32 = words.iter().map(|word| word.count_ones()).sum();
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    let mut crc = flate2::Crc::new();
    crc.update(&bytes);
    let accepting = u8::from(matcher.is_accepting());
    format!("accepting={accepting} tokens={tokens} crc={:08x}", crc.sum())
}

/// Returns the grammar of the schema without undeclared names of objects, because the file format leaves these to its
/// readers.
fn listed_names() -> grammata::grammar::Grammar {
    let schema = SCHEMA.replace("{\"type\": \"boolean\"}", "false");
    parse(&Source::json_schema(schema)).unwrap().grammar
}

#[test]
fn a_second_reader_reads_the_same() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let venv = root.join(".venv/bin/python3");
    let python = if venv.exists() { venv } else { "python3".into() };
    if std::process::Command::new(&python).arg("--version").output().is_err() {
        eprintln!("there is no Python here to read with");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    for (place, compiler) in [bytes_alone(), smollm2()].into_iter().enumerate() {
        let compiled = compiler.detached().compile(&listed_names()).unwrap();
        let file = compiled.explore(&ExploreBudget::default().states(700), &[]).unwrap();
        let path = folder.path().join(format!("{place}.gmask"));
        file.save(&path).unwrap();
        let hex = |text: &Vec<u8>| text.iter().fold("x".to_owned(), |hex, byte| format!("{hex}{byte:02x}"));
        let mut command = std::process::Command::new(&python);
        command.arg(root.join("tests/mask_file_reader.py")).arg(&path).args(texts().iter().map(hex));
        let output = command.output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let lines = String::from_utf8(output.stdout).unwrap();
        let mut read = 0;
        assert_eq!(lines.lines().count(), texts().len());
        for (line, text) in lines.lines().zip(texts()) {
            if line != "unexplored" {
                assert_eq!(line, said(&mut compiled.matcher(), &text), "{}", String::from_utf8_lossy(&text));
                read += 1;
            }
        }
        assert!(read * 2 > texts().len(), "{read} of {}", texts().len());
    }
}

/// Files of each released format version can be read, and their masks are right. `UPDATE_MASK_FILES=1` rewrites the
/// file of this version.
#[test]
fn files_of_earlier_versions_are_read() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/mask_files");
    if std::env::var_os("UPDATE_MASK_FILES").is_some() {
        std::fs::create_dir_all(&folder).unwrap();
        explored(&bytes_alone(), 120).save(folder.join("format-1.gmask")).unwrap();
    }
    let mut read = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let file = MaskFile::open(entry.unwrap().path(), &Limits::default()).unwrap();
        let loaded = bytes_alone().load(file).unwrap();
        assert!(loaded.verify_masks().unwrap() > 50);
        read += 1;
    }
    assert!(read > 0);
}

#[test]
fn a_cache_with_a_folder_begins_with_its_files() {
    use grammata::serve::GrammarCache;
    let folder = tempfile::tempdir().unwrap();
    let source = Source::json_schema(SCHEMA);
    let budget = ExploreBudget::default().states(200);
    let cache = || {
        let cache = GrammarCache::new(bytes_alone(), 64 << 20);
        cache.with_folder(folder.path().join("masks"), budget.clone(), 1 << 20).unwrap()
    };
    let first = cache();
    assert!(!first.get(&source).unwrap().compiled.matcher().is_explored());
    first.flush();
    let files = || std::fs::read_dir(folder.path().join("masks")).unwrap().map(|entry| entry.unwrap().path());
    assert_eq!(files().count(), 1);
    let second = cache().get(&source).unwrap();
    assert!(second.compiled.matcher().is_explored());
    let mut lazy = first.get(&source).unwrap().compiled.matcher();
    walk_beside(&mut second.compiled.matcher(), &mut lazy, DOCUMENTS[1]);
    // a file that is not a mask file is ignored
    std::fs::write(files().next().unwrap(), b"half a file").unwrap();
    assert!(!cache().get(&source).unwrap().compiled.matcher().is_explored());
    // files beyond the folder's limit of bytes are removed
    let small = GrammarCache::new(bytes_alone(), 64 << 20);
    let small = small.with_folder(folder.path().join("small"), budget, 100).unwrap();
    small.get(&source).unwrap();
    small.flush();
    assert_eq!(std::fs::read_dir(folder.path().join("small")).unwrap().count(), 0);
}
