//! The partition of a configuration.

use super::find::partition;
use super::{PartitionAt, TokenPartition};
use crate::automaton::{Automaton, Cache, ConfigurationId, Lazy, Residual, Sufficient};
use crate::error::Result;
use crate::mask::cache::shape_cache::ShapeCache;
use crate::mask::completion::{Completions, ways};
use crate::mask::compute::records::ResidualMasks;
use crate::mask::walk::Walk;
use crate::mask::walk::collected::TrieScope;
use crate::token_index::TokenIndex;
use std::sync::Arc;

/// A configuration with several residuals has a partition of its own if at least this many bytes are possible.
const MANY_BYTES: usize = 64;

/// From a configuration with fewer possible bytes, few tokens lead.
const FEW_BYTES: usize = 16;

/// A horizon beyond all bounds of loops that tokens can reach.
const UNBOUNDED: u32 = u32::MAX / 4;

/// The tables that partitions are computed from and stored in.
pub(in crate::mask) struct Tables<'a> {
    pub(in crate::mask) tables: &'a mut Cache,
    pub(in crate::mask) records: &'a mut ResidualMasks,
    pub(in crate::mask) completions: &'a mut Completions,
    pub(in crate::mask) shared: &'a ShapeCache<TokenPartition>,
}

/// The partition of a configuration with a single residual. `None` if there is none, for configurations from which few
/// tokens lead, if token edges leave the configuration, and if the lengths of completions depend on counts that the
/// residual does not distinguish.
pub(in crate::mask) fn at(
    (automaton, index): (&Automaton, &TokenIndex),
    Tables { tables, records, completions, shared }: Tables<'_>,
    with: &Arc<Sufficient>,
    configuration: ConfigurationId,
) -> Result<Option<PartitionAt>> {
    let lazy = &mut Lazy::new(automaton, tables);
    if lazy.is_history_dependent(configuration)
        || lazy.remembers_items(configuration)
        || lazy.is_narrow(configuration)
        || lazy.candidate_bytes(configuration).len() < FEW_BYTES
        || !lazy.terminals(configuration).is_empty()
    {
        return Ok(None);
    }
    let vocabulary = index.vocabulary();
    let residual = match &lazy.decompose_jointly(configuration, vocabulary.longest())[..] {
        &[only] => only,
        _ if lazy.candidate_bytes(configuration).len() >= MANY_BYTES => {
            Residual { configuration, returns_to: None }
        }
        _ => return Ok(None),
    };
    let mut after = None;
    if let Some(below) = residual.returns_to {
        let Some(letters) = completions.letters(lazy, with, configuration)? else { return Ok(None) };
        let inside = completions.letters(lazy, with, residual.configuration)?;
        let outside = completions.letters_of_stacks(lazy, with, below)?;
        if inside.zip(outside).is_none_or(|(inside, outside)| inside.saturating_add(outside) != letters) {
            return Ok(None);
        }
        if letters <= ways::MOST_LETTERS / 2 && !automaton.has_terminals() {
            let returned = lazy.returned(below)?;
            after = completions.potential(lazy, with, vocabulary, returned)?;
        }
    }
    let mut tables = Tables { tables: &mut *lazy.cache, records, completions, shared };
    let Some(partition) = of_residual((automaton, index), &mut tables, with, residual.configuration)? else {
        return Ok(None);
    };
    let lazy = &mut Lazy::new(automaton, tables.tables);
    let mut is_exact = || {
        let whole = lazy.decompose_jointly(configuration, UNBOUNDED);
        whole.len() == 1 && whole[0].configuration == residual.configuration
    };
    let is_exact =
        residual.returns_to.is_none() || partition.all().any(|group| group.bound.is_none()) && is_exact();
    if !is_exact && partition.all().any(|group| group.bound.is_none()) {
        // only the configuration itself tells what tokens of such a group lead to
        let whole = of_residual((automaton, index), &mut tables, with, configuration)?;
        return Ok(whole.map(|partition| PartitionAt { partition, after: None, is_exact: true }));
    }
    Ok(Some(PartitionAt { partition, after: after.map(|after| after as usize), is_exact }))
}

/// The partition of a residual, or of a whole configuration.
fn of_residual(
    (automaton, index): (&Automaton, &TokenIndex),
    Tables { tables, records, completions, shared }: &mut Tables<'_>,
    with: &Arc<Sufficient>,
    residual: ConfigurationId,
) -> Result<Option<Arc<TokenPartition>>> {
    if let Some(known) = records.partition(residual) {
        return Ok(known);
    }
    let lazy = &mut Lazy::new(automaton, tables);
    let vocabulary = index.vocabulary();
    // in a grammar with token terminals bounds are those of letters
    let form = lazy.canonical_form(residual).filter(|_| !automaton.has_terminals());
    let key = form.map(|canonical| (canonical.form, TrieScope::ALL));
    let found = match key.as_ref().and_then(|key| shared.get(key)) {
        Some(known) => known,
        None => {
            let transitions = Arc::clone(lazy.transitions());
            let mut walk = Walk::new(Lazy::new(automaton, &mut *lazy.cache), &transitions, index);
            let bound = |lazy: &mut Lazy<'_>, id| completions.bound_of_residual(lazy, with, vocabulary, id);
            let found = partition(&mut walk, residual, bound)?.map(Arc::new);
            if let Some(key) = key {
                shared.insert(key, found.clone());
            }
            found
        }
    };
    records.keep_partition(residual, found.clone());
    Ok(found)
}
