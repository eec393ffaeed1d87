//! Archives of mask files: files are extracted unchanged from memory, from a mapped file and from disk. Damaged
//! archives are noticed.

use grammata::explore::ExploreBudget;
use grammata::mask_file::{ArchiveBuilder, MaskArchive, resealed};
use grammata::syntax::{Source, parse};
use grammata::vocabulary::{LoadOptions, TokenId, Vocabulary, VocabularyBuilder};
use grammata::{Compiler, Limits, MaskFile, Result};
use grammata_testing::mask_files::mask_file;
use rand::rngs::StdRng;
use rand::{RngCore, SeedableRng};
use std::path::{Path, PathBuf};
use std::sync::Arc;

const SCHEMAS: [(&str, &str); 5] = [
    (
        "person",
        r#"{"type": "object", "properties": {"name": {"type": "string"}, "age": {"type": "integer"}}}"#,
    ),
    (
        "pet",
        r#"{"type": "object", "properties": {"name": {"type": "string"}, "kind": {"enum": ["cat", "dog"]}}}"#,
    ),
    ("list", r#"{"type": "array", "items": {"type": "string"}, "maxItems": 3}"#),
    ("yes or no", r#"{"type": "boolean"}"#),
    ("Ärger", r#"{"type": "array", "items": {"type": "number"}}"#),
];

const DOCUMENTS: [&str; 3] =
    [r#"{"name": "Ada", "age": 36}"#, r#"{"name": "Tom", "kind": "cat"}"#, r#"["a", "bc"]"#];

/// Returns a compiler for a vocabulary of all bytes and an end token.
fn bytes_alone() -> Compiler {
    let tokens = (0..=255u8).map(|byte| vec![byte]);
    let end = TokenId::new(256);
    let vocabulary = VocabularyBuilder::from_tokens(tokens).special(end, "<end>").eos([end]).build();
    Compiler::new(Arc::new(vocabulary.unwrap()))
}

fn smollm2() -> Compiler {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/smollm2/tokenizer.json");
    Compiler::new(Arc::new(Vocabulary::from_file(path, &LoadOptions::default()).unwrap()))
}

fn grammar(schema: &str) -> grammata::grammar::Grammar {
    parse(&Source::json_schema(schema)).unwrap().grammar
}

fn files(compiler: &Compiler, states: usize) -> Vec<(&'static str, MaskFile)> {
    let explored = |schema: &str| {
        let compiled = compiler.detached().compile(&grammar(schema)).unwrap();
        compiled.explore(&ExploreBudget::default().states(states), &[]).unwrap()
    };
    SCHEMAS.iter().map(|(name, schema)| (*name, explored(schema))).collect()
}

fn pack<'a>(compiler: &Compiler, files: impl IntoIterator<Item = &'a (&'static str, MaskFile)>) -> Vec<u8> {
    let mut builder = ArchiveBuilder::new(compiler.vocabulary(), &Limits::default());
    files.into_iter().for_each(|(name, file)| builder.add(*name, file).unwrap());
    builder.to_bytes()
}

/// Writes an archive into a new folder. Returns the folder and the path of the archive.
fn on_disk(bytes: &[u8]) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("all.gmasks");
    std::fs::write(&path, bytes).unwrap();
    (folder, path)
}

/// Reads an archive in each way: from bytes in memory, from disk, and mapped.
fn each_way(bytes: &[u8], path: &Path) -> [Result<MaskArchive>; 3] {
    let limits = Limits::default();
    #[allow(unsafe_code)] // safe, because nobody changes the file while it is mapped
    let mapped = unsafe { MaskArchive::map(path, &limits) };
    [MaskArchive::from_bytes(bytes), MaskArchive::open(path, &limits), mapped]
}

/// Files are extracted unchanged, byte for byte, by name and by grammar; and the masks of an extracted file equal lazy
/// ones.
#[test]
fn files_come_out_of_an_archive_as_they_went_in() {
    for compiler in [bytes_alone(), smollm2()] {
        let files = files(&compiler, 150);
        let bytes = pack(&compiler, &files);
        let (_folder, path) = on_disk(&bytes);
        for archive in each_way(&bytes, &path) {
            let archive = archive.unwrap();
            archive.check().unwrap();
            let names: Vec<String> = archive.names().map(Result::unwrap).collect();
            let at = |place: usize| archive.name_at(place).unwrap();
            assert_eq!((at(0).as_deref(), at(4).as_deref(), at(5)), (Some("list"), Some("Ärger"), None));
            assert_eq!(names, ["list", "person", "pet", "yes or no", "Ärger"]);
            assert_eq!((archive.len(), archive.fingerprint()), (5, compiler.vocabulary().fingerprint()));
            for ((name, file), (_, schema)) in files.iter().zip(SCHEMAS) {
                assert!(archive.contains(name).unwrap());
                let found = archive.get(name).unwrap().unwrap();
                assert!(found.as_bytes() == file.as_bytes(), "{name}");
                assert_eq!((found.contents(), found.about()), (file.contents(), file.about()));
                let same = archive.of_grammar(&grammar(schema)).unwrap().unwrap();
                assert_eq!(same.grammar_hash(), file.grammar_hash());
                found.check().unwrap();
                assert!(compiler.load(found).unwrap().verify_masks().unwrap() > 0);
            }
            for name in ["", "a", "persons", "zebra", "Ärgern"] {
                assert!(archive.get(name).unwrap().is_none() && !archive.contains(name).unwrap(), "{name}");
            }
            assert!(archive.of_grammar(&grammar(r#"{"type": "null"}"#)).unwrap().is_none());
        }
    }
}

/// A token index is restored from a file and from an archive, and gives the same masks as a computed index.
#[test]
fn a_token_index_comes_back_and_makes_the_same_masks() {
    for compiler in [bytes_alone(), smollm2()] {
        let index = compiler.token_index().unwrap();
        assert!(index == compiler.detached().token_index().unwrap());
        let prepared = || Compiler::new(Arc::clone(compiler.vocabulary()));
        let read = prepared();
        read.prepare_from(&index).unwrap();
        assert!(read.token_index().unwrap() == index);
        let mut compared = 0;
        for (_, schema) in SCHEMAS {
            let [mut computed, mut from_file] =
                [&compiler, &read].map(|compiler| compiler.compile(&grammar(schema)).unwrap().matcher());
            for document in DOCUMENTS {
                for token in compiler.vocabulary().encode_greedy(document.as_bytes()).unwrap() {
                    assert_eq!(*computed.mask().unwrap(), *from_file.mask().unwrap());
                    compared += 1;
                    let taken = computed.try_accept(token).unwrap();
                    assert_eq!(from_file.try_accept(token).unwrap(), taken);
                    if !taken {
                        break;
                    }
                }
                computed.reset();
                from_file.reset();
            }
        }
        assert!(compared > 30, "{compared}");

        let mut files = files(&compiler, 20);
        let alone: Vec<Vec<u8>> = files.iter().map(|(_, file)| file.as_bytes().to_vec()).collect();
        assert_eq!(files[0].1.token_index(), None);
        files[0].1 = files[0].1.with_token_index(&index).unwrap();
        files[0].1.check().unwrap();
        assert!(files[0].1.token_index() == Some(&index));
        assert!(files[0].1.contents().sections.iter().any(|section| section.name == "token index"));
        assert!(files[0].1.with_token_index(&[]).unwrap().as_bytes() == alone[0]);
        assert!(compiler.load(MaskFile::from_bytes(files[0].1.as_bytes()).unwrap()).is_ok());
        let mut builder = ArchiveBuilder::new(compiler.vocabulary(), &Limits::default());
        builder.set_token_index(index.clone()).unwrap();
        files.iter().for_each(|(name, file)| builder.add(*name, file).unwrap());
        let bytes = builder.to_bytes();
        let (_folder, path) = on_disk(&bytes);
        for archive in each_way(&bytes, &path) {
            let archive = archive.unwrap();
            archive.check().unwrap();
            assert!(archive.token_index().unwrap().as_deref() == Some(&*index));
            // the archive has the index once, so an extracted file does not contain it
            let taken = archive.get(files[0].0).unwrap().unwrap();
            assert!(taken.as_bytes() == alone[0]);
        }
        assert!(MaskArchive::from_bytes(pack(&compiler, &files)).unwrap().token_index().unwrap().is_none());
    }
}

/// Bytes that are not a token index of the vocabulary are refused, and the index is then computed.
#[test]
fn what_is_no_token_index_is_refused() {
    let compiler = bytes_alone();
    let index = compiler.token_index().unwrap();
    let other = VocabularyBuilder::from_tokens(["a", "b"]).build().unwrap();
    let other = Compiler::new(Arc::new(other)).token_index().unwrap();
    let flipped = |at: usize| {
        let mut index = index.clone();
        index[at] ^= 1;
        index
    };
    let wrong = [&[][..], &index[1..], &index[..index.len() - 4], &flipped(0), &flipped(40), &other];
    for wrong in wrong {
        let fresh = bytes_alone();
        assert_eq!(fresh.prepare_from(wrong).unwrap_err().code(), "mask-file/token-index");
        assert!(fresh.token_index().unwrap() == index);
        // a compiler that is prepared already does not read the index
        fresh.prepare_from(wrong).unwrap();
    }
    let mut small = Limits::default();
    small.trie_bytes = 1000;
    let error = bytes_alone().limits(small).prepare_from(&index).unwrap_err();
    assert_eq!(error.limit().map(|kind| kind.name()), Some("trie_bytes"));
}

/// Masks and words that several files share are stored in an archive once.
#[test]
fn an_archive_is_smaller_than_its_files() {
    let compiler = smollm2();
    let files = files(&compiler, 400);
    let alone: usize = files.iter().map(|(_, file)| file.as_bytes().len()).sum();
    let together = pack(&compiler, &files).len();
    eprintln!("{alone} bytes alone, {together} together");
    assert!(together * 10 < alone * 9, "{together} of {alone} bytes");
    // a second file with the same content adds only its row and its name
    let mut builder = ArchiveBuilder::new(compiler.vocabulary(), &Limits::default());
    builder.add("a", &files[0].1).unwrap();
    let one = builder.to_bytes().len();
    builder.add("b", &files[0].1).unwrap();
    assert!(builder.to_bytes().len() < one + 1024);
}

#[test]
fn the_same_files_make_the_same_archive() {
    let compiler = bytes_alone();
    let files = files(&compiler, 80);
    let bytes = pack(&compiler, &files);
    assert!(bytes == pack(&compiler, &files));
    // the files that are extracted from an archive make the same archive again
    let archive = MaskArchive::from_bytes(&bytes[..]).unwrap();
    let again: Vec<(&str, MaskFile)> =
        files.iter().map(|(name, _)| (*name, archive.get(name).unwrap().unwrap())).collect();
    assert!(bytes == pack(&compiler, &again));
    let empty = pack(&compiler, []);
    let archive = MaskArchive::from_bytes(empty).unwrap();
    archive.check().unwrap();
    assert!(archive.is_empty() && archive.get("a").unwrap().is_none());
}

#[test]
fn what_does_not_go_together_is_refused() {
    let (compiler, other) = (bytes_alone(), smollm2());
    let files = files(&compiler, 20);
    let mut builder = ArchiveBuilder::new(other.vocabulary(), &Limits::default());
    assert_eq!(builder.add("a", &files[0].1).unwrap_err().code(), "mask-file/other-vocabulary");
    let mut builder = ArchiveBuilder::new(compiler.vocabulary(), &Limits::default());
    builder.add("a", &files[0].1).unwrap();
    assert_eq!(builder.add("a", &files[1].1).unwrap_err().code(), "mask-file/name-twice");
    assert_eq!(builder.file_count(), 1);
    let small = Limits::default().mask_archive_bytes(100);
    let mut builder = ArchiveBuilder::new(compiler.vocabulary(), &small);
    assert_eq!(builder.add("a", &files[0].1).unwrap_err().code(), "limit/exceeded");
    // an archive that can be built can be opened within the same limit
    let whole = pack(&compiler, &files[..1]);
    let fits = (whole.len()..).step_by(512).map(|bytes| Limits::default().mask_archive_bytes(bytes));
    let (limits, built) = fits
        .map(|limits| (limits.clone(), ArchiveBuilder::new(compiler.vocabulary(), &limits)))
        .find_map(|(limits, mut builder)| {
            builder.add(files[0].0, &files[0].1).ok().map(|()| (limits, builder))
        })
        .unwrap();
    let (_folder, path) = on_disk(&built.to_bytes());
    MaskArchive::open(&path, &limits).unwrap().check().unwrap();
    assert!(limits.mask_archive_bytes < whole.len() + files[0].1.as_bytes().len());
    let mut builder = built;
    let index = vec![0; limits.mask_archive_bytes];
    assert_eq!(builder.set_token_index(index).unwrap_err().code(), "limit/exceeded");
    assert!(builder.to_bytes().len() <= limits.mask_archive_bytes);
    // an archive is not a mask file, and a mask file is not an archive
    let bytes = pack(&compiler, &files);
    let error = MaskFile::from_bytes(&bytes[..]).unwrap_err();
    assert!(error.code() == "mask-file/no-mask-file" && error.to_string().contains("archive"), "{error}");
    let error = MaskArchive::from_bytes(files[0].1.as_bytes()).unwrap_err();
    assert!(error.code() == "mask-file/no-archive" && error.to_string().contains("single"), "{error}");
    let (_folder, path) = on_disk(&bytes);
    assert_eq!(MaskArchive::open(&path, &small).unwrap_err().code(), "limit/exceeded");
    // a file that is too large is not extracted
    let small = Limits::default().mask_file_bytes(1000);
    let error = MaskArchive::open(&path, &small).unwrap().get("person").unwrap_err();
    assert_eq!(error.code(), "limit/exceeded");
}

#[test]
fn every_part_of_an_archive_that_is_missing_or_changed_is_noticed() {
    let compiler = bytes_alone();
    let good = pack(&compiler, &files(&compiler, 12)[2..4]);
    let check = |bytes: Vec<u8>| MaskArchive::from_bytes(bytes).and_then(|archive| archive.check());
    check(good.clone()).unwrap();
    let (_folder, path) = on_disk(&good);
    for len in (0..good.len()).step_by(13).chain(0..200) {
        assert!(check(good[..len].to_vec()).is_err(), "{len}");
        std::fs::write(&path, &good[..len]).unwrap();
        assert!(MaskArchive::open(&path, &Limits::default()).is_err(), "{len}");
    }
    for at in 0..good.len() {
        let mut changed = good.clone();
        changed[at] ^= 1 << (at % 8);
        if at % 29 == 0 {
            std::fs::write(&path, &changed).unwrap();
            let opened = MaskArchive::open(&path, &Limits::default());
            assert!(opened.and_then(|archive| archive.check()).is_err(), "the byte {at}");
        }
        assert!(check(changed).is_err(), "the byte {at}");
    }
}

/// The contents of a damaged block of a mapped archive count as unexplored; reading the archive reports the damage.
#[test]
fn a_damaged_block_of_an_archive_changes_no_mask() {
    let compiler = smollm2();
    let files = files(&compiler, 300);
    let good = pack(&compiler, &files);
    let (_folder, path) = on_disk(&good);
    let (mut damaged, mut walked, mut refused) = (0, 0, 0);
    for at in (8192..good.len()).step_by(good.len() / 23) {
        let mut bytes = good.clone();
        bytes[at] ^= 0x40;
        std::fs::write(&path, &bytes).unwrap();
        for (way, archive) in each_way(&bytes, &path).into_iter().enumerate() {
            let Ok(archive) = archive else { continue };
            assert_eq!(archive.check().unwrap_err().code(), "mask-file/damaged");
            for ((name, good), document) in files.iter().zip(DOCUMENTS) {
                let file = match archive.get(name) {
                    Ok(file) => file.unwrap(),
                    Err(error) => {
                        assert_eq!(error.code(), "mask-file/damaged");
                        damaged += 1;
                        continue;
                    }
                };
                assert!(way != 1 || file.as_bytes() == good.as_bytes(), "what is read from disk is whole");
                let copy = file.with_token_index(&[]).map(|copy| copy.as_bytes() == good.as_bytes());
                match (file.check(), copy) {
                    (Ok(()), copy) => {
                        assert!(copy.unwrap(), "{name}: a copy of a file without damage differs")
                    }
                    (Err(error), copy) => {
                        assert_eq!(copy.map_err(|error| error.code()), Err(error.code()), "{name}");
                        refused += 1;
                    }
                }
                let Ok(loaded) = compiler.load(file) else { continue };
                let lazy = compiler.compile(loaded.grammar()).unwrap();
                let (mut file, mut lazy) = (loaded.matcher(), lazy.matcher());
                for token in compiler.vocabulary().encode_greedy(document.as_bytes()).unwrap() {
                    assert_eq!(file.mask().unwrap(), lazy.mask().unwrap(), "{document}");
                    file.accept_token(token).unwrap();
                    lazy.accept_token(token).unwrap();
                    walked += 1;
                }
            }
        }
    }
    assert!(
        damaged > 0 && refused > 0 && walked > 200,
        "{damaged} damaged, {refused} not copied, {walked} steps"
    );
}

/// Returns the offset of the rows in an archive, which are its first section.
fn first_row(archive: &[u8]) -> usize {
    u64::from_le_bytes(archive[128 + 8..128 + 16].try_into().unwrap()) as usize
}

/// Returns a copy of an archive with another number in the first row and with correct checksums.
fn forged(good: &[u8], field: usize, number: u64) -> MaskArchive {
    let rows = first_row(good);
    let mut bytes = good.to_vec();
    bytes[rows + field..rows + field + 8].copy_from_slice(&number.to_le_bytes());
    MaskArchive::from_bytes(resealed(bytes)).unwrap()
}

#[test]
fn rows_that_lie_are_refused() {
    let compiler = bytes_alone();
    let good = pack(&compiler, &files(&compiler, 30));
    for number in [u64::MAX, u64::MAX - 7, 1 << 40, good.len() as u64] {
        for field in (32..144).step_by(8) {
            let archive = forged(&good, field, number);
            let name = archive.names().next().unwrap();
            let found = name.and_then(|name| archive.get(&name));
            let code = found.and_then(|file| file.unwrap().check()).unwrap_err();
            assert!(["mask-file/impossible", "mask-file/damaged"].contains(&code.code()), "{field}: {code}");
            assert!(archive.check().is_err(), "{field}");
        }
    }
    // the row has another hash than its grammar
    let archive = forged(&good, 0, 0);
    let found = archive.of_grammar(&grammar(SCHEMAS[2].1));
    assert!(found.is_err() || found.unwrap().is_none());
}

#[test]
fn a_cache_with_an_archive_begins_with_its_files() {
    use grammata::serve::GrammarCache;
    let compiler = bytes_alone();
    let mut bytes = pack(&compiler, &files(&compiler, 60)[..2]);
    let cache = |bytes: &[u8]| {
        let archive = Arc::new(MaskArchive::from_bytes(bytes).unwrap());
        GrammarCache::new(bytes_alone(), 64 << 20).with_archive(archive).unwrap()
    };
    let is_explored = |cache: &GrammarCache, schema: &str| {
        let cached = cache.get(&Source::json_schema(schema)).unwrap();
        cached.compiled.matcher().is_explored()
    };
    let with_two = cache(&bytes);
    let found: Vec<bool> = SCHEMAS.iter().map(|(_, schema)| is_explored(&with_two, schema)).collect();
    assert_eq!(found, [true, true, false, false, false]);
    // entries that cannot be read count as absent
    let rows = first_row(&bytes);
    bytes[rows] ^= 1;
    let damaged = cache(&bytes);
    assert!(SCHEMAS.iter().all(|(_, schema)| !is_explored(&damaged, schema)));
    let archive = Arc::new(MaskArchive::from_bytes(bytes).unwrap());
    let other = GrammarCache::new(smollm2(), 64 << 20).with_archive(archive);
    assert_eq!(other.unwrap_err().code(), "mask-file/other-vocabulary");
}

/// Runs the body of the fuzz target on files with some changed words and correct checksums. `GRAMMATA_CASES` sets the
/// number of files; the default is 400.
#[test]
fn files_that_lie_do_no_harm() {
    let cases = std::env::var("GRAMMATA_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(400);
    let mut random = StdRng::seed_from_u64(28);
    let mut input = vec![0; 160];
    for case in 0..cases {
        random.fill_bytes(&mut input);
        input[0] = (case % 7) as u8;
        mask_file(&input);
    }
}
