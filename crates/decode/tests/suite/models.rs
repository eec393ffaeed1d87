//! Language models, a tokenizer and a constraint for tests of decoding.

use grammata::matcher::Constraint;
use grammata::{Diagnostic, Error, ErrorKind, Result};
use grammata_decode::{
    Detokenizer, Feed, Logits, Model, RandomLogits, Rows, SequenceId, Sequences, check_batch, check_truncate,
};

/// A model whose logits at a position are a function of the tokens up to that position. It records what it is fed.
pub(crate) struct Function<F> {
    pub logits: F,
    pub vocabulary: usize,
    pub context: Option<usize>,
    /// The tokens of each feed, in order.
    pub fed: Vec<Vec<u32>>,
    /// The number of calls of `feed` with a valid batch.
    pub calls: usize,
    /// The call of `feed` that fails, counted from 1 among those with a valid batch.
    pub failing: Option<usize>,
    pub sequences: Sequences<Vec<u32>>,
    pub rows: Vec<Vec<f32>>,
}

impl<F: FnMut(&[u32]) -> Vec<f32> + Send> Function<F> {
    pub(crate) fn new(vocabulary: usize, logits: F) -> Function<F> {
        Function {
            logits,
            vocabulary,
            context: None,
            fed: vec![],
            calls: 0,
            failing: None,
            sequences: Sequences::new(),
            rows: vec![],
        }
    }
}

impl<F: FnMut(&[u32]) -> Vec<f32> + Send> Model for Function<F> {
    fn vocabulary_size(&self) -> usize {
        self.vocabulary
    }

    fn context_length(&self) -> Option<usize> {
        self.context
    }

    fn open(&mut self) -> Result<SequenceId> {
        Ok(self.sequences.open(vec![]))
    }

    fn fork(&mut self, sequence: SequenceId) -> Result<SequenceId> {
        self.sequences.fork(sequence)
    }

    fn truncate(&mut self, sequence: SequenceId, length: usize) -> Result<()> {
        check_truncate(self, sequence, length)?;
        self.sequences.get_mut(sequence)?.truncate(length);
        Ok(())
    }

    fn close(&mut self, sequence: SequenceId) {
        self.sequences.close(sequence);
    }

    fn length(&self, sequence: SequenceId) -> Result<usize> {
        Ok(self.sequences.get(sequence)?.len())
    }

    fn feed(&mut self, batch: &[Feed<'_>]) -> Result<Logits<'_>> {
        check_batch(self, batch)?;
        self.calls += 1;
        if self.failing == Some(self.calls) {
            return Err(Error::new(ErrorKind::Model, Diagnostic::new("test/model", "the model fails")));
        }
        self.rows.clear();
        for feed in batch {
            self.fed.push(feed.tokens.to_vec());
            let sequence = self.sequences.get_mut(feed.sequence)?;
            let before = sequence.len();
            sequence.extend(feed.tokens);
            for place in feed.rows.places(feed.tokens.len()) {
                self.rows.push((self.logits)(&sequence[..=before + place]));
            }
        }
        Ok(Logits::Host(self.rows.iter().map(Vec::as_slice).collect()))
    }
}

/// The id of the token that ends a sequence.
pub(crate) const END: u32 = 256;
pub(crate) const TOKENS: usize = 257;

/// A detokenizer: the tokens 0 to 255 are the bytes, token 256 is the end.
pub(crate) struct Bytes(Vec<u8>);

impl Bytes {
    pub(crate) fn new() -> Bytes {
        Bytes((0..=255).collect())
    }
}

impl Detokenizer for Bytes {
    fn token_count(&self) -> usize {
        TOKENS
    }

    fn bytes(&self, token: u32) -> &[u8] {
        self.0.get(token as usize..=token as usize).unwrap_or_default()
    }
}

/// A constraint that allows words, one byte a token, and END after a whole word.
#[derive(Clone)]
pub(crate) struct Words {
    pub(crate) words: Vec<Vec<u32>>,
    pub(crate) taken: Vec<u32>,
    pub(crate) masks: usize,
    /// Bit i is set if the mask after i tokens takes work; i is counted modulo 64.
    pub(crate) work: u64,
}

impl Words {
    pub(crate) fn new(words: &[&str]) -> Words {
        let ended = |word: &&str| word.bytes().map(u32::from).chain([END]).collect();
        Words { words: words.iter().map(ended).collect(), taken: vec![], masks: 0, work: 0 }
    }

    fn next(&self) -> Vec<u32> {
        let going = self.words.iter().filter(|w| w.starts_with(&self.taken));
        going.filter_map(|w| w.get(self.taken.len()).copied()).collect()
    }
}

impl Constraint for Words {
    fn fill_mask(&mut self, words: &mut [u32]) -> Result<()> {
        self.masks += 1;
        assert_eq!(words.len(), TOKENS.div_ceil(32));
        assert!(words.iter().all(|&w| w == 0));
        for token in self.next() {
            words[token as usize / 32] |= 1 << (token % 32);
        }
        Ok(())
    }

    fn mask_takes_work(&mut self) -> Result<bool> {
        Ok(self.work >> (self.taken.len() % 64) & 1 != 0)
    }

    fn accept_token(&mut self, token: u32) -> Result<()> {
        if !self.next().contains(&token) {
            return Err(Error::new(ErrorKind::Rejected, Diagnostic::new("test/rejected", "not allowed")));
        }
        self.taken.push(token);
        Ok(())
    }

    fn is_accepting(&mut self) -> Result<bool> {
        Ok(self.next().contains(&END))
    }

    fn is_finished(&mut self) -> Result<bool> {
        let next = self.next();
        Ok(self.taken.last() == Some(&END) || !next.is_empty() && next.iter().all(|&token| token == END))
    }

    fn rollback(&mut self, tokens: usize) -> Result<()> {
        self.taken.truncate(self.taken.len() - tokens);
        Ok(())
    }

    fn fork(&self) -> Box<dyn Constraint> {
        Box::new(self.clone())
    }
}

/// Random logits depend only on the seed and the preceding tokens, not on how these were fed.
#[test]
fn random_logits_are_a_function_of_the_tokens() {
    let rows = |model: &mut RandomLogits, sequence: SequenceId, tokens: &[u32], rows: Rows<'_>| {
        let logits = model.feed(&[Feed { sequence, tokens, rows }]).unwrap();
        let copied = (0..logits.len()).map(|row| logits.row(row, &mut Vec::new()).unwrap().to_vec());
        copied.collect::<Vec<Vec<f32>>>()
    };
    let mut model = RandomLogits::new(1_000, 7);
    let whole = model.open().unwrap();
    let expected = rows(&mut model, whole, &[3, 1, 4, 1], Rows::All);
    assert_eq!(expected.len(), 4);
    for (place, row) in expected.iter().enumerate() {
        assert!(row.len() == 1_000 && row.iter().all(|logit| (0.0..1.0).contains(logit)));
        let mean = row.iter().sum::<f32>() / 1_000.0;
        assert!((0.4..0.6).contains(&mean), "{mean}");
        assert!(expected[..place].iter().all(|before| before != row), "row {place} came before");
    }
    let parts = model.open().unwrap();
    assert_eq!(rows(&mut model, parts, &[3, 1, 9], Rows::At(&[1])), expected[1..2]);
    let fork = model.fork(parts).unwrap();
    model.truncate(fork, 2).unwrap();
    assert_eq!(rows(&mut model, fork, &[4, 1], Rows::All), expected[2..]);
    assert_ne!(rows(&mut model, parts, &[1], Rows::Last), expected[3..]);
    assert_eq!(model.length(parts).unwrap(), 4);
    model.close(parts);
    assert!(model.length(parts).is_err() && model.truncate(fork, 5).is_err());
    let mut other = RandomLogits::new(1_000, 8);
    let sequence = other.open().unwrap();
    assert_ne!(rows(&mut other, sequence, &[3, 1, 4, 1], Rows::All), expected);
}
