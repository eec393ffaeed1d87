//! JSON Pointers to places in a spec.

/// The JSON Pointer (RFC 6901) of a path of field names, with `~` and `/` escaped. The pointer of the empty path is
/// empty.
pub(super) fn pointer<'a>(path: impl IntoIterator<Item = &'a str>) -> String {
    let mut pointer = String::new();
    for part in path {
        pointer.push('/');
        pointer.push_str(&part.replace('~', "~0").replace('/', "~1"));
    }
    pointer
}
