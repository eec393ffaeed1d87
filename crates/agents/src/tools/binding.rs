//! Bindings: the action that a call of a tool executes, and the place of each argument in an HTTP request (OpenAPI 3.2,
//! sections 4.12 to 4.14; RFC 6570).

/// The action that a call of a tool executes.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub enum Binding {
    /// An action known only to the host.
    #[default]
    Host,
    /// An HTTP request.
    Http(Box<HttpBinding>),
}

/// A template of an HTTP request, with places for arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HttpBinding {
    /// The method: in capitals, or as `additionalOperations` of the document spells it.
    pub method: String,
    /// The path, with `{name}` for each path parameter.
    pub path: String,
    /// The address to which the path is appended. `None` if the document names no server, a relative address, or an
    /// address that no path can follow, and [`ReadOptions::server`](super::ReadOptions::server) gives no usable base.
    pub server: Option<String>,
    /// Whether the arguments are grouped by location: the value of a parameter is then a member of an argument `path`,
    /// `query`, `header` or `cookie`.
    pub grouped: bool,
    /// The parameters, in the order of the document.
    pub parameters: Vec<Parameter>,
    /// The body, if the request may have one.
    pub body: Option<Body>,
    /// The declared names of members of successful JSON responses, without duplicates; at most 200 names, of members at
    /// most five levels below the outermost.
    pub outputs: Vec<String>,
}

/// The location of a parameter in a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Location {
    /// In the path.
    Path,
    /// In the query.
    Query,
    /// A header.
    Header,
    /// A cookie.
    Cookie,
}

impl Location {
    /// Returns the name of the location in OpenAPI.
    pub fn name(self) -> &'static str {
        match self {
            Location::Path => "path",
            Location::Query => "query",
            Location::Header => "header",
            Location::Cookie => "cookie",
        }
    }
}

/// The serialisation of the value of a parameter (OpenAPI 3.2, section 4.12.5; `collectionFormat` of 2.0).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Style {
    /// `b,c`
    Simple,
    /// `.b.c`
    Label,
    /// `;a=b;a=c`
    Matrix,
    /// `a=b&a=c`
    Form,
    /// `a=b%20c`
    SpaceDelimited,
    /// `a=b%7Cc`
    PipeDelimited,
    /// `a=b%09c`: `tsv` of 2.0
    TabDelimited,
    /// `a%5Bk%5D=b`
    DeepObject,
    /// `a=b; a=c`, without encoding (3.2)
    Cookie,
    /// The value as JSON text, for a parameter with `content`
    Json,
}

/// A parameter of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// The member that holds the value of the parameter: a member of the argument object or, if arguments are
    /// [`grouped`](HttpBinding::grouped), of the group of its location.
    pub member: String,
    /// The name of the parameter in the request.
    pub name: String,
    /// Where in the request the parameter is.
    pub location: Location,
    /// How the value is written.
    pub style: Style,
    /// Whether each item or member is written separately.
    pub explode: bool,
    /// Whether reserved characters stay unencoded, except those that end a value or separate its parts.
    pub allow_reserved: bool,
}

/// The kind of a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Media {
    /// JSON text.
    Json,
    /// `application/x-www-form-urlencoded`.
    Form,
    /// `multipart/form-data` of texts.
    Multipart,
    /// `text/plain`.
    Text,
}

/// The body of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Body {
    /// The media type, as in the document.
    pub media_type: String,
    /// The kind of the media type.
    pub media: Media,
    /// Whether a body of members ([`BodyMembers::Flat`]) is present even if no member is given, as an empty object.
    pub required: bool,
    /// The members of the argument object that form the body.
    pub members: BodyMembers,
    /// The serialisations of form members that the document declares.
    pub encodings: Vec<Encoding>,
}

/// The serialisation of a form member (OpenAPI 3.2, section 4.15).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Encoding {
    /// The name of the form member in the body.
    pub name: String,
    /// The style of the value.
    pub style: Style,
    /// Whether each item or member is written separately.
    pub explode: bool,
    /// Whether reserved characters stay unencoded, except those that end a value or separate its parts.
    pub allow_reserved: bool,
    /// Whether the document names a style; an object without one is JSON text.
    pub is_styled: bool,
    /// The media type of the member's part in a multipart body, if the document names one.
    pub media_type: Option<String>,
}

/// The members of the argument object that form a body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BodyMembers {
    /// The body is an object. Each pair is a member of the arguments and its name in the body.
    Flat(Vec<(String, String)>),
    /// The body is the value of this member.
    Whole(String),
}
