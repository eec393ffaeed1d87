//! Chat templates, which are compared with the output of Hugging Face's tokenizers.

use grammata::Limits;
use grammata_decode::{ChatTemplate, Message};
use std::time::{Duration, SystemTime};

/// The chat template of SmolLM2-135M-Instruct (Apache-2.0).
const SMOLLM2: &str = "{% for message in messages %}{% if loop.first and messages[0]['role'] != 'system' %}{{ '<|im_start|>system\nYou are a helpful AI assistant named SmolLM, trained by Hugging Face<|im_end|>\n' }}{% endif %}{{'<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>' + '\n'}}{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}";

/// A template in the manner of Llama 3, written for this test: headers, a date, trimmed contents, roles that must
/// alternate, tools.
const HEADERS: &str = r#"{{- bos_token }}
{%- if tools is not defined %}
    {%- set tools = none %}
{%- endif %}
{%- set ns = namespace(last='') %}
{%- for message in messages %}
    {%- if message.role == ns.last %}
        {{- raise_exception('two ' + message.role + ' messages in a row') }}
    {%- endif %}
    {%- set ns.last = message.role %}
    {{- '<|start_header_id|>' + message.role + '<|end_header_id|>\n\n' }}
    {%- if message.role == 'system' %}
        {{- 'Today: ' + strftime_now('%d %b %Y') + '\n' }}
        {%- if tools %}
            {{- tools | tojson }}
            {{- '\n' }}
        {%- endif %}
    {%- endif %}
    {{- message.content.strip() + '<|eot_id|>' }}
{%- endfor %}
{%- if add_generation_prompt %}
    {{- '<|start_header_id|>assistant<|end_header_id|>\n\n' }}
{%- endif %}
"#;

fn template(source: &str) -> ChatTemplate {
    ChatTemplate::new(source, &Limits::default()).expect("a template")
}

#[test]
fn smollm2() {
    let messages = [Message::user("Hi"), Message::assistant("Hello <b>"), Message::user("Bye")];
    assert_eq!(
        template(SMOLLM2).render(&messages, true).unwrap(),
        "<|im_start|>system\nYou are a helpful AI assistant named SmolLM, trained by Hugging Face<|im_end|>\n\
         <|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\nHello <b><|im_end|>\n<|im_start|>user\nBye<|im_end|>\n\
         <|im_start|>assistant\n"
    );
    let messages = [Message::system("Be brief."), Message::user("Hi")];
    assert_eq!(
        template(SMOLLM2).render(&messages, false).unwrap(),
        "<|im_start|>system\nBe brief.<|im_end|>\n<|im_start|>user\nHi<|im_end|>\n"
    );
}

#[test]
fn headers_with_a_date_and_tools() {
    // 29 February 2024, 12:00
    let time = SystemTime::UNIX_EPOCH + Duration::from_secs(1_709_208_000);
    let tools = serde_json::json!([{ "name": "get_weather", "strict": true, "zeta": 1, "alpha": [1.5, null, "é<&'"] }]);
    let template = template(HEADERS)
        .with_tokens("<|begin_of_text|>", "<|eot_id|>")
        .with_time(time)
        .with_variable("tools", tools);
    let messages = [Message::system("  Help. \n"), Message::user("\tHi")];
    assert_eq!(
        template.render(&messages, true).unwrap(),
        "<|begin_of_text|><|start_header_id|>system<|end_header_id|>\n\nToday: 29 Feb 2024\n\
         [{\"name\": \"get_weather\", \"strict\": true, \"zeta\": 1, \"alpha\": [1.5, null, \"é<&'\"]}]\n\
         Help.<|eot_id|><|start_header_id|>user<|end_header_id|>\n\nHi<|eot_id|>\
         <|start_header_id|>assistant<|end_header_id|>\n\n"
    );
}

#[test]
fn a_template_can_refuse_messages() {
    let messages = [Message::user("Hi"), Message::user("Ho")];
    let error = template(HEADERS).render(&messages, true).unwrap_err();
    assert_eq!(
        error.to_string(),
        "error[decode/chat-template] the chat template cannot be used\n  at: line 8, column 13\n  \
         8 |         {{- raise_exception('two ' + message.role + ' messages in a row'…\n    \
         |             ^^^^^^^^^^^^^^^\n  \
         cause: invalid operation: two user messages in a row\n  \
         allowed: a Jinja template as in tokenizer_config.json, over messages, add_generation_prompt and tools\n  \
         help: check the messages (roles, their order), or pass another template"
    );
}

#[test]
fn dates() {
    let at = |days: u64, format: &str| {
        let time = SystemTime::UNIX_EPOCH + Duration::from_secs(days * 86_400 + 3_723);
        let source = format!("{{{{ strftime_now({format:?}) }}}}");
        template(&source).with_time(time).render(&[], false).unwrap()
    };
    assert_eq!(at(0, "%A %Y-%m-%d %H:%M:%S"), "Thursday 1970-01-01 01:02:03");
    assert_eq!(at(11_016, "%a %d %B %Y"), "Tue 29 February 2000");
    assert_eq!(at(20_454, "%d %b %Y%%"), "01 Jan 2026%");
    assert_eq!(at(47_540, "%Y-%m-%d"), "2100-02-28");
    assert_eq!(at(47_541, "%Y-%m-%d"), "2100-03-01", "2100 is no leap year");
    assert_eq!(at(0, "%q %"), "%q %", "as C's strftime writes what it does not know");
}

#[test]
fn python_methods_and_blocks() {
    let source = "{% if messages[0].content.startswith('A') %}\n  yes {{ messages[0]['content'].split(' ')[-1].upper() }}\n{% endif %}\n{% for m in messages %}{% if loop.last %}{% break %}{% endif %}x{% endfor %}";
    let messages = [Message::user("A b c"), Message::user("d")];
    assert_eq!(template(source).render(&messages, false).unwrap(), "  yes C\nx");
    assert_eq!(
        template("{{ x | tojson(indent=2) }}")
            .with_variable("x", serde_json::json!({"a": [1]}))
            .render(&[], false)
            .unwrap(),
        "{\n  \"a\": [\n    1\n  ]\n}"
    );
}

/// `apply_chat_template` sets `tools` and `documents` to none, and special tokens only if the tokenizer has them.
#[test]
fn absent_variables_are_those_of_transformers() {
    let source = "{% if tools is none and documents is none %}none{% endif %} {{ tools is defined }} \
        {% if not tools is defined %}undefined{% endif %}{{ custom is defined }}{{ add_generation_prompt }}";
    assert_eq!(template(source).render(&[], false).unwrap(), "none True FalseFalse");
    let with = template(source).with_variable("tools", serde_json::json!([]));
    assert_eq!(with.render(&[], true).unwrap(), " True FalseTrue");
    let error = template("{% for tool in tools %}{% endfor %}").render(&[], false).unwrap_err();
    assert_eq!(error.diagnostic().cause_text(), Some("invalid operation: none is not iterable"));
    let folder = tempfile::tempdir().unwrap();
    let source = "{{ bos_token is defined }} {{ eos_token }} {{ pad_token }} {{ unk_token is defined }}";
    std::fs::write(folder.path().join("chat_template.jinja"), source).unwrap();
    let config = r#"{"eos_token": "<e>", "pad_token": {"content": "<p>"}, "bos_token": null}"#;
    std::fs::write(folder.path().join("tokenizer_config.json"), config).unwrap();
    let template = ChatTemplate::from_folder(folder.path(), &Limits::default()).unwrap().unwrap();
    assert_eq!(template.render(&[], false).unwrap(), "False <e> <p> False");
}

/// The place of a fault is that in the source, though line ends, escapes and floats are rewritten before it.
#[test]
fn faults_have_their_places_after_line_ends_and_escapes() {
    let source = "{{ '\\/' }}\r\n{{ 1e-7 }}\r\n{{ '\\/\\a' ~ nowhere.more }}";
    let error = template(source).render(&[], false).unwrap_err();
    assert!(error.to_string().contains("at: line 3, column 13"), "{error}");
}

#[test]
fn faults_name_their_line() {
    let error = ChatTemplate::new("fine\n{% for x in %}", &Limits::default()).unwrap_err();
    assert_eq!(error.code(), "decode/chat-template");
    assert!(error.to_string().contains("at: line 2, column "), "{error}");
    let error = template("a\nb\n{{ messages.nothing.more }}").render(&[], false).unwrap_err();
    assert!(error.to_string().contains("at: line 3, column "), "{error}");
}

#[test]
fn endless_templates_are_stopped() {
    let nested =
        "{% for a in range(9999) %}{% for b in range(9999) %}{% set c = 1 %}{% endfor %}{% endfor %}";
    let error = template(nested).render(&[], false).unwrap_err();
    assert!(error.to_string().contains("`template_work` is exceeded\n  at: line 1, column "), "{error}");
    let limits = Limits::default().source_bytes(1000);
    let long = ChatTemplate::new("{% for a in range(9999) %}x{% endfor %}", &limits).unwrap();
    let error = long.render(&[], false).unwrap_err();
    assert_eq!(error.code(), "limit/exceeded");
    let error = ChatTemplate::new("x".repeat(1001), &limits).unwrap_err();
    assert_eq!(error.code(), "limit/exceeded");
    let deep = "{% macro m(n) %}{{ m(n + 1) }}{% endmacro %}{{ m(0) }}";
    assert_eq!(template(deep).render(&[], false).unwrap_err().code(), "decode/chat-template");
}

#[test]
fn templates_come_from_a_models_folder() {
    let limits = Limits::default();
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    assert!(ChatTemplate::from_folder(folder.path(), &limits).unwrap().is_none());
    write("config.json", r#"{"chat_template": "config {{ bos_token }}", "bos_token": "<s>"}"#);
    let render =
        || ChatTemplate::from_folder(folder.path(), &limits).unwrap().unwrap().render(&[], false).unwrap();
    assert_eq!(render(), "config <s>");
    write(
        "tokenizer_config.json",
        r#"{"chat_template": [{"name": "tool_use", "template": "no"}, {"name": "default", "template": "named {{ bos_token }}{{ eos_token }}"}],
            "bos_token": {"content": "<b>", "lstrip": false}, "eos_token": "<e>"}"#,
    );
    assert_eq!(render(), "named <b><e>");
    write("chat_template.jinja", "file {{ eos_token }}");
    assert_eq!(render(), "file <e>");
    write("tokenizer_config.json", "[1]");
    assert_eq!(ChatTemplate::from_folder(folder.path(), &limits).unwrap_err().code(), "decode/settings");
    write("tokenizer_config.json", "{");
    assert_eq!(ChatTemplate::from_folder(folder.path(), &limits).unwrap_err().code(), "decode/settings");
}

/// Templates with features that those of Llama 3.1, Qwen 3, Gemma, DeepSeek and Mistral use, written for this test:
/// name, template, output.
const FEATURES: &[(&str, &str, &str)] = &[
    (
        "macro that calls itself",
        "{%- macro kind(s) -%}{%- if s is mapping -%}{ {%- for k, v in s|dictsort -%}{{ k }}:{{ kind(v) }}{{ ',' if not loop.last }}{%- endfor -%} }{%- elif s is string -%}{{ s|upper }}{%- elif s is iterable -%}{{ s|length }}{%- else -%}{{ s }}{%- endif -%}{%- endmacro -%}{{ kind(tools[0]) }}",
        "{alpha:3,name:GET,strict:True}",
    ),
    (
        "system message first",
        "{% if messages[0]['role'] == 'system' %}{% set system = messages[0]['content']|trim %}{% set loop_messages = messages[1:] %}{% else %}{% set loop_messages = messages %}{% endif %}{{ system }}:{{ loop_messages|length }}",
        "Help.:3",
    ),
    (
        "backwards",
        "{% set ns = namespace(multi=true, last=messages|length - 1) %}{% for m in messages[::-1] %}{% set index = (messages|length - 1) - loop.index0 %}{% if ns.multi and m.role == 'user' and not(m.content.startswith('<tool')) %}{% set ns.multi = false %}{% set ns.last = index %}{% endif %}{% endfor %}{{ ns.last }}",
        "3",
    ),
    (
        "thoughts",
        "{% set c = '<think>\na\n</think>\n\nb' %}{% if '</think>' in c %}{{ c.split('</think>')[0].rstrip('\n').split('<think>')[-1].lstrip('\n') }}|{{ c.split('</think>')[-1].lstrip('\n') }}{% endif %}",
        "a|b",
    ),
    (
        "gathered",
        "{% set ns = namespace(all='', is_first=true) %}{% for m in messages %}{% if ns.is_first %}{% set ns.all = ns.all + m['content'] %}{% set ns.is_first = false %}{% else %}{% set ns.all = ns.all ~ '/' ~ m['content'] %}{% endif %}{% endfor %}{{ ns.all }}",
        " Help. /Hi/Hello/Bye",
    ),
    (
        "alternate",
        "{% for m in messages[1:] %}{% if (m['role'] == 'user') != (loop.index0 % 2 == 0) %}{{ raise_exception('roles must alternate') }}{% endif %}{% if m['role'] == 'assistant' %}{% set role = 'model' %}{% else %}{% set role = m['role'] %}{% endif %}{{ '<' + role + '>' }}{% endfor %}",
        "<user><model><user>",
    ),
    (
        "selected",
        "{{ messages|selectattr('role', 'equalto', 'user')|map(attribute='content')|join(', ') }}:{{ messages|rejectattr('role', 'in', ['user', 'system'])|list|length }}",
        "Hi, Bye:1",
    ),
    (
        "tools",
        "{% for t in tools %}{{ t|tojson }}{% if not loop.last %},{% endif %}{% endfor %}",
        "{\"name\": \"get\", \"strict\": true, \"alpha\": [1.5, null, \"é<&'\"]}",
    ),
    (
        "keys and values",
        "{% for t in tools %}{% for k, v in t.items() %}{{ k }}={{ v|tojson if v is not string else v }};{% endfor %}{% endfor %}",
        "name=get;strict=true;alpha=[1.5, null, \"é<&'\"];",
    ),
    (
        "defaults",
        "{{ date_string|default('26 Jul 2024') }} {{ tools[0].get('none', 'x') }} {{ enable_thinking is defined and enable_thinking is false }} {{ none is none }}",
        "26 Jul 2024 x False True",
    ),
    (
        "captured",
        "{% set body %}{% for m in messages %}{{ m.role[0] }}{% endfor %}{% endset %}{{ body }}{% macro wrap() %}[{{ caller('in') }}]{% endmacro %}{% call(x) wrap() %}{{ x }}{% endcall %}",
        "suau[in]",
    ),
    (
        "neighbours",
        "{% for m in messages %}{{ loop.previtem.role if loop.previtem else '-' }}>{{ loop.nextitem.role if loop.nextitem is defined else '-' }} {% endfor %}",
        "->user system>assistant user>user assistant>- ",
    ),
    (
        "formats",
        "{{ '%02d:%s'|format(7, 'x') }} {{ '{} {}'.format(1, 'b') }} {{ 'a-b'|replace('-', '+') }} {{ 'ab'.replace('b', 'c') }} {{ 'title me'|title }}",
        "07:x 1 b a+b ac Title Me",
    ),
    (
        "numbers",
        "{{ 7 // 2 }} {{ 7 % 3 }} {{ 2 ** 5 }} {{ [1, 2] + [3] }} {{ 'ab' * 2 }} {{ '=' * 20 }} {{ -1|abs }} {{ 1 < 2 < 3 }}",
        "3 1 32 [1, 2, 3] abab ==================== 1 True",
    ),
    (
        "branches",
        "{% for m in messages if m.role != 'system' %}{% if m.role == 'user' %}u{% elif m.role == 'assistant' %}a{% else %}?{% endif %}{% if loop.index > 2 %}{% break %}{% endif %}{% else %}none{% endfor %}",
        "uau",
    ),
    (
        "filter block and with",
        "{% filter upper %}a{{ messages[1].content }}{% endfilter %}{% with x = 1, y = 2 %}{{ x + y }}{% endwith %}",
        "AHI3",
    ),
    (
        "pairs",
        "{% set a, b = ('x', 'y') %}{{ b ~ a }}{% set d = {'k': [1, (2, 3)]} %}{{ d.k[1][0] }}{{ d['k'][-1][1] }}",
        "yx23",
    ),
];

#[test]
fn what_templates_of_models_do_works() {
    let messages =
        [Message::system(" Help. "), Message::user("Hi"), Message::assistant("Hello"), Message::user("Bye")];
    let tools = serde_json::json!([{ "name": "get", "strict": true, "alpha": [1.5, null, "é<&'"] }]);
    let mut wrong = Vec::new();
    for (name, source, expected) in FEATURES {
        let template = template(source).with_variable("tools", tools.clone());
        match template.render(&messages, true) {
            Ok(text) if text == *expected => {}
            other => wrong.push(format!("{name}: {other:?}, expected {expected:?}")),
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn a_megabyte_of_tools_and_a_long_conversation_fit() {
    let parameters = serde_json::json!({"type": "object", "properties": {
        "place": {"type": "string", "description": "where it is ".repeat(20)},
        "days": {"type": "integer", "enum": [1, 2, 3]},
    }});
    let tool = |n: usize| serde_json::json!({"type": "function", "function": {"name": format!("tool_{n}"), "parameters": parameters}});
    let tools: serde_json::Value = (0..3_000).map(tool).collect();
    let source = "{{ tools|tojson }}{% for tool in tools %}{{ tool.function|tojson(indent=4) }}{% for k, v in tool.function.parameters.properties.items() %}{{ k }}{% endfor %}{% endfor %}";
    let text = template(source).with_variable("tools", tools).render(&[], true).unwrap();
    assert!(text.len() > 2_000_000 && text.contains("\"tool_2999\""), "{}", text.len());
    let messages: Vec<Message> = (0..2_000)
        .map(|n| {
            if n % 2 == 0 {
                Message::user("word ".repeat(100))
            } else {
                Message::assistant("<think>no</think>yes")
            }
        })
        .collect();
    let source = "{% for m in messages %}{% set c = m.content.split('</think>')[-1]|trim %}{% if (m.role == 'user') != (loop.index0 % 2 == 0) %}{{ raise_exception('no') }}{% endif %}{{ '<|' ~ m.role ~ '|>' + c + '\n' }}{% if loop.index0 < messages|length - 1 and messages[loop.index0 + 1].role == m.role %}?{% endif %}{% endfor %}";
    let text = template(source).render(&messages, true).unwrap();
    assert!(text.len() > 500_000 && text.ends_with("<|assistant|>yes\n"), "{}", text.len());
}

#[test]
fn callers_may_have_small_stacks() {
    let deep = format!("{}x{}", "{% if true %}".repeat(40), "{% endif %}".repeat(40));
    let chain = format!("{{{{ 0{} }}}}", " + 1".repeat(400));
    let nested = (0..100).fold(serde_json::json!(1), |inner, _| serde_json::json!([inner]));
    let caller = std::thread::Builder::new().stack_size(128 << 10).spawn(move || {
        assert_eq!(template(&deep).render(&[], false).unwrap(), "x");
        assert_eq!(template(&chain).render(&[], false).unwrap(), "400");
        let text = template("{{ x|tojson }}").with_variable("x", nested).render(&[], false).unwrap();
        assert_eq!(text, format!("{}1{}", "[".repeat(100), "]".repeat(100)));
    });
    caller.unwrap().join().unwrap();
}

/// `generation` marks the assistant's words for training. The body of the block is rendered unchanged.
#[test]
fn bodies_of_generation_blocks_are_text() {
    let source = "{% for m in messages %}{% generation %}<{{ m.content }}>{%- endgeneration -%} {% endfor %}{{ generation }}";
    let template = ChatTemplate::new(source, &Limits::default()).unwrap();
    assert_eq!(template.render(&[Message::user("a"), Message::user("b")], false).unwrap(), "<a><b>");
    let error = ChatTemplate::new("{% generation %}\n{% endfor %}", &Limits::default()).unwrap_err();
    assert!(error.to_string().contains("line 2") || error.to_string().contains(":2:"), "{error}");
}
