//! Dynamic scopes: the resources that evaluation came through, as far as `$dynamicRef` and `$recursiveRef` see
//! them. What a schema means may depend on its scope, so that schemas are read once for each.

use super::resources::ResourceId;
use rustc_hash::FxHashMap;

/// Scopes that one schema may have.
pub(super) const MAX_SCOPES: usize = 1000;

/// The place of a scope in the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub(super) struct ScopeId(u32);

/// A scope: for each name of a dynamic anchor, sorted, the first resource on the way that has it.
type Scope<'a> = Vec<(&'a str, ResourceId)>;

/// All scopes; the first is empty.
pub(super) struct Scopes<'a> {
    list: Vec<Scope<'a>>,
    ids: FxHashMap<Scope<'a>, ScopeId>,
}

impl<'a> Scopes<'a> {
    pub(super) fn new() -> Scopes<'a> {
        let ids = FxHashMap::from_iter([(Scope::new(), ScopeId(0))]);
        Scopes { list: vec![Scope::new()], ids }
    }

    pub(super) fn len(&self) -> usize {
        self.list.len()
    }

    /// The scope after a resource with dynamic anchors of these names is entered.
    pub(super) fn enter(&mut self, scope: ScopeId, resource: ResourceId, names: &[&'a str]) -> ScopeId {
        let Some(new) = names.iter().position(|name| self.first(scope, name).is_none()) else { return scope };
        let mut inner = self.list[scope.0 as usize].clone();
        inner.extend(
            names[new..].iter().filter(|name| self.first(scope, name).is_none()).map(|n| (*n, resource)),
        );
        inner.sort_unstable();
        inner.dedup();
        let next = ScopeId(self.list.len() as u32);
        *self.ids.entry(inner).or_insert_with_key(|inner| {
            self.list.push(inner.clone());
            next
        })
    }

    /// The first resource on the way that has a dynamic anchor of the name.
    pub(super) fn first(&self, scope: ScopeId, name: &str) -> Option<ResourceId> {
        let scope = &self.list[scope.0 as usize];
        let at = scope.binary_search_by_key(&name, |(name, _)| name).ok()?;
        Some(scope[at].1)
    }
}
