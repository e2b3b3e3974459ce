"""Seatbelt, the sandbox of macOS, applied by a process to itself.

Apple has deprecated the interface, but browsers use it; `probe` tests what it enforces.
"""

import ctypes
import os
from collections.abc import Iterable

from pie_mlx.runtime.sandbox.policy import RESTRICTIONS, Policy

_LIBRARY = "/usr/lib/libSystem.B.dylib"

# The last matching rule wins. System libraries stay readable for the loader's cache. `default` does not cover what the
# third rule names; the remaining services are for time zones, user names and the log.
_PROFILE = """(version 1)
(deny default)
(import "bsd.sb")
(deny file-map-executable iokit-get-properties nvram* process-info*)
(allow process-info* (target self))
(deny sysctl-read (sysctl-name-prefix "kern.proc"))
(deny iokit-open ipc-posix* ipc-sysv* mach-lookup mach-register sysctl-write)
(allow ipc-posix-shm-read* (ipc-posix-name "apple.shm.notification_center"))
(allow mach-lookup {services})
(deny process-fork)
(deny process-exec*)
(deny network*)
(deny signal)
(allow signal (target self))
{execution}
{compilation}
{network}
(deny file-read* file-write*)
(allow file-read-metadata)
(allow file-read* file-map-executable {readable})
{writable}
(deny file-write-flags file-write-xattr)
(allow file-read* file-write-data (literal "/dev/null"))
(allow file-read* (literal "/dev/urandom") (literal "/dev/random") (literal "/dev/zero"))
"""

_EXECUTION = "(allow process-exec* {files})"
_COMPILATION = "(allow dynamic-code-generation)"

_SERVICES = (
    "com.apple.system.notification_center",
    "com.apple.system.opendirectoryd.libinfo",
    "com.apple.system.logger",
    "com.apple.logd",
)


def confine_macos(policy: Policy) -> dict[str, str]:
    """Returns why restrictions are missing, by name."""
    try:
        library = ctypes.CDLL(_LIBRARY, use_errno=True)
        message = ctypes.c_char_p()
        result = library.sandbox_init(os.fsencode(profile(policy)), ctypes.c_uint64(0), ctypes.byref(message))
    except (OSError, AttributeError) as error:
        return dict.fromkeys(RESTRICTIONS, f"Seatbelt: {error}")
    if result == 0:
        return {}
    return dict.fromkeys(RESTRICTIONS, f"Seatbelt: {(message.value or b'refused').decode(errors='replace')}")


def profile(policy: Policy) -> str:
    """The rules in Seatbelt's language. Paths must be canonical: /private/var, not /var."""
    system = (
        "/usr/lib",
        "/usr/share/zoneinfo",
        "/usr/share/zoneinfo.default",
        "/private/var/db/timezone",
        "/private/etc/localtime",
        "/System/Library",
        "/System/Cryptexes",
        "/System/Volumes/Preboot/Cryptexes",
        "/Library/Apple",
    )
    return _PROFILE.format(
        services=" ".join(f'(global-name "{name}")' for name in _SERVICES),
        readable=_subpaths((*system, *policy.readable, *policy.executable)),
        execution=_EXECUTION.format(files=_literals(policy.executable)) if policy.executable else "",
        compilation=_COMPILATION if policy.executable or policy.compiles else "",
        network=f'(allow network-outbound (remote tcp "localhost:{policy.proxy_port}"))' if policy.proxy_port else "",
        writable=f"(allow file-read* file-write* {_subpaths(policy.writable)})" if policy.writable else "",
    )


def _literals(paths: Iterable[str]) -> str:
    return " ".join(f"(literal {_quoted(path)})" for path in paths)


def _subpaths(paths: Iterable[str]) -> str:
    return " ".join(f"(subpath {_quoted(path)})" for path in paths)


def _quoted(path: str) -> str:
    escaped = path.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
