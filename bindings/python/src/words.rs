//! The words of a compiled grammar.

use crate::errors::BORDER;
use grammata::CompiledGrammar;
use grammata::automaton::Automaton;
use grammata::automaton::samples::{Distribution, samples};
use grammata::automaton::words::{self, Count, Letter};
use grammata_python_border::forking::detach;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyTuple};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

type Words = Vec<Vec<Letter>>;

/// The automaton over bytes. That of the compiled grammar may have been changed for the vocabulary.
fn automaton(compiled: &CompiledGrammar) -> grammata::Result<Automaton> {
    Automaton::new(compiled.grammar(), compiled.automaton().limits())
}

/// The number of words as bytes of an integer, the least significant one first; `None` if there are infinitely many.
pub(crate) fn count(py: Python<'_>, compiled: &CompiledGrammar) -> PyResult<Option<Vec<u8>>> {
    let found = detach(py, || words::count(&automaton(compiled)?));
    Ok(match BORDER.raise(py, found)? {
        Count::Finite(number) => Some(number.to_bytes_le()),
        Count::Infinite => None,
    })
}

/// Lists words in order.
pub(crate) fn enumerate<'py>(
    py: Python<'py>,
    compiled: &CompiledGrammar,
    limit: usize,
    offset: usize,
) -> PyResult<Vec<Bound<'py, PyAny>>> {
    let list = || -> grammata::Result<Words> {
        let automaton = automaton(compiled)?;
        let mut words = words::enumerate(&automaton)?;
        words.by_ref().take(offset).try_for_each(|word| word.map(drop))?;
        words.take(limit).collect()
    };
    let found = detach(py, list);
    objects(py, compiled, BORDER.raise(py, found)?)
}

/// Draws random words.
pub(crate) fn sample<'py>(
    py: Python<'py>,
    compiled: &CompiledGrammar,
    count: usize,
    seed: u64,
    max_bytes: usize,
    uniform: bool,
) -> PyResult<Vec<Bound<'py, PyAny>>> {
    let draw = || -> grammata::Result<Words> {
        let automaton = automaton(compiled)?;
        let distribution = if uniform { Distribution::Uniform } else { Distribution::Walk };
        let mut samples = samples(&automaton, distribution, max_bytes)?;
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        (0..count).map(|_| samples.draw(&mut random)).collect()
    };
    let found = detach(py, draw);
    objects(py, compiled, BORDER.raise(py, found)?)
}

/// The words as Python objects: bytes, or a tuple of bytes and texts of token terminals.
fn objects<'py>(
    py: Python<'py>,
    compiled: &CompiledGrammar,
    words: Words,
) -> PyResult<Vec<Bound<'py, PyAny>>> {
    words.into_iter().map(|word| object(py, compiled, &word)).collect()
}

fn object<'py>(py: Python<'py>, compiled: &CompiledGrammar, word: &[Letter]) -> PyResult<Bound<'py, PyAny>> {
    let (mut parts, mut text): (Vec<Bound<'py, PyAny>>, Vec<u8>) = (Vec::new(), Vec::new());
    for letter in word {
        match *letter {
            Letter::Byte(byte) => text.push(byte),
            Letter::Token(terminal) => {
                if !text.is_empty() {
                    parts.push(PyBytes::new(py, &std::mem::take(&mut text)).into_any());
                }
                let name = words::terminal_text(compiled.grammar(), terminal);
                parts.push(name.into_pyobject(py)?.into_any());
            }
        }
    }
    if parts.is_empty() {
        return Ok(PyBytes::new(py, &text).into_any());
    }
    if !text.is_empty() {
        parts.push(PyBytes::new(py, &text).into_any());
    }
    Ok(PyTuple::new(py, parts)?.into_any())
}
