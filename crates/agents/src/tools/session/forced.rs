//! Computes bytes with which every completion of a turn continues.

use super::names::Spot;
use super::turn::{Calls, Rules, Thread, Threads};
use crate::tools::format::HOLE;
use grammata::error::Result;
use grammata::grammar::ByteSet;

impl Rules {
    /// Returns bytes with which every completion continues; empty if no such bytes are known. More bytes may be forced
    /// after them.
    pub(super) fn forced(&self, threads: &mut Threads) -> Result<Vec<u8>> {
        match &mut threads[..] {
            [Thread::Section(at)] => {
                let mut forced = at.inside.forced_bytes()?;
                if at.over.is_some() {
                    forced.truncate(forced.iter().position(|&byte| byte == HOLE).unwrap_or(forced.len()));
                }
                Ok(forced)
            }
            [Thread::Name { spot, .. }] => self.forced_name(*spot),
            threads => Ok(self.only_byte(threads)?.into_iter().collect()),
        }
    }

    /// Returns the only byte with which the threads can continue; `None` if there are several, if a thread may end or
    /// has no forced byte, or if the byte is the hole.
    fn only_byte(&self, threads: &mut [Thread]) -> Result<Option<u8>> {
        let mut bytes = ByteSet::EMPTY;
        for thread in threads {
            match thread {
                Thread::Section(at) => match at.inside.forced_bytes()?.first() {
                    Some(&byte) => bytes.insert(byte),
                    None => return Ok(None),
                },
                Thread::Name { spot, .. } => {
                    let branches = self.tools.ranked().branches(*spot, self.subset.bits());
                    branches.for_each(|branch| bytes.insert(branch.byte));
                    if self.complete(*spot).is_some() {
                        match self.tools.link()?.matcher().forced_bytes()?.first() {
                            Some(&byte) => bytes.insert(byte),
                            None => return Ok(None),
                        }
                    }
                }
            }
        }
        Ok(bytes.iter().next().filter(|&byte| bytes.len() == 1 && byte != HOLE))
    }

    fn forced_name(&self, spot: Spot) -> Result<Vec<u8>> {
        let (forced, only) = self.tools.ranked().forced(spot, self.subset.bits());
        if let (Some(_), Some(_), true) = (self.complete(spot), only, forced.is_empty()) {
            let mut link = self.tools.link()?.matcher().forced_bytes()?;
            link.truncate(link.iter().position(|&byte| byte == HOLE).unwrap_or(link.len()));
            return Ok(link);
        }
        if self.complete(spot).is_none() {
            return Ok(forced.to_vec());
        }
        let mut thread = [Thread::Name { spot, calls: Calls::new() }];
        Ok(self.only_byte(&mut thread)?.into_iter().collect())
    }
}
