"""Seatbelt, the sandbox of macOS, applied by a process to itself.

Apple calls the interface deprecated, and browsers use it: how much of it holds is what `probe` finds out.
"""

import ctypes
from collections.abc import Iterable

from pie_mlx.runtime.sandbox.confinement import WALLS, Policy

_LIBRARY = "/usr/lib/libSystem.B.dylib"

# The last rule that matches counts. System libraries stay readable for the loader's cache.
_PROFILE = """(version 1)
(deny default)
(import "bsd.sb")
(deny process-fork)
(deny process-exec*)
(deny network*)
(deny signal)
(allow signal (target self))
{network}
(deny file-read* file-write*)
(allow file-read-metadata)
{readable}
{writable}
(allow file-read* file-write-data (literal "/dev/null"))
(allow file-read* (literal "/dev/urandom") (literal "/dev/random") (literal "/dev/zero"))
"""


def confine_macos(policy: Policy) -> dict[str, str]:
    """Answers why a wall is missing, by the wall."""
    try:
        library = ctypes.CDLL(_LIBRARY, use_errno=True)
        message = ctypes.c_char_p()
        result = library.sandbox_init(profile(policy).encode(), ctypes.c_uint64(0), ctypes.byref(message))
    except (OSError, AttributeError) as error:
        return dict.fromkeys(WALLS, f"Seatbelt: {error}")
    if result == 0:
        return {}
    return dict.fromkeys(WALLS, f"Seatbelt: {(message.value or b'refused').decode(errors='replace')}")


def profile(policy: Policy) -> str:
    """The rules in Seatbelt's language. Paths must be canonical: /private/var, not /var."""
    system = (
        "/usr/lib",
        "/usr/share/zoneinfo",
        "/private/var/db/timezone",
        "/private/etc/localtime",
        "/System/Library",
        "/System/Volumes/Preboot/Cryptexes",
        "/Library/Apple",
    )
    return _PROFILE.format(
        readable=f"(allow file-read* {_subpaths((*system, *policy.readable))})",
        network=f'(allow network-outbound (remote tcp "localhost:{policy.proxy_port}"))' if policy.proxy_port else "",
        writable=f"(allow file-read* file-write* {_subpaths(policy.writable)})" if policy.writable else "",
    )


def _subpaths(paths: Iterable[str]) -> str:
    return " ".join(f"(subpath {_quoted(path)})" for path in paths)


def _quoted(path: str) -> str:
    escaped = path.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
