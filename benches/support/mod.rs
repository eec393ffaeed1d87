//! The shipped grammars, which are the inputs of benches.

use grammata::syntax::{Notation, Source};
use grammata::{CompiledGrammar, Error, Matcher, Result, TokenId, Vocabulary};
use std::path::{Path, PathBuf};

/// A grammar in a folder of `grammars/`.
pub(crate) struct Shipped {
    pub(crate) name: String,
    pub(crate) source: Source,
    /// The texts that the grammar accepts.
    pub(crate) examples: Vec<Vec<u8>>,
}

/// Folders without grammars of texts: presets of calls, domains of flows, procedures, and a spec with outcomes.
const OTHERS: [&str; 4] = ["calls", "flows", "procedures", "customer-service"];

/// Reads all grammars of a folder, sorted by name.
pub(crate) fn shipped(grammars: &Path) -> Result<Vec<Shipped>> {
    let is_grammar = |path: &PathBuf| path.is_dir() && !OTHERS.iter().any(|other| path.ends_with(other));
    let folders = files(grammars)?.into_iter().filter(is_grammar);
    let shipped = folders.map(|folder| {
        let examples = files(&folder.join("accept"))?.into_iter();
        let read = |path: PathBuf| std::fs::read(&path).map_err(|e| Error::io(&path, &e));
        Ok(Shipped {
            name: folder.file_name().unwrap_or_default().to_string_lossy().into_owned(),
            source: source(&folder)?,
            examples: examples.map(read).collect::<Result<_>>()?,
        })
    });
    shipped.collect()
}

fn source(folder: &Path) -> Result<Source> {
    let files = Notation::ALL
        .iter()
        .flat_map(|&notation| notation.folder_files().iter().map(move |file| (notation, file)));
    let mut found =
        files.map(|(notation, file)| (notation, folder.join(file))).filter(|(_, path)| path.is_file());
    // if there is none, the error is that of reading the folder
    let (notation, path) = found.next().unwrap_or((Notation::Spec, folder.to_path_buf()));
    let text = std::fs::read_to_string(&path).map_err(|e| Error::io(&path, &e))?;
    Ok(Source::new(notation, notation.in_file(&text)))
}

fn files(folder: &Path) -> Result<Vec<PathBuf>> {
    let entries = std::fs::read_dir(folder).map_err(|e| Error::io(folder, &e))?;
    let mut paths: Vec<PathBuf> = entries.filter_map(|entry| entry.ok().map(|entry| entry.path())).collect();
    paths.sort();
    Ok(paths)
}

/// Walks along a text in its longest tokens. `mask` must fill the words with the mask before each token. Panics if a
/// token is not allowed, or the text is not accepted.
pub(crate) fn walk(
    compiled: &CompiledGrammar,
    text: &[u8],
    words: &mut [u32],
    mut mask: impl FnMut(&mut Matcher, &mut [u32]) -> Result<()>,
) -> Result<()> {
    let mut matcher = compiled.matcher();
    for token in tokens(compiled.vocabulary(), text) {
        mask(&mut matcher, words)?;
        assert!(words[token.index() / 32] >> (token.get() % 32) & 1 == 1, "{token} is forbidden in {text:?}");
        matcher.accept_token(token)?;
    }
    assert!(matcher.is_accepting(), "an example is not accepted");
    Ok(())
}

fn tokens(vocabulary: &Vocabulary, text: &[u8]) -> Vec<TokenId> {
    vocabulary.encode_greedy(text).expect("the tokenizer spells every example")
}
