//! One step of many sequences.

use crate::arguments::{Token, ids};
use crate::buffer::with_view;
use crate::errors::{self, Raise};
use crate::matcher::Matcher;
use crate::pool::pool;
use grammata::serve;
use pyo3::prelude::*;

/// Matchers of a batch that are not handed to other threads: to wake them takes longer than to fill a known mask.
const ALONE: usize = 4;

/// Results of a batch: an exception for each matcher that failed. None where it raises instead, and none failed.
type Results<'py> = Option<Vec<Option<Bound<'py, PyAny>>>>;

/// What a call does about matchers that fail.
#[derive(Clone, Copy, PartialEq, Eq)]
enum OnFailure {
    Raise,
    Return,
}

impl OnFailure {
    fn read(py: Python<'_>, given: &str) -> PyResult<OnFailure> {
        match given {
            "raise" => Ok(OnFailure::Raise),
            "return" => Ok(OnFailure::Return),
            _ => Err(errors::choice("errors", given, "raise, return")).raise(py),
        }
    }

    /// What the call returns or raises.
    fn results(self, py: Python<'_>, results: Vec<grammata::Result<()>>) -> PyResult<Results<'_>> {
        if self == OnFailure::Raise && results.iter().all(Result::is_ok) {
            return Ok(None);
        }
        let one =
            |result: grammata::Result<()>| result.err().map(|error| errors::value(py, &error)).transpose();
        let found = results.into_iter().map(one).collect::<PyResult<Vec<_>>>()?;
        match self {
            OnFailure::Return => Ok(Some(found)),
            OnFailure::Raise => Err(errors::batch(py, found)?),
        }
    }
}

/// The matchers of a batch, taken from their objects until this is dropped.
struct Taken<'a> {
    objects: &'a [PyRef<'a, Matcher>],
    matchers: Vec<grammata::Matcher>,
}

impl<'a> Taken<'a> {
    fn new(py: Python<'_>, objects: &'a [PyRef<'a, Matcher>]) -> PyResult<Taken<'a>> {
        let mut taken = Taken { objects, matchers: Vec::with_capacity(objects.len()) };
        for object in objects {
            match object.take() {
                Some(matcher) => taken.matchers.push(matcher),
                None => return Err(errors::exception(py, &errors::matcher_in_use())),
            }
        }
        Ok(taken)
    }
}

impl Drop for Taken<'_> {
    fn drop(&mut self) {
        for (object, matcher) in self.objects.iter().zip(self.matchers.drain(..)) {
            object.put_back(matcher);
        }
    }
}

/// Writes the mask of each matcher into a row of its own, on the package's threads: of an array of two dimensions, its rows; of
/// one dimension, equal parts.
///
/// A matcher that fails does not stop the others, and its row is all 0. The call then raises BatchError, which has the exception of each
/// such matcher. With `errors="return"` it returns a list instead: for each matcher None, or the exception with which it failed.
///
/// As many threads as there are processors, or as the environment variable RAYON_NUM_THREADS says, work; a batch of four is done by
/// the caller alone.
///
/// >>> import grammata
/// >>> grammar = grammata.Compiler(grammata.Vocabulary.from_tokens(["a", "b"])).compile_regex("a|b")
/// >>> masks = bytearray(8)
/// >>> grammata.fill_masks([grammar.matcher(), grammar.matcher()], masks)
/// >>> masks[0], masks[4]
/// (3, 3)
#[pyfunction]
#[pyo3(signature = (matchers, buffer, /, *, errors = "raise"))]
pub(crate) fn fill_masks<'py>(
    py: Python<'py>,
    matchers: Vec<PyRef<'py, Matcher>>,
    buffer: &Bound<'py, PyAny>,
    errors: &str,
) -> PyResult<Results<'py>> {
    let on_failure = OnFailure::read(py, errors)?;
    let mut taken = Taken::new(py, &matchers)?;
    let count = taken.matchers.len();
    let found = with_view(buffer, |view| {
        let shape = view.rows();
        let masks = &mut taken.matchers;
        let work = move |words: &mut [u32]| {
            let row = match shape {
                Some((rows, columns)) if rows >= count => columns,
                Some((rows, _)) => {
                    return Err(errors::rows(&format!("{rows} rows"), format!("at least {count}")));
                }
                None => words.len() / count.max(1),
            };
            if count <= ALONE {
                let rows = words.chunks_mut(row.max(1));
                let mut filled: Vec<_> =
                    masks.iter_mut().zip(rows).map(|(one, row)| one.fill_mask(row)).collect();
                // rows without a word
                filled.extend(masks.iter_mut().skip(filled.len()).map(|one| one.fill_mask(&mut [])));
                return Ok(filled);
            }
            Ok(pool()?.install(|| serve::fill_masks(masks, words, row)))
        };
        view.with_words(py, work).raise(py)
    })?;
    drop(taken);
    on_failure.results(py, found)
}

/// Accepts one token in each matcher, on the package's threads. A matcher that fails stays where it was and does not stop the others;
/// `errors` is that of `fill_masks`.
///
/// >>> import grammata
/// >>> grammar = grammata.Compiler(grammata.Vocabulary.from_tokens(["a", "b"])).compile_regex("ab")
/// >>> one, two = grammar.matcher(), grammar.matcher()
/// >>> [error and error.code for error in grammata.accept_tokens([one, two], [0, 1], errors="return")]
/// [None, 'matcher/rejected']
/// >>> one.steps, two.steps
/// (1, 0)
#[pyfunction]
#[pyo3(signature = (matchers, tokens, /, *, errors = "raise"))]
pub(crate) fn accept_tokens<'py>(
    py: Python<'py>,
    matchers: Vec<PyRef<'py, Matcher>>,
    tokens: Vec<Token>,
    errors: &str,
) -> PyResult<Results<'py>> {
    let on_failure = OnFailure::read(py, errors)?;
    if matchers.len() != tokens.len() {
        let found = format!("{} tokens", tokens.len());
        return Err(errors::rows(&found, format!("one for each of {} matchers", matchers.len()))).raise(py);
    }
    let tokens = ids(tokens);
    let mut taken = Taken::new(py, &matchers)?;
    let masks = &mut taken.matchers;
    let found = py.detach(|| {
        if tokens.len() <= ALONE {
            return Ok(masks.iter_mut().zip(&tokens).map(|(one, &token)| one.accept_token(token)).collect());
        }
        Ok(pool()?.install(|| serve::accept_tokens(masks, &tokens)))
    });
    drop(taken);
    on_failure.results(py, found.raise(py)?)
}
