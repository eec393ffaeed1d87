"""Tools: documents, checks, requests, turns in call formats, prerequisites and retrieval."""

import json

import grammata_agents
import pytest
from grammata_agents import RejectedError, ToolCall, ToolIndex, Tools, ToolSession, UsageError

ADD = {
    "type": "function",
    "function": {
        "name": "add",
        "description": "Adds two numbers. Exactly.",
        "parameters": {
            "type": "object",
            "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}},
            "required": ["a", "b"],
        },
    },
}
ALBUMS = {
    "openapi": "3.1.0",
    "info": {"title": "albums", "version": "1"},
    "servers": [{"url": "https://music.example"}],
    "paths": {
        "/albums": {
            "get": {
                "operationId": "listAlbums",
                "description": "Lists albums.",
                "responses": {"200": {"description": "ok"}},
            }
        },
        "/albums/{id}/tracks": {
            "get": {
                "operationId": "listTracks",
                "description": "Lists the tracks of an album.",
                "parameters": [{"name": "id", "in": "path", "required": True, "schema": {"type": "string"}}],
                "responses": {"200": {"description": "ok"}},
            }
        },
    },
}
MCP = {"tools": [{"name": "now", "description": "The time.", "inputSchema": {"type": "object", "properties": {}}}]}


def test_documents_of_each_kind():
    tools = Tools([ADD], ALBUMS, json.dumps(MCP))
    assert tools.names == ["add", "listAlbums", "listTracks", "now"] and len(tools) == 4
    add = tools.tool("add")
    assert add.arguments["properties"] == {"a": {"type": "integer"}, "b": {"type": "integer"}}
    assert (add.endpoint, add.refusal, add.label) == (None, None, "tools")
    assert tools.tool("listTracks").endpoint == ("GET", "/albums/{id}/tracks", "https://music.example")
    assert [tool.name for tool in tools.list()] == tools.names
    assert [one["function"]["name"] for one in tools.definitions(["now", "add"])] == ["now", "add"]
    assert tools.prompt(["add"], detail="signature") == "add(a: int, b: int): Adds two numbers."


def test_files_are_named_in_findings(tmp_path):
    path = tmp_path / "broken.json"
    path.write_text('{"tools": [{"name": "x", "inputSchema": {"type": "strin"}}]}')
    tools = Tools.from_files(path)
    (finding,) = [one for one in tools.findings if one.code.startswith("tools/")][:1]
    assert finding.file == str(path) and finding.line == 1
    assert tools.names == [] and tools.tool("x").refusal is not None
    path.write_text("{")
    with pytest.raises(grammata_agents.GrammarError) as caught:
        Tools.from_files(path)
    assert caught.value.file == str(path)
    with pytest.raises(UsageError):
        tools.tool("y")
    with pytest.raises(UsageError):
        Tools(object())


def test_calls_are_checked_by_their_schemas():
    tools = Tools([ADD], ALBUMS)
    assert tools.check("add", {"a": 1, "b": 2}) is None
    wrong = [({"a": 1, "b": "2"}, "#/arguments/b"), ({"a": 1}, "#/arguments"), ({"a": 1, "b": 2, "c": 3}, None)]
    for arguments, place in wrong:
        with pytest.raises(RejectedError) as caught:
            tools.check("add", arguments)
        assert caught.value.code == "tools/call-arguments" and (place is None or caught.value.place == place)
    request = tools.request("listTracks", {"id": "a b"})
    assert (request.method, request.url, request.headers, request.body) == (
        "GET", "https://music.example/albums/a%20b/tracks", {}, None
    )
    with pytest.raises(grammata_agents.AgentsError) as caught:
        tools.request("add", {"a": 1, "b": 2})
    assert caught.value.code == "tools/request"
    assert tools.with_prerequisites(["listTracks"]) == ["listAlbums", "listTracks"]


@pytest.mark.parametrize("name", ["hermes", "json", "llama3", "mistral", "deepseek", "python"])
def test_turns_are_written_and_read(name):
    turns = Tools([ADD]).turns(name)
    text = turns.render([ToolCall("add", {"a": 1, "b": 2})])
    turn = turns.read(text)
    assert turn.calls == (ToolCall("add", {"a": 1, "b": 2}),)
    assert turns.render([{"name": "add", "arguments": {"a": 1, "b": 2}}]) == text
    assert turns.names == ["add"] and turns.refused == {} and "root" in turns.grammar or turns.grammar
    with pytest.raises(RejectedError):
        turns.read(text.replace("add", "sub"))


def test_wrong_turns_have_their_place():
    tools = Tools([ADD])
    turns = tools.turns("hermes", choice="required")
    with pytest.raises(RejectedError) as caught:
        turns.read('<tool_call>\n{"name": "add", "arguments": {"a": "é"')
    error = caught.value
    assert error.code == "tools/turn" and error.diagnostic.byte == 47 and error.found.startswith('"é')
    with pytest.raises(RejectedError) as caught:
        turns.read("Hello.")
    assert tools.turns("hermes").read("Hello.").text == "Hello."
    with pytest.raises(UsageError) as caught:
        tools.turns("morse")
    assert "hermes" in caught.value.allowed
    with pytest.raises(UsageError):
        tools.turns("hermes", choice="often")
    with pytest.raises(grammata_agents.AgentsError):
        tools.turns("hermes", names=["sub"])


def test_several_calls():
    turns = Tools([ADD], MCP).turns("hermes", max_calls=3)
    text = turns.render([ToolCall("now", {}), ToolCall("add", {"a": 1, "b": 2})])
    assert [call.name for call in turns.read(text).calls] == ["now", "add"]
    with pytest.raises(RejectedError):
        Tools([ADD], MCP).turns("hermes").read(text)


def test_a_session_with_needs():
    session = ToolSession(Tools([ADD], MCP), {"add": ["now"]})
    assert session.open() == ["now"] and [one["function"]["name"] for one in session.tools()] == ["now"]
    with pytest.raises(RejectedError) as caught:
        session.call("add", {"a": 1, "b": 2})
    assert (caught.value.code, caught.value.allowed) == ("tools/needs", "now")
    session.call("now")
    session.answered("now")
    session.call("add", {"a": 1, "b": 2})
    with pytest.raises(RejectedError):
        session.call("add", {"a": 1})
    with pytest.raises(UsageError):
        ToolSession(Tools([ADD]), {"add": ["then"]})


def test_retrieval():
    index = ToolIndex(Tools([ADD], ALBUMS, MCP))
    assert len(index) == 4
    first, *_ = index.search("which tracks are on this album?", k=2)
    assert (first.name, first.function, first.rank) == ("listTracks", "listTracks", 1) and first.score > 0
    both = index.search("Add the numbers. What is the time?", k=2, split=True)
    assert {hit.name for hit in both} == {"add", "now"}
    assert index.search(["numbers", "albums"], k=1)[0].query == "numbers"
    assert index.search("zebra") == []
    rows = [("1", "a b", "x"), ("2", "c", "")]
    listed = ToolIndex([{"id": id, "name": name, "category": kind, "description": "one"} for id, name, kind in rows])
    assert [hit.id for hit in listed.search("one", category="x")] == ["1"]
    assert listed.search("b one")[0].function == "a_b"
    for wrong, code in [
        ([{"name": "a"}], "retrieval/"),
        ({"a": 1}, "python/not-an-object"),
        ([{"id": "", "name": "a"}], "retrieval/"),
    ]:
        with pytest.raises(grammata_agents.AgentsError) as caught:
            ToolIndex(wrong)
        assert caught.value.code.startswith(code)
    with pytest.raises(grammata_agents.AgentsError):
        index.search("time", k=0)


def test_custom_tools_take_words_of_their_grammar():
    grammar = {"type": "grammar", "syntax": "lark", "definition": 'start: "(" start ")" | "\\"" /[a-z]+/ "\\""'}
    chat = {"type": "custom", "custom": {"name": "when", "format": {"type": "grammar", "grammar": {
        "syntax": "regex", "definition": "[0-9]{4}"}}}}
    tools = Tools([{"type": "custom", "name": "nest", "format": grammar}, chat, ADD])
    assert tools.names == ["nest", "when", "add"] and not tools.findings
    for name in ["hermes", "harmony", "python", "qwen-coder"]:
        turns = tools.turns(name, choice="required")
        (call,) = turns.read(turns.render([ToolCall("nest", {"input": '(("ab"))'})])).calls
        assert call == ToolCall("nest", {"input": '(("ab"))'})
        with pytest.raises(RejectedError):
            turns.read(turns.render([ToolCall("nest", {"input": '(("ab")'})]))
    tools.check("when", {"input": "2026"})
    with pytest.raises(RejectedError) as caught:
        tools.check("when", {"input": "20é6"})
    assert caught.value.place == "#/arguments/input" and "line 1, column 3 of the input" in str(caught.value)
    broken = Tools([{"type": "custom", "name": "x", "format": {**grammar, "definition": "start: b"}}])
    (finding,) = broken.findings
    assert (finding.code, finding.place) == ("tools/definition", "#/0/format/definition")
