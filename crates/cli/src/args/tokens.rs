//! Loads vocabularies: from a tokenizer file, or the built-in one of single bytes.

use crate::io::errors;
use crate::io::messages::Progress;
use crate::io::text::quoted;
use grammata::error::Result;
use grammata::limits::Limits;
use grammata::vocabulary::{AddedTokens, LoadOptions, TokenId, Vocabulary, VocabularyBuilder};
use grammata_decode::{ModelFolder, PromptTokenizer};
use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// A tokenizer, for commands that can do without.
#[derive(Debug, clap::Args)]
pub(crate) struct TokenizerArgs {
    /// A tokenizer.json, a tekken.json, a SentencePiece .model, tiktoken ranks, or a JSON list of tokens; without it, a
    /// vocabulary of the 256 bytes
    #[arg(long, value_name = "PATH", help_heading = "Tokenizer")]
    tokenizer: Option<PathBuf>,
    /// Instead of --tokenizer: a model's folder or its ONNX file, for the tokenizer.json next to it and the model's end
    /// tokens
    #[arg(long, value_name = "PATH", conflicts_with = "tokenizer", help_heading = "Tokenizer")]
    model: Option<PathBuf>,
    #[command(flatten)]
    settings: TokenizerSettings,
}

/// What a tokenizer file does not say.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct TokenizerSettings {
    /// A token that ends a text; may be repeated; by default those with well-known names
    #[arg(long, value_name = "ID", hide_short_help = true, help_heading = "Tokenizer")]
    eos: Vec<u32>,
    /// Names a special token that the file does not name; may be repeated
    #[arg(long, value_name = "NAME=ID", value_parser = name_and_id, hide_short_help = true, help_heading = "Tokenizer")]
    special: Vec<(String, u32)>,
    /// Treat added tokens of a tokenizer.json as special although the file does not flag them: all, or one by its name;
    /// may be repeated
    #[arg(long, value_name = "NAME", num_args = 0..=1, require_equals = true, default_missing_value = ALL_ADDED, hide_short_help = true, help_heading = "Tokenizer")]
    added_special: Vec<String>,
    /// The length of the model's logits, if it exceeds the number of tokens
    #[arg(long, value_name = "N", hide_short_help = true, help_heading = "Tokenizer")]
    width: Option<usize>,
}

/// The value of `--added-special` without a name: no token has an empty name.
const ALL_ADDED: &str = "";

fn name_and_id(argument: &str) -> std::result::Result<(String, u32), String> {
    let (name, id) = argument.rsplit_once('=').ok_or("it must be NAME=ID")?;
    let id = id.parse().map_err(|_| "the ID must be a number")?;
    Ok((name.to_owned(), id))
}

/// A vocabulary, its name and the time to load it.
#[derive(Debug)]
pub struct LoadedVocabulary {
    /// The vocabulary.
    pub vocabulary: Vocabulary,
    /// The path of the tokenizer file, or a description of the built-in vocabulary.
    pub name: String,
    /// Whether it is the built-in vocabulary of single bytes.
    pub is_built_in: bool,
    /// Time to load the vocabulary; zero for the built-in one.
    pub time: Duration,
}

impl TokenizerArgs {
    /// Returns the path of the tokenizer file: the given one, or `tokenizer.json` in the folder of the model. `None` if
    /// neither is given.
    pub(crate) fn path(&self) -> Option<Cow<'_, Path>> {
        let of_model = |folder: &Path| Cow::Owned(folder.join("tokenizer.json"));
        self.tokenizer.as_deref().map(Cow::Borrowed).or_else(|| self.model_folder().map(of_model))
    }

    /// Returns the folder of the model of `--model`: the named folder, or the folder of the named file.
    fn model_folder(&self) -> Option<&Path> {
        let path = self.model.as_deref()?;
        if path.is_file() { path.parent() } else { Some(path) }
    }

    /// Loads the vocabulary of `--model` or `--tokenizer`, or the built-in one if neither is given. Options of
    /// tokenizers are refused for the built-in one.
    pub(crate) fn load(&self, limits: &Limits) -> Result<LoadedVocabulary> {
        if let (Some(folder), Some(tokenizer)) = (self.model_folder(), self.path()) {
            // only the folder of the path is used; the model is not read
            let model = ModelFolder::of_files(folder.join("model.onnx"), tokenizer.into_owned(), limits)?;
            let tokenizer = PromptTokenizer::from_file(&model.tokenizer, limits)
                .map_err(|error| errors::suggest(error, &model.tokenizer))?;
            let turn = model.end_token.as_deref();
            return self.settings.load_of_model(
                &model.tokenizer,
                (&model.end_tokens, turn),
                &tokenizer,
                limits,
            );
        }
        if let Some(path) = &self.tokenizer {
            return self.settings.load(path, limits);
        }
        let settings = &self.settings;
        let options = [
            ("--eos", !settings.eos.is_empty()),
            ("--special", !settings.special.is_empty()),
            ("--added-special", !settings.added_special.is_empty()),
            ("--width", settings.width.is_some()),
        ];
        match options.into_iter().find(|option| option.1) {
            Some((option, _)) => Err(errors::needs_tokenizer(option)),
            None => bytes(),
        }
    }
}

impl TokenizerSettings {
    /// Loads a tokenizer file.
    pub(crate) fn load(&self, path: &Path, limits: &Limits) -> Result<LoadedVocabulary> {
        self.load_with(path, limits, &self.eos)
    }

    /// Loads the tokenizer file of a model, with the end-of-sequence ids of `--eos`, otherwise of the model, otherwise
    /// the well-known ones. `ends` are the ids in the model's folder, and the name of the token that ends a turn. That
    /// token is also an end if the ids of the folder are used, and only then.
    pub(crate) fn load_of_model(
        &self,
        path: &Path,
        ends: (&[u32], Option<&str>),
        tokenizer: &PromptTokenizer,
        limits: &Limits,
    ) -> Result<LoadedVocabulary> {
        let (ids, turn) = ends;
        if !self.eos.is_empty() || ids.is_empty() {
            return self.load(path, limits);
        }
        let turn = turn.and_then(|name| tokenizer.token_id(name));
        let eos: Vec<u32> = ids.iter().copied().chain(turn).collect();
        self.load_with(path, limits, &eos)
    }

    /// Returns which added tokens are special.
    fn added(&self) -> AddedTokens {
        match &self.added_special[..] {
            [] => AddedTokens::Flagged,
            names if names.iter().any(|name| name == ALL_ADDED) => AddedTokens::Special,
            names => AddedTokens::Named(names.to_vec()),
        }
    }

    /// Loads a tokenizer file, with the given end-of-sequence ids; if `eos` is empty, with the tokens that have
    /// well-known names.
    fn load_with(&self, path: &Path, limits: &Limits, eos: &[u32]) -> Result<LoadedVocabulary> {
        let options = LoadOptions::default()
            .eos(eos.iter().copied().map(TokenId::new).collect())
            .specials(self.special.iter().map(|(name, id)| (name.clone(), TokenId::new(*id))).collect())
            .added(self.added())
            .width(self.width)
            .limits(limits.clone());
        let progress = Progress::start("reading the tokenizer");
        let vocabulary =
            Vocabulary::from_file(path, &options).map_err(|error| errors::suggest(error, path))?;
        let name = path.display().to_string();
        Ok(LoadedVocabulary { vocabulary, name, is_built_in: false, time: progress.finish() })
    }
}

/// Returns the built-in vocabulary: the 256 bytes as tokens 0 to 255, and token 256, which ends a text.
pub(crate) fn bytes() -> Result<LoadedVocabulary> {
    let end = TokenId::new(256);
    let vocabulary = VocabularyBuilder::from_tokens((0..=255u8).map(|byte| [byte]))
        .special(end, "<end>")
        .eos([end])
        .build()?;
    let name = "built in: the 256 single bytes and an end token".to_owned();
    Ok(LoadedVocabulary { vocabulary, name, is_built_in: true, time: Duration::ZERO })
}

/// Formats a token for people: its bytes in quotes, the name of a special token, or `(not used)`.
pub(crate) fn show(vocabulary: &Vocabulary, id: TokenId) -> String {
    match (vocabulary.bytes(id), vocabulary.special(id)) {
        (Some(bytes), _) => quoted(bytes),
        (None, Some(name)) if vocabulary.is_eos(id) => format!("{name}  (end of sequence)"),
        (None, Some(name)) => format!("{name}  (special)"),
        (None, None) => "(not used)".to_owned(),
    }
}

/// Converts a token to JSON: its id with its bytes, with the name of a special token and whether it ends a text, or
/// with `unused`.
pub(crate) fn json(vocabulary: &Vocabulary, id: TokenId) -> serde_json::Value {
    let mut value = match (vocabulary.bytes(id), vocabulary.special(id)) {
        (Some(bytes), _) => crate::io::text::json_bytes(bytes),
        (None, Some(name)) => serde_json::json!({ "special": name, "eos": vocabulary.is_eos(id) }),
        (None, None) => serde_json::json!({ "unused": true }),
    };
    if let Some(object) = value.as_object_mut() {
        object.shift_insert(0, "id".to_owned(), id.get().into());
    }
    value
}
