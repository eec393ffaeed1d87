//! The requests of calls: the styles of RFC 6570, and the place of each argument.

use grammata_agents::tools::{Call, CallFormat, Document, ReadOptions, ToolSet, read};
use serde_json::{Value, json};

fn request(set: &ToolSet, tool: &str, arguments: Value) -> Result<String, &'static str> {
    let arguments = arguments.as_object().unwrap().clone();
    let made = set.request(&Call { tool: tool.to_owned(), arguments }).map_err(|error| error.code())?;
    let headers: String = made.headers.iter().map(|(name, value)| format!(" {name}={value}")).collect();
    let body = made.body.map_or_else(String::new, |body| format!(" {body}"));
    Ok(format!("{} {}{headers}{body}", made.method, made.url))
}

/// Returns a set of one operation with a parameter `a` of the given location and style.
fn with_parameter(location: &str, style: &str, explode: bool) -> ToolSet {
    let path = if location == "path" { "/{a}" } else { "/" };
    let text = json!({"openapi": "3.2.0", "servers": [{"url": "http://h"}], "paths": {path: {"get": {"operationId": "t", "parameters": [
        {"name": "a", "in": location, "required": true, "style": style, "explode": explode, "schema": {}}]}}}});
    super::tools::set(&text.to_string()).unwrap()
}

#[test]
fn parameters_are_written_by_their_styles() {
    // location, style, explode, how the array ["b", "c"] is written, how the object {"R": 1, "G": 2} is written
    let cases = [
        ("path", "simple", false, "/b,c", "/R,1,G,2"),
        ("path", "simple", true, "/b,c", "/R=1,G=2"),
        ("path", "label", false, "/.b,c", "/.R,1,G,2"),
        ("path", "label", true, "/.b.c", "/.R=1.G=2"),
        ("path", "matrix", false, "/;a=b,c", "/;a=R,1,G,2"),
        ("path", "matrix", true, "/;a=b;a=c", "/;R=1;G=2"),
        ("query", "form", false, "/?a=b,c", "/?a=R,1,G,2"),
        ("query", "form", true, "/?a=b&a=c", "/?R=1&G=2"),
        ("query", "spaceDelimited", false, "/?a=b%20c", "/?a=R%201%20G%202"),
        ("query", "pipeDelimited", false, "/?a=b%7Cc", "/?a=R%7C1%7CG%7C2"),
        ("header", "simple", false, "/ a=b,c", "/ a=R,1,G,2"),
        ("header", "simple", true, "/ a=b,c", "/ a=R=1,G=2"),
        ("cookie", "form", false, "/ Cookie=a=b,c", "/ Cookie=a=R,1,G,2"),
        ("cookie", "cookie", true, "/ Cookie=a=b; a=c", "/ Cookie=R=1; G=2"),
    ];
    for (location, style, explode, array, object) in cases {
        let set = with_parameter(location, style, explode);
        let made = |value: Value| request(&set, "t", json!({"a": value})).unwrap();
        let name = format!("{location} {style} {explode}");
        assert_eq!(made(json!(["b", "c"])), format!("GET http://h{array}"), "{name}");
        assert_eq!(made(json!({"R": 1, "G": 2})), format!("GET http://h{object}"), "{name}");
    }
    let deep = with_parameter("query", "deepObject", true);
    assert_eq!(
        request(&deep, "t", json!({"a": {"R": 1, "G": 2}})).unwrap(),
        "GET http://h/?a%5BR%5D=1&a%5BG%5D=2"
    );
}

#[test]
fn values_are_encoded_and_cannot_leave_their_place() {
    let path = with_parameter("path", "simple", false);
    let made = |value: &str| request(&path, "t", json!({"a": value}));
    assert_eq!(made("AC/DC & friends?").unwrap(), "GET http://h/AC%2FDC%20%26%20friends%3F");
    assert_eq!(made("ü").unwrap(), "GET http://h/%C3%BC");
    for value in ["", ".", ".."] {
        assert_eq!(made(value), Err("tools/request"), "{value}");
    }
    let query = with_parameter("query", "form", false);
    assert_eq!(
        request(&query, "t", json!({"a": ["b,c", true, 1.5]})).unwrap(),
        "GET http://h/?a=b%2Cc,true,1.5"
    );
    let header = with_parameter("header", "simple", false);
    assert_eq!(request(&header, "t", json!({"a": "x\r\nHost: evil"})), Err("tools/request"));
}

#[test]
fn each_argument_goes_where_its_parameter_is() {
    let text = include_str!("../../../../tests/cases/tools/read/openapi-names.json");
    let set = super::tools::set(text).unwrap();
    let server = "https://api.example.com/v1";
    let all = json!({"id": "p", "id_query": "q", "id_body": "b"});
    let expected = format!("PUT {server}/users/p?id=q Content-Type=application/json {{\"id\":\"b\"}}");
    assert_eq!(request(&set, "same_id", all).unwrap(), expected);
    assert_eq!(request(&set, "save", json!({"ids": "a"})).unwrap(), format!("PUT {server}/me/tracks?ids=a"));
    assert_eq!(request(&set, "nothing", json!({})), Err("tools/unknown-tool"));
}

/// Returns a set with operations for several kinds of arguments, an operation that cannot be called, and a tool of the
/// host.
fn shop() -> ToolSet {
    let text = json!([
        {"openapi": "3.1.0", "servers": [{"url": "https://h"}], "paths": {
            "/orders/{id}": {"delete": {"operationId": "cancelOrder", "parameters": [
                {"name": "id", "in": "path", "required": true, "schema": {"type": "integer"}},
                {"name": "color", "in": "query", "schema": {"type": "array", "items": {"enum": ["red", "blue"]}}},
                {"name": "sku", "in": "query", "schema": {"type": "string", "pattern": "^[A-Z]{3}$"}},
                {"name": "n", "in": "query", "schema": {"type": "integer", "minimum": 10, "maximum": 20}}]}},
            "/orders": {"post": {"operationId": "order", "requestBody": {"required": true, "content": {"application/json": {
                "schema": {"type": "object", "required": ["lines"], "properties": {"lines": {"type": "array", "items":
                    {"$ref": "#/components/schemas/line"}}}}}}}},
                "put": {"operationId": "upload", "requestBody": {"content": {"image/png": {}}}}}},
            "components": {"schemas": {"line": {"type": "object", "required": ["sku"], "properties": {
                "sku": {"type": "string", "minLength": 3}, "count": {"type": "integer", "minimum": 1}}}}}},
        {"tools": [{"name": "ask", "inputSchema": {"type": "object", "properties": {"q": {"type": "string"}}}}]}]);
    super::tools::set(&text.to_string()).unwrap()
}

#[test]
fn arguments_are_checked_by_their_schema() {
    let set = shop();
    // tool, arguments, code, place, part of the error
    let cases = [
        ("cancelOrder", json!({"id": "x"}), "tools/call-arguments", "#/arguments/id", "allowed: integer"),
        ("cancelOrder", json!({}), "tools/call-arguments", "#/arguments", "allowed: id"),
        ("cancelOrder", json!({"id": null}), "tools/call-arguments", "#/arguments", "allowed: id"),
        (
            "cancelOrder",
            json!({"id": 1, "ID": 2}),
            "tools/call-arguments",
            "#/arguments/ID",
            "allowed: id, color, sku, n",
        ),
        (
            "cancelOrder",
            json!({"id": 1, "colour": 2}),
            "tools/call-arguments",
            "#/arguments/colour",
            "did you mean `color`?",
        ),
        (
            "cancelOrder",
            json!({"id": 1, "color": ["pink"]}),
            "tools/call-arguments",
            "#/arguments/color/0",
            "found: \"pink\"",
        ),
        (
            "cancelOrder",
            json!({"id": 1, "sku": "../x"}),
            "tools/call-arguments",
            "#/arguments/sku",
            "\"pattern\":\"^[A-Z]{3}$\"",
        ),
        ("cancelOrder", json!({"id": 1, "n": 5}), "tools/call-arguments", "#/arguments/n", "\"minimum\":10"),
        ("cancelOrder", json!({"n": 151, "id": 1}), "tools/call-arguments", "#/arguments/n", "found: 151"),
        ("cancelOrder", json!({"id": 1, "n": 1.5}), "tools/call-arguments", "#/arguments/n", "found: 1.5"),
        (
            "order",
            json!({"lines": [{"sku": "abc"}, {"sku": "ab"}]}),
            "tools/call-arguments",
            "#/arguments/lines/1/sku",
            "\"minLength\":3",
        ),
        (
            "order",
            json!({"lines": [{"sku": "abc", "count": 0}]}),
            "tools/call-arguments",
            "#/arguments/lines/0/count",
            "found: 0",
        ),
        (
            "order",
            json!({"lines": [{"count": 1}]}),
            "tools/call-arguments",
            "#/arguments/lines/0",
            "allowed: sku",
        ),
        ("cancelOrders", json!({}), "tools/unknown-tool", "#/name", "did you mean `cancelOrder`?"),
        (
            "upload",
            json!({}),
            "tools/refused-tool",
            "#/name",
            "no body of this operation can be written (image/png)",
        ),
        ("ask", json!({"q": "x"}), "tools/request", "#/name", "`tools/call`"),
    ];
    for (tool, arguments, code, place, says) in cases {
        let call = Call { tool: tool.to_owned(), arguments: arguments.as_object().unwrap().clone() };
        let error = set.request(&call).unwrap_err();
        let name = format!("{tool} {arguments}: {error}");
        assert_eq!((error.code(), error.diagnostic().place().to_string().as_str()), (code, place), "{name}");
        assert!(error.to_string().contains(says), "{name}");
    }
    for (tool, arguments, expected) in [
        ("cancelOrder", json!({"id": 1, "color": null, "n": 1.2e1}), "DELETE https://h/orders/1?n=12.0"),
        ("order", json!({"lines": []}), "POST https://h/orders Content-Type=application/json {\"lines\":[]}"),
    ] {
        assert_eq!(request(&set, tool, arguments).unwrap(), expected);
    }
    let of_host = Call { tool: "ask".to_owned(), arguments: json!({"q": "x"}).as_object().unwrap().clone() };
    assert_eq!(set.check_call(&of_host), Ok(()));
}

/// Returns a set of one operation `t` with the given path, further members and servers.
fn operation(path: &str, operation: Value, servers: Value) -> ToolSet {
    let mut value = json!({"operationId": "t"});
    value.as_object_mut().unwrap().extend(operation.as_object().unwrap().clone());
    let text = json!({"openapi": "3.2.0", "servers": servers, "paths": {path: {"post": value}}});
    super::tools::set(&text.to_string()).unwrap()
}

fn findings(set: &ToolSet) -> String {
    set.findings().iter().map(|finding| finding.diagnostic.to_string()).collect()
}

/// Text of a document that could leave its place in a request is encoded, left out or refused; findings report it.
#[test]
fn documents_cannot_break_out_of_a_request() {
    let servers = json!([{"url": "https://h"}]);
    let header = |name: &str, required: bool| json!({"parameters": [{"name": name, "in": "header", "required": required, "schema": {"type": "string"}}]});
    let media = |name: &str| json!({"requestBody": {"content": {name: {"schema": {"type": "string"}}}}});
    for (path, value, expected) in [
        ("/x HTTP/1.1\r\nX-Evil: 1", json!({}), Err("control characters")),
        ("/{a}{b}", json!({}), Err("a text between two parameters")),
        ("/{a}/{a}", json!({}), Err("once in a path")),
        ("/a/..", json!({}), Err("`.` or `..`")),
        ("/caf\u{e9} \"", json!({}), Ok("POST https://h/caf%C3%A9%20%22")),
        ("/a#b", json!({}), Ok("POST https://h/a")),
        ("a", json!({}), Ok("POST https://h/a")),
        ("/a", header("X\r\nX-Evil: 1", true), Err("this name")),
        ("/a", header("X\r\nX-Evil: 1", false), Ok("POST https://h/a")),
        ("/a", header("J\u{fc}rgen", false), Ok("POST https://h/a")),
        ("/a", media("text/plain; a=\r\nX-Evil: 1"), Err("no body")),
        ("/a", media("*/*"), Ok("POST https://h/a Content-Type=application/json \"v\"")),
    ] {
        let arguments = value.get("requestBody").map_or(json!({}), |_| json!({"body": "v"}));
        let set = operation(path, value, servers.clone());
        let tool = &set.tools()[0];
        match expected {
            Err(part) => {
                let found = tool.refusal.as_ref().map(ToString::to_string).unwrap_or_default();
                assert!(found.contains(part), "{path}: {found}");
            }
            Ok(made) => {
                assert_eq!(tool.refusal, None, "{path}");
                assert_eq!(request(&set, "t", arguments).as_deref(), Ok(made), "{path}");
            }
        }
    }
}

/// A server address that cannot be followed by a path is skipped. The address in the options is used instead; without
/// one, the request fails.
#[test]
fn servers_that_no_path_can_follow_are_passed_over() {
    for url in ["https://h/a?b=c", "https://h/a#b", "https://h/a\r\nX-Evil: 1", "https://h/v/../w"] {
        let set = operation("/a", json!({}), json!([{"url": url}]));
        assert_eq!(request(&set, "t", json!({})), Err("tools/request"), "{url}");
        assert!(findings(&set).contains("no path can follow this address"), "{url}: {}", findings(&set));
    }
    let variable = json!([{"url": "https://h/{v}", "variables": {"v": {"default": ".."}}}]);
    assert_eq!(request(&operation("/a", json!({}), variable), "t", json!({})), Err("tools/request"));
    let text = json!({"openapi": "3.2.0", "servers": [{"url": "https://h?x"}], "paths": {"/a": {"get": {"operationId": "t"}}}});
    let (text, options) = (text.to_string(), ReadOptions::default().server(Some("https://other".to_owned())));
    let set = read([Document { label: "d", text: &text }], &options).unwrap();
    assert_eq!(request(&set, "t", json!({})).unwrap(), "GET https://other/a");
}

/// Characters of an argument that could end its value, or that a header cannot have, are encoded or refused.
#[test]
fn arguments_stay_in_their_values() {
    let with = |location: &str, more: Value| {
        let path = if location == "path" { "/{a}" } else { "/x" };
        let mut parameter = json!({"name": "a", "in": location, "required": true, "schema": {}});
        parameter.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        operation(path, json!({"parameters": [parameter]}), json!([{"url": "https://h"}]))
    };
    let reserved = json!({"allowReserved": true});
    let query = with("query", reserved.clone());
    let made = |set: &ToolSet, value: Value| request(set, "t", json!({"a": value}));
    assert_eq!(
        made(&query, json!("a&admin=1#+/[:]")).unwrap(),
        "POST https://h/x?a=a%26admin%3D1%23%2B/%5B:%5D"
    );
    let listed = with("query", json!({"allowReserved": true, "explode": false}));
    assert_eq!(made(&listed, json!(["b,c", "d/e"])).unwrap(), "POST https://h/x?a=b%2Cc,d/e");
    let path = with("path", reserved);
    assert_eq!(made(&path, json!("b/c?d#e:@")).unwrap(), "POST https://h/b%2Fc%3Fd%23e:@");
    let header = with("header", json!({}));
    for value in ["\u{b}", "\u{7f}", "\u{85}", "\u{10d}\u{10a}X-Evil: 1", " a", "a\t", "\u{1}"] {
        assert_eq!(made(&header, json!(value)), Err("tools/request"), "{value:?}");
    }
    assert_eq!(made(&header, json!("a\tb ~")).unwrap(), "POST https://h/x a=a\tb ~");
    assert_eq!(made(&header, json!(["a,b"])), Err("tools/request"));
    let content = with("header", json!({"content": {"application/json": {}}}));
    assert_eq!(
        made(&content, json!({"k": "\u{e9}\n"})).unwrap(),
        "POST https://h/x a={\"k\":\"\\u00e9\\n\"}"
    );
    let cookie = with("cookie", json!({"style": "cookie"}));
    for value in ["a;b", "a b", "\u{e9}", "a\r\n"] {
        assert_eq!(made(&cookie, json!(value)), Err("tools/request"), "{value:?}");
    }
    let piped = with("query", json!({"style": "pipeDelimited"}));
    assert_eq!(made(&piped, json!(["a", "b|c"])), Err("tools/request"));
    // an empty list is not a value: the parameter is left out, or refused in a path
    assert_eq!(made(&listed, json!([])).unwrap(), "POST https://h/x");
    assert_eq!(made(&path, json!([])), Err("tools/request"));
}

/// The members of a form are written as `encoding` says; without it, as OpenAPI defines.
#[test]
fn forms_are_written_by_their_encodings() {
    let body = |media: &str, encoding: Value| {
        let schema = json!({"type": "object", "properties": {"l": {"type": "array"}, "o": {"type": "object"}, "s": {}}});
        let content = json!({media: {"schema": schema, "encoding": encoding}});
        operation("/f", json!({"requestBody": {"content": content}}), json!([{"url": "https://h"}]))
    };
    let form = "application/x-www-form-urlencoded";
    let arguments = json!({"l": ["a&", 1], "o": {"k": "v"}, "s": "x y/z"});
    let made = |encoding: Value| {
        let text = request(&body(form, encoding), "t", arguments.clone()).unwrap();
        text.rsplit(' ').next().unwrap().to_owned()
    };
    assert_eq!(made(json!({})), "l=a%26&l=1&o=%7B%22k%22%3A%22v%22%7D&s=x%20y%2Fz");
    assert_eq!(
        made(json!({"l": {"explode": false}, "o": {"style": "form"}, "s": {"allowReserved": true}})),
        "l=a%26,1&k=v&s=x%20y/z"
    );
    assert_eq!(
        made(json!({"l": {"style": "pipeDelimited"}, "o": {"style": "deepObject"}})),
        "l=a%26%7C1&o%5Bk%5D=v&s=x%20y%2Fz"
    );
    assert_eq!(
        made(json!({"l": {"contentType": "application/json"}})),
        "l=%5B%22a%26%22%2C1%5D&o=%7B%22k%22%3A%22v%22%7D&s=x%20y%2Fz"
    );
    let clash = request(&body(form, json!({"o": {"style": "form"}})), "t", json!({"o": {"s": 1}, "s": 2}));
    assert_eq!(clash, Err("tools/request"));
    let deep = body(form, json!({"l": {"style": "deepObject"}}));
    assert!(findings(&deep).contains("l: deepObject"), "{}", findings(&deep));
    let multipart = body(
        "multipart/form-data",
        json!({"l": {"explode": false}, "s": {"contentType": "text/csv", "headers": {"X": {}}}}),
    );
    let text = request(&multipart, "t", arguments.clone()).unwrap();
    for part in [
        "name=\"l\"\r\n\r\na&,1\r\n",
        "name=\"o\"\r\nContent-Type: application/json\r\n\r\n{\"k\":\"v\"}\r\n",
        "name=\"s\"\r\nContent-Type: text/csv\r\n\r\nx y/z\r\n",
    ] {
        assert!(text.contains(part), "{part:?} in {text:?}");
    }
    assert!(findings(&multipart).contains("the headers of a part are not written"));
    for media in [form, "multipart/form-data"] {
        let text = request(&body(media, json!({})), "t", json!({"l": ["x"], "s": null})).unwrap();
        assert!(!text.contains("null") && text.contains('x'), "{text}");
    }
    let swagger = json!({"swagger": "2.0", "host": "h", "paths": {"/f": {"post": {"operationId": "t", "parameters": [
        {"name": "l", "in": "formData", "type": "array", "items": {"type": "string"}},
        {"name": "m", "in": "formData", "type": "array", "items": {"type": "string"}, "collectionFormat": "multi"}]}}}});
    let set = super::tools::set(&swagger.to_string()).unwrap();
    let text = request(&set, "t", json!({"l": ["a", "b"], "m": ["c", "d"]})).unwrap();
    assert!(text.ends_with(" l=a,b&m=c&m=d"), "{text}");
}

/// A percent sign must be followed by two hexadecimal digits, and a sign is not a digit.
#[test]
fn signs_are_not_digits_of_percent_codes() {
    let set = with_parameter("path", "simple", false);
    let format = CallFormat::named("http").unwrap();
    for (text, expected) in [
        ("%2f", Some("/")),
        ("%2F%c3%A9", Some("/\u{e9}")),
        ("%+f", None),
        ("%2", None),
        ("%", None),
        ("%zz", None),
        ("%FF", None),
    ] {
        let turn = format.read(&format!("GET /{text}"), &set).ok();
        let found = turn.and_then(|turn| turn.calls.first().map(|call| call.arguments["a"].clone()));
        assert_eq!(found, expected.map(Value::from), "{text}");
    }
}

/// Paths can be read in one way only, even with several parameters in a segment, a documented query, or a literal text
/// that a value may contain.
#[test]
fn paths_have_one_reading() {
    let set = |path: &str| {
        let parameter =
            |name: &str| json!({"name": name, "in": "path", "required": true, "schema": {"type": "string"}});
        let mut parameters: Vec<Value> = ["a", "b"]
            .into_iter()
            .filter(|name| path.contains(&format!("{{{name}}}")))
            .map(parameter)
            .collect();
        parameters.push(json!({"name": "q", "in": "query", "schema": {"type": "string"}}));
        operation(path, json!({"parameters": parameters}), json!([{"url": "https://h"}]))
    };
    let format = CallFormat::named("http").unwrap();
    for (path, arguments, text) in [
        ("/{a}-{b}", json!({"a": "p-q", "b": "r-s"}), "POST /p%2Dq-r-s"),
        ("/{a}.json", json!({"a": "x.json"}), "POST /x.json.json"),
        ("/{a}...{b}?f=1", json!({"a": "v1.0", "b": "v1.1", "q": "&"}), "POST /v1%2E0...v1.1?f=1&q=%26"),
        ("/{a},{b}", json!({"a": "1,5", "b": "2"}), "POST /1%2C5,2"),
        ("/q?f={a}&g={b}", json!({"a": "1&g=2", "b": "?"}), "POST /q?f=1%26g%3D2&g=%3F"),
    ] {
        let set = set(path);
        assert_eq!(request(&set, "t", arguments.clone()).unwrap(), text.replace("POST ", "POST https://h"));
        let turn = format.read(text, &set).unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(json!(turn.calls[0].arguments), arguments, "{text}");
        assert_eq!(format.render(&turn, &set).unwrap(), text);
    }
}
