"""Metrics for Prometheus, next to those of the server.

Servers answer `/metrics` in a process that does not compile grammars. Both vLLM and SGLang collect the metrics of all
their processes from the folder that `PROMETHEUS_MULTIPROC_DIR` names, by `prometheus_client`. So these metrics exist if
this variable is set and `prometheus_client` is installed.
"""

from __future__ import annotations

import functools
import importlib
import logging
import os
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

FOLDER = "PROMETHEUS_MULTIPROC_DIR"
"""The variable that names the folder of the metrics of all processes."""

_COMPILE = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0)
_MASK = (0.00001, 0.000025, 0.00005, 0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.1, 0.5)


class Metrics:
    """Counts nothing: the metrics of a process that exports none."""

    def info(self, host: str, host_version: str, version: str) -> None:
        """Records the versions."""

    def compiled(self, seconds: float) -> None:
        """Records how long a request waited for its grammar, from the cache or compiled."""

    def cache(self, change: Mapping[str, int]) -> None:
        """Records by how much the statistics of a `GrammarCache` changed."""

    def refused(self, code: str) -> None:
        """Counts a request that was refused, by the code of its error."""

    def failed(self, code: str) -> None:
        """Counts a request that failed while it ran, by the code of its error."""

    def cut(self) -> None:
        """Counts an output that the limit of tokens will cut in spite of a budget."""

    def mask(self, seconds: float) -> None:
        """Records how long a call took that filled masks."""

    @contextmanager
    def timed_mask(self) -> Iterator[None]:
        """Records the time of the block as that of a mask."""
        start = time.perf_counter()
        try:
            yield
        finally:
            self.mask(time.perf_counter() - start)


class Exported(Metrics):
    """Metrics in `prometheus_client`'s registry. Create it once in a process; threads may share it."""

    def __init__(self, client: Any) -> None:
        counter, histogram, gauge = client.Counter, client.Histogram, client.Gauge
        self._compile = histogram("grammata_compile_seconds", "Seconds until a request has its grammar, cached or compiled", buckets=_COMPILE)
        self._mask = histogram("grammata_mask_seconds", "Seconds of a call that fills masks", buckets=_MASK)
        self._refused = counter("grammata_refused", "Requests refused before their first token, by code of the error", ["code"])
        self._failed = counter("grammata_failed", "Requests that failed while they ran, by code of the error", ["code"])
        self._cut = counter("grammata_cut", "Outputs that the limit of tokens cuts in spite of a budget")
        self._hits = counter("grammata_cache_hits", "Requests whose grammar was in memory")
        self._misses = counter("grammata_cache_misses", "Requests whose grammar was compiled, or loaded from a mask file")
        self._evictions = counter("grammata_cache_evictions", "Grammars evicted from memory")
        self._bytes = gauge("grammata_cache_bytes", "Bytes of the grammars in memory", multiprocess_mode="livesum")
        labels = ["version", "host", "host_version"]
        self._info = gauge("grammata_info", "1 in each process that uses Grammata", labels, multiprocess_mode="max")

    def info(self, host: str, host_version: str, version: str) -> None:
        self._info.labels(version, host, host_version).set(1)

    def compiled(self, seconds: float) -> None:
        self._compile.observe(seconds)

    def cache(self, change: Mapping[str, int]) -> None:
        self._hits.inc(change["hits"])
        self._misses.inc(change["misses"])
        self._evictions.inc(change["evictions"])
        self._bytes.inc(change["bytes"])

    def refused(self, code: str) -> None:
        self._refused.labels(code).inc()

    def failed(self, code: str) -> None:
        self._failed.labels(code).inc()

    def cut(self) -> None:
        self._cut.inc()

    def mask(self, seconds: float) -> None:
        self._mask.observe(seconds)


@functools.cache
def of_process(logger: logging.Logger) -> Metrics:
    """The metrics of this process. If there are none, a line of the log says why."""
    if not os.environ.get(FOLDER):
        logger.info("no metrics of Grammata: %s is not set", FOLDER)
        return Metrics()
    try:
        client = importlib.import_module("prometheus_client")
    except ImportError:
        logger.info("no metrics of Grammata: the package prometheus_client is not installed")
        return Metrics()
    try:
        return Exported(client)
    except OSError as error:
        logger.warning("no metrics of Grammata: %s: %s", FOLDER, error)
        return Metrics()
