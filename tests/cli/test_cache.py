import json
import os
import time

import pytest

from pie_mlx.cli.main import execute
from pie_mlx.engine.paging.disk.batch_file import Owner, Record
from pie_mlx.engine.paging.disk.directory import CacheDirectory


@pytest.fixture
def directory(tmp_path, monkeypatch):
    """The KV on disk of a home of the test's own: two models, two users."""
    monkeypatch.setenv("PIE_HOME", str(tmp_path))
    directory = CacheDirectory(tmp_path / "kv", max_bytes=1 << 20, day_bytes=1 << 30)
    directory.open()
    pages = [Record(bytes([number] * 16), b"tokens", bytes(1000)) for number in range(3)]
    state = Record(bytes(17), b"tokens", bytes(10))
    directory.write(Owner("small", "0" * 32, "ann"), [*pages, state])
    directory.write(Owner("small", "0" * 32, "bob"), pages[:1])
    directory.write(Owner("large", "1" * 32, "ann"), pages[:2])
    return directory


def test_it_lists_pages_by_model_and_user(directory, capsys):
    assert execute(["cache"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert sorted(line.split()[:3] for line in lines[1:4]) == [
        ["large", "ann", "2"],
        ["small", "ann", "3"],
        ["small", "bob", "1"],
    ]
    assert "written so far" in lines[4]


def test_it_tells_how_long_ago_the_oldest_and_the_latest_were_used(directory, capsys):
    directory.write(Owner("small", "0" * 32, "ann"), [Record(bytes([9] * 16), b"tokens", bytes(10))])
    now = time.time()
    for file, header in directory.described():
        seconds = 3 * 86400 + 7200 if header.records.keys() == {bytes([9] * 16)} else 1000
        os.utime(file.path, (now - seconds, now - seconds))
    assert execute(["cache"]) == 0
    (line,) = [line for line in capsys.readouterr().out.splitlines() if line.split()[:2] == ["small", "ann"]]
    assert line.split()[-2:] == ["3d02", "16:40"]


def test_as_json_it_gives_bytes_and_times(directory, capsys):
    assert execute(["cache", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    sizes = sum(file.size_bytes for file in directory.files())
    assert sum(row["size_bytes"] for row in found["kept"]) == sizes == found["written_bytes"]
    assert {at[-1] for row in found["kept"] for at in (row["oldest_at"], row["used_at"])} == {"Z"}


def test_files_of_another_version_are_listed_too(directory, capsys):
    file = directory.files()[0].path
    file.write_bytes(file.read_bytes().replace(b"pie-kv-2", b"pie-kv-9"))
    assert execute(["cache"]) == 0
    assert "(of another version)" in capsys.readouterr().out


def test_clear_removes_those_of_one_model(directory, capsys):
    assert execute(["cache", "clear", "--model", "small", "-y"]) == 0
    assert [header.owner.model for _, header in directory.described()] == ["large"]


def test_clear_removes_all_and_what_was_written_stays_known(directory, capsys):
    written = directory.writes().written_bytes
    assert execute(["cache", "clear", "-y", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"freed_bytes": written}
    assert directory.files() == []
    assert directory.writes().written_bytes == written


def test_clear_asks_before(directory, capsys):
    assert execute(["cache", "clear"]) == 2
    assert len(directory.files()) == 3


def test_a_home_without_kv_is_an_empty_list(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("PIE_HOME", str(tmp_path))
    assert execute(["cache", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["kept"] == []
    assert list(tmp_path.iterdir()) == []
