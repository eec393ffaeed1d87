//! The source of all random choices.

/// Choices read from a string of bytes. See the [module](super).
#[derive(Clone, Debug)]
pub struct Choices<'a>(&'a [u8]);

impl<'a> Choices<'a> {
    /// Creates choices that read from `bytes`.
    pub fn new(bytes: &'a [u8]) -> Choices<'a> {
        Choices(bytes)
    }

    /// Whether the bytes have run out: from here on every choice is the simplest.
    pub fn is_exhausted(&self) -> bool {
        self.0.is_empty()
    }

    /// The next byte.
    pub fn byte(&mut self) -> u8 {
        let (&first, rest) = self.0.split_first().unwrap_or((&0, &[]));
        self.0 = rest;
        first
    }

    /// A number below `n` (at most 65,536), or 0.
    pub fn below(&mut self, n: usize) -> usize {
        match n {
            0 | 1 => 0,
            2..=256 => usize::from(self.byte()) % n,
            _ => usize::from(u16::from_le_bytes([self.byte(), self.byte()])) % n,
        }
    }

    /// True in about `percent` of 100 cases; false if the bytes have run out.
    pub fn chance(&mut self, percent: u8) -> bool {
        self.byte() % 100 >= 100 - percent.min(100)
    }

    /// Chooses an element of a list. The first element is the simplest.
    ///
    /// # Panics
    /// If the list is empty.
    pub fn pick<'t, T>(&mut self, list: &'t [T]) -> &'t T {
        &list[self.below(list.len())]
    }

    /// The bytes not yet used.
    pub fn rest(&self) -> &'a [u8] {
        self.0
    }
}
