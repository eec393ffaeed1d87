//! Documents other than the schema itself that references may name, by URI.

use serde_json::Value;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

type Resolver = Arc<dyn Fn(&str) -> Result<Value, String> + Send + Sync>;

/// Documents that `$ref` may name. By default there are none. Nothing is ever fetched: a URI that is neither in the
/// schema nor here is the error `json-schema/remote-reference`.
///
/// ```
/// use grammata::syntax::json_schema::{Documents, Options, compile};
/// use serde_json::json;
///
/// let mut documents = Documents::default();
/// documents.insert("https://example.com/size.json", json!({"enum": ["S", "M", "L"]}));
/// let options = Options::default().documents(documents);
/// let compiled = compile(r#"{"$ref": "https://example.com/size.json"}"#, &options)?;
/// assert_eq!(compiled.grammar.to_string().matches('|').count(), 2);
/// # Ok::<(), grammata::Error>(())
/// ```
#[derive(Clone, Default)]
pub struct Documents {
    known: BTreeMap<String, Value>,
    resolver: Option<Resolver>,
}

impl Documents {
    /// Adds the document of a URI and returns the previous one. The URI has no fragment; an empty one (`#` at the end)
    /// is removed.
    pub fn insert(&mut self, uri: impl Into<String>, document: Value) -> Option<Value> {
        let uri = uri.into();
        self.known.insert(uri.strip_suffix('#').unwrap_or(&uri).to_owned(), document)
    }

    /// Sets the function that returns the documents of all other URIs (without fragment), or the reason why there is
    /// none. In one compilation it is called once for each URI that the schema needs. A compilation fails if it needs
    /// more than 1,000 documents, including those of [`insert`](Documents::insert).
    pub fn set_resolver(&mut self, resolver: impl Fn(&str) -> Result<Value, String> + Send + Sync + 'static) {
        self.resolver = Some(Arc::new(resolver));
    }

    /// Returns the document of a URI; `None` if the URI is unknown and there is no resolver.
    pub(super) fn get(&self, uri: &str) -> Option<Result<Cow<'_, Value>, String>> {
        match (self.known.get(uri), &self.resolver) {
            (Some(known), _) => Some(Ok(Cow::Borrowed(known))),
            (None, Some(resolver)) => Some(resolver(uri).map(Cow::Owned)),
            (None, None) => None,
        }
    }
}

impl fmt::Debug for Documents {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Documents")
            .field("known", &self.known.keys())
            .field("has_resolver", &self.resolver.is_some())
            .finish()
    }
}

/// Two values are equal if their documents are equal and they share the same resolver.
impl PartialEq for Documents {
    fn eq(&self, other: &Documents) -> bool {
        let same = match (&self.resolver, &other.resolver) {
            (None, None) => true,
            (Some(one), Some(other)) => Arc::ptr_eq(one, other),
            _ => false,
        };
        same && self.known == other.known
    }
}

impl Eq for Documents {}

impl Hash for Documents {
    fn hash<H: Hasher>(&self, state: &mut H) {
        // equal documents have equal names
        self.known.keys().for_each(|uri| uri.hash(state));
    }
}
