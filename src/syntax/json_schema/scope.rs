//! Dynamic scopes: the resources that evaluation came through, as far as `$dynamicRef` and `$recursiveRef` see
//! them. What a schema means may depend on its scope, so that schemas are read once for each.

use super::resources::ResourceId;
use crate::collections::interner::Interner;

/// Scopes that one schema may have.
pub(super) const MAX_SCOPES: usize = 1000;

/// The place of a scope in the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub(super) struct ScopeId(u32);

/// A scope: for each name of a dynamic anchor, sorted, the first resource on the way that has it.
type Scope<'a> = Vec<(&'a str, ResourceId)>;

/// All scopes; the first is empty.
pub(super) struct Scopes<'a> {
    list: Interner<Scope<'a>>,
}

impl<'a> Scopes<'a> {
    pub(super) fn new() -> Scopes<'a> {
        let mut list = Interner::default();
        list.intern(Scope::new());
        Scopes { list }
    }

    pub(super) fn len(&self) -> usize {
        self.list.len()
    }

    /// The scope after a resource with dynamic anchors of these names is entered.
    pub(super) fn enter(&mut self, scope: ScopeId, resource: ResourceId, names: &[&'a str]) -> ScopeId {
        let Some(new) = names.iter().position(|name| self.first(scope, name).is_none()) else { return scope };
        let mut inner = self.list.get(scope.0).clone();
        inner.extend(
            names[new..].iter().filter(|name| self.first(scope, name).is_none()).map(|n| (*n, resource)),
        );
        inner.sort_unstable();
        inner.dedup();
        ScopeId(self.list.intern(inner))
    }

    /// The first resource on the way that has a dynamic anchor of the name.
    pub(super) fn first(&self, scope: ScopeId, name: &str) -> Option<ResourceId> {
        let scope = self.list.get(scope.0);
        let at = scope.binary_search_by_key(&name, |(name, _)| name).ok()?;
        Some(scope[at].1)
    }
}
