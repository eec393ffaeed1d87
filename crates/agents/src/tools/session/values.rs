//! Arguments limited to values that the host provides.

use super::bits::Bits;
use super::compiled::CompiledTools;
use super::subset::Subset;
use crate::tools::custom;
use crate::tools::schema::Schema;
use crate::tools::set::ToolSet;
use grammata::syntax::json_schema::compile_value;
use serde_json::{Value, json};

/// Limits an argument to certain values, for instance an id to the ids of an observation.
#[derive(Clone, Debug, PartialEq)]
pub struct Limited {
    /// The name of the tool; if `None`, all tools with such a member.
    pub tool: Option<String>,
    /// The name of a member of the argument object.
    pub member: String,
    /// The values. Values that the schema of the member does not allow are ignored. If none remains, an optional member
    /// is never written, and a tool that requires the member cannot be called.
    pub values: Vec<Value>,
}

impl Limited {
    /// Returns whether the limit may apply to a tool, by a cheap check of the schema's text. If false, it certainly
    /// does not apply.
    fn may_concern(&self, tool: &str, arguments: &Schema) -> bool {
        let name = Value::from(self.member.as_str()).to_string();
        self.tool.as_deref().is_none_or(|only| only == tool) && arguments.text().contains(&name)
    }

    fn concerns(&self, tool: &str, arguments: &Value) -> bool {
        self.tool.as_deref().is_none_or(|only| only == tool)
            && arguments["properties"].get(&self.member).is_some()
    }
}

/// Returns the schema of arguments with limited members; `None` if no limit applies.
pub(super) fn limited_schema(tool: &str, arguments: &Schema, limits: &[Limited]) -> Option<Value> {
    if !limits.iter().any(|limit| limit.may_concern(tool, arguments)) {
        return None;
    }
    let arguments = arguments.value();
    let mut limited: Option<Value> = None;
    for limit in limits.iter().filter(|limit| limit.concerns(tool, &arguments)) {
        let made = limited.get_or_insert_with(|| arguments.clone());
        let member = &mut made["properties"][&limit.member];
        *member = json!({"allOf": [member.take(), {"enum": limit.values}]});
    }
    limited
}

/// Returns the tools of a subset that can still be called under the limits.
pub(super) fn limited_subset(tools: &CompiledTools, subset: Subset, limits: &[Limited]) -> Subset {
    if limits.is_empty() {
        return subset;
    }
    let is_left = |&rank: &u32| {
        let tool = &tools.set().tools()[tools.ranked().tool(rank)];
        let schema = limited_schema(&tool.name, &tool.arguments, limits);
        schema.is_none_or(|schema| compile_value(&schema, &custom::reading(tools.schema_options())).is_ok())
    };
    let left: Vec<u32> = subset.bits().iter().filter(is_left).collect();
    if left.len() == subset.len() { subset } else { Subset::of(Bits::of(tools.ranked().len(), left)) }
}

/// Returns the set with limited members in the schemas of its tools.
pub(super) fn limited_set(set: &ToolSet, limits: &[Limited]) -> ToolSet {
    let mut set = set.clone();
    for tool in &mut set.tools {
        if let Some(schema) = limited_schema(&tool.name, &tool.arguments, limits) {
            tool.arguments = schema.into();
        }
    }
    set
}

/// Returns the distinct scalars under a key at any depth of a value, for instance the ids of a list of objects. If the
/// key has a list, its scalar items count. The order is that of the value; an object's own values come before those
/// inside of its members.
pub fn values_under<'v>(value: &'v Value, key: &str) -> Vec<&'v Value> {
    let (mut found, mut open) = (Vec::new(), vec![value]);
    while let Some(value) = open.pop() {
        match value {
            Value::Array(items) => open.extend(items.iter().rev()),
            Value::Object(members) => {
                for (name, member) in members.iter().rev() {
                    open.push(member);
                    if name != key {
                        continue;
                    }
                    let items = member.as_array().map_or(std::slice::from_ref(member), Vec::as_slice);
                    let scalars = items.iter().filter(|item| !item.is_object() && !item.is_array());
                    found.extend(scalars);
                }
            }
            _ => {}
        }
    }
    let mut seen = rustc_hash::FxHashSet::default();
    found.retain(|value| seen.insert(value.to_string()));
    found
}
