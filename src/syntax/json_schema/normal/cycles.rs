//! The check that references form no cycle.

use crate::error::Result;
use crate::syntax::json_schema::errors;
use crate::syntax::json_schema::model::schema::Schemas;
use crate::syntax::json_schema::model::schema_id::SchemaId;

/// Checks that no schema applies itself to the same value (`{"$ref": "#"}` at the root, or through `anyOf` and
/// `allOf`). The standard gives such schemas no meaning.
pub(in crate::syntax::json_schema) fn check(schemas: &Schemas<'_>) -> Result<()> {
    #[derive(Clone, Copy, PartialEq)]
    enum Mark {
        New,
        Open,
        Done,
    }
    let in_place = |id: SchemaId| schemas.get(id).in_place().collect::<Vec<_>>();
    let mut marks = vec![Mark::New; schemas.ids().count()];
    for start in schemas.ids() {
        if marks[start.0 as usize] != Mark::New || !schemas.get(start).is_compound() {
            continue;
        }
        marks[start.0 as usize] = Mark::Open;
        let mut path = vec![(start, in_place(start))];
        while let Some((id, next)) = path.last_mut() {
            let id = *id;
            let Some(child) = next.pop() else {
                marks[id.0 as usize] = Mark::Done;
                path.pop();
                continue;
            };
            match marks[child.0 as usize] {
                Mark::Done => {}
                Mark::New => {
                    marks[child.0 as usize] = Mark::Open;
                    path.push((child, in_place(child)));
                }
                Mark::Open => {
                    let from = path.iter().position(|(id, _)| *id == child).unwrap_or(0);
                    let mut cycle: Vec<&str> =
                        path[from..].iter().map(|(id, _)| schemas.get(*id).pointer).collect();
                    cycle.push(schemas.get(child).pointer);
                    cycle.dedup();
                    if cycle.len() == 1 {
                        cycle.push(cycle[0]);
                    }
                    return Err(errors::cyclic_reference(&cycle));
                }
            }
        }
    }
    Ok(())
}
