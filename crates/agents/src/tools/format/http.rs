//! Requests as text: an HTTP message, the input of RestGPT's caller, and endpoints with filled-in paths.

use super::RequestForm;
use super::arguments::{Written, variadic};
use super::grammar::Writer;
use super::members::{Member, Plain};
use crate::tools::address::{End, Piece, encoded_name, kept, pieces};
use crate::tools::binding::{Binding, Body, BodyMembers, HttpBinding, Location, Media, Parameter, Style};
use crate::tools::errors;
use crate::tools::set::{Tool, is_fatal};
use grammata::error::Result;
use grammata::grammar::{ByteSet, ExprId, Members, Order};
use grammata::syntax::json_schema::Spelling;
use serde_json::{Value, json};

pub(super) const METHODS: [&str; 9] =
    ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "TRACE", "QUERY"];

/// Returns the separator of the items of an array. If each item is a pair with the parameter's name, the separator is
/// the end of a pair and the name of the next one. Returns `None` if items may contain the separator of the style.
pub(super) fn separator(parameter: &Parameter) -> Option<String> {
    let name = encoded_name(&parameter.name);
    Some(match (parameter.style, parameter.explode) {
        (Style::Simple, _) | (Style::Form | Style::Label | Style::Matrix, false) => ",".to_owned(),
        (Style::Label, true) => ".".to_owned(),
        (Style::Matrix, true) => format!(";{name}="),
        (Style::Form, true) if parameter.location == Location::Cookie => format!("; {name}="),
        (Style::Form, true) => format!("&{name}="),
        _ => return None,
    })
}

/// Returns the text before the value of a parameter in a path.
pub(super) fn in_path_before(parameter: &Parameter) -> String {
    match parameter.style {
        Style::Label => ".".to_owned(),
        Style::Matrix => format!(";{}=", encoded_name(&parameter.name)),
        _ => String::new(),
    }
}

pub(super) fn member_of<'t>(plain: &Plain<'t>, parameter: &Parameter) -> Option<Member<'t>> {
    plain.members.iter().find(|member| member.name == parameter.member).copied()
}

/// Returns the HTTP binding of a tool.
///
/// # Errors
/// The tool has no HTTP binding.
pub(super) fn binding(tool: &Tool) -> Result<&HttpBinding> {
    match &tool.binding {
        Binding::Http(http) => Ok(http),
        Binding::Host => {
            let message = "this tool is not an HTTP request";
            let allowed = "a tool of an OpenAPI document";
            Err(errors::fatal(errors::not_callable(tool.place.clone(), message, &tool.name, allowed)))
        }
    }
}

impl Writer<'_> {
    /// Returns the method and the path, either as documented or with values in its places; only as documented if the
    /// values cannot be written.
    ///
    /// # Errors
    /// The tool has no HTTP binding; limits.
    pub(super) fn endpoint(&mut self, tool: &Tool) -> Result<ExprId> {
        let http = binding(tool)?;
        let documented = self.builder.text(format!("{} {}", http.method, http.path));
        let arguments = tool.arguments.value();
        let path = Plain::of(tool, &arguments).and_then(|plain| self.path(tool, &plain, http));
        let path = match path {
            Ok(path) => path,
            Err(error) if is_fatal(&error) => return Err(error),
            Err(_) => return Ok(documented),
        };
        let method = self.builder.text(format!("{} ", http.method));
        let filled = self.builder.sequence([method, path]);
        Ok(self.builder.choice([documented, filled]))
    }

    /// Returns the grammar of a tool's request in a form.
    pub(super) fn request(&mut self, tool: &Tool, form: RequestForm) -> Result<ExprId> {
        let http = binding(tool)?;
        if !METHODS.contains(&http.method.as_str()) {
            return Err(self.unwritable(tool, &http.method, &METHODS.join(", ")));
        }
        if http.grouped && !http.parameters.is_empty() {
            return Err(self.unwritable(tool, &tool.name, "arguments that are not grouped by their places"));
        }
        let arguments = tool.arguments.value();
        let plain = Plain::of(tool, &arguments)?;
        match form {
            RequestForm::Message => self.message(tool, &plain, http),
            RequestForm::Restgpt => self.restgpt(tool, &plain, http),
        }
    }

    fn message(&mut self, tool: &Tool, plain: &Plain<'_>, http: &HttpBinding) -> Result<ExprId> {
        let mut parts = vec![self.builder.text(format!("{} ", http.method)), self.path(tool, plain, http)?];
        let query = self.parameters(tool, plain, &http.parameters, Location::Query)?;
        let before = if http.path.contains('?') { "&" } else { "?" };
        parts.push(self.pairs(tool, plain, query, (before, "&"))?);
        let mut headers = self.parameters(tool, plain, &http.parameters, Location::Header)?;
        let cookies = self.parameters(tool, plain, &http.parameters, Location::Cookie)?;
        if !cookies.is_empty() {
            let required = cookies.iter().any(|(_, cookie)| cookie.required);
            let separator = self.builder.text("; ");
            let value = self.list(tool, plain, cookies, separator, (1, None))?;
            headers.push(("Cookie", Written { key: "\nCookie: ".to_owned(), value, required }));
        }
        let nothing = self.builder.empty();
        parts.push(self.list(tool, plain, headers, nothing, (0, None))?);
        if let Some(body) = &http.body {
            let (content, required) = self.body(tool, plain, body)?;
            let blank = self.builder.text("\n\n");
            let body = self.builder.sequence([blank, content]);
            parts.push(if required { body } else { self.builder.optional(body) });
        }
        Ok(self.builder.sequence(parts))
    }

    /// Builds the path with values in its places.
    fn path(&mut self, tool: &Tool, plain: &Plain<'_>, http: &HttpBinding) -> Result<ExprId> {
        let mut parts = Vec::new();
        for piece in pieces(&http.path) {
            match piece {
                Piece::Fixed(text) => parts.push(self.builder.text(text)),
                Piece::Place(name, end) => {
                    let parameter = http
                        .parameters
                        .iter()
                        .find(|parameter| parameter.location == Location::Path && parameter.name == name);
                    let found =
                        parameter.and_then(|parameter| Some((parameter, member_of(plain, parameter)?)));
                    let Some((parameter, member)) = found else {
                        return Err(self.unwritable(tool, name, "a parameter for each place of the path"));
                    };
                    let value = self.parameter(tool, plain, parameter, &member, Some(end))?;
                    let value = value.map(|(_, value)| value);
                    let value =
                        value.ok_or_else(|| self.unwritable(tool, name, "a value that a path can hold"))?;
                    // an empty segment or a dot segment would name another path
                    let mut refused = ["", ".", ".."].map(|text| self.builder.text(text)).to_vec();
                    if let End::Before(byte) = end {
                        // requests refuse values that contain the byte
                        let (byte, any) = (self.builder.bytes([byte]), self.anything());
                        refused.push(self.builder.sequence([any, byte, any]));
                    }
                    let refused = self.builder.choice(refused);
                    let other = self.builder.complement(refused);
                    parts.push(self.builder.intersection([value, other]));
                }
            }
        }
        Ok(self.builder.sequence(parts))
    }

    /// Returns the parameters of a location, each with the text before its value. Optional parameters that cannot be
    /// written are left out.
    fn parameters<'p>(
        &mut self,
        tool: &Tool,
        plain: &Plain<'p>,
        parameters: &[Parameter],
        location: Location,
    ) -> Result<Vec<(&'p str, Written)>> {
        let mut written = Vec::new();
        for parameter in parameters.iter().filter(|parameter| parameter.location == location) {
            let Some(member) = member_of(plain, parameter) else { continue };
            match self.parameter(tool, plain, parameter, &member, None) {
                Ok(Some((key, value))) => {
                    written.push((member.name, Written { key, value, required: member.required }));
                }
                Err(error) if is_fatal(&error) => return Err(error),
                Ok(None) | Err(_) if !member.required => {}
                Ok(None) => {
                    return Err(self.unwritable(tool, member.name, "a value that a request can hold"));
                }
                Err(error) => return Err(error),
            }
        }
        Ok(written)
    }

    /// Returns the grammar of pairs such as `?a=1&b=2`: `before`, and pairs joined by `between`. If no pair is
    /// required, also the empty text.
    fn pairs(
        &mut self,
        tool: &Tool,
        plain: &Plain<'_>,
        pairs: Vec<(&str, Written)>,
        (before, between): (&str, &str),
    ) -> Result<ExprId> {
        if pairs.is_empty() {
            return Ok(self.builder.empty());
        }
        let must_come = pairs.iter().any(|(_, pair)| pair.required);
        let separator = self.builder.text(between);
        let list = self.list(tool, plain, pairs, separator, (1, None))?;
        let before = self.builder.text(before);
        let all = self.builder.sequence([before, list]);
        Ok(if must_come { all } else { self.builder.optional(all) })
    }

    /// Returns the text before the value of a parameter, and the grammar of its values; `None` if it has no values. In
    /// a path, the grammar includes the text before the value.
    fn parameter(
        &mut self,
        tool: &Tool,
        plain: &Plain<'_>,
        parameter: &Parameter,
        member: &Member<'_>,
        end: Option<End<'_>>,
    ) -> Result<Option<(String, ExprId)>> {
        let is_header = parameter.location == Location::Header;
        let key = match parameter.location {
            Location::Header => format!("\n{}: ", parameter.name),
            Location::Path => in_path_before(parameter),
            Location::Query | Location::Cookie => format!("{}=", encoded_name(&parameter.name)),
        };
        if matches!(parameter.style, Style::Json | Style::Cookie) {
            return Err(self.unwritable(tool, member.name, "a style that is neither JSON nor `cookie`"));
        }
        let kept = kept(parameter, end);
        if parameter.style == Style::DeepObject {
            return self.deep_object(tool, plain, member, parameter, &kept);
        }
        let scalar = |writer: &mut Self, schema: &Value| match is_header {
            true => writer.value(tool, &plain.alone(schema), Spelling::Line),
            false => writer.encoded(tool, &plain.alone(schema), &kept),
        };
        let value = match variadic(plain, member) {
            Some((item, min, max)) => {
                let Some(mut item) = scalar(self, item)? else { return Ok(None) };
                let Some(separator) = separator(parameter) else {
                    return Err(self.unwritable(tool, member.name, "an array with commas between its items"));
                };
                if is_header {
                    item = self.without_comma(item);
                }
                let separator = self.builder.text(separator);
                self.builder.separated(item, separator, min.max(1), max)
            }
            None => match scalar(self, member.schema)? {
                Some(value) => value,
                None => return Ok(None),
            },
        };
        let value = match parameter.location {
            Location::Path => {
                let before = self.builder.text(&key);
                self.builder.sequence([before, value])
            }
            Location::Header => self.without_blanks_around(value),
            Location::Query | Location::Cookie => value,
        };
        Ok(Some((key, value)))
    }

    /// Returns the percent-encoded texts of a scalar; `None` if there are none.
    fn encoded(&mut self, tool: &Tool, schema: &Value, kept: &ByteSet) -> Result<Option<ExprId>> {
        let kept: String = kept.iter().map(char::from).collect();
        let options = self.options.schema.clone().spelling(Spelling::Percent).unencoded(Some(kept));
        self.value_in(tool, schema, &options)
    }

    fn without_comma(&mut self, texts: ExprId) -> ExprId {
        let (comma, any) = (self.builder.text(","), self.anything());
        let with_comma = self.builder.sequence([any, comma, any]);
        let without = self.builder.complement(with_comma);
        self.builder.intersection([texts, without])
    }

    fn without_blanks_around(&mut self, texts: ExprId) -> ExprId {
        let (blank, any) = (self.builder.class([(' ', ' '), ('\t', '\t')]), self.anything());
        let around = [self.builder.sequence([blank, any]), self.builder.sequence([any, blank])];
        let around = self.builder.choice(around);
        let others = self.builder.complement(around);
        self.builder.intersection([texts, others])
    }

    fn anything(&mut self) -> ExprId {
        let any = self.builder.byte_set(ByteSet::FULL);
        self.builder.star(any)
    }

    /// Builds the pairs of an object, such as `a%5Bx%5D=1&a%5By%5D=2`.
    fn deep_object(
        &mut self,
        tool: &Tool,
        plain: &Plain<'_>,
        member: &Member<'_>,
        parameter: &Parameter,
        kept: &ByteSet,
    ) -> Result<Option<(String, ExprId)>> {
        let inner = plain.alone(plain.resolved(member.schema));
        let properties = Plain::of(tool, &inner)?;
        let mut written = Vec::new();
        let before = format!("{}%5B", encoded_name(&parameter.name));
        for one in &properties.members {
            // all keys share the parameter's name as prefix, so a key is stored without it
            let key = format!("{}%5D=", encoded_name(one.name));
            match self.encoded(tool, &properties.alone(one.schema), kept)? {
                Some(value) => written.push((one.name, Written { key, value, required: one.required })),
                None if one.required => {
                    return Err(self.unwritable(tool, one.name, "a value that it can write"));
                }
                None => {}
            }
        }
        if written.is_empty() {
            return Ok(None);
        }
        let separator = self.builder.text(format!("&{before}"));
        let min = properties.min.max(1);
        Ok(Some((before, self.list(tool, &properties, written, separator, (min, properties.max))?)))
    }

    /// Returns the content of a body, and whether the body is always present.
    fn body(&mut self, tool: &Tool, plain: &Plain<'_>, body: &Body) -> Result<(ExprId, bool)> {
        let (members, required) = body_members(plain, body);
        let is_whole = matches!(body.members, BodyMembers::Whole(_));
        let schema = match (is_whole, members.first()) {
            (true, Some((member, _))) => {
                let found = plain.members.iter().find(|known| known.name == *member);
                plain.alone(found.map_or(&Value::Bool(true), |found| found.schema))
            }
            _ => plain.object(&members, !required),
        };
        let content = match body.media {
            Media::Json => self.value(tool, &schema, Spelling::Json)?,
            Media::Text => self.value(tool, &schema, Spelling::Text)?,
            Media::Form if !is_whole => {
                let object = Plain::of(tool, &schema)?;
                let fields: Vec<Parameter> = members.iter().map(|(_, name)| body.field(name, name)).collect();
                let written = self.parameters(tool, &object, &fields, Location::Query)?;
                let separator = self.builder.text("&");
                Some(self.list(tool, &object, written, separator, (u32::from(!required), None))?)
            }
            Media::Form | Media::Multipart => None,
        };
        let Some(content) = content else {
            return Err(self.unwritable(
                tool,
                &body.media_type,
                "a body in JSON, a form of scalars and arrays of them, or text",
            ));
        };
        Ok((content, required))
    }

    /// Returns the grammar of RestGPT's input: a method such as `GET`, a line break, `Input: ` and an object.
    fn restgpt(&mut self, tool: &Tool, plain: &Plain<'_>, http: &HttpBinding) -> Result<ExprId> {
        let Some(server) = &http.server else {
            return Err(self.unwritable(
                tool,
                &tool.name,
                "a server with an absolute address: `--server URL`",
            ));
        };
        let apart = http
            .parameters
            .iter()
            .filter(|parameter| matches!(parameter.location, Location::Header | Location::Cookie))
            .filter_map(|parameter| member_of(plain, parameter))
            .find(|member| member.required);
        if let Some(member) = apart {
            return Err(self.unwritable(tool, member.name, "parameters in the path and the query"));
        }
        if plain.has_conditions() && http.body.is_none() {
            return Err(self.unwritable(tool, &tool.name, "arguments that do not depend on each other"));
        }
        let text = Some(self.value(tool, &json!({"type": "string"}), Spelling::Json)?);
        let start = self.builder.text(Value::from(server.as_str()).to_string().trim_end_matches('"'));
        let (path, quote) = (self.path(tool, plain, http)?, self.builder.text("\""));
        let url = self.builder.sequence([start, path, quote]);
        let mut members = vec![("url", url, true)];
        let query = query_members(plain, http);
        if http.method == "GET" || !query.is_empty() {
            let schema = plain.object(&query, false);
            let Some(value) = self.value(tool, &schema, Spelling::Json)? else {
                return Err(self.unwritable(tool, "params", "values that can be written"));
            };
            members.push(("params", value, true));
        }
        if let Some(body) = &http.body {
            if !matches!(body.media, Media::Json | Media::Form | Media::Text) {
                return Err(self.unwritable(tool, &body.media_type, "a body in JSON, a form or text"));
            }
            let (names, required) = body_members(plain, body);
            let schema = match (&body.members, names.first()) {
                (BodyMembers::Whole(_), Some((member, _))) => {
                    let found = plain.members.iter().find(|known| known.name == *member);
                    plain.alone(found.map_or(&Value::Bool(true), |found| found.schema))
                }
                _ => plain.object(&names, !required),
            };
            let Some(value) = self.value(tool, &schema, Spelling::Json)? else {
                return Err(self.unwritable(tool, "data", "values that can be written"));
            };
            members.push(("data", value, required));
        }
        for name in ["description", "output_instructions"] {
            members.extend(text.flatten().map(|value| (name, value, true)));
        }
        let gap = self.space();
        let list = members.into_iter().map(|(name, value, required)| {
            let colon = self.builder.text(":");
            let value = self.builder.sequence([gap, colon, gap, value, gap]);
            grammata::grammar::Member { key: format!("\"{name}\"").into_bytes().into(), value, required }
        });
        let members = list.collect();
        let comma = self.builder.text(",");
        let separator = self.builder.sequence([comma, gap]);
        let (ones, conditions) = (Box::default(), Box::default());
        let list = Members {
            order: Order::Declared,
            members,
            rest: None,
            ones,
            conditions,
            separator,
            min: 0,
            max: None,
        };
        let parts = [
            self.builder.text(format!("{}\nInput: {{", http.method)),
            gap,
            self.builder.member_list(list),
            self.builder.text("}"),
        ];
        Ok(self.builder.sequence(parts))
    }
}

/// Returns the arguments that are in the query, with their names in the query.
pub(super) fn query_members<'t>(plain: &Plain<'t>, http: &'t HttpBinding) -> Vec<(&'t str, &'t str)> {
    let query = http.parameters.iter().filter(|parameter| parameter.location == Location::Query);
    query.filter_map(|parameter| Some((member_of(plain, parameter)?.name, parameter.name.as_str()))).collect()
}

/// Returns the arguments that form a body, with their names in the body, and whether the body is always present.
pub(super) fn body_members<'t>(plain: &Plain<'t>, body: &'t Body) -> (Vec<(&'t str, &'t str)>, bool) {
    let members: Vec<(&str, &str)> = match &body.members {
        BodyMembers::Flat(members) => {
            members.iter().map(|(member, name)| (member.as_str(), name.as_str())).collect()
        }
        BodyMembers::Whole(member) => vec![(member.as_str(), member.as_str())],
    };
    let is_required = |name: &str| plain.members.iter().any(|member| member.name == name && member.required);
    let must_come = members.iter().any(|(member, _)| is_required(member));
    (members, must_come || (body.required && matches!(body.members, BodyMembers::Flat(_))))
}
