"""Structural tags of requests, by families of models."""

import grammata
import pytest

TOOLS = [
    {
        "type": "function",
        "function": {
            "name": "weather",
            "parameters": {
                "type": "object",
                "properties": {"city": {"type": "string"}},
                "required": ["city"],
                "additionalProperties": False,
            },
        },
    },
    {"type": "function", "function": {"name": "now", "parameters": {"type": "object", "additionalProperties": False}}},
]
CALL = '<tool_call>\n{"name": "weather", "arguments": {"city": "Oslo"}}\n</tool_call>'
NOW = CALL.replace("weather", "now").replace('{"city": "Oslo"}', "{}")


@pytest.mark.parametrize(
    ("options", "text", "expected"),
    [
        ({}, "Let me see.</think>\n\nI look. " + CALL, True),
        ({}, "Let me see." + CALL, False),
        ({"reasoning": "disabled"}, CALL + NOW, True),
        ({"reasoning": "disabled", "parallel_tool_calls": False}, CALL + NOW, False),
        ({"reasoning": "auto"}, "<think>Hm.</think>\n\nSunny.", True),
        ({"reasoning": "disabled", "tool_choice": "required"}, "Sunny.", False),
        ({"reasoning": "disabled", "tool_choice": "none"}, "Sunny.", True),
        ({"reasoning": "disabled", "tool_choice": {"type": "function", "function": {"name": "now"}}}, NOW, True),
        ({"reasoning": "disabled", "tool_choice": {"type": "function", "function": {"name": "now"}}}, CALL, False),
    ],
)
def test_tags_compile_and_tell_outputs_apart(bytewise, options, text, expected):
    tag = grammata.structural_tag("qwen_3", TOOLS, **options)
    matcher = bytewise.compile_structural_tag(tag).matcher()
    try:
        matcher.accept_bytes(text)
        accepted = matcher.is_accepting()
    except grammata.RejectedError:
        accepted = False
    assert accepted == expected


def test_options_reach_the_arguments():
    tag = grammata.structural_tag(
        "llama", [{"function": {"name": "f"}}], any_order=True, exclude_special_tokens=False, max_whitespace_cnt=2
    )
    assert tag == {
        "type": "structural_tag",
        "format": {
            "type": "triggered_tags",
            "triggers": ['{"name": '],
            "tags": [
                {
                    "type": "tag",
                    "begin": '{"name": "f", "parameters": ',
                    "content": {"type": "json_schema", "json_schema": True, "any_order": True, "max_whitespace_cnt": 2},
                    "end": "}",
                }
            ],
        },
    }


def test_a_tool_that_cannot_be_written_is_left_out_with_a_warning():
    tools = [*TOOLS, {"type": "function", "function": {"name": "echo", "parameters": {"type": "string"}}}]
    with pytest.warns(UserWarning, match="`echo` is left out") as caught:
        tag = grammata.structural_tag("minimax", tools)
    assert "minimax_xml" in str(caught[0].message) and "echo" not in str(tag) and "weather" in str(tag)


def test_bad_requests_say_what_is_allowed():
    with pytest.raises(grammata.UsageError) as caught:
        grammata.structural_tag("qwen3")
    assert caught.value.code == "tools/unknown-family" and "qwen_3" in caught.value.allowed
    with pytest.raises(grammata.UsageError) as caught:
        grammata.structural_tag("qwen_3", [{"type": "function", "function": {"name": 1}}])
    assert (caught.value.code, caught.value.place) == ("tools/tag-tools", "#/0/function/name")
    with pytest.raises(grammata.UsageError) as caught:
        grammata.structural_tag("qwen_3", TOOLS, tool_choice="any")
    assert caught.value.code == "tools/tag-choice"
    with pytest.raises(grammata.UsageError):
        grammata.structural_tag("qwen_3", TOOLS, reasoning="off")
    with pytest.raises(grammata.LimitError):
        grammata.structural_tag("qwen_3", TOOLS, limits={"catalogue_tools": 1})
    with pytest.raises(grammata.GrammataError):
        grammata.structural_tag("qwen_3", [{"function": {"name": float("nan")}}])


def test_a_tag_embeds_grammars_by_name(compiler):
    tag = {"type": "structural_tag", "format": {"type": "sequence", "elements": [
        {"type": "const_string", "value": "n="}, {"type": "grammar", "name": "number"}, {"type": "grammar", "name": "list"},
    ]}}
    grammars = {"number": grammata.Source.regex("[0-9]+"), "list": grammata.Source.gbnf('root ::= "[" root? "]"')}
    matcher = compiler.compile_structural_tag(tag, grammars=grammars).matcher()
    matcher.accept_bytes("n=12[[]]")
    assert matcher.is_finished()
    source = grammata.Source.structural_tag(tag, grammars=grammars)
    assert source == grammata.Source.structural_tag(tag, grammars=dict(grammars))
    assert source != grammata.Source.structural_tag(tag, grammars=grammars | {"list": grammata.Source.regex("x")})
    with pytest.raises(grammata.GrammarError) as raised:
        compiler.compile_structural_tag(tag, grammars={"number": grammars["number"]})
    assert raised.value.code == "structural-tag/unknown-grammar"
    with pytest.raises(grammata.GrammarError):
        compiler.compile_structural_tag(tag, grammars=grammars | {"number": grammata.Source.regex("(")})
