"""The parts that the plug-ins for servers share: variables, compiling with a cache and a log, metrics, versions."""

import hashlib
import json
import logging
import os
import re
import subprocess
import sys
from importlib import metadata
from pathlib import Path
from types import SimpleNamespace

import grammata
import pytest
from grammata._errors import UsageError
from grammata.integrations.serving import settings, versions
from grammata.integrations.serving.grammars import Grammars, Refusals
from grammata.integrations.serving.metrics import Metrics
from grammata.integrations.serving.settings import NAMES, Settings, Variables
from grammata.integrations.sglang.settings import Settings as SglangSettings
from grammata.integrations.vllm.settings import Settings as VllmSettings

HOSTS = {"GRAMMATA_VLLM": VllmSettings, "GRAMMATA_SGLANG": SglangSettings}
LOGGER = logging.getLogger("grammata.test")


@pytest.mark.parametrize("prefix", HOSTS)
def test_every_variable_is_read_for_every_host(prefix: str, tmp_path: Path) -> None:
    values = {
        "BUDGET": ("off", "budget", "off"),
        "LIMITS": (" mask_work=12, cache_bytes=34,", "limits", {"mask_work": 12, "cache_bytes": 34}),
        "CACHE_MB": ("3", "cache_bytes", 3 << 20),
        "FOLDER": (str(tmp_path / "new" / "masks"), "folder", str(tmp_path / "new" / "masks")),
        "WHITESPACE": ("pattern=[ ]?", "whitespace", "pattern=[ ]?"),
        "SLOW_MS": ("250", "slow_seconds", 0.25),
    }
    assert set(values) == set(NAMES)
    read = HOSTS[prefix].from_environment
    for name, (text, field, value) in values.items():
        if prefix == "GRAMMATA_SGLANG" and name == "CACHE_MB":
            continue
        variables = {f"{prefix}_{name}": text, "GRAMMATA_OTHER_THING": "x"}
        assert getattr(read(variables), field) == value != getattr(read({}), field), name
        assert read({f"{prefix}_{name}": ""}) == read({})
    assert (tmp_path / "new" / "masks").is_dir()
    assert read({}).budget == ("on" if prefix == "GRAMMATA_VLLM" else "strict")


@pytest.mark.parametrize(
    ("name", "value", "found", "allowed", "help"),
    [
        ("BUGET", "off", "GRAMMATA_VLLM_BUGET", "GRAMMATA_VLLM_BUDGET", "did you mean GRAMMATA_VLLM_BUDGET?"),
        ("ZZZ", "1", "GRAMMATA_VLLM_ZZZ", "GRAMMATA_VLLM_SLOW_MS", "unset GRAMMATA_VLLM_ZZZ"),
        ("BUDGET", "yes", "yes", "on, strict, off", "unset"),
        ("LIMITS", "mask_wrk=1", "mask_wrk=1", "mask_work, template_work", "did you mean `mask_work`?"),
        ("LIMITS", "mask_work", "mask_work", "NAME=NUMBER", "unset"),
        ("LIMITS", "mask_work=1e6", "mask_work=1e6", "NAME=NUMBER", "unset"),
        ("LIMITS", "mask_work=-1", "mask_work=-1", "NAME=NUMBER", "unset"),
        ("LIMITS", "mask_work=1,mask_work=2", "mask_work=2", "each name once", "unset"),
        ("LIMITS", "mask_work=" + "9" * 5000, "9" * 5000, "NAME=NUMBER", "unset"),
        ("CACHE_MB", "0", "0", "from 1 to 1048576", "unset"),
        ("CACHE_MB", "x", "x", "from 1 to 1048576", "unset"),
        ("CACHE_MB", "²", "²", "from 1 to 1048576", "unset"),
        ("SLOW_MS", "-1", "-1", "from 0", "unset"),
        ("WHITESPACE", "fre", "fre", "free, compact", "meaning"),
        ("WHITESPACE", "pattern=(", "pattern=(", "unclosed group", "regular expression"),
        ("FOLDER", "/dev/null/masks", "/dev/null/masks", "folder", "unset"),
    ],
)
def test_an_invalid_variable_is_named_with_what_is_allowed(name: str, value: str, found: str, allowed: str, help: str) -> None:
    with pytest.raises(UsageError) as caught:
        VllmSettings.from_environment({f"GRAMMATA_VLLM_{name}": value})
    error = caught.value
    assert error.code == "vllm/setting" and f"GRAMMATA_VLLM_{name}" in str(error)
    assert found in str(error.found) and allowed in str(error.allowed) and help in str(error.help)


def test_the_error_names_the_host() -> None:
    with pytest.raises(UsageError, match="GRAMMATA_SGLANG_CACHE_MB") as caught:
        SglangSettings.from_environment({"GRAMMATA_SGLANG_CACHE_MB": "1"})
    assert caught.value.code == "sglang/setting"


def test_all_limits_can_be_set() -> None:
    with pytest.raises(UsageError) as caught:
        Variables("X", {"X_LIMITS": "?=1"}).limits("LIMITS")
    names = str(caught.value.allowed).split(", ")
    assert len(names) > 20 and "mask_work" in names
    read = Variables("X", {"X_LIMITS": ",".join(f"{name}=7" for name in names)}).limits("LIMITS")
    assert read == dict.fromkeys(names, 7)


class Counts(Metrics):
    """Metrics as sums."""

    def __init__(self) -> None:
        self.sums: dict[str, float] = {}
        self.codes: list[str] = []

    def compiled(self, seconds: float) -> None:
        self.sums["compiled"] = self.sums.get("compiled", 0) + 1

    def cache(self, change: "settings.Mapping[str, int]") -> None:
        for name, number in change.items():
            self.sums[name] = self.sums.get(name, 0) + number

    def refused(self, code: str) -> None:
        self.codes.append(code)


def test_requests_are_counted_and_slow_grammars_logged(bytewise: grammata.Compiler, caplog: pytest.LogCaptureFixture) -> None:
    counts = Counts()
    grammars = Grammars(bytewise.vocabulary, Settings(slow_seconds=0), counts, LOGGER)
    source = grammata.Source.regex("ab*")
    for _ in range(3):
        assert grammars.get(source, "r7").matcher().try_accept_bytes("abb")
    with pytest.raises(grammata.GrammarError), Refusals(counts):
        grammars.get(grammata.Source.regex("("))
    with pytest.raises(KeyError), Refusals(counts):
        raise KeyError
    assert (counts.sums["compiled"], counts.sums["misses"], counts.sums["hits"]) == (4, 2, 2)
    assert counts.sums["bytes"] > 0 and counts.codes == ["regex/unclosed-group", "other"]
    digest = hashlib.sha256(b"ab*").hexdigest()[:16]
    assert len(caplog.messages) == 4
    assert re.fullmatch(rf"slow grammar: \d+ ms, regex of 3 bytes, sha256 {digest}…, request r7", caplog.messages[0])
    grammars.clear()
    assert counts.sums["bytes"] == counts.sums["grammars"] == 0


def test_fast_grammars_are_not_logged_and_limits_hold(bytewise: grammata.Compiler, caplog: pytest.LogCaptureFixture) -> None:
    grammars = Grammars(bytewise.vocabulary, Settings(limits={"automaton_states": 5}), Metrics(), LOGGER)
    grammars.get(grammata.Source.regex("a"))
    with pytest.raises(grammata.LimitError, match="automaton_states"):
        grammars.get(grammata.Source.regex("[ab]{30}"))
    assert not caplog.messages


PROGRAM = """
import logging, sys
logging.basicConfig(level=logging.INFO, format="%(message)s")
if sys.argv[1] == "missing":
    sys.modules["prometheus_client"] = None
import grammata
from grammata.integrations.serving import metrics
from grammata.integrations.serving.grammars import Grammars
from grammata.integrations.serving.settings import Settings

found = metrics.of_process(logging.getLogger("test"))
vocabulary = grammata.Vocabulary.from_tokens(["a", "b", None], specials={"<end>": 2}, eos=2)
grammars = Grammars(vocabulary, Settings(), found, logging.getLogger("test"))
for text in ("a", "a", "b"):
    grammars.get(grammata.Source.regex(text))
found.info("vllm", "1.2.3", "0.1.0")
found.refused("json-schema/type")
found.cut()
with found.timed_mask():
    pass
"""
SCRAPER = """
from prometheus_client import CollectorRegistry, generate_latest, multiprocess
registry = CollectorRegistry()
multiprocess.MultiProcessCollector(registry)
print(generate_latest(registry).decode())
"""


def run(program: str, folder: Path | None, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PROMETHEUS_MULTIPROC_DIR": "" if folder is None else str(folder)}
    return subprocess.run([sys.executable, "-c", program, *arguments], env=environment, capture_output=True, text=True, check=True)


def test_another_process_sees_the_metrics_of_two(tmp_path: Path) -> None:
    pytest.importorskip("prometheus_client")
    for _ in range(2):
        assert run(PROGRAM, tmp_path, "exported").stderr == ""
    text = run(SCRAPER, tmp_path).stdout
    for line in (
        "grammata_compile_seconds_count 6.0",
        "grammata_mask_seconds_count 2.0",
        "grammata_cache_hits_total 2.0",
        "grammata_cache_misses_total 4.0",
        'grammata_refused_total{code="json-schema/type"} 2.0',
        "grammata_cut_total 2.0",
        'grammata_info{host="vllm",host_version="1.2.3",version="0.1.0"} 1.0',
    ):
        assert line in text, line
    assert float(re.search(r"(?m)^grammata_cache_bytes (\S+)", text)[1]) > 0  # type: ignore[index]


def test_without_metrics_a_line_says_why(tmp_path: Path) -> None:
    assert run(PROGRAM, None, "exported").stderr == "no metrics of Grammata: PROMETHEUS_MULTIPROC_DIR is not set\n"
    assert run(PROGRAM, tmp_path, "missing").stderr == "no metrics of Grammata: the package prometheus_client is not installed\n"


def test_versions_are_in_a_line(monkeypatch: pytest.MonkeyPatch) -> None:
    record = json.dumps({"url": "https://example.com/g.git", "vcs_info": {"vcs": "git", "commit_id": "0123456789abcdef0"}})
    for text, commit in ((record, " (0123456789ab)"), (None, ""), ("{", ""), ('{"dir_info": {}}', ""), ("[]", "")):
        monkeypatch.setattr(metadata, "distribution", lambda name, text=text: SimpleNamespace(read_text=lambda file: text))
        assert re.fullmatch(rf"Grammata \d\S*{re.escape(commit)}, vLLM 0\.32\.0, Python 3\.\S+", versions.line("vLLM", "0.32.0"))


def test_parts_of_a_version_for_a_platform_do_not_count() -> None:
    tested = ("0.32.0", "0.31.0")
    assert versions.is_tested("0.32.0", tested) and versions.is_tested("0.31.0+cpu", tested)
    assert not versions.is_tested("0.33.0", tested) and not versions.is_tested("0.32.0rc1", tested)
