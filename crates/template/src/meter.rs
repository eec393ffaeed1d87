//! The meter of a rendering: it counts the work left, and measures values.

use crate::methods::Method;
use crate::namespace::Namespace;
use minijinja::value::{Value, ValueKind};
use minijinja::{Error, ErrorKind};
use std::cell::Cell;
use std::time::{Duration, Instant};

/// Units of work per value produced or visited. This is more than the bytes that the value's entry in a list or mapping
/// takes.
pub(crate) const NODE: u64 = 64;
/// Additional units per list or mapping visited, for its iterator.
const COMPOUND: u64 = 192;
/// Maximum nesting of a value. JSON from outside nests at most 127 deep (serde_json's bound). Comparing, writing and
/// dropping a value recurse once per level.
const DEPTH: usize = 200;
/// Maximum clock time of a rendering, checked at every 256th charge. It only catches work that is not charged for; with
/// the default limit, the charges end a rendering within a second or two.
const DEADLINE: Duration = Duration::from_secs(20);

/// Counts the work of one rendering in units: bytes of text produced or compared, and [`NODE`] for each value produced
/// or visited. Dropping a value returns no units, so the remaining units also bound the memory of values.
#[derive(Debug)]
pub(crate) struct Meter {
    left: Cell<u64>,
    charges: Cell<u64>,
    start: Cell<Option<Instant>>,
}

thread_local! {
    /// The meter of the rendering on this thread. It is not part of the environment, so that all renderings share one
    /// environment.
    static METER: Meter = const { Meter { left: Cell::new(0), charges: Cell::new(0), start: Cell::new(None) } };
}

/// Calls `action` with the meter of the rendering on this thread.
pub(crate) fn metered<R>(action: impl FnOnce(&Meter) -> R) -> R {
    METER.with(action)
}

/// The size of a value with all values in it, counted as a tree: a value that occurs twice is counted twice.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Size {
    /// Number of values, including the measured one.
    pub(crate) nodes: u64,
    /// Total bytes of texts and byte strings.
    pub(crate) bytes: u64,
    /// Greatest nesting of lists and mappings; 0 if the measured value has no items.
    pub(crate) depth: u64,
    /// Whether a namespace or the variable `loop` is among the values.
    pub(crate) mutable: bool,
}

impl Size {
    /// Returns the units of work to write the value: six for each byte of text, because escapes may take six times the
    /// bytes, and [`NODE`] for each value.
    pub(crate) fn written(&self) -> u64 {
        self.bytes.saturating_mul(6).saturating_add(self.nodes.saturating_mul(NODE))
    }

    fn add(&mut self, value: &Value) -> Result<Option<Children>, Error> {
        self.nodes += 1;
        match value.kind() {
            ValueKind::String | ValueKind::Bytes => {
                self.bytes = self.bytes.saturating_add(value.as_bytes().map_or(0, <[u8]>::len) as u64);
            }
            ValueKind::Seq | ValueKind::Iterable => return Ok(value.as_object().and_then(|o| o.try_iter())),
            ValueKind::Map => {
                self.mutable |= mutable(value);
                let pairs = value.as_object().and_then(|o| o.try_iter_pairs());
                return Ok(pairs.map(|pairs| Box::new(pairs.flat_map(|(k, v)| [k, v])) as Children));
            }
            ValueKind::Plain => self.mutable |= mutable(value),
            _ => {}
        }
        Ok(None)
    }
}

/// Returns whether a value is mutable: a namespace, or the variable `loop` (through its method `changed`). A method
/// counts as mutable, because the value that it belongs to is not measured.
fn mutable(value: &Value) -> bool {
    value.downcast_object_ref::<Namespace>().is_some()
        || value.downcast_object_ref::<Method>().is_some()
        || value.as_object().is_some_and(|object| object.type_name().ends_with("::Loop"))
}

type Children = Box<dyn Iterator<Item = Value> + Send + Sync>;

impl Meter {
    /// Starts a rendering with a budget of `work` units.
    pub(crate) fn begin(&self, work: usize) {
        self.left.set(work as u64);
        self.charges.set(0);
        self.start.set(Some(Instant::now()));
    }

    /// Spends `units`. Fails if the budget has fewer left, or if the deadline has passed, which is checked at every
    /// 256th call.
    pub(crate) fn spend(&self, units: u64) -> Result<(), Error> {
        let Some(left) = self.left.get().checked_sub(units) else {
            self.left.set(0);
            return Err(Error::new(ErrorKind::OutOfFuel, "the template makes or visits too much"));
        };
        self.left.set(left);
        let charges = self.charges.get().wrapping_add(1);
        self.charges.set(charges);
        if charges.is_multiple_of(256) && self.start.get().is_some_and(|start| start.elapsed() > DEADLINE) {
            return Err(Error::new(ErrorKind::OutOfFuel, "the template takes too long"));
        }
        Ok(())
    }

    /// Measures `value`. Each visited value is charged for, so that a value that contains another many times cannot
    /// take exponential time. Fails if the budget is exceeded, if the deadline has passed, or if values are nested more
    /// than [`DEPTH`] deep.
    pub(crate) fn measure(&self, value: &Value) -> Result<Size, Error> {
        let mut size = Size::default();
        let mut open: Vec<Children> = Vec::new();
        if let Some(children) = size.add(value)? {
            self.spend(COMPOUND)?;
            open.push(children);
        }
        while let Some(children) = open.last_mut() {
            let Some(child) = children.next() else {
                open.pop();
                continue;
            };
            self.spend(NODE)?;
            if let Some(children) = size.add(&child)? {
                self.spend(COMPOUND)?;
                open.push(children);
                if open.len() > DEPTH {
                    let text = format!("values are nested more than {DEPTH} deep");
                    return Err(Error::new(ErrorKind::InvalidOperation, text));
                }
            }
            size.depth = size.depth.max(open.len() as u64);
        }
        Ok(size)
    }

    /// Charges for the items of `value` and returns it. A lazy iterable, whose items are computed again at each use, is
    /// replaced by a list, because such iterables may contain each other to any depth.
    pub(crate) fn settle(&self, value: &Value) -> Result<Value, Error> {
        if value.kind() != ValueKind::Iterable {
            self.spend(value.len().unwrap_or(0) as u64)?;
            return Ok(value.clone());
        }
        let mut items = Vec::new();
        for item in value.try_iter()?.checked() {
            self.spend(NODE)?;
            items.push(item?);
        }
        Ok(Value::from(items))
    }
}
