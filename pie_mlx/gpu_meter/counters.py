"""Counters of the Apple GPU, read in a process of their own: `python -I -S pie_mlx/gpu_meter/counters.py`.

A line of JSON answers each line of standard input. Energy and the residency of performance states come from libIOReport
and temperatures from the SMC, which Apple documents nowhere: a call that crashes ends this process alone. It imports
nothing of the package, so that it starts at once and stays small.
"""

import contextlib
import ctypes
import json
import math
import select
import struct
import sys
import time
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any, NamedTuple

IDLE_SECONDS = 60.0
"""Without a question for so long the process ends."""

_CORE = "/System/Library/Frameworks/CoreFoundation.framework/CoreFoundation"
_REPORT = "/usr/lib/libIOReport.dylib"
_KIT = "/System/Library/Frameworks/IOKit.framework/IOKit"
_SYSTEM = "/usr/lib/libSystem.B.dylib"

_ref, _u32, _u64, _i32, _i64 = ctypes.c_void_p, ctypes.c_uint32, ctypes.c_uint64, ctypes.c_int32, ctypes.c_int64
_text, _into = ctypes.c_char_p, ctypes.c_void_p

CORE_FUNCTIONS = {
    "CFStringCreateWithCString": (_ref, _ref, _text, _u32),
    "CFStringGetCString": (ctypes.c_bool, _ref, _into, ctypes.c_long, _u32),
    "CFDictionaryGetValue": (_ref, _ref, _ref),
    "CFDictionaryCreateMutableCopy": (_ref, _ref, ctypes.c_long, _ref),
    "CFArrayGetCount": (ctypes.c_long, _ref),
    "CFArrayGetValueAtIndex": (_ref, _ref, ctypes.c_long),
    "CFRelease": (None, _ref),
}
REPORT_FUNCTIONS = {
    "IOReportCopyChannelsInGroup": (_ref, _ref, _ref, _u64, _u64, _u64),
    "IOReportCreateSubscription": (_ref, _ref, _ref, _into, _u64, _ref),
    "IOReportCreateSamples": (_ref, _ref, _ref, _ref),
    "IOReportChannelGetChannelName": (_ref, _ref),
    "IOReportChannelGetUnitLabel": (_ref, _ref),
    "IOReportSimpleGetIntegerValue": (_i64, _ref, _i32),
    "IOReportStateGetCount": (_i32, _ref),
    "IOReportStateGetNameForIndex": (_ref, _ref, _i32),
    "IOReportStateGetResidency": (_i64, _ref, _i32),
}
KIT_FUNCTIONS = {
    "IOServiceMatching": (_ref, _text),
    "IOServiceGetMatchingServices": (_i32, _u32, _ref, _into),
    "IOIteratorNext": (_u32, _u32),
    "IORegistryEntryGetName": (_i32, _u32, _into),
    "IOServiceOpen": (_i32, _u32, _u32, _u32, _into),
    "IOObjectRelease": (_i32, _u32),
    "IOConnectCallStructMethod": (_i32, _u32, _u32, _into, ctypes.c_size_t, _into, _into),
}
"""Results and arguments: without them ctypes cuts pointers to 32 bits."""

_UTF8 = 0x08000100
_NAME_BYTES = 256


def bound(library: Any, functions: dict[str, tuple[Any, ...]]) -> SimpleNamespace:
    """The functions of a library with their types. Raises AttributeError for one that is not there."""
    found = SimpleNamespace()
    for name, (result, *arguments) in functions.items():
        function = getattr(library, name)
        function.restype, function.argtypes = result, arguments
        setattr(found, name, function)
    return found


class Channel(NamedTuple):
    """A counter of IOReport: `value` in `unit`, or how long it was in each of its states."""

    name: str
    unit: str = ""
    value: int = 0
    states: tuple[tuple[str, int], ...] = ()


class ReportGroup:
    """A subscription to the channels of a group of IOReport. Raises OSError where there is none."""

    def __init__(self, core: Any, report: Any, group: str, subgroup: str = "") -> None:
        self._core, self._report = core, report
        self._key = self._string("IOReportChannels")
        found = report.IOReportCopyChannelsInGroup(
            self._string(group), self._string(subgroup) if subgroup else None, 0, 0, 0
        )
        if not found:
            raise OSError(f"IOReport has no group '{group}'")
        self._channels = core.CFDictionaryCreateMutableCopy(None, 0, found)
        subscribed = ctypes.c_void_p()
        self._subscription = report.IOReportCreateSubscription(
            None, self._channels, ctypes.addressof(subscribed), 0, None
        )
        if not self._subscription:
            raise OSError(f"IOReport does not let '{group}' be read")

    def channels(self, *, with_states: bool = False) -> list[Channel]:
        """What they count now. Raises OSError."""
        core, report = self._core, self._report
        sample = report.IOReportCreateSamples(self._subscription, self._channels, None)
        if not sample:
            raise OSError("IOReport gives no sample")
        listed = core.CFDictionaryGetValue(sample, self._key)
        count = core.CFArrayGetCount(listed) if listed else 0
        try:
            items = [core.CFArrayGetValueAtIndex(listed, place) for place in range(count)]
            return [self._states(item) if with_states else self._simple(item) for item in items]
        finally:
            core.CFRelease(sample)

    def _simple(self, item: Any) -> Channel:
        report = self._report
        unit = self._read(report.IOReportChannelGetUnitLabel(item)).strip()
        value = report.IOReportSimpleGetIntegerValue(item, 0)
        return Channel(self._read(report.IOReportChannelGetChannelName(item)), unit, value)

    def _states(self, item: Any) -> Channel:
        report = self._report
        states = tuple(
            (
                self._read(report.IOReportStateGetNameForIndex(item, place)),
                report.IOReportStateGetResidency(item, place),
            )
            for place in range(report.IOReportStateGetCount(item))
        )
        return Channel(self._read(report.IOReportChannelGetChannelName(item)), states=states)

    def _string(self, text: str) -> Any:
        return self._core.CFStringCreateWithCString(None, text.encode(), _UTF8)

    def _read(self, string: Any) -> str:
        buffer = ctypes.create_string_buffer(_NAME_BYTES)
        known = string and self._core.CFStringGetCString(string, ctypes.addressof(buffer), _NAME_BYTES, _UTF8)
        return buffer.value.decode(errors="replace") if known else ""


SMC_FRAME = struct.Struct("<I6x2x16xIIB3xBBB1xI32s")
"""A question to the SMC and its answer: the key; of its value the size, the type and attributes; result, status and
command; an index; and the value."""
_READ, _KEY_AT, _ABOUT = 5, 8, 9
_FLOAT = int.from_bytes(b"flt ", "big")
_KEY_COUNT = int.from_bytes(b"#KEY", "big")


class Smc:
    """Temperatures of the GPU: keys that begin with `Tg`, as floats. `ask` sends a frame and returns the answer; it
    raises OSError."""

    def __init__(self, ask: Callable[[bytes], bytes]) -> None:
        self._ask = ask
        self._keys = list(self._found())

    def celsius(self) -> list[float]:
        """The temperature at each sensor that answers."""
        found: list[float] = []
        for key in self._keys:
            with contextlib.suppress(OSError):
                found += struct.unpack("<f", self._value(*key)[:4])
        return [sensor for sensor in found if math.isfinite(sensor)]

    def _found(self) -> "Iterator[tuple[int, int, int]]":
        count = int.from_bytes(self._value(_KEY_COUNT, *self._about(_KEY_COUNT))[:4], "big")
        for place in range(count):
            with contextlib.suppress(OSError):
                key = self._call(0, command=_KEY_AT, place=place)[0]
                if key.to_bytes(4, "big").startswith(b"Tg") and (about := self._about(key)) == (4, _FLOAT):
                    yield key, *about

    def _about(self, key: int) -> tuple[int, int]:
        _, size, kind, *_ = self._call(key, command=_ABOUT)
        return size, kind

    def _value(self, key: int, size: int, kind: int) -> bytes:
        return self._call(key, size, kind, command=_READ)[-1]

    def _call(self, key: int, size: int = 0, kind: int = 0, *, command: int, place: int = 0) -> tuple[Any, ...]:
        answer = SMC_FRAME.unpack(self._ask(SMC_FRAME.pack(key, size, kind, 0, 0, 0, command, place, b"")))
        if result := answer[4]:
            raise OSError(f"the SMC answers {result}")
        return answer


def smc_connection(kit: Any, task: int) -> Callable[[bytes], bytes]:
    """Opens the SMC. Raises OSError."""
    connection = ctypes.c_uint32()
    for service in _services(kit, b"AppleSMC"):
        name = ctypes.create_string_buffer(_NAME_BYTES)
        kit.IORegistryEntryGetName(service, ctypes.addressof(name))
        if name.value == b"AppleSMCKeysEndpoint" and not connection.value:
            kit.IOServiceOpen(service, task, 0, ctypes.addressof(connection))
        kit.IOObjectRelease(service)
    if not connection.value:
        raise OSError("there is no SMC that can be read")

    def ask(frame: bytes) -> bytes:
        answer, size = ctypes.create_string_buffer(SMC_FRAME.size), ctypes.c_size_t(SMC_FRAME.size)
        question = ctypes.create_string_buffer(frame, SMC_FRAME.size)
        failed = kit.IOConnectCallStructMethod(
            connection.value,
            2,
            ctypes.addressof(question),
            SMC_FRAME.size,
            ctypes.addressof(answer),
            ctypes.addressof(size),
        )
        if failed:
            raise OSError(f"IOConnectCallStructMethod fails with {failed & 0xFFFFFFFF:#x}")
        return answer.raw

    return ask


def _services(kit: Any, name: bytes) -> Iterator[int]:
    iterator = ctypes.c_uint32()
    if kit.IOServiceGetMatchingServices(0, kit.IOServiceMatching(name), ctypes.addressof(iterator)):
        return
    while service := kit.IOIteratorNext(iterator.value):
        yield service


class Counters:
    """`sources` open the parts, by name; one that cannot be opened is left out and says why."""

    def __init__(self, sources: dict[str, Callable[[], Callable[[], object]]]) -> None:
        self._problems: dict[str, str] = {}
        self._reads: dict[str, Callable[[], object]] = {}
        for name, source in sources.items():
            try:
                self._reads[name] = source()
            except (OSError, AttributeError, ValueError) as error:
                self._problems[name] = str(error)

    def read(self) -> dict[str, object]:
        """All parts, and the problems of those that are missing."""
        found: dict[str, object] = {"seconds": time.monotonic()}
        problems = dict(self._problems)
        for name, read in self._reads.items():
            try:
                found[name] = read()
            except (OSError, ValueError, struct.error) as error:
                problems[name] = str(error)
        return {**found, "problems": problems}


def sources() -> dict[str, Callable[[], Callable[[], object]]]:
    """The parts of a Mac."""

    def group(name: str, subgroup: str = "") -> ReportGroup:
        core, report = ctypes.CDLL(_CORE), ctypes.CDLL(_REPORT)
        return ReportGroup(bound(core, CORE_FUNCTIONS), bound(report, REPORT_FUNCTIONS), name, subgroup)

    def energy() -> Callable[[], object]:
        return group("Energy Model").channels

    def states() -> Callable[[], object]:
        found = group("GPU Stats", "GPU Performance States")
        return lambda: found.channels(with_states=True)

    def celsius() -> Callable[[], object]:
        kit, system = bound(ctypes.CDLL(_KIT), KIT_FUNCTIONS), ctypes.CDLL(_SYSTEM)
        return Smc(smc_connection(kit, ctypes.c_uint32.in_dll(system, "mach_task_self_").value)).celsius

    return {"energy": energy, "states": states, "celsius": celsius}


def main() -> None:
    counters = Counters(sources())
    while select.select([sys.stdin], [], [], IDLE_SECONDS)[0] and sys.stdin.readline():
        sys.stdout.write(json.dumps(counters.read()) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
