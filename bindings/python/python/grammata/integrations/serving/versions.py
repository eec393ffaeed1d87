"""Versions of this package and of its host, for the log."""

from __future__ import annotations

import json
import platform
from importlib import metadata

from grammata._native import __version__


def line(host: str, version: str) -> str:
    """The versions that are in use, for instance `Grammata 0.1.0, vLLM 0.32.0, Python 3.12.3`.

    The commit of Grammata follows its version if pip installed it from a repository.
    """
    commit = _commit()
    return f"Grammata {__version__}{f' ({commit[:12]})' if commit else ''}, {host} {version}, Python {platform.python_version()}"


def is_tested(version: str, tested: tuple[str, ...]) -> bool:
    """Whether a version is one of those tested. Parts for a platform, such as `+cpu`, do not count."""
    return version.partition("+")[0] in tested


def _commit() -> str | None:
    """The commit that pip recorded (PEP 610); None if it recorded none."""
    try:
        record = json.loads(metadata.distribution("grammata").read_text("direct_url.json") or "{}")
        commit = record.get("vcs_info", {}).get("commit_id")
    except (metadata.PackageNotFoundError, ValueError, AttributeError):
        return None
    return commit if isinstance(commit, str) else None
