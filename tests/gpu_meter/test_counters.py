"""The child's calls, against libraries that keep to Apple's signatures: pointers of 64 bits, and frames of the SMC."""

import ctypes
import json
import math
import struct
import subprocess
import sys
from types import SimpleNamespace

import msgspec
import pytest

from pie_mlx.gpu_meter import counters
from pie_mlx.gpu_meter.counters import (
    CORE_FUNCTIONS,
    KIT_FUNCTIONS,
    REPORT_FUNCTIONS,
    Counters,
    ReportGroup,
    Smc,
    bound,
    smc_connection,
)
from pie_mlx.gpu_meter.meter import COMMAND
from pie_mlx.gpu_meter.reading import Channel, Sample

FIRST_POINTER = 0x7F12_0000_0000
"""Beyond 32 bits, as on a Mac."""


class Objects:
    """What pointers stand for; released ones are gone."""

    def __init__(self):
        self.known = {}

    def add(self, value):
        pointer = FIRST_POINTER + 16 * len(self.known)
        self.known[pointer] = value
        return pointer

    def __getitem__(self, pointer):
        found = self.known[pointer]
        assert found is not None, "it was released"
        return found


def typed(functions, implementation):
    """Functions that ctypes calls with the types of the table, as those of a library."""
    return SimpleNamespace(
        **{name: ctypes.CFUNCTYPE(*types)(getattr(implementation, name)) for name, types in functions.items()}
    )


class Core:
    def __init__(self, objects):
        self.objects = objects

    def CFStringCreateWithCString(self, allocator, text, encoding):  # noqa: N802
        return self.objects.add(text.decode())

    def CFStringGetCString(self, string, into, size, encoding):  # noqa: N802
        data = self.objects[string].encode() + b"\0"
        if len(data) > size:
            return False
        ctypes.memmove(into, data, len(data))
        return True

    def CFDictionaryGetValue(self, dictionary, key):  # noqa: N802
        return self.objects[dictionary].get(self.objects[key])

    def CFDictionaryCreateMutableCopy(self, allocator, size, dictionary):  # noqa: N802
        return self.objects.add(dict(self.objects[dictionary]))

    def CFArrayGetCount(self, array):  # noqa: N802
        return len(self.objects[array])

    def CFArrayGetValueAtIndex(self, array, place):  # noqa: N802
        return self.objects[array][place]

    def CFRelease(self, pointer):  # noqa: N802
        self.objects.known[pointer] = None


class Report:
    """`groups` are channels by group and subgroup."""

    def __init__(self, objects, groups):
        self.objects, self.groups = objects, groups

    def IOReportCopyChannelsInGroup(self, group, subgroup, first, second, third):  # noqa: N802
        key = self.objects[group], self.objects[subgroup] if subgroup else ""
        return self.objects.add({"of": key}) if key in self.groups else None

    def IOReportCreateSubscription(self, allocator, channels, into, flags, options):  # noqa: N802
        if self.groups[self.objects[channels]["of"]] is None:
            return None
        ctypes.memmove(into, struct.pack("P", channels), struct.calcsize("P"))
        return self.objects.add("a subscription")

    def IOReportCreateSamples(self, subscription, channels, options):  # noqa: N802
        found = self.groups[self.objects[channels]["of"]]
        if not found:
            return None
        return self.objects.add({"IOReportChannels": self.objects.add([self.objects.add(one) for one in found])})

    def IOReportChannelGetChannelName(self, channel):  # noqa: N802
        return self.objects.add(self.objects[channel]["name"])

    def IOReportChannelGetUnitLabel(self, channel):  # noqa: N802
        return self.objects.add(unit) if (unit := self.objects[channel].get("unit")) is not None else None

    def IOReportSimpleGetIntegerValue(self, channel, place):  # noqa: N802
        return self.objects[channel]["value"]

    def IOReportStateGetCount(self, channel):  # noqa: N802
        return len(self.objects[channel]["states"])

    def IOReportStateGetNameForIndex(self, channel, place):  # noqa: N802
        return self.objects.add(self.objects[channel]["states"][place][0])

    def IOReportStateGetResidency(self, channel, place):  # noqa: N802
        return self.objects[channel]["states"][place][1]


GROUPS = {
    ("Energy Model", ""): [
        {"name": "GPU Energy", "unit": "nJ      ", "value": 1 << 45},
        {"name": "x" * 300, "value": -1},
    ],
    ("GPU Stats", "GPU Performance States"): [{"name": "GPUPH", "states": [("OFF", 1 << 40), ("P1", 7)]}],
    ("Silent", ""): [],
    ("Refused", ""): None,
}


@pytest.fixture
def libraries():
    objects = Objects()
    return typed(CORE_FUNCTIONS, Core(objects)), typed(REPORT_FUNCTIONS, Report(objects, GROUPS))


def test_counters_have_their_names_units_and_whole_values(libraries):
    group = ReportGroup(*libraries, "Energy Model")
    assert [tuple(one) for one in group.channels()] == [("GPU Energy", "nJ", 1 << 45, ()), ("", "", -1, ())]
    assert group.channels() == group.channels()


def test_states_have_their_residencies(libraries):
    group = ReportGroup(*libraries, "GPU Stats", "GPU Performance States")
    assert [tuple(one) for one in group.channels(with_states=True)] == [
        ("GPUPH", "", 0, (("OFF", 1 << 40), ("P1", 7))),
    ]


@pytest.mark.parametrize(
    ("group", "problem"),
    [("Nothing", "has no group"), ("Refused", "does not let"), ("Silent", "no sample")],
)
def test_a_group_that_is_not_there_is_refused_or_gives_nothing_says_so(libraries, group, problem):
    with pytest.raises(OSError, match=problem):
        ReportGroup(*libraries, group).channels()


def field(frame, place, size):
    return int.from_bytes(frame[place : place + size], "little")


class SmcChip:
    """Answers frames of 80 bytes, whose fields are at the places that the chip knows."""

    def __init__(self, values, *, broken=()):
        self.values, self.broken = values, broken

    def __call__(self, frame):
        assert len(frame) == 80
        key, command, place = frame[:4][::-1].decode(errors="replace"), frame[42], field(frame, 44, 4)
        answer = bytearray(frame)
        if command == 8:
            answer[:4] = list(self.values)[place].encode()[::-1]
        elif key in self.broken or key not in self.values:
            answer[40] = 132
        elif command == 9:
            kind, data = self.values[key]
            answer[28:32], answer[32:36] = struct.pack("<I", len(data)), kind.encode()[::-1]
        else:
            kind, data = self.values[key]
            assert (command, field(frame, 28, 4), frame[32:36]) == (5, len(data), kind.encode()[::-1])
            answer[48 : 48 + len(data)] = data
        return bytes(answer)


def degrees(number):
    return "flt ", struct.pack("<f", number)


def test_temperatures_are_the_float_keys_of_the_gpu():
    values = {
        "#KEY": ("ui32", (7).to_bytes(4, "big")),
        "Tg05": degrees(41.5),
        "Tp01": degrees(90.0),
        "Tg0D": degrees(43.25),
        "TgXX": ("ui16", b"\0\1"),
        "Tg0f": degrees(44.0),
        "Tg0n": degrees(math.nan),
    }
    chip = SmcChip(values)
    smc = Smc(chip)
    assert smc.celsius() == [41.5, 43.25, 44.0]
    chip.broken = ("Tg0D",)
    assert smc.celsius() == [41.5, 44.0]


def test_an_smc_that_does_not_count_its_keys_says_so():
    with pytest.raises(OSError, match="132"):
        Smc(SmcChip({}))


class Kit:
    """Services of the I/O registry by name, of which the endpoint is opened."""

    def __init__(self, names, chip=None):
        self.names, self.chip, self.left = names, chip, list(enumerate(names or [], 1))

    def IOServiceMatching(self, name):  # noqa: N802
        assert name == b"AppleSMC"
        return FIRST_POINTER

    def IOServiceGetMatchingServices(self, port, matching, into):  # noqa: N802
        ctypes.memmove(into, struct.pack("I", 9), 4)
        return 0 if matching == FIRST_POINTER and self.names is not None else 1

    def IOIteratorNext(self, iterator):  # noqa: N802
        return self.left.pop(0)[0] if iterator == 9 and self.left else 0

    def IORegistryEntryGetName(self, service, into):  # noqa: N802
        name = self.names[service - 1] + b"\0"
        ctypes.memmove(into, name, len(name))
        return 0

    def IOServiceOpen(self, service, task, kind, into):  # noqa: N802
        assert task == 77
        ctypes.memmove(into, struct.pack("I", 100 + service), 4)
        return 0

    def IOObjectRelease(self, service):  # noqa: N802
        return 0

    def IOConnectCallStructMethod(self, connection, selector, question, size, answer, answer_size):  # noqa: N802
        assert (connection, selector, size) == (102, 2, 80)
        if self.chip is None:
            return -536870206
        ctypes.memmove(answer, self.chip(ctypes.string_at(question, 80)), 80)
        return 0


def test_the_endpoint_of_the_smc_is_opened_and_asked():
    kit = typed(KIT_FUNCTIONS, Kit([b"AppleSMCOther", b"AppleSMCKeysEndpoint"], SmcChip({"Tg05": degrees(1.0)})))
    assert smc_connection(kit, 77)(b"50gT" + bytes(38) + b"\x09" + bytes(37))[28] == 4


@pytest.mark.parametrize("names", [[], [b"AppleSMCOther"], None], ids=["none", "other", "failed"])
def test_a_machine_without_that_endpoint_says_so(names):
    with pytest.raises(OSError, match="no SMC"):
        smc_connection(typed(KIT_FUNCTIONS, Kit(names)), 77)


def test_a_call_that_macos_refuses_says_with_which_code():
    ask = smc_connection(typed(KIT_FUNCTIONS, Kit([b"x", b"AppleSMCKeysEndpoint"])), 77)
    with pytest.raises(OSError, match="0xe00002c2"):
        ask(bytes(80))


def test_functions_get_their_types_and_one_that_is_missing_is_an_error():
    library = ctypes.CDLL(None)
    assert bound(library, {"strlen": (ctypes.c_size_t, ctypes.c_char_p)}).strlen(b"four") == 4
    with pytest.raises(AttributeError):
        bound(library, {"IOReportNothing": (None,)})


def test_a_part_that_cannot_be_opened_or_read_leaves_the_others():
    def broken():
        raise OSError("no library")

    def unreadable():
        raise OSError("no answer")

    found = Counters({"energy": broken, "states": lambda: unreadable, "celsius": lambda: lambda: [1.0]}).read()
    sample = msgspec.json.decode(json.dumps(found), type=Sample)
    assert (sample.celsius, sample.problems) == ((1.0,), {"energy": "no library", "states": "no answer"})


def test_what_the_child_writes_is_what_the_meter_reads():
    written = json.dumps({"energy": [counters.Channel("GPU Energy", "mJ", 3, (("OFF", 1),))]})
    assert msgspec.json.decode(written, type=Sample).energy == (Channel("GPU Energy", "mJ", 3, (("OFF", 1),)),)


def test_the_child_answers_line_by_line_and_ends_with_its_input():
    done = subprocess.run(COMMAND, input=b"\n\n", capture_output=True, timeout=30, check=True)
    assert [sorted(json.loads(line)) for line in done.stdout.splitlines()] == [["problems", "seconds"]] * 2 or (
        sys.platform == "darwin"
    )
