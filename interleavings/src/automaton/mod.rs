//! The part of `grammata::automaton` that is read without a lock.

pub(crate) mod run;

/// Where the automaton is found.
pub(crate) mod program {
    /// Where the automaton is found.
    pub(crate) mod automaton {
        /// An automaton of two classes of bytes.
        #[derive(Debug)]
        pub(crate) struct Automaton;

        impl Automaton {
            pub(crate) fn class_of(&self, byte: u8) -> usize {
                usize::from(byte & 1)
            }

            pub(crate) fn class_count(&self) -> usize {
                2
            }
        }
    }
}

/// Writes as `Cache` does: a configuration is there before a successor names it.
pub(crate) mod writer {
    use super::run::configuration::ConfigurationId;
    use super::run::transitions::{Flags, Row, Transitions};

    /// Adds a configuration that accepts or not.
    pub(crate) fn add(transitions: &Transitions, id: u32, accepting: bool) {
        transitions.add(ConfigurationId(id), Flags { accepting, named: accepting, tokens: false }, false);
    }

    /// Gives a configuration a dense row after `from`, and returns its start and its end.
    pub(crate) fn dense(transitions: &Transitions, id: u32, from: u32) -> (u32, u32) {
        let (row, end) = transitions.new_row(from, 2);
        transitions.set_row(ConfigurationId(id), Row::Dense(row));
        (row, end)
    }

    /// Says what follows the bytes of a class.
    pub(crate) fn fill(transitions: &Transitions, row: u32, class: usize, next: u32) {
        transitions.fill(row, class, class, ConfigurationId(next));
    }

    /// Records that all bytes have the same successor.
    pub(crate) fn alike(transitions: &Transitions, id: u32) {
        transitions.set_alike(ConfigurationId(id));
    }

    /// Gives a configuration the only byte that may come, with its successor once it is known.
    pub(crate) fn single(transitions: &Transitions, id: u32, byte: u8, next: Option<u32>) {
        transitions.set_row(ConfigurationId(id), Row::Single(byte, next.map(ConfigurationId)));
    }
}
