"""Text that others wrote is read within bounds, whatever it is."""

import contextlib
import json
import os
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pie_mlx.documents import json_object, json_struct, json_value, read_limited, toml_document
from pie_mlx.errors import InvalidArgumentError

SIZE = 58 << 10
DOTTED = ".".join("a" * (SIZE // 2))


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (f"{DOTTED} = 1", "a key of more than 8 parts"),
        (f"[{DOTTED}]", "a key of more than 8 parts"),
        (f"[[{DOTTED}]]", "a key of more than 8 parts"),
        (f"a = {{ {DOTTED} = 1 }}", "a key of more than 8 parts"),
        ('"a" . ' * 20 + "a = 1", "a key of more than 8 parts"),
        ("a = " + "[" * SIZE, "nested deeper than 64 levels"),
        ("a = " + "{ a = " * (SIZE // 6), "nested deeper than 64 levels"),
        ("a = " + "{ a.a.a = " * 40 + "1" + "}" * 40, "nested deeper than 64 levels"),
        ("a = " + "9" * 5000, "more than 128 characters"),
        ("a = 0x" + "f" * 5000, "more than 128 characters"),
        ("a = 1" + "_1" * 5000, "more than 128 characters"),
        ('a = "' + "\\" * SIZE, "Unterminated string"),
        ("a = '''" + "'''\" '" * (SIZE // 6), "not TOML"),
        ("#" * (2 << 20), "longer than 1 MiB"),
    ],
)
def test_toml_that_would_take_long_is_refused(text, why):
    with pytest.raises(InvalidArgumentError, match=why):
        toml_document(text)


@pytest.mark.parametrize(
    "value",
    [
        '"' + "." * 1000 + '"',
        "'" + "[" * 1000 + "'",
        '"""\n' + "a.b.c = 1 " * 100 + '\n"""',
        "'''\n" + "9" * 1000 + "\n'''",
        '"\\"' + "." * 1000 + '"',
        "1 # " + "." * 1000,
        "[0.1, " * 60 + "]" * 60,
        "[" + "0.5, " * 1000 + "]",
    ],
)
def test_toml_that_only_looks_so_is_read(value):
    assert list(toml_document(f"a.b = {value}\n")) == ["a"]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("[" * 100_000, "nested deeper than 64 levels"),
        ("[" * 100 + "]" * 100, "nested deeper than 64 levels"),
        ('{"a":' * 100 + "1" + "}" * 100, "nested deeper than 64 levels"),
        ("9" * 5000, "not JSON: Exceeds the limit"),
        (b"\xff", "not JSON"),
        ("", "not JSON"),
        ("[1, 2", "not JSON"),
        ("1" * 100, "longer than 0 KiB"),
    ],
)
def test_json_that_is_none_is_refused_by_one_error(text, why):
    with pytest.raises(InvalidArgumentError, match=why):
        json_value(text, 50 if why.startswith("longer") else 1 << 20)


def test_strict_json_holds_no_number_that_floats_do_not():
    assert json_value("[NaN, 1e999]", strict=False)[1] == float("inf")
    for text in ("[NaN]", "-Infinity", "1e999"):
        with pytest.raises(InvalidArgumentError, match=r"not allowed|too large for a float"):
            json_value(text, strict=True)


@pytest.mark.parametrize("text", ["[]", "3", "null", '"a"'])
def test_an_object_is_asked_for(text):
    with pytest.raises(InvalidArgumentError, match="not a JSON object"):
        json_object(text)


@pytest.mark.parametrize("text", [b"[" * 100_000, b'"\xff"', b"{", b'{"a": {}}'])
def test_a_shape_is_asked_for(text):
    with pytest.raises(InvalidArgumentError):
        json_struct(text, dict[str, str])


def test_a_file_is_read_up_to_its_limit(tmp_path):
    file = tmp_path / "file"
    file.write_bytes(b"1234")
    assert read_limited(file, 4) == b"1234"
    with pytest.raises(InvalidArgumentError, match="longer than"):
        read_limited(file, 3)


@given(st.text(alphabet="a.=[]{}\"'#\\\n ,0_", max_size=200))
def test_any_toml_is_read_or_refused(text):
    with contextlib.suppress(InvalidArgumentError):
        assert isinstance(toml_document(text), dict)


@given(
    st.recursive(
        st.none() | st.floats(allow_nan=False) | st.text(), lambda one: st.lists(one) | st.dictionaries(st.text(), one)
    )
)
def test_any_json_is_what_it_says(value):
    assert json_value(json.dumps(value)) == value


def test_a_pipe_is_no_file_and_nobody_waits_for_its_writer(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OSError, match="Not a regular file"):
        read_limited(tmp_path / "pipe", 4)


HOLDER = """
import fcntl, signal, sys
signal.signal(signal.SIGIO, signal.SIG_IGN)
with open(sys.argv[1]) as file:
    fcntl.fcntl(file, fcntl.F_SETLEASE, fcntl.F_WRLCK)
    print("held", flush=True)
    sys.stdin.read()
"""


@pytest.mark.skipif(sys.platform != "linux", reason="leases are Linux's")
def test_nobody_waits_for_the_holder_of_a_lease(tmp_path):
    file = tmp_path / "file"
    file.write_bytes(b"1234")
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen([sys.executable, "-c", HOLDER, file], **pipes) as holder:
        assert holder.stdout.readline() == b"held\n"
        with pytest.raises(BlockingIOError):
            read_limited(file, 4)
