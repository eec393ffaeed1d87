//! Ids of configurations.

/// The id of a configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ConfigurationId(pub(in crate::automaton) u32);

impl ConfigurationId {
    pub(crate) const DEAD: ConfigurationId = ConfigurationId(0);

    pub(crate) fn new(id: u32) -> ConfigurationId {
        ConfigurationId(id)
    }

    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}
