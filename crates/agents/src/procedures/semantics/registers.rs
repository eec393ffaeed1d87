//! Registers: the values that conditions read. A register holds a slot of an API's result, or the last value of a slot
//! from any source.

use crate::procedures::language::declarations::{Node, Slot};
use crate::procedures::language::value::{Literal, Scalar};
use grammata::diagnostic::Place;
use rustc_hash::FxHashMap;
use serde_json::Value;

/// A value that some condition reads.
#[derive(Clone, Debug)]
pub(in crate::procedures) struct Register {
    /// The API whose result the value is from; `None` for the last value of the slot from any source.
    pub(in crate::procedures) api: Option<usize>,
    pub(in crate::procedures) slot: String,
    /// The place of the first condition that reads the register.
    pub(in crate::procedures) place: Place,
    /// The APIs that write the register.
    pub(in crate::procedures) writers: Vec<usize>,
    /// Whether conditions on the register are closed while it is unset, because an API or a decision sets it later.
    pub(in crate::procedures) waits: bool,
    /// The values of the slot, if it is a boolean or has an enumeration; otherwise representatives of the classes of
    /// values that conditions distinguish.
    pub(in crate::procedures) cells: Vec<Scalar>,
    /// Whether a condition that guards some call tests the register.
    pub(in crate::procedures) is_tested: bool,
    /// The literals with which conditions that guard calls compare the register. A register alone is compared with
    /// `true`.
    pub(in crate::procedures) literals: Vec<Literal>,
}

impl Register {
    /// Returns the index of the cell of a value; `None` if no cell contains the value.
    pub(in crate::procedures) fn cell(&self, value: &Scalar) -> Option<u16> {
        let is_same = |cell: &Scalar| {
            let mut literals = self.literals.iter().map(Scalar::from);
            let is_number = |scalar: &Scalar| matches!(scalar, Scalar::Number(_));
            is_number(cell)
                && is_number(value)
                && literals.all(|literal| literal.compare(cell) == literal.compare(value))
        };
        let exact = self.cells.iter().position(|cell| cell == value);
        let place = exact
            .or_else(|| self.cells.iter().position(is_same))
            .or_else(|| self.cells.iter().position(|cell| *cell == Scalar::Other));
        place.and_then(|place| u16::try_from(place).ok())
    }
}

/// All registers, with a map from API and slot to their ids.
#[derive(Debug, Default)]
pub(in crate::procedures) struct Registers {
    pub(in crate::procedures) list: Vec<Register>,
    ids: FxHashMap<(Option<usize>, String), u32>,
}

impl Registers {
    /// Returns the register of a slot of an API's result, and adds it if it is new. `place` is the place of the
    /// condition that reads it.
    pub(in crate::procedures) fn of_result(&mut self, api: usize, slot: &str, place: &Place) -> u32 {
        self.id(Some(api), slot, place)
    }

    /// Returns the register of a name in a condition, and adds it if it is new: the slot of the result for `API.slot`,
    /// otherwise the last value of the slot of this name.
    pub(in crate::procedures) fn of_name(&mut self, nodes: &[Node], name: &str, place: &Place) -> u32 {
        let result = name.split_once('.').and_then(|(api, slot)| {
            nodes.iter().position(|node| node.name == api && node.response.iter().any(|known| known == slot))
        });
        match (result, name.split_once('.')) {
            (Some(api), Some((_, slot))) => self.id(Some(api), slot, place),
            _ => self.id(None, name, place),
        }
    }

    fn id(&mut self, api: Option<usize>, slot: &str, place: &Place) -> u32 {
        let next = self.list.len() as u32;
        let id = *self.ids.entry((api, slot.to_owned())).or_insert(next);
        if id == next {
            self.list.push(Register {
                api,
                slot: slot.to_owned(),
                place: place.clone(),
                writers: Vec::new(),
                waits: false,
                cells: Vec::new(),
                is_tested: false,
                literals: Vec::new(),
            });
        }
        id
    }

    /// Returns the register of the last value of a slot, if a condition reads it.
    pub(in crate::procedures) fn named(&self, slot: &str) -> Option<u32> {
        self.ids.get(&(None, slot.to_owned())).copied()
    }

    /// Computes `writers`, `waits` and `cells` of each register. `decided` says whether the user decides a slot.
    pub(in crate::procedures) fn complete(
        &mut self,
        nodes: &[Node],
        slots: &[Slot],
        decided: impl Fn(&str) -> bool,
    ) {
        let mut writers: FxHashMap<&str, Vec<usize>> = FxHashMap::default();
        for (index, node) in nodes.iter().enumerate() {
            for slot in &node.response {
                writers.entry(slot).or_default().push(index);
            }
        }
        let slots: FxHashMap<&str, &Slot> = slots.iter().map(|slot| (slot.name.as_str(), slot)).collect();
        for register in &mut self.list {
            let slot = register.slot.as_str();
            register.writers = match register.api {
                Some(api) => vec![api],
                None => writers.get(slot).cloned().unwrap_or_default(),
            };
            register.waits = !register.writers.is_empty() || decided(slot);
            let declared = slots.get(slot.rsplit('.').next().unwrap_or(slot));
            register.cells = cells(declared.and_then(|slot| slot.schema.as_ref()), &register.literals);
        }
    }
}

/// Returns the cells of a slot: the values of its enumeration, both booleans, or the parts into which the literals
/// divide its values.
fn cells(schema: Option<&Value>, literals: &[Literal]) -> Vec<Scalar> {
    let field = |name: &str| schema.and_then(|schema| schema.get(name));
    let text = |text: &str| Scalar::Text(text.to_owned());
    if let Some(values) = field("enum").and_then(Value::as_array).filter(|values| !values.is_empty()) {
        return distinct(values.iter().map(Scalar::of));
    }
    let is_boolean = field("type").and_then(Value::as_str) == Some("boolean");
    if is_boolean {
        return vec![text("true"), text("false")];
    }
    let mut points: Vec<f64> = literals
        .iter()
        .filter_map(|literal| match literal {
            Literal::Number(number) => Some(*number),
            _ => None,
        })
        .collect();
    points.sort_by(f64::total_cmp);
    points.dedup();
    if let (Some(first), Some(last)) = (points.first().copied(), points.last().copied()) {
        let least = field("minimum").and_then(Value::as_f64).unwrap_or(f64::NEG_INFINITY);
        let mut cells = vec![first - 1.0];
        for pair in points.windows(2) {
            cells.extend([pair[0], f64::midpoint(pair[0], pair[1])]);
        }
        cells.extend([last, last + 1.0]);
        return cells.into_iter().filter(|&cell| cell >= least).map(Scalar::Number).collect();
    }
    if literals.iter().all(|literal| matches!(literal, Literal::Boolean(_))) {
        let mut cells = vec![text("true"), text("false")];
        if literals.contains(&Literal::Boolean(false)) {
            cells.push(Scalar::Other);
        }
        return cells;
    }
    let mut cells = distinct(literals.iter().map(Scalar::from));
    cells.push(Scalar::Other);
    cells
}

fn distinct(values: impl Iterator<Item = Scalar>) -> Vec<Scalar> {
    let mut seen: Vec<Scalar> = Vec::new();
    for value in values {
        if !seen.contains(&value) {
            seen.push(value);
        }
    }
    seen
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn cells_are_what_conditions_distinguish() {
        let number =
            |numbers: &[f64]| numbers.iter().map(|&number| Scalar::Number(number)).collect::<Vec<_>>();
        let texts =
            |texts: &[&str]| texts.iter().map(|text| Scalar::Text((*text).into())).collect::<Vec<_>>();
        let at_least_0 = json!({"type": "integer", "minimum": 0});
        let literals = [Literal::Number(3.0), Literal::Number(0.0), Literal::Number(3.0)];
        assert_eq!(cells(Some(&at_least_0), &literals), number(&[0.0, 1.5, 3.0, 4.0]));
        assert_eq!(cells(None, &literals), number(&[-1.0, 0.0, 1.5, 3.0, 4.0]));
        assert_eq!(cells(Some(&json!({"enum": ["A", true]})), &[]), texts(&["a", "true"]));
        assert_eq!(cells(Some(&json!({"type": "boolean"})), &literals), texts(&["true", "false"]));
        assert_eq!(cells(None, &[Literal::Boolean(true)]), texts(&["true", "false"]));
        let both = cells(None, &[Literal::Boolean(true), Literal::Boolean(false)]);
        assert_eq!(both, [texts(&["true", "false"]), vec![Scalar::Other]].concat());
        assert_eq!(
            cells(None, &[Literal::Text("Up".into())]),
            [texts(&["up"]), vec![Scalar::Other]].concat()
        );
    }
}
