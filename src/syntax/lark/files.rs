//! The files that a grammar imports, given by the caller, and the text of a grammar with all of them.

use super::parser;
use super::tree::{Body, Import, Item, Library, Parsed};
use crate::diagnostic::{Diagnostic, Notation, Place, Source};
use crate::error::{Error, ErrorKind, Errors, Result};
use crate::limits::{LimitKind, Limits};
use rustc_hash::FxHashMap;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// Maximum number of files that a grammar may import, directly or not.
const MAX_FILES: usize = 1_000;

/// The name of the library of terminals that is always known.
const COMMON: &str = "common";

type Loader = Arc<dyn Fn(&str) -> Result<String, String> + Send + Sync>;

/// Grammars that `%import` may name. By default there are none. No file is ever opened: a grammar that is not here is
/// the error `lark/unknown-import`.
///
/// The name of `%import numbers.hex` and of `%import .numbers.hex` is `numbers.lark`; that of `%import a.b.c` is
/// `a/b.lark`. With a dot in front, the name is relative to the folder of the file that imports it.
///
/// ```
/// use grammata::syntax::lark::{Files, Options, compile};
///
/// let mut files = Files::default();
/// files.insert("numbers.lark", "hex: \"0x\" DIGIT+\nDIGIT: /[0-9a-f]/\n");
/// let source = "%import .numbers.hex\nstart: hex (\",\" hex)*\n";
/// let grammar = compile(source, &Options::default().files(files))?.grammar;
/// assert_eq!(grammar.rules().len(), 3);
/// # Ok::<(), grammata::Error>(())
/// ```
#[derive(Clone, Default)]
pub struct Files {
    known: BTreeMap<String, String>,
    loader: Option<Loader>,
}

impl Files {
    /// Adds the text of a grammar and returns the previous one of this name, such as `folder/name.lark`.
    pub fn insert(&mut self, name: impl Into<String>, text: impl Into<String>) -> Option<String> {
        self.known.insert(name.into(), text.into())
    }

    /// Sets the function that returns the texts of all other names, or the reason why there is none. In one compilation
    /// it is called at most once for each name, and for at most 1,000 names. Names consist of letters, digits, `_`, `-`
    /// and `/`, and end in `.lark`; they never contain `..`.
    pub fn set_loader(&mut self, loader: impl Fn(&str) -> Result<String, String> + Send + Sync + 'static) {
        self.loader = Some(Arc::new(loader));
    }

    fn get(&self, name: &str) -> Result<Cow<'_, str>, String> {
        match (self.known.get(name), &self.loader) {
            (Some(known), _) => Ok(Cow::Borrowed(known)),
            (None, Some(loader)) => loader(name).map(Cow::Owned),
            (None, None) => Err("the file was not given".to_owned()),
        }
    }
}

impl fmt::Debug for Files {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let has_loader = self.loader.is_some();
        f.debug_struct("Files").field("known", &self.known.keys()).field("has_loader", &has_loader).finish()
    }
}

/// Two values are equal if their texts are equal and they share the same loader.
impl PartialEq for Files {
    fn eq(&self, other: &Files) -> bool {
        let same = match (&self.loader, &other.loader) {
            (None, None) => true,
            (Some(one), Some(other)) => Arc::ptr_eq(one, other),
            _ => false,
        };
        same && self.known == other.known
    }
}

impl Eq for Files {}

impl Hash for Files {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.known.hash(state);
    }
}

/// A grammar and the files that it imports, directly or not, as one text: so each place in them is one offset.
pub(super) struct Texts<'s> {
    pub(super) text: Cow<'s, str>,
    /// The grammar itself is first.
    files: Vec<File>,
    /// By name: the index of the file, or why there is none.
    known: FxHashMap<String, Result<usize, String>>,
}

/// A file in a text: its name, its offset, its end, and the number of lines before it.
struct File {
    name: String,
    start: usize,
    end: usize,
    line: usize,
}

impl Library<'_> {
    /// Whether this is the library of terminals that is always known.
    pub(super) fn is_common(&self) -> bool {
        !self.is_relative && self.path == [COMMON]
    }

    /// The name of the library's file, if the file `importing` imports it.
    fn file_name(&self, importing: &str) -> String {
        let folder = match importing.rsplit_once('/') {
            Some((folder, _)) if self.is_relative => format!("{folder}/"),
            _ => String::new(),
        };
        format!("{folder}{}.lark", self.path.join("/"))
    }
}

impl<'s> Texts<'s> {
    /// Finds all files that `source` imports.
    ///
    /// # Errors
    /// `limit/exceeded` if all texts together have more than `source_bytes` bytes; `lark/too-many-files`.
    pub(super) fn new(source: &'s str, files: &Files, limits: &Limits) -> Result<Texts<'s>> {
        let main = File { name: String::new(), start: 0, end: source.len(), line: 0 };
        let mut texts = Texts { text: Cow::Borrowed(source), files: vec![main], known: FxHashMap::default() };
        if !source.contains("%import") {
            return Ok(texts);
        }
        let mut at = 0;
        while let Some(file) = texts.files.get(at) {
            // errors are found again when the whole text is parsed
            let parsed = parser::parse(&texts.text[..file.end], file.start, &mut Errors::default());
            let names = libraries(&parsed).into_iter().map(|library| library.file_name(&file.name));
            let names: Vec<String> = names.collect();
            drop(parsed);
            for name in names {
                texts.add(name, files, limits)?;
            }
            at += 1;
        }
        Ok(texts)
    }

    fn add(&mut self, name: String, files: &Files, limits: &Limits) -> Result<()> {
        if self.known.contains_key(&name) {
            return Ok(());
        }
        if self.known.len() == MAX_FILES {
            let most = format!("at most {MAX_FILES}");
            let diagnostic = Diagnostic::new("lark/too-many-files", "the grammar imports too many files");
            let help = "put rules that belong together into one file";
            return Err(Error::new(
                ErrorKind::Grammar,
                diagnostic.at(Place::in_text("", 0)).allowed(most).help(help),
            ));
        }
        let text = match files.get(&name) {
            Ok(text) => text,
            Err(reason) => {
                self.known.insert(name, Err(reason));
                return Ok(());
            }
        };
        let bytes = self.text.len() + text.len() + 1;
        if bytes > limits.source_bytes {
            let found = format!("{bytes} bytes with the imported files");
            return Err(Limits::exceeded(LimitKind::SourceBytes, limits.source_bytes, found));
        }
        let last = self.files.last().map_or(0..0, |file| file.start..file.end);
        let lines = 1 + self.text[last].bytes().filter(|byte| *byte == b'\n').count();
        let line = self.files.last().map_or(0, |file| file.line) + lines;
        let whole = self.text.to_mut();
        whole.push('\n');
        let start = whole.len();
        whole.push_str(&text);
        self.known.insert(name.clone(), Ok(self.files.len()));
        self.files.push(File { name, start, end: whole.len(), line });
        Ok(())
    }

    /// Parses all files, the grammar itself first.
    pub(super) fn parse(&self, errors: &mut Errors) -> Vec<Parsed<'_>> {
        self.files.iter().map(|file| parser::parse(&self.text[..file.end], file.start, errors)).collect()
    }

    /// The offset of the end of the grammar itself.
    pub(super) fn end(&self) -> usize {
        self.files[0].end
    }

    /// The length of a file in bytes.
    pub(super) fn length(&self, file: usize) -> usize {
        self.files.get(file).map_or(0, |file| file.end - file.start)
    }

    /// The file of a library that `importing` imports, by its index, or its name and why there is none.
    pub(super) fn file(&self, library: &Library<'_>, importing: usize) -> Result<usize, (String, String)> {
        let importing = self.files.get(importing).map_or("", |file| &file.name);
        let name = library.file_name(importing);
        match self.known.get(&name) {
            Some(Ok(file)) => Ok(*file),
            Some(Err(reason)) => Err((name, reason.clone())),
            None => Err((name, "the file was not given".to_owned())),
        }
    }

    /// Moves the places of diagnostics from the whole text to the file of each, and adds the lines of the places.
    pub(super) fn locate(&self, diagnostics: &mut [Diagnostic]) {
        for diagnostic in &mut *diagnostics {
            self.locate_in_file(diagnostic);
        }
        self.source(0).locate(diagnostics);
    }

    /// The same for the diagnostics of an error.
    pub(super) fn locate_error(&self, error: Error) -> Error {
        let located = error.map(|mut diagnostic| {
            self.locate_in_file(&mut diagnostic);
            diagnostic
        });
        located.in_source(&self.source(0))
    }

    fn source(&self, file: usize) -> Source<'_> {
        let File { start, end, .. } = self.files[file];
        Source::new(&self.text[start..end], Notation::Text)
    }

    /// Locates a diagnostic in an imported file; leaves others unchanged.
    fn locate_in_file(&self, diagnostic: &mut Diagnostic) {
        let Place::LineColumn { line, column } = *diagnostic.place() else { return };
        let file = self.files.iter().rposition(|file| file.line < line).unwrap_or(0);
        if file == 0 || diagnostic.snippet().is_some() {
            return;
        }
        let File { name, line: before, .. } = &self.files[file];
        let place = Place::LineColumn { line: line - before, column };
        *diagnostic = diagnostic.clone().at(place).in_file(name);
        self.source(file).locate([diagnostic]);
    }
}

/// The libraries that a grammar and the grammars in it import, except for `common`.
fn libraries<'p, 's>(parsed: &'p Parsed<'s>) -> Vec<&'p Library<'s>> {
    let mut libraries = Vec::new();
    let mut open = vec![parsed];
    while let Some(parsed) = open.pop() {
        libraries.extend(
            parsed.imports.iter().map(|Import { from, .. }| from).filter(|library| !library.is_common()),
        );
        let bodies: Vec<&Body<'s>> =
            parsed.definitions.iter().map(|it| &it.body).chain(&parsed.ignored).collect();
        let mut items: Vec<&Item<'s>> =
            bodies.into_iter().flatten().flatten().map(|part| &part.item).collect();
        while let Some(item) = items.pop() {
            match item {
                Item::Lark(parsed) => open.push(parsed),
                Item::Not(item) => items.push(item),
                Item::Template(_, arguments) => items.extend(arguments),
                item => items.extend(item.body().into_iter().flatten().flatten().map(|part| &part.item)),
            }
        }
    }
    libraries
}
