"""A plug-in for vLLM: structured outputs by Grammata, completed within `max_tokens`.

If this package is installed with vLLM, `--structured-outputs-config.backend guidance` selects Grammata. vLLM finds
`register` by the entry point group `vllm.general_plugins` and calls it in each of its processes. Environment variables
change the settings, see `settings`. vLLM is imported only when `register` is called.
"""

from grammata.integrations.vllm.plugin import register

__all__ = ["register"]
