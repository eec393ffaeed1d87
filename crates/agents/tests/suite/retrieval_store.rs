//! The file of a catalogue and its vectors: written files are read back; truncated, changed and forged files are
//! refused.

use grammata::{Error, Limits};
use grammata_agents::retrieval::store::{Built, Store};
use grammata_agents::retrieval::{Catalogue, Template};
use grammata_embeddings::{Embedder, Embeddings};
use proptest::prelude::*;
use sha2::{Digest, Sha256};
use std::path::Path;

/// An embedder that counts the texts that it embeds. Its vectors depend on the length and the first byte of a text.
struct Counting {
    texts: usize,
    salt: u8,
}

impl Embedder for Counting {
    fn dimension(&self) -> usize {
        3
    }

    fn max_tokens(&self) -> Option<usize> {
        None
    }

    fn fingerprint(&mut self) -> grammata::Result<[u8; 32]> {
        Ok([self.salt; 32])
    }

    fn embed(&mut self, texts: &[&str]) -> grammata::Result<Embeddings> {
        self.texts += texts.len();
        let row = |text: &&str| [text.len() as f32, f32::from(text.bytes().next().unwrap_or(0)), 1.0];
        Embeddings::from_rows(3, texts.iter().map(row))
    }
}

/// An embedder of another dimension.
struct Flat;

impl Embedder for Flat {
    fn dimension(&self) -> usize {
        2
    }

    fn max_tokens(&self) -> Option<usize> {
        None
    }

    fn fingerprint(&mut self) -> grammata::Result<[u8; 32]> {
        Ok([7; 32])
    }

    fn embed(&mut self, texts: &[&str]) -> grammata::Result<Embeddings> {
        Embeddings::from_rows(2, vec![[1.0, 0.0]; texts.len()])
    }
}

fn catalogue(descriptions: &[&str]) -> Catalogue {
    let line = |(id, text): (usize, &&str)| {
        serde_json::json!({ "id": id.to_string(), "name": "n", "description": text }).to_string()
    };
    let lines: Vec<String> = descriptions.iter().enumerate().map(line).collect();
    Catalogue::from_json_lines(&lines.join("\n"), &Limits::default()).unwrap()
}

fn build(descriptions: &[&str], previous: Option<&Store>, salt: u8) -> (Store, Built) {
    let mut embedder = Counting { texts: 0, salt };
    let (store, built) =
        Store::build(catalogue(descriptions), Template::Description, &mut embedder, previous).unwrap();
    assert_eq!(embedder.texts, built.embedded);
    (store, built)
}

#[test]
fn only_what_is_new_is_embedded() {
    let (first, built) = build(&["weather", "rain", "weather", "天气"], None, 1);
    assert_eq!((built.embedded, built.truncated, first.vectors().len()), (3, 0, 4));
    assert_eq!(first.vectors().row(0), first.vectors().row(2));
    let (again, built) = build(&["weather", "rain", "weather", "天气"], Some(&first), 1);
    assert_eq!((built.embedded, &again), (0, &first));
    let (changed, built) = build(&["snow", "天气", "rain"], Some(&first), 1);
    assert_eq!(built.embedded, 1);
    assert_eq!(changed, build(&["snow", "天气", "rain"], None, 1).0);
    // vectors of another embedder are not reused
    assert_eq!(build(&["weather", "rain"], Some(&first), 2).1.embedded, 2);
    let (same, built) = build(&vec!["the same"; 100_000], None, 1);
    assert_eq!((built.embedded, same.vectors().len()), (1, 100_000));
    let (empty, built) = build(&[], None, 1);
    assert_eq!((built.embedded, empty.vectors().len(), empty.catalogue().tools().len()), (0, 0, 0));
}

#[test]
fn what_is_written_is_read_back() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tools.index");
    for descriptions in [&["weather", "rain", "", "天气 🎸"][..], &[], &["one"]] {
        let (store, _) = build(descriptions, None, 7);
        store.write(&path).unwrap();
        let read = Store::read(&path, &Limits::default()).unwrap();
        assert_eq!(read, store);
        assert_eq!(read.template(), Template::Description);
        let of = |vectors| Store::of(store.catalogue().clone(), Template::Description, [7; 32], vectors);
        assert_eq!(of(store.vectors().clone()).unwrap(), store);
        let more = Embeddings::from_rows(3, vec![[1.0, 0.0, 0.0]; descriptions.len() + 1]).unwrap();
        assert_eq!(of(more).unwrap_err().code(), "retrieval/row-count");
        assert!(read.check_embedder(&mut Counting { texts: 0, salt: 7 }).is_ok());
        let error = read.check_embedder(&mut Counting { texts: 0, salt: 8 }).unwrap_err();
        assert_eq!(error.code(), "retrieval/other-embedder");
        assert_eq!(read.check_embedder(&mut Flat).unwrap_err().code(), "retrieval/dimension");
    }
    let names: Vec<_> =
        std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names, ["tools.index"], "nothing else is left behind");
    let missing = folder.path().join("no/such.index");
    assert_eq!(build(&["a"], None, 1).0.write(&missing).unwrap_err().code(), "io/file");
}

/// Returns the bytes of a small index file.
fn bytes() -> Vec<u8> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tools.index");
    build(&["weather", "rain"], None, 7).0.write(&path).unwrap();
    std::fs::read(path).unwrap()
}

fn read(bytes: &[u8]) -> Result<Store, Error> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tools.index");
    std::fs::write(&path, bytes).unwrap();
    let read = Store::read(&path, &Limits::default());
    if let Err(error) = &read {
        let name = path.display().to_string();
        assert_eq!(error.diagnostic().file(), Some(name.as_str()), "{error}");
        assert!(error.diagnostic().help_text().is_some(), "{error}");
    }
    read
}

/// Returns the content followed by its checksum, as a forger would write it.
fn forged(content: &[u8]) -> Vec<u8> {
    let mut bytes = content.to_vec();
    bytes.extend(Sha256::digest(content));
    bytes
}

#[test]
fn every_cut_and_every_changed_byte_is_noticed() {
    let bytes = bytes();
    for length in 0..bytes.len() {
        assert_eq!(read(&bytes[..length]).unwrap_err().code(), "retrieval/index-file", "{length}");
    }
    assert_eq!(read(&[&bytes[..], b"x"].concat()).unwrap_err().code(), "retrieval/index-file");
    for place in 0..bytes.len() {
        let mut changed = bytes.clone();
        changed[place] ^= 1 << (place % 8);
        assert_eq!(read(&changed).unwrap_err().code(), "retrieval/index-file", "{place}");
    }
}

#[test]
fn forged_files_are_refused_by_their_field() {
    let bytes = bytes();
    let content = &bytes[..bytes.len() - 32];
    let with = |place: usize, new: &[u8]| {
        let mut content = content.to_vec();
        content[place..place + new.len()].copy_from_slice(new);
        forged(&content)
    };
    let huge = (1_u64 << 60).to_le_bytes();
    let nan = f32::NAN.to_le_bytes();
    let table: [(&str, Vec<u8>, &str); 12] = [
        ("magic", with(0, b"GRAMTOOK"), "the first bytes"),
        ("version", with(8, &2_u32.to_le_bytes()), "the version"),
        ("template", with(12, &9_u32.to_le_bytes()), "the template"),
        ("no dimension", with(16, &0_u64.to_le_bytes()), "the dimension"),
        ("dimension", with(16, &huge), "the length"),
        ("rows", with(24, &huge), "the length"),
        ("catalogue", with(32, &u64::MAX.to_le_bytes()), "the length"),
        // the fields are swapped, so that the product is the same: 3 x 2 floats and 2 x 3 floats
        (
            "dimension and rows",
            with(16, &[&2_u64.to_le_bytes()[..], &3_u64.to_le_bytes()].concat()),
            "the rows",
        ),
        ("text", with(72, b"\xff"), "the catalogue"),
        ("lines", with(72, b"["), "the catalogue"),
        ("not a number", with(content.len() - 4, &nan), "unit length"),
        ("length of a vector", with(content.len() - 4, &9.0_f32.to_le_bytes()), "unit length"),
    ];
    for (name, bytes, part) in table {
        let error = read(&bytes).unwrap_err();
        assert!(error.to_string().contains(part), "{name}: {error}");
    }
    assert!(read(&forged(content)).is_ok(), "the table changes what would be accepted");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn no_forged_header_is_a_danger(
        dimension in any::<u64>(), rows in any::<u64>(), catalogue in any::<u64>(),
        small in any::<[bool; 3]>(), rest in prop::collection::vec(any::<u8>(), 0..200),
    ) {
        let number = |is_small: bool, number: u64| if is_small { number % 50 } else { number };
        let mut content = b"GRAMTOOL\x01\0\0\0\0\0\0\0".to_vec();
        content.extend(number(small[0], dimension).to_le_bytes());
        content.extend(number(small[1], rows).to_le_bytes());
        content.extend(number(small[2], catalogue).to_le_bytes());
        content.extend([0; 32]);
        content.extend(rest);
        prop_assert!(read(&forged(&content)).is_err() || small.iter().any(|&is_small| is_small));
    }
}

#[test]
fn what_is_no_file_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tools.index");
    let read = |path: &Path| Store::read(path, &Limits::default()).unwrap_err().code();
    assert_eq!(read(&path), "io/file");
    assert_eq!(read(folder.path()), "io/no-file");
    #[cfg(unix)]
    {
        build(&["weather"], None, 7).0.write(&path).unwrap();
        let link = folder.path().join("link.index");
        std::os::unix::fs::symlink(&path, &link).unwrap();
        assert_eq!(read(&link), "retrieval/index-file");
    }
    let limits = Limits::default().catalogue_bytes(10).catalogue_tools(0);
    assert_eq!(Store::read(&path, &limits).unwrap_err().code(), "limit/exceeded");
}

/// While files are replaced, a reader sees the old file or the new one, and never a mixture.
#[test]
fn a_reader_sees_the_old_file_or_the_new_one() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tools.index");
    let stores = [build(&["weather", "rain"], None, 7).0, build(&["snow"], None, 7).0];
    stores[0].write(&path).unwrap();
    std::thread::scope(|scope| {
        let writers =
            stores.each_ref().map(|store| scope.spawn(|| (0..40).for_each(|_| store.write(&path).unwrap())));
        let mut reads = 0;
        while reads < 20 || writers.iter().any(|writer| !writer.is_finished()) {
            let read = Store::read(&path, &Limits::default()).unwrap();
            assert!(stores.contains(&read));
            reads += 1;
        }
    });
}
