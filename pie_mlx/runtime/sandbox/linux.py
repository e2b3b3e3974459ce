"""Confinement on Linux."""

import ctypes
import os
from functools import partial

from pie_mlx.runtime.sandbox.landlock import restrict_files, restricts_ports
from pie_mlx.runtime.sandbox.policy import Policy
from pie_mlx.runtime.sandbox.seccomp import install_filter

_PR_SET_NO_NEW_PRIVS = 38

_libc = ctypes.CDLL(None, use_errno=True)


def confine_linux(policy: Policy) -> dict[str, str]:
    """Returns why restrictions are missing, by name. Landlock comes first: the filter forbids its calls."""
    if _libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0:
        reason = f"no_new_privs: {os.strerror(ctypes.get_errno())}"
        return dict.fromkeys(("files", "network", "processes"), reason)
    missing: dict[str, str] = {}
    if policy.proxy_port is not None and not policy.isolated:
        missing["network"] = _open_ports(policy.proxy_port)
    with_tcp, with_execution = policy.proxy_port is not None, bool(policy.executable)
    filter_calls = partial(install_filter, with_tcp=with_tcp, with_execution=with_execution)
    for walls, build in ((("files",), partial(restrict_files, policy)), (("network", "processes"), filter_calls)):
        try:
            build()
        except OSError as error:
            missing |= dict.fromkeys(walls, error.strerror or str(error))
    return missing


def _open_ports(proxy_port: int) -> str:
    """What a program can reach besides its proxy without a network namespace."""
    ports = f"TCP port {proxy_port}" if restricts_ports() else "every TCP port"
    return f"{ports} of every address, past the proxy: this system offers no network namespaces"
