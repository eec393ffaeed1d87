"""A plug-in for vLLM: structured outputs by Grammata, completed within `max_tokens`.

With this package installed next to vLLM, `--structured-outputs-config.backend guidance` is Grammata; nothing else has to be written.
vLLM finds `register` by the entry point group `vllm.general_plugins` and calls it in each of its processes. The environment says the rest,
see `settings`. vLLM is imported when `register` is called, and not before.
"""

from grammata.integrations.vllm.plugin import register

__all__ = ["register"]
