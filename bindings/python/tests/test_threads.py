"""Threads, processes, the end of the interpreter, and memory."""

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import grammata
import numpy as np
import pytest


def test_a_matcher_is_of_one_thread_at_a_time(compiler, vocabulary):
    """If two threads use a matcher at the same time, one call raises a clear exception, and nothing is damaged."""
    codes: set[str] = set()
    for attempt in range(50):
        # another grammar each time, so that its first mask takes a while
        matcher = compiler.detached().compile_regex(f"([a-z]+ ?){{{attempt + 5}}}").matcher()
        started = threading.Event()

        def fill(matcher: grammata.Matcher = matcher, started: threading.Event = started) -> None:
            started.set()
            try:
                matcher.fill_mask(np.zeros(vocabulary.mask_words, np.int32))
            except grammata.UsageError as error:
                codes.add(error.code)

        thread = threading.Thread(target=fill)
        thread.start()
        started.wait()
        while thread.is_alive():
            try:
                matcher.is_accepting()
            except grammata.UsageError as error:
                codes.add(error.code)
        thread.join()
        assert matcher.steps == 0 and matcher.mask()
        if codes:
            break
    assert codes == {"python/matcher-in-use"}


def test_a_matcher_in_a_batch_is_in_use(compiler, vocabulary):
    """A batch holds its matchers until it has ended. Calls of other threads do not lose any of them."""
    codes: set[str] = set()
    for attempt in range(50):
        grammar = compiler.detached().compile_regex(f"([a-z]+ ?){{{attempt + 5}}}")
        matchers = [grammar.matcher() for _ in range(6)]
        table = np.zeros((6, vocabulary.mask_words), np.int32)
        thread = threading.Thread(target=grammata.fill_masks, args=(matchers, table))
        thread.start()
        while thread.is_alive():
            try:
                matchers[5].fork()
            except grammata.UsageError as error:
                codes.add(error.code)
        thread.join()
        assert all(matcher.mask() for matcher in matchers)
        if codes:
            break
    assert codes == {"python/matcher-in-use"}


def test_refused_calls_lose_no_matcher(bytewise):
    """While a batch holds matchers, refused calls of other threads do not keep it from putting them back."""
    grammar = bytewise.compile_regex("[ab]*")
    matchers = [grammar.matcher() for _ in range(256)]
    masks = np.zeros((256, 9), np.int32)
    refused, done = [0, 0, 0], threading.Event()

    def ask(thread: int) -> None:
        calls = [matchers[thread].is_accepting, lambda: matchers[thread].fork(), lambda: matchers[-1].accept_token(97)]
        while not done.is_set():
            for call in calls:
                try:
                    call()
                except grammata.UsageError as error:
                    assert error.code == "python/matcher-in-use"
                    refused[thread] += 1

    threads = [threading.Thread(target=ask, args=(thread,)) for thread in range(3)]
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    for thread in threads:
        thread.start()
    batches, end = 0, time.monotonic() + 8
    try:
        while time.monotonic() < end:
            try:
                grammata.fill_masks(matchers, masks)
                grammata.accept_tokens(matchers, [97] * 256)
                batches += 1
            except grammata.UsageError as error:
                assert error.code == "python/matcher-in-use"
    finally:
        done.set()
        sys.setswitchinterval(interval)
        for thread in threads:
            thread.join()
    assert all(refused) and batches > 10
    # none is lost: each answers
    assert all(matcher.is_accepting() for matcher in matchers)


def test_bound_memory_is_of_one_call_at_a_time(compiler, vocabulary):
    codes: set[str] = set()
    for attempt in range(50):
        bound = grammata.MaskBuffer(np.zeros(vocabulary.mask_words, np.int32))
        first, second = (compiler.detached().compile_regex(f"([a-z]+ ?){{{attempt + 5}}}").matcher() for _ in range(2))
        thread = threading.Thread(target=first.fill_mask, args=(bound,))
        thread.start()
        while thread.is_alive():
            try:
                len(bound)
            except grammata.UsageError as error:
                codes.add(error.code)
        thread.join()
        second.fill_mask(bound)
        if codes:
            break
    assert codes == {"python/buffer-in-use"}


def test_threads_share_grammars(compiler, vocabulary):
    schema = {"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "integer"}}}
    text = vocabulary.encode_greedy('{"a": "some text", "b": 12}')
    alone = [mask.to_bytes() for mask in walk(compiler.detached().compile_json_schema(schema), text)]
    grammar = compiler.detached().compile_json_schema(schema)
    found: list[list[bytes]] = []
    threads = [
        threading.Thread(target=lambda: found.append([mask.to_bytes() for mask in walk(grammar, text)]))
        for _ in range(16)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [alone] * 16


def walk(grammar: grammata.CompiledGrammar, tokens: list[int]) -> list[grammata.TokenMask]:
    matcher, masks = grammar.matcher(), []
    for token in tokens:
        masks.append(matcher.mask())
        matcher.accept_token(token)
    return masks


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_child_has_threads_of_its_own(bytewise, tmp_path):
    grammar = bytewise.compile_regex("[ab]+")
    table = np.zeros((20, 9), np.int32)
    matchers = [grammar.matcher() for _ in range(20)]
    grammata.fill_masks(matchers, table)
    cache = grammata.GrammarCache(bytewise, folder=tmp_path, states=9)
    cache.get(grammata.Source.regex("[ab]+"))
    cache.flush()
    warm = grammar.warm(states=1)
    while not warm.is_finished():
        time.sleep(0.001)
    child = os.fork()
    if child == 0:
        code = 1
        try:
            fine = grammata.fill_masks(matchers, table, errors="return") == [None] * 20
            fine = fine and grammata.accept_tokens(matchers, [97] * 20) is None
            fine = fine and warm.is_finished() and warm.wait() == (0, 0)
            del warm
            # one grammar in memory and one new; the thread that writes files exists only in the parent
            fine = fine and all(cache.get(grammata.Source.regex(text)).matcher().mask() for text in ("[ab]+", "c"))
            cache.flush()
            fine = fine and grammar.warm(states=9).wait() > (0, 0)
            code = 0 if fine and bytewise.compile_regex("c").matcher().mask().ids() == [99] else 2
        finally:
            os._exit(code)
    deadline = time.monotonic() + 60
    while (ended := os.waitpid(child, os.WNOHANG)) == (0, 0) and time.monotonic() < deadline:
        time.sleep(0.01)
    if ended == (0, 0):
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    assert ended == (child, 0)
    grammata.fill_masks(matchers, table)


FORKING = """
import os, signal, sys, threading, time, grammata, numpy
tokens = [bytes([byte]) for byte in range(256)]
vocabulary = grammata.Vocabulary.from_tokens([*tokens, None], specials={"<end>": 256}, eos=256)
compiler = grammata.Compiler(vocabulary)
grammar = compiler.compile_regex("([ab]{1,9} ?){1,99}")
matchers, table = [grammar.matcher() for _ in range(8)], numpy.zeros((8, 9), numpy.int32)
bound = grammata.MaskBuffer(numpy.zeros(9, numpy.int32))
own = grammar.matcher()
cache = grammata.GrammarCache(grammata.Compiler(vocabulary), max_bytes=1, folder=sys.argv[1], states=9)
def batches():
    while True:
        grammata.fill_masks(matchers, table)
        for matcher in matchers:
            matcher.reset()
def masks():
    while True:
        own.fill_mask(bound)
        if not own.try_accept(97):
            own.reset()
def schemas():
    for number in range(1 << 60):
        compiler.compile_json_schema({"enum": [number, "a"]}).matcher().mask()
        compiler.compile_json_schema({"$ref": "urn:a"}, documents=lambda uri: {"const": number})
def caches():
    for number in range(1 << 60):
        cache.get(grammata.Source.regex(f"a{{{number % 50}}}"))
        warm = grammata.Compiler(vocabulary).compile_regex(f"(a|bc){{{number % 50}}}").warm()
        time.sleep(0.001)
        warm.cancel()
for work in (batches, masks, schemas, caches):
    threading.Thread(target=work, daemon=True).start()
hung = failed = 0
for _ in range(int(sys.argv[2])):
    child = os.fork()
    if child == 0:
        code = 1
        try:
            grammata.fill_masks(matchers, table)
            own.fill_mask(bound)
            assert compiler.compile_json_schema({"const": "b"}).matcher().mask().ids() == [34]
            assert cache.get(grammata.Source.regex("c")).matcher().mask().ids() == [99]
            grammata.accept_tokens([grammar.matcher() for _ in range(8)], [97] * 8)
            code = 0
        finally:
            os._exit(code)
    end = time.monotonic() + 30
    while (ended := os.waitpid(child, os.WNOHANG)) == (0, 0) and time.monotonic() < end:
        time.sleep(0.001)
    if ended == (0, 0):
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        hung += 1
    elif ended[1] != 0:
        failed += 1
sys.stdout.write(f"{hung} hung, {failed} failed")
sys.stdout.flush()
os._exit(0)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_forks_while_threads_call(tmp_path):
    """Children of a process whose threads are inside calls can use everything: locks, matchers, buffers, pools, caches."""
    command = [sys.executable, "-W", "ignore", "-c", FORKING, str(tmp_path), "60"]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=600)
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "0 hung, 0 failed", "")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_fork_inside_a_call(bytewise):
    """Code of Python that a call runs may fork: the call itself is not waited for."""
    ended: list[int] = []

    def document(uri: str) -> dict[str, object]:
        child = os.fork()
        if child == 0:
            os._exit(0 if bytewise.compile_regex("c").matcher().mask().ids() == [99] else 1)
        ended.append(os.waitpid(child, 0)[1])
        return {"const": 1}

    begun = time.monotonic()
    bytewise.compile_json_schema({"$ref": "urn:a"}, documents=document)
    assert ended == [0] and time.monotonic() - begun < 15


ENDING = """
import threading, grammata, numpy, sys
tokens = [bytes([byte]) for byte in range(256)]
grammar = grammata.Compiler(grammata.Vocabulary.from_tokens(tokens)).compile_regex("[ab]*")
def forever():
    matchers, table = [grammar.matcher() for _ in range(8)], numpy.zeros((8, 8), numpy.int32)
    while True:
        grammata.fill_masks(matchers, table)
        matchers[0].fill_mask(table[0])
        matchers[0].accept_token(97)
def ask():
    compiler = grammata.Compiler(grammar.vocabulary)
    while True:
        compiler.compile_json_schema({"$ref": "urn:a"}, documents=lambda uri: {"const": 1})
def fail():
    while True:
        try:
            grammar.matcher().accept_bytes("c")
        except grammata.RejectedError:
            grammar.matcher().explain("c")
for work in (forever, forever, ask, ask, fail):
    threading.Thread(target=work, daemon=True).start()
cache = grammata.GrammarCache(grammata.Compiler(grammar.vocabulary), folder=sys.argv[1])
cache.get(grammata.Source.regex("([ab]{1,9} ?){1,99}"))
warm = grammata.Compiler(grammar.vocabulary).compile_regex("([ab]{1,9} ?){1,99}").warm()
kept = grammata.MaskBuffer(bytearray(32))
sys.stdout.write("done")
"""


def test_the_interpreter_ends_while_threads_work(tmp_path):
    """Threads that fill masks, that call Python code, and that Rust starts: none may abort the process."""
    for _ in range(10):
        ended = subprocess.run([sys.executable, "-c", ENDING, tmp_path], capture_output=True, text=True, timeout=120)
        assert (ended.returncode, ended.stdout, ended.stderr) == (0, "done", "")


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="there is no /proc here")
def test_matchers_leave_no_memory(compiler, vocabulary):
    grammar = compiler.compile_json_schema({"type": "array", "items": {"type": "string"}})
    memory = np.zeros(vocabulary.mask_words, np.int32)
    tokens = vocabulary.encode_greedy('["a", "b"]')

    def make(count: int) -> int:
        for _ in range(count):
            matcher = grammar.matcher()
            bound = grammata.MaskBuffer(memory)
            for token in tokens:
                matcher.fill_mask(bound)
                matcher.accept_token(token)
            matcher.fork().rollback(2)
            with pytest.raises(grammata.RejectedError):
                matcher.accept_bytes("x")
        return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    before = make(500)
    assert make(2_000) - before < 4 << 20
