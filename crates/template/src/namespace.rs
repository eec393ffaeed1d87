//! Namespaces: values with attributes that a template can set.

use minijinja::value::{Enumerator, Object, Value};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

/// A value whose attributes `{% set name.attribute = … %}` can change.
#[derive(Debug, Default)]
pub(crate) struct Namespace(Mutex<BTreeMap<Arc<str>, Value>>);

impl Namespace {
    pub(crate) fn with<R>(&self, action: impl FnOnce(&mut BTreeMap<Arc<str>, Value>) -> R) -> R {
        action(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Object for Namespace {
    fn get_value(self: &Arc<Self>, key: &Value) -> Option<Value> {
        let name = key.as_str()?;
        self.with(|values| values.get(name).cloned())
    }

    fn enumerate(self: &Arc<Self>) -> Enumerator {
        Enumerator::Values(self.with(|values| values.keys().cloned().map(Value::from).collect()))
    }
}
