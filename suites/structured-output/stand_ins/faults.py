"""Finds the faults in requests that a good server refuses, with their places."""

import re

from structured_output.validator import TYPES, BadSchema, resolve, subschemas


class Refusal(Exception):
    """The request is refused: a message and the place."""

    def __init__(self, message, param, status=400):
        super().__init__(message)
        self.param, self.status = param, status


NUMBER, WORDS = (int, float), (str, list)
CHAT = {
    "model": str, "messages": list, "max_tokens": int, "max_completion_tokens": int, "temperature": NUMBER, "n": int,
    "stream": bool, "stream_options": dict, "response_format": dict, "tools": list, "tool_choice": (str, dict),
    "parallel_tool_calls": bool, "structured_outputs": dict, "json_schema": dict, "grammar": str, "regex": str,
    "ebnf": str,
}  # fmt: skip
RESPONSES = {
    "model": str, "input": WORDS, "max_output_tokens": int, "temperature": NUMBER, "stream": bool, "text": dict,
    "tools": list, "tool_choice": (str, dict), "parallel_tool_calls": bool, "previous_response_id": str,
}  # fmt: skip
OUTPUTS = {"json", "regex", "choice", "grammar"}


def refuse(condition, message, param, status=400):
    if condition:
        raise Refusal(f"{message} (`{param}`)", param, status)


def check(api, body, model):
    """Raises `Refusal` for the first fault of a request."""
    refuse(not isinstance(body, dict), "the body must be an object", "body")
    known = CHAT if api == "chat" else RESPONSES
    for name, value in body.items():
        refuse(name not in known, "unknown member", name)
        wrong = not isinstance(value, known[name]) or (isinstance(value, bool) and known[name] is not bool)
        refuse(wrong, "wrong type", name)
    turns = "messages" if api == "chat" else "input"
    refuse(not body.get(turns), "missing or empty", turns)
    refuse(body.get("model") != model, "no such model", "model", 404)
    for name in ("max_tokens", "max_completion_tokens", "max_output_tokens", "n"):
        refuse(body.get(name, 1) < 1, "must be at least 1", name)
    refuse("previous_response_id" in body, "no such response", "previous_response_id", 404)
    for at, message in enumerate(body[turns] if isinstance(body[turns], list) else []):
        refuse(
            message.get("role") not in ("system", "user", "assistant", "tool"), "unknown role", f"{turns}[{at}].role"
        )
        content = message.get("content")
        refuse(not (content is None or isinstance(content, WORDS)), "wrong type", f"{turns}[{at}].content")
    check_formats(api, body)
    check_tools(api, body)


def check_formats(api, body):
    found = body.get("response_format") if api == "chat" else body.get("text", {}).get("format")
    place = "response_format" if api == "chat" else "text.format"
    if found is not None:
        kinds = ("text", "json_object", "json_schema") + (("structural_tag",) if api == "chat" else ())
        refuse(found.get("type") not in kinds, f"unknown type {found.get('type')!r}", f"{place}.type")
        if found["type"] == "json_schema":
            inner = found.get("json_schema") if api == "chat" else found
            refuse(not isinstance(inner, dict) or "schema" not in inner, "the schema is missing", f"{place}.schema")
            check_schema(inner["schema"], f"{place}.schema")
        if found["type"] == "structural_tag":
            refuse(found["format"].get("type") == "zqxv", "unknown format", f"{place}.format.type")
    if "structured_outputs" in body:
        names = set(body["structured_outputs"])
        refuse(not names <= OUTPUTS or len(names) != 1, "one of json, regex, choice, grammar", "structured_outputs")
        name, value = next(iter(body["structured_outputs"].items()))
        refuse(value == [], "no choice", "structured_outputs.choice")
        check_grammar(name, value, f"structured_outputs.{name}")
    for name in ("grammar", "regex", "ebnf"):
        if name in body:
            check_grammar(name, body[name], name)


def check_grammar(syntax, definition, place):
    if syntax == "regex":
        try:
            re.compile(definition)
        except re.error as error:
            raise Refusal(f"the regex is wrong: {error}", place) from error
    refuse(isinstance(definition, str) and "missing" in definition, "the rule `missing` does not exist", place)


def check_tools(api, body):
    names = []
    for at, tool in enumerate(body.get("tools", [])):
        place = f"tools[{at}]"
        refuse(tool.get("type") not in ("function", "custom"), f"unknown type {tool.get('type')!r}", f"{place}.type")
        inner = tool.get(tool["type"], {}) if api == "chat" else tool
        refuse(not inner.get("name"), "missing", f"{place}.name")
        names.append(inner["name"])
        if tool["type"] == "function":
            check_schema(inner["parameters"], f"{place}.parameters")
            continue
        grammar = inner["format"]["grammar"] if api == "chat" else inner["format"]
        refuse(grammar["syntax"] not in ("lark", "regex"), "lark or regex", f"{place}.custom.format.grammar.syntax")
        check_grammar(grammar["syntax"], grammar["definition"], f"{place}.custom.format.grammar.definition")
    wanted = body.get("tool_choice", "auto")
    refuse(isinstance(wanted, str) and wanted not in ("auto", "none", "required"), "unknown choice", "tool_choice")
    refuse(wanted == "required" and not names, "there are no tools", "tool_choice")
    if isinstance(wanted, dict) and wanted["type"] == "function":
        name = (wanted.get("function") or wanted).get("name")
        refuse(name not in names, f"no tool has the name {name!r}", "tool_choice")


def check_schema(schema, place, root=None):
    """Raises `Refusal` if a schema is not one, or if clearly no value is valid."""
    root = schema if root is None else root
    refuse(schema is False, "no value is valid", place)
    if schema is True:
        return
    refuse(not isinstance(schema, dict), "a schema must be an object", place)
    names = schema.get("type", [])
    for name in [names] if isinstance(names, str) else names:
        refuse(name not in TYPES, f"unknown type {name!r}", f"{place}/type")
    for name in ("minItems", "maxItems", "minLength", "maxLength", "minProperties", "maxProperties"):
        refuse(schema.get(name, 0) < 0, "must not be negative", f"{place}/{name}")
    refuse(not isinstance(schema.get("required", []), list), "must be a list", f"{place}/required")
    refuse(
        schema.get("minimum", 0) > schema.get("maximum", schema.get("minimum", 0)), "empty range", f"{place}/minimum"
    )
    try:
        re.compile(schema.get("pattern", ""))
        if "$ref" in schema:
            resolve(root, schema["$ref"])
    except re.error as error:
        raise Refusal(f"the regex is wrong: {error}", f"{place}/pattern") from error
    except BadSchema as error:
        raise Refusal(str(error), f"{place}/$ref") from error
    for below, part in subschemas(schema):
        if not (part is False and below in ("/items", "/additionalProperties")):
            check_schema(part, place + below, root)
