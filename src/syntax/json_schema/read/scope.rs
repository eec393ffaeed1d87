//! Dynamic scopes: the resources that evaluation has entered, reduced to what `$dynamicRef` and `$recursiveRef` depend
//! on. The meaning of a schema may depend on its scope, so a schema is read once for each scope.

use super::resources::ResourceId;
use crate::collections::interner::Interner;

/// Greatest number of dynamic scopes in one compilation, the empty one included.
pub(super) const MAX_SCOPES: usize = 1000;

/// Index of a scope in the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub(super) struct ScopeId(u32);

/// A scope: the names of dynamic anchors, sorted, each with the first resource entered that has it.
type Scope<'a> = Vec<(&'a str, ResourceId)>;

/// All scopes; the first one is empty.
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

    /// Returns the scope after entering a resource with dynamic anchors of these names.
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

    /// Returns the first resource entered that has a dynamic anchor of this name.
    pub(super) fn first(&self, scope: ScopeId, name: &str) -> Option<ResourceId> {
        let scope = self.list.get(scope.0);
        let at = scope.binary_search_by_key(&name, |(name, _)| name).ok()?;
        Some(scope[at].1)
    }
}
