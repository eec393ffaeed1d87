//! The requests of calls: the table of RFC 6570's styles, and where each argument goes.

use grammata::tools::{Call, ToolSet};
use serde_json::{Value, json};

fn request(set: &ToolSet, tool: &str, arguments: Value) -> Result<String, &'static str> {
    let arguments = arguments.as_object().unwrap().clone();
    let made = set.request(&Call { tool: tool.to_owned(), arguments }).map_err(|error| error.code())?;
    let headers: String = made.headers.iter().map(|(name, value)| format!(" {name}={value}")).collect();
    let body = made.body.map_or_else(String::new, |body| format!(" {body}"));
    Ok(format!("{} {}{headers}{body}", made.method, made.url))
}

/// A set of one operation with a parameter `a`.
fn with_parameter(location: &str, style: &str, explode: bool) -> ToolSet {
    let path = if location == "path" { "/{a}" } else { "/" };
    let text = json!({"openapi": "3.2.0", "servers": [{"url": "http://h"}], "paths": {path: {"get": {"operationId": "t", "parameters": [
        {"name": "a", "in": location, "required": true, "style": style, "explode": explode, "schema": {}}]}}}});
    super::tools::set(&text.to_string()).unwrap()
}

#[test]
fn parameters_are_written_by_their_styles() {
    // place, style, explode, of the array ["b", "c"], of the object {"R": 1, "G": 2}
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
    let text = include_str!("../cases/tools/read/openapi-names.json");
    let set = super::tools::set(text).unwrap();
    let server = "https://api.example.com/v1";
    let all = json!({"id": "p", "id_query": "q", "id_body": "b"});
    let expected = format!("PUT {server}/users/p?id=q Content-Type=application/json {{\"id\":\"b\"}}");
    assert_eq!(request(&set, "same_id", all).unwrap(), expected);
    assert_eq!(request(&set, "save", json!({"ids": "a"})).unwrap(), format!("PUT {server}/me/tracks?ids=a"));
    assert_eq!(request(&set, "nothing", json!({})), Err("tools/request"));
}
