"""Parts that the plug-ins for servers share: settings by environment variables, compiling with a cache, metrics, and the
names of versions.

`vllm` and `sglang` import them. No module here imports a host.
"""
