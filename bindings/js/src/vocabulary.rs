//! Vocabularies: from the files of tokenizers, and from tokens.

use crate::border::{self, JsResult, Raise, fields};
use crate::bytes;
use crate::errors;
use crate::numbers::{token, tokens};
use crate::options::{FlagOrNames, Options};
use grammata::vocabulary::{AddedTokens, LoadOptions, VocabularyBuilder};
use grammata::{Result, TokenId};
use js_sys::{Array, Reflect, Uint8Array};
use serde_json::{Map, Value};
use std::sync::Arc;
use wasm_bindgen::prelude::*;

/// The tokens of one tokenizer, as one model uses them. Make one for each model.
#[wasm_bindgen]
pub struct Vocabulary {
    pub(crate) vocabulary: Arc<grammata::Vocabulary>,
}

fn ids(ids: Vec<u32>) -> Vec<TokenId> {
    ids.into_iter().map(TokenId::new).collect()
}

fn load_options(argument: &JsValue) -> Result<LoadOptions> {
    let mut options = Options::of(argument)?;
    let specials = options.named_ids("specials")?.into_iter();
    let added = match options.flag_or_names("addedSpecial")? {
        None | Some(FlagOrNames::Flag(false)) => AddedTokens::Flagged,
        Some(FlagOrNames::Flag(true)) => AddedTokens::Special,
        Some(FlagOrNames::Names(names)) => AddedTokens::Named(names),
    };
    let loading = LoadOptions::default()
        .eos(ids(options.ids("eos")?.unwrap_or_default()))
        .specials(specials.map(|(name, id)| (name, TokenId::new(id))).collect())
        .added(added)
        .width(options.count("width")?.map(|width| width as usize))
        .limits(options.limits()?);
    options.finish()?;
    Ok(loading)
}

/// The content of a tokenizer file: text, bytes, or an object that was parsed from JSON.
fn content(value: &JsValue) -> Result<Vec<u8>> {
    if let Some(content) = bytes::bytes_of(value) {
        return Ok(content);
    }
    if !value.is_object() {
        return Err(errors::bytes(&bytes::kind(value)));
    }
    Ok(border::to_json("the tokenizer", value)?.unwrap_or_default().into_bytes())
}

fn of_tokens(list: &JsValue, argument: &JsValue) -> Result<grammata::Vocabulary> {
    let mut options = Options::of(argument)?;
    let mut builder = VocabularyBuilder::new(&options.limits()?);
    let Some(list) = list.dyn_ref::<Array>() else {
        return Err(errors::token_list(&bytes::kind(list)));
    };
    for index in 0..list.length() {
        let token = Reflect::get_u32(list, index).unwrap_or(JsValue::UNDEFINED);
        match bytes::bytes_of(&token) {
            Some(bytes) => builder.push(&bytes),
            None if token.is_null() => builder.push(b""),
            None => {
                let found = format!("{} at index {index}", bytes::kind(&token));
                return Err(errors::token_list(&found));
            }
        }
    }
    for (name, id) in options.named_ids("specials")? {
        builder = builder.special(TokenId::new(id), name);
    }
    builder = builder.eos(ids(options.ids("eos")?.unwrap_or_default()));
    if let Some(width) = options.count("width")? {
        builder = builder.width(width as usize);
    }
    options.finish()?;
    builder.build()
}

#[wasm_bindgen]
impl Vocabulary {
    /// Reads the content of a tokenizer file: a Hugging Face `tokenizer.json` (text, bytes, or the parsed object),
    /// Mistral's `tekken.json`, a SentencePiece `.model`, a tiktoken rank file, or a JSON array of tokens.
    #[wasm_bindgen(js_name = fromFile)]
    pub fn from_file(
        #[wasm_bindgen(unchecked_param_type = "string | Uint8Array | ArrayBuffer | object")]
        content: &JsValue,
        #[wasm_bindgen(unchecked_optional_param_type = "TokenizerOptions")] options: &JsValue,
    ) -> JsResult<Vocabulary> {
        let options = load_options(options).raise()?;
        let content = self::content(content).raise()?;
        let vocabulary = grammata::Vocabulary::from_file_bytes(&content, &options).raise()?;
        Ok(Vocabulary { vocabulary: Arc::new(vocabulary) })
    }

    /// A vocabulary of these tokens, with ids from 0. `null` and an empty token are ids without bytes.
    #[wasm_bindgen(js_name = fromTokens)]
    pub fn from_tokens(
        #[wasm_bindgen(unchecked_param_type = "(string | Uint8Array | null)[]")] tokens: &JsValue,
        #[wasm_bindgen(unchecked_optional_param_type = "TokenOptions")] options: &JsValue,
    ) -> JsResult<Vocabulary> {
        Ok(Vocabulary { vocabulary: Arc::new(of_tokens(tokens, options).raise()?) })
    }

    /// The number of ids, used or not.
    #[wasm_bindgen(getter)]
    pub fn size(&self) -> usize {
        self.vocabulary.len()
    }

    /// The length of the model's logits; a mask has one bit for each.
    #[wasm_bindgen(getter)]
    pub fn width(&self) -> usize {
        self.vocabulary.width()
    }

    /// The number of 32-bit words of a mask.
    #[wasm_bindgen(getter, js_name = maskWords)]
    pub fn mask_words(&self) -> usize {
        self.vocabulary.mask_words()
    }

    /// The ids that end a sequence, in ascending order.
    #[wasm_bindgen(getter)]
    pub fn eos(&self) -> Vec<u32> {
        self.vocabulary.eos().iter().map(|id| id.get()).collect()
    }

    /// The special tokens: ids by name.
    #[wasm_bindgen(getter, unchecked_return_type = "Record<string, number>")]
    pub fn specials(&self) -> JsValue {
        let specials: Map<String, Value> =
            self.vocabulary.specials().map(|(id, name)| (name.to_owned(), id.get().into())).collect();
        border::from_json(&Value::Object(specials))
    }

    /// SHA-256 over everything that a mask depends on.
    #[wasm_bindgen(getter)]
    pub fn fingerprint(&self) -> Uint8Array {
        Uint8Array::from(&self.vocabulary.fingerprint()[..])
    }

    /// The bytes of an ordinary token; `undefined` for special tokens and unused ids.
    pub fn bytes(&self, token: f64) -> JsResult<Option<Uint8Array>> {
        let token = self::token(token).raise()?;
        Ok(self.vocabulary.bytes(token).map(Uint8Array::from))
    }

    /// The name of a special token; `undefined` for every other id.
    pub fn special(&self, token: f64) -> JsResult<Option<String>> {
        let token = self::token(token).raise()?;
        Ok(self.vocabulary.special(token).map(str::to_owned))
    }

    /// The id of the special token of this name; `undefined` if there is none.
    #[wasm_bindgen(js_name = specialId)]
    pub fn special_id(&self, name: &str) -> Option<u32> {
        self.vocabulary.special_id(name).map(TokenId::get)
    }

    /// Splits a text into tokens, taking the longest token at each place; `undefined` if no token fits somewhere. This
    /// is not the tokenizer's own encoding, but the tokens' bytes are those of the text.
    #[wasm_bindgen(js_name = encodeGreedy)]
    pub fn encode_greedy(
        &self,
        #[wasm_bindgen(unchecked_param_type = "string | Uint8Array")] text: &JsValue,
    ) -> JsResult<Option<Vec<u32>>> {
        let tokens = self.vocabulary.encode_greedy(&bytes::text(text).raise()?);
        Ok(tokens.map(|tokens| tokens.into_iter().map(TokenId::get).collect()))
    }

    /// The concatenated bytes of tokens; special tokens have none.
    pub fn decode(
        &self,
        #[wasm_bindgen(unchecked_param_type = "number[] | Uint32Array")] tokens: &JsValue,
    ) -> JsResult<Uint8Array> {
        let tokens = self::tokens(tokens).raise()?.into_iter();
        let bytes: Vec<u8> =
            tokens.flat_map(|id| self.vocabulary.bytes(id).unwrap_or_default()).copied().collect();
        Ok(Uint8Array::from(&bytes[..]))
    }

    /// Memory held, in bytes.
    #[wasm_bindgen(js_name = memoryUsage)]
    pub fn memory_usage(&self) -> usize {
        self.vocabulary.memory_usage()
    }

    /// What `JSON.stringify` and the console show.
    #[wasm_bindgen(js_name = toJSON, unchecked_return_type = "{ size: number, width: number }")]
    pub fn to_json(&self) -> JsValue {
        border::from_json(&fields([
            ("size", self.vocabulary.len().into()),
            ("width", self.vocabulary.width().into()),
        ]))
    }
}
