"""What a launch on the emulator did: bytes by array, memory of the threadgroup."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Traffic:
    """Bytes of one array in one launch.

    `requested_read` counts every load; `read` counts an element once per threadgroup, as a perfect cache inside a
    threadgroup would; `written` likewise. `undefined` counts elements of an output that no thread wrote.
    """

    requested_read: int
    read: int
    requested_written: int
    written: int
    undefined: int


@dataclass(frozen=True, slots=True)
class LaunchReport:
    """One launch: traffic by array name, threadgroup memory in bytes, how many threadgroups ran."""

    kernel: str
    function: str
    traffic: dict[str, Traffic]
    threadgroup_bytes: int
    threadgroups: int

    @property
    def bytes_moved(self) -> int:
        """Device bytes read (once per threadgroup) and written."""
        return sum(item.read + item.written for item in self.traffic.values())
