//! Slices of one list, each by its end.

/// Those of many that are of one id, where those of each end in turn.
pub(crate) fn items_of<'a, T>(items: &'a [T], ends: &[u32], id: u32) -> &'a [T] {
    let start = if id == 0 { 0 } else { ends[id as usize - 1] as usize };
    &items[start..ends[id as usize] as usize]
}
