//! What a call of a tool stands for: where each argument goes in an HTTP request (OpenAPI 3.2, sections 4.12 to 4.14; RFC 6570).

/// What a call stands for.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub enum Binding {
    /// The host knows.
    #[default]
    Host,
    /// An HTTP request.
    Http(Box<HttpBinding>),
}

/// An HTTP request with places for arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HttpBinding {
    /// The method in capitals.
    pub method: String,
    /// The path with `{name}` where path parameters go.
    pub path: String,
    /// What the path is appended to. `None`: the document has none, or a relative one and no address of its own.
    pub server: Option<String>,
    /// Whether the arguments are grouped by places: a parameter's value is a member of the member `path`, `query` and so on.
    pub grouped: bool,
    /// The parameters in the order of the document.
    pub parameters: Vec<Parameter>,
    /// The body, if it may have one.
    pub body: Option<Body>,
    /// The names of members in answers of success, as far as the document says, each once.
    pub outputs: Vec<String>,
}

/// Where a parameter goes.
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
    /// Its name in OpenAPI.
    pub fn name(self) -> &'static str {
        match self {
            Location::Path => "path",
            Location::Query => "query",
            Location::Header => "header",
            Location::Cookie => "cookie",
        }
    }
}

/// How the value of a parameter is written (OpenAPI 3.2, section 4.12.5; `collectionFormat` of 2.0).
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
    /// `a=b; a=c`, nothing encoded (3.2)
    Cookie,
    /// The value as JSON text: a parameter with `content`
    Json,
}

/// A parameter of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// The member of the argument object that has its value.
    pub member: String,
    /// Its name in the request.
    pub name: String,
    /// Where it goes.
    pub location: Location,
    /// How it is written.
    pub style: Style,
    /// Whether items and members are written one by one.
    pub explode: bool,
    /// Whether reserved characters are not encoded, but for those that end a value or separate its parts.
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
    /// Its media type, as in the document.
    pub media_type: String,
    /// The kind of that.
    pub media: Media,
    /// Whether there is always one: an empty object if no member is given.
    pub required: bool,
    /// Which members of the argument object make it.
    pub members: BodyMembers,
    /// How members of a form are written where the document says so.
    pub encodings: Vec<Encoding>,
}

/// How a member of a form is written (OpenAPI 3.2, section 4.15).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Encoding {
    /// Its name in the body.
    pub name: String,
    /// How a value is written.
    pub style: Style,
    /// Whether items and members are written one by one.
    pub explode: bool,
    /// Whether reserved characters are not encoded, but for those that end a value or separate its parts.
    pub allow_reserved: bool,
    /// Whether the document names a style: an object without one is JSON text.
    pub is_styled: bool,
    /// The media type of its part in multipart, if the document names one.
    pub media_type: Option<String>,
}

/// The members of the argument object that make a body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BodyMembers {
    /// The body is an object: a member of the arguments with its name in the body.
    Flat(Vec<(String, String)>),
    /// The body is the value of this member.
    Whole(String),
}
