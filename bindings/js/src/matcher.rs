//! Matchers: one sequence under a grammar.

use crate::border::{JsResult, Raise, from_json};
use crate::bytes;
use crate::errors;
use crate::events::event;
use crate::explanation::{distance, explanation};
use crate::mask;
use crate::numbers::{count, token, tokens};
use grammata::matcher::EventMatcher;
use js_sys::{Uint8Array, Uint32Array};
use serde_json::Value;
use wasm_bindgen::prelude::*;

/// One sequence under a grammar. Call `free()` when it is done; otherwise the garbage collector does, later.
#[wasm_bindgen]
pub struct Matcher {
    events: EventMatcher,
    /// The number of words of a mask.
    words: usize,
}

impl Matcher {
    pub(crate) fn new(mut events: EventMatcher) -> Matcher {
        let words = events.matcher().compiled().vocabulary().mask_words();
        Matcher { events, words }
    }

    fn inner(&mut self) -> &mut grammata::Matcher {
        self.events.matcher()
    }
}

#[wasm_bindgen]
impl Matcher {
    /// The mask of the tokens that may come next, as new words: token `i` is bit `i % 32` of word `i >>> 5`.
    pub fn mask(&mut self) -> JsResult<Uint32Array> {
        let count = self.words;
        mask::array(count, |words| self.inner().fill_mask(words)).raise()
    }

    /// Writes the mask into `words`, a Uint32Array of `vocabulary.maskWords`. Words beyond the mask become 0; if there
    /// is an error, all of them do.
    #[wasm_bindgen(js_name = fillMask)]
    pub fn fill_mask(
        &mut self,
        #[wasm_bindgen(unchecked_param_type = "Uint32Array")] words: &JsValue,
    ) -> JsResult<()> {
        let count = self.words;
        mask::fill(words, count, |words| self.inner().fill_mask(words))
    }

    /// Writes the mask of the tokens after which a complete text is known to be reachable within `budget` tokens, this
    /// one included; the end-of-sequence token does not count.
    #[wasm_bindgen(js_name = fillMaskWithin)]
    pub fn fill_mask_within(
        &mut self,
        budget: f64,
        #[wasm_bindgen(unchecked_param_type = "Uint32Array")] words: &JsValue,
    ) -> JsResult<()> {
        let budget = self::count("budget", Some(budget), 0).raise()?;
        let count = self.words;
        mask::fill(words, count, |words| self.inner().fill_mask_within(budget, words))
    }

    /// Throws an error of the kind `rejected`, with the smallest budget known to suffice, if no complete text is known
    /// within `budget` tokens.
    #[wasm_bindgen(js_name = checkBudget)]
    pub fn check_budget(&mut self, budget: f64) -> JsResult<()> {
        let budget = count("budget", Some(budget), 0).raise()?;
        self.inner().check_budget(budget).raise()
    }

    /// Whether a token may come next, without computing the mask.
    #[wasm_bindgen(js_name = isTokenAllowed)]
    pub fn is_token_allowed(&mut self, token: f64) -> JsResult<bool> {
        let token = self::token(token).raise()?;
        self.inner().is_token_allowed(token).raise()
    }

    /// Accepts a token. Throws an error of the kind `rejected` if the mask does not allow it; the matcher does not move.
    pub fn accept(&mut self, token: f64) -> JsResult<()> {
        let token = self::token(token).raise()?;
        self.events.accept_token(token).raise()
    }

    /// Accepts a token if the mask allows it, and returns whether it does.
    #[wasm_bindgen(js_name = tryAccept)]
    pub fn try_accept(&mut self, token: f64) -> JsResult<bool> {
        let token = self::token(token).raise()?;
        self.events.try_accept(token).raise()
    }

    /// Accepts the longest allowed prefix of a list of tokens, such as a draft, and returns its length.
    #[wasm_bindgen(js_name = acceptTokens)]
    pub fn accept_tokens(
        &mut self,
        #[wasm_bindgen(unchecked_param_type = "number[] | Uint32Array")] tokens: &JsValue,
    ) -> JsResult<usize> {
        let tokens = self::tokens(tokens).raise()?;
        self.events.accept_tokens(&tokens).raise()
    }

    /// Accepts bytes, or the UTF-8 of a text, as one step.
    #[wasm_bindgen(js_name = acceptBytes)]
    pub fn accept_bytes(
        &mut self,
        #[wasm_bindgen(unchecked_param_type = "string | Uint8Array")] text: &JsValue,
    ) -> JsResult<()> {
        let bytes = bytes::text(text).raise()?;
        self.events.accept_bytes(&bytes).raise()
    }

    /// Accepts bytes, or the UTF-8 of a text, if some completion begins with them, and returns whether one does.
    #[wasm_bindgen(js_name = tryAcceptBytes)]
    pub fn try_accept_bytes(
        &mut self,
        #[wasm_bindgen(unchecked_param_type = "string | Uint8Array")] text: &JsValue,
    ) -> JsResult<bool> {
        let bytes = bytes::text(text).raise()?;
        self.events.try_accept_bytes(&bytes).raise()
    }

    /// Undoes the last `steps` steps (1).
    pub fn rollback(&mut self, steps: Option<f64>) -> JsResult<()> {
        let steps = count("steps", steps, 1).raise()?;
        self.events.rollback(steps).raise()
    }

    /// Returns to the beginning of the text.
    pub fn reset(&mut self) {
        self.events.reset();
    }

    /// An independent matcher at the same place. It shares the accepted prefix instead of copying it.
    pub fn fork(&self) -> Matcher {
        Matcher { events: self.events.fork(), words: self.words }
    }

    /// Whether the text so far may end here.
    #[wasm_bindgen(getter, js_name = isAccepting)]
    pub fn is_accepting(&mut self) -> bool {
        self.inner().is_accepting()
    }

    /// Whether the text has ended, or cannot be extended.
    #[wasm_bindgen(getter, js_name = isFinished)]
    pub fn is_finished(&mut self) -> bool {
        self.inner().is_finished()
    }

    /// The bytes accepted so far.
    #[wasm_bindgen(getter)]
    pub fn bytes(&mut self) -> Uint8Array {
        Uint8Array::from(&self.inner().bytes()[..])
    }

    /// The number of steps (tokens or texts) accepted so far, which can be rolled back.
    #[wasm_bindgen(getter)]
    pub fn steps(&mut self) -> usize {
        self.inner().steps()
    }

    /// The tokens that end the text.
    #[wasm_bindgen(getter, js_name = endTokens)]
    pub fn end_tokens(&mut self) -> Vec<u32> {
        self.inner().compiled().end_tokens().iter().map(|token| token.get()).collect()
    }

    /// The longest bytes that every completion begins with, at most 65,536.
    #[wasm_bindgen(js_name = forcedBytes)]
    pub fn forced_bytes(&mut self) -> JsResult<Uint8Array> {
        let bytes = self.inner().forced_bytes().raise()?;
        Ok(Uint8Array::from(&bytes[..]))
    }

    /// Tokens that leave the model no choice. They are not accepted.
    #[wasm_bindgen(js_name = forcedTokens)]
    pub fn forced_tokens(&mut self) -> JsResult<Vec<u32>> {
        let tokens = self.inner().forced_tokens().raise()?;
        Ok(tokens.into_iter().map(|token| token.get()).collect())
    }

    /// The bytes that may come next, in ascending order.
    #[wasm_bindgen(js_name = allowedBytes)]
    pub fn allowed_bytes(&mut self) -> JsResult<Uint8Array> {
        let allowed: Vec<u8> = self.inner().allowed_bytes().raise()?.iter().collect();
        Ok(Uint8Array::from(&allowed[..]))
    }

    /// Explains how the grammar reads a text after the bytes accepted so far. The matcher does not move.
    #[wasm_bindgen(unchecked_return_type = "Explanation")]
    pub fn explain(
        &mut self,
        #[wasm_bindgen(unchecked_param_type = "string | Uint8Array")] text: &JsValue,
    ) -> JsResult<JsValue> {
        let bytes = bytes::text(text).raise()?;
        let found = self.inner().explain(&bytes).raise()?;
        Ok(from_json(&explanation(&found)))
    }

    /// Explains how the grammar reads a token; see `explain`.
    #[wasm_bindgen(js_name = explainToken, unchecked_return_type = "Explanation")]
    pub fn explain_token(&mut self, token: f64) -> JsResult<JsValue> {
        let token = self::token(token).raise()?;
        let found = self.inner().explain_token(token).raise()?;
        Ok(from_json(&explanation(&found)))
    }

    /// The smallest number of tokens that lead to a complete text, or an upper bound, as its kind says.
    #[wasm_bindgen(unchecked_return_type = "Distance")]
    pub fn distance(&mut self) -> JsResult<JsValue> {
        let found = self.inner().distance().raise()?;
        Ok(from_json(&distance(found)))
    }

    /// The beginnings and ends of JSON values, or of texts of rules, in the accepted steps that were not returned
    /// before. Only for a matcher made with the option `events`.
    #[wasm_bindgen(js_name = newEvents, unchecked_return_type = "MatcherEvent[]")]
    pub fn new_events(&mut self) -> JsResult<JsValue> {
        if !self.events.has_events() {
            return Err(errors::no_events()).raise();
        }
        let found = self.events.new_events().map(event).collect();
        Ok(from_json(&Value::Array(found)))
    }
}
