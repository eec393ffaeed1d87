//! Resolution of URI references against base URIs (RFC 3986, section 5.2). Fragments are handled separately.

/// The parts of a URI reference without fragment.
#[derive(Clone, Copy, Default)]
struct Parts<'t> {
    scheme: Option<&'t str>,
    authority: Option<&'t str>,
    path: &'t str,
    query: Option<&'t str>,
}

impl<'t> Parts<'t> {
    fn of(mut text: &'t str) -> Parts<'t> {
        let mut parts = Parts::default();
        let scheme = text.find([':', '/', '?']).filter(|&end| text[end..].starts_with(':'));
        if let Some(end) = scheme.filter(|&end| is_scheme(&text[..end])) {
            (parts.scheme, text) = (Some(&text[..end]), &text[end + 1..]);
        }
        if let Some((before, query)) = text.split_once('?') {
            (text, parts.query) = (before, Some(query));
        }
        if let Some(rest) = text.strip_prefix("//") {
            let end = rest.find('/').unwrap_or(rest.len());
            (parts.authority, text) = (Some(&rest[..end]), &rest[end..]);
        }
        parts.path = text;
        parts
    }
}

fn is_scheme(text: &str) -> bool {
    let mut bytes = text.bytes();
    bytes.next().is_some_and(|first| first.is_ascii_alphabetic())
        && bytes.all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte))
}

/// Splits a reference into a URI without fragment and the fragment (without `#`; empty if there is none).
pub(super) fn split(reference: &str) -> (&str, &str) {
    reference.split_once('#').unwrap_or((reference, ""))
}

/// Returns the URI that a reference without fragment means within a resource of URI `base`. `base` may be relative.
pub(super) fn resolve(base: &str, reference: &str) -> String {
    let (base, reference) = (Parts::of(base), Parts::of(reference));
    let path = |path: &str| without_dots(path);
    let mut target = String::new();
    let (authority, path, query) = if reference.scheme.is_some() || reference.authority.is_some() {
        (reference.authority, path(reference.path), reference.query)
    } else if reference.path.is_empty() {
        (base.authority, base.path.to_owned(), reference.query.or(base.query))
    } else if reference.path.starts_with('/') {
        (base.authority, path(reference.path), reference.query)
    } else {
        let folder = match base.path.rfind('/') {
            Some(end) => &base.path[..=end],
            None if base.authority.is_some() => "/",
            None => "",
        };
        (base.authority, path(&format!("{folder}{}", reference.path)), reference.query)
    };
    if let Some(scheme) = reference.scheme.or(base.scheme) {
        target = format!("{scheme}:");
    }
    if let Some(authority) = authority {
        target = format!("{target}//{authority}");
    }
    target.push_str(&path);
    if let Some(query) = query {
        target = format!("{target}?{query}");
    }
    target
}

/// Returns the path without segments `.` and `..`; each `..` also removes the segment before it.
fn without_dots(path: &str) -> String {
    let mut kept: Vec<&str> = Vec::new();
    let rooted = path.starts_with('/');
    let segments: Vec<&str> = path.strip_prefix('/').unwrap_or(path).split('/').collect();
    for (index, &segment) in segments.iter().enumerate() {
        let is_last = index + 1 == segments.len();
        match segment {
            "." => {}
            ".." => {
                kept.pop();
            }
            segment => {
                kept.push(segment);
                continue;
            }
        }
        if is_last {
            kept.push("");
        }
    }
    format!("{}{}", if rooted { "/" } else { "" }, kept.join("/"))
}

#[cfg(test)]
mod tests {
    use super::resolve;

    #[test]
    fn references_of_section_5_4() {
        let base = "http://a/b/c/d;p?q";
        for (reference, target) in [
            ("g:h", "g:h"),
            ("g", "http://a/b/c/g"),
            ("./g", "http://a/b/c/g"),
            ("g/", "http://a/b/c/g/"),
            ("/g", "http://a/g"),
            ("//g", "http://g"),
            ("?y", "http://a/b/c/d;p?y"),
            ("g?y", "http://a/b/c/g?y"),
            (";x", "http://a/b/c/;x"),
            ("", "http://a/b/c/d;p?q"),
            (".", "http://a/b/c/"),
            ("..", "http://a/b/"),
            ("../g", "http://a/b/g"),
            ("../..", "http://a/"),
            ("../../../g", "http://a/g"),
            ("/./g", "http://a/g"),
            ("g..", "http://a/b/c/g.."),
            ("./g/.", "http://a/b/c/g/"),
            ("g;x=1/../y", "http://a/b/c/y"),
            ("g?y/./x", "http://a/b/c/g?y/./x"),
        ] {
            assert_eq!(resolve(base, reference), target, "{reference}");
        }
        assert_eq!(resolve("", "a/b.json"), "a/b.json");
        assert_eq!(resolve("a/b.json", "c.json"), "a/c.json");
        assert_eq!(resolve("http://a", "b"), "http://a/b");
        assert_eq!(resolve("urn:example:one", ""), "urn:example:one");
        assert_eq!(resolve("urn:example:one", "urn:example:two"), "urn:example:two");
    }
}
