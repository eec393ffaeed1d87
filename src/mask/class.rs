//! Masks of configurations that loop through a class of characters of their own, as patterns do.
//!
//! Where all characters of the class lead from the configuration to one, from that to the next, and so on until they
//! come back to the same or may not come any more, the tokens made of such characters are known (see
//! [`Characters`](crate::vocabulary::characters::Characters)). What is left are the tokens that leave the class: for
//! those the trie is walked along the class, but only where a byte that leaves it comes below.

use super::allowed::Allowed;
use super::walk::Walk;
use crate::automaton::ConfigurationId;
use crate::error::Result;
use crate::vocabulary::characters::Groups;
use crate::vocabulary::loops::TrieId;
use crate::vocabulary::subtrees::Leads;

/// Classes of fewer first bytes are walked: that does not take long.
const FEWEST: usize = 16;

/// Configurations that a class leads through one after the other.
const MOST: usize = 40;

/// What the characters of a class do.
struct Class {
    leads: Leads,
    /// The configuration after so many characters; none are dead.
    chain: Vec<ConfigurationId>,
    /// Whether the last one comes back to itself. After it, characters of the class are dead otherwise.
    loops: bool,
    /// The groups of the bytes that leave the class and are allowed, anywhere on the chain.
    leaving: Groups,
}

/// A node whose path is in the class.
struct Place {
    node: u32,
    /// The place in the chain.
    at: usize,
    /// Within a character: the configuration, and how many bytes are left.
    within: Option<(ConfigurationId, u8)>,
}

/// The tokens allowed in a configuration that goes through a class; `None` if it does not.
pub(super) fn compute(walk: &mut Walk<'_>, configuration: ConfigurationId) -> Result<Option<Allowed>> {
    let Some(class) = class(walk, configuration)? else { return Ok(None) };
    let vocabulary = walk.vocabulary;
    let trie = vocabulary.trie();
    let characters = &vocabulary.loops().characters;
    let most = match class.loops {
        true => None,
        false => Some(u8::try_from(class.chain.len() - 1).unwrap_or(u8::MAX)),
    };
    let mut allowed = Allowed::of_words(characters.within(&class.leads, most).into());
    let mut open = vec![Place { node: trie.root(), at: 0, within: None }];
    while let Some(Place { node, at, within }) = open.pop() {
        let here = within.map_or(class.chain[at], |(configuration, _)| configuration);
        for child in trie.steps(node) {
            let begins = within.is_none() && class.leads.contains(child.byte);
            if begins && child.byte.is_ascii() {
                if let Some(at) = class.after(at)
                    && characters.below(child.node).meet(class.leaving)
                {
                    open.push(Place { node: child.node, at, within: None });
                }
                continue;
            }
            let next = walk.step(here, child.byte)?;
            let left = match within {
                Some((_, left)) => left - 1,
                None if begins => bytes_after(child.byte),
                None => {
                    walk.run_below(TrieId::ALL, child.node, next, &mut allowed)?;
                    continue;
                }
            };
            // a character of the class, whole or begun
            if next != ConfigurationId::DEAD && characters.below(child.node).meet(class.leaving) {
                let (at, within) = match left {
                    0 => (class.after(at), None),
                    left => (Some(at), Some((next, left))),
                };
                open.extend(at.map(|at| Place { node: child.node, at, within }));
            }
        }
    }
    Ok(Some(allowed))
}

impl Class {
    /// The place in the chain after one more character.
    fn after(&self, at: usize) -> Option<usize> {
        match at + 1 {
            next if next < self.chain.len() => Some(next),
            _ => self.loops.then_some(at),
        }
    }
}

/// How many bytes of a character come after its first one (RFC 3629, section 3).
fn bytes_after(lead: u8) -> u8 {
    match lead {
        0xF0.. => 3,
        0xE0.. => 2,
        _ => 1,
    }
}

fn class(walk: &mut Walk<'_>, configuration: ConfigurationId) -> Result<Option<Class>> {
    let Some(first) = walk.majority(configuration, true)? else { return Ok(None) };
    if first.leads.len() < FEWEST {
        return Ok(None);
    }
    let leads = first.leads;
    let mut class = Class { leads, chain: vec![configuration], loops: false, leaving: Groups::default() };
    let mut at = configuration;
    loop {
        let mut dies = true;
        for byte in 0..=u8::MAX {
            match walk.step(at, byte)? {
                ConfigurationId::UNSURE => return Ok(None),
                ConfigurationId::DEAD => {}
                _ if leads.contains(byte) => dies = false,
                _ => class.leaving.insert(byte),
            }
        }
        let next = match walk.majority(at, true)? {
            _ if dies => None,
            Some(majority) if majority.leads == leads && majority.well_formed => {
                if walk.returns.is_some() && !majority.quiet {
                    return Ok(None);
                }
                Some(majority.next)
            }
            _ => return Ok(None),
        };
        match next {
            None => return Ok(Some(class)),
            Some(next) if next == at => {
                class.loops = true;
                return Ok(Some(class));
            }
            Some(_) if class.chain.len() >= MOST => return Ok(None),
            Some(next) => {
                class.chain.push(next);
                at = next;
            }
        }
    }
}
