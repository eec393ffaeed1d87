//! Classes of bytes that the automaton does not tell apart.

/// A partition of the 256 bytes into runs of consecutive bytes.
#[derive(Clone, Debug)]
pub(super) struct ByteClasses {
    class: [u8; 256],
    representatives: Vec<u8>,
}

impl ByteClasses {
    pub(super) fn get(&self, byte: u8) -> usize {
        usize::from(self.class[usize::from(byte)])
    }

    pub(super) fn len(&self) -> usize {
        self.representatives.len()
    }

    pub(super) fn representatives(&self) -> &[u8] {
        &self.representatives
    }
}

/// Collects the places where one class ends and the next begins.
#[derive(Clone, Debug)]
pub(super) struct ClassBuilder {
    starts: [bool; 256],
}

impl ClassBuilder {
    pub(super) fn new() -> ClassBuilder {
        let mut starts = [false; 256];
        starts[0] = true;
        ClassBuilder { starts }
    }

    /// Tells `low..=high` apart from all other bytes.
    pub(super) fn add(&mut self, low: u8, high: u8) {
        self.starts[usize::from(low)] = true;
        if let Some(after) = high.checked_add(1) {
            self.starts[usize::from(after)] = true;
        }
    }

    pub(super) fn build(&self) -> ByteClasses {
        let mut class = [0; 256];
        let mut representatives = Vec::new();
        for byte in 0..=255u8 {
            if self.starts[usize::from(byte)] {
                representatives.push(byte);
            }
            class[usize::from(byte)] = (representatives.len() - 1) as u8;
        }
        ByteClasses { class, representatives }
    }
}
