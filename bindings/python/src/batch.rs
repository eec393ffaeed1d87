//! One step of many sequences.

use crate::arguments::{DraftToken, Token, draft_ids, ids};
use crate::buffer::with_view;
use crate::errors::{self, BORDER, Raise};
use crate::matcher::Matcher;
use crate::pool::pool;
use grammata::TokenId;
use grammata::forking::Running;
use grammata::matcher::EventMatcher;
use grammata::serve::{self, RowRequest};
use grammata_python_border::forking::detach;
use grammata_python_border::{choice, forking};
use pyo3::prelude::*;

/// Largest batch that the calling thread does alone: waking other threads takes longer than filling a known mask.
const ALONE: usize = 4;

/// The exceptions of a batch, one entry per matcher. `None` if the call raises on failure and no matcher failed.
type Results<'py> = Option<Vec<Option<Bound<'py, PyAny>>>>;

/// What a call does if a matcher fails.
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
            _ => Err(choice("errors", given, "raise, return")).raise(py),
        }
    }

    /// Returns the list of exceptions, or raises BatchError, as this value says.
    fn results(self, py: Python<'_>, results: Vec<grammata::Result<()>>) -> PyResult<Results<'_>> {
        if self == OnFailure::Raise && results.iter().all(Result::is_ok) {
            return Ok(None);
        }
        let one =
            |result: grammata::Result<()>| result.err().map(|error| BORDER.value(py, &error)).transpose();
        let found = results.into_iter().map(one).collect::<PyResult<Vec<_>>>()?;
        match self {
            OnFailure::Return => Ok(Some(found)),
            OnFailure::Raise => Err(errors::batch(py, found)?),
        }
    }
}

/// The matchers of a batch, taken out of their Python objects and put back on drop.
struct Taken<'a> {
    objects: &'a [PyRef<'a, Matcher>],
    matchers: Vec<EventMatcher>,
    /// No other thread forks the process while matchers are taken: its child could not put them back.
    _running: Running,
}

impl<'a> Taken<'a> {
    fn new(py: Python<'_>, objects: &'a [PyRef<'a, Matcher>]) -> PyResult<Taken<'a>> {
        let matchers = Vec::with_capacity(objects.len());
        let mut taken = Taken { objects, matchers, _running: forking::begin(py) };
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

/// Writes the mask of each matcher into its own row, on the package's threads. In a two-dimensional array these are the
/// array's rows; in a one-dimensional array, equal parts.
///
/// Each of these lists has an entry per matcher. `rows`: the row of its mask, if that differs from its place in the
/// batch; other rows stay unchanged. `budgets`: how many tokens are still to come, or None; the mask is then that of
/// `mask_within`. `drafts`: the tokens proposed by speculative decoding. Each needs one more row, as in
/// `Matcher.fill_draft_masks`; without `rows`, each matcher's rows follow those of the previous matcher.
///
/// A matcher that fails does not stop the others, and its rows are set to 0. The call then raises BatchError, which has
/// the exception of each failed matcher. With `errors="return"` it returns a list instead: for each matcher None, or
/// the exception with which it failed.
///
/// The number of threads is that of the processors, or the environment variable RAYON_NUM_THREADS. The calling thread
/// does batches of up to four matchers alone.
///
/// >>> import grammata
/// >>> grammar = grammata.Compiler(grammata.Vocabulary.from_tokens(["a", "b"])).compile_regex("a|b")
/// >>> masks = bytearray(8)
/// >>> grammata.fill_masks([grammar.matcher(), grammar.matcher()], masks)
/// >>> masks[0], masks[4]
/// (3, 3)
#[pyfunction]
#[pyo3(signature = (matchers, buffer, /, *, rows = None, budgets = None, drafts = None, errors = "raise"))]
#[allow(clippy::too_many_arguments)] // each is a keyword in Python
pub(crate) fn fill_masks<'py>(
    py: Python<'py>,
    matchers: Vec<PyRef<'py, Matcher>>,
    buffer: &Bound<'py, PyAny>,
    rows: Option<Vec<usize>>,
    budgets: Option<Vec<Option<usize>>>,
    drafts: Option<Vec<Vec<DraftToken>>>,
    errors: &str,
) -> PyResult<Results<'py>> {
    let on_failure = OnFailure::read(py, errors)?;
    let drafts: Option<Vec<_>> = drafts.map(|drafts| drafts.into_iter().map(draft_ids).collect());
    let requests = requests(matchers.len(), rows, budgets, drafts.as_deref()).raise(py)?;
    let mut taken = Taken::new(py, &matchers)?;
    let found = with_view(buffer, |view| {
        let needed =
            requests.iter().map(|request| request.first.saturating_add(request.draft.len() + 1)).max();
        let needed = needed.unwrap_or(0);
        let shape = view.rows();
        let (masks, requests) = (&mut taken.matchers, &requests);
        let work = move |words: &mut [u32]| {
            let row = match shape {
                Some((rows, columns)) if rows >= needed => columns,
                Some((rows, _)) => {
                    return Err(errors::rows(&format!("{rows} rows"), format!("at least {needed}")));
                }
                None => words.len() / needed.max(1),
            };
            if masks.len() <= ALONE {
                return Ok(serve::fill_rows(masks, requests, words, row));
            }
            Ok(pool()?.install(|| serve::fill_rows(masks, requests, words, row)))
        };
        view.with_words(py, work).raise(py)
    })?;
    drop(taken);
    on_failure.results(py, found.into_iter().map(|result| result.map(|_| ())).collect())
}

/// The row request of each matcher of a batch. Without `rows`, rows are assigned one after the other.
///
/// # Errors
/// `python/rows` if a list does not have one entry per matcher.
fn requests(
    count: usize,
    rows: Option<Vec<usize>>,
    budgets: Option<Vec<Option<usize>>>,
    drafts: Option<&[Vec<TokenId>]>,
) -> grammata::Result<Vec<RowRequest<'_>>> {
    let lengths = [
        ("rows", rows.as_ref().map(Vec::len)),
        ("budgets", budgets.as_ref().map(Vec::len)),
        ("drafts", drafts.map(<[_]>::len)),
    ];
    for (name, found) in lengths {
        if let Some(found) = found.filter(|&found| found != count) {
            return Err(errors::lengths(name, found, count));
        }
    }
    let mut next = 0;
    let request = |place: usize| {
        let draft = drafts.map_or(&[][..], |drafts| &drafts[place][..]);
        let first = rows.as_ref().map_or(next, |rows| rows[place]);
        next += draft.len() + 1;
        RowRequest { first, draft, budget: budgets.as_ref().and_then(|budgets| budgets[place]) }
    };
    Ok((0..count).map(request).collect())
}

/// Accepts one token in each matcher, on the package's threads. A matcher that fails keeps its state and does not stop
/// the others; `errors` means the same as in `fill_masks`.
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
    let found = detach(py, || {
        if tokens.len() <= ALONE {
            return Ok(masks.iter_mut().zip(&tokens).map(|(one, &token)| one.accept_token(token)).collect());
        }
        Ok(pool()?.install(|| serve::accept_tokens(masks, &tokens)))
    });
    drop(taken);
    on_failure.results(py, found.raise(py)?)
}
