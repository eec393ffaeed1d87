"""Compiled grammars of a server's requests, with its cache, metrics and log."""

from __future__ import annotations

import hashlib
import logging
import threading
import time

from grammata._errors import GrammataError
from grammata._native import CompiledGrammar, Compiler, GrammarCache, Source, Vocabulary
from grammata.integrations.serving.metrics import Metrics
from grammata.integrations.serving.settings import Settings


class Grammars:
    """Compiles the grammars of requests for one vocabulary. Threads may share it."""

    def __init__(self, vocabulary: Vocabulary, settings: Settings, metrics: Metrics, logger: logging.Logger) -> None:
        self.vocabulary = vocabulary
        self._settings = settings
        self._metrics = metrics
        self._logger = logger
        compiler = Compiler(vocabulary, limits=settings.limits)
        compiler.prepare()
        self._cache = GrammarCache(compiler, max_bytes=settings.cache_bytes, folder=settings.folder)
        self._seen = self._cache.statistics()
        self._lock = threading.Lock()

    def get(self, source: Source, request_id: str | None = None) -> CompiledGrammar:
        """The grammar of a source, from the cache or compiled. Raises GrammarError, LimitError."""
        start = time.perf_counter()
        try:
            return self._cache.get(source)
        finally:
            seconds = time.perf_counter() - start
            self._metrics.compiled(seconds)
            self._count()
            if seconds >= self._settings.slow_seconds:
                self._logger.warning("slow grammar: %s", described(source, seconds, request_id))

    def clear(self) -> None:
        """Waits until mask files are written, and removes the grammars from the cache."""
        self._cache.flush()
        self._cache.clear()
        self._count()

    def _count(self) -> None:
        with self._lock:
            now = self._cache.statistics()
            change = {name: count - self._seen[name] for name, count in now.items()}
            self._seen = now
        self._metrics.cache(change)


class Refusals:
    """Counts the errors of a block by their codes, and lets them pass."""

    def __init__(self, metrics: Metrics) -> None:
        self._metrics = metrics

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        if isinstance(error, GrammataError):
            self._metrics.refused(error.code)
        elif isinstance(error, Exception):
            self._metrics.refused("other")


def described(source: Source, seconds: float, request_id: str | None) -> str:
    """A line for the log about a grammar that took long. It has the digest of the text, not the text."""
    text = source.text.encode("utf-8", "surrogatepass")
    digest = hashlib.sha256(text).hexdigest()[:16]
    return f"{seconds * 1000:.0f} ms, {source.notation} of {len(text)} bytes, sha256 {digest}…, request {request_id or 'unknown'}"
