"""Names of files that programs send."""

import json
from pathlib import Path

import pytest

NAMES = {
    "a\0b": "a_b",
    "n" * 300: "n" * 200,
    "\x1b[2J\r\n": "_[2J__",
    "../../outside": "outside",
    "..": "file-5",
    "": "file-6",
    ".bashrc": "_bashrc",
    "-rf": "_rf",
    "folder": "folder-2",
    "link": "link-2",
    "\u202egpj.exe": "_gpj.exe",
}
"""What is sent, and where it is saved."""


@pytest.mark.parametrize("where", [(), ("--one-shot", "--dummy")], ids=["engine that runs", "engine of its own"])
def test_files_are_saved_in_their_folder_under_names_that_are_safe(target, tmp_path, where):
    folder = tmp_path / "files"
    (folder / "folder").mkdir(parents=True)
    (folder / "link").symlink_to(tmp_path / "outside")
    program = Path(__file__).parent / "programs" / "python" / "send_names.py"
    code, out, err = target.pie(
        "run", program, *where, "--files", folder, "--input", json.dumps({"names": list(NAMES)})
    )
    assert (code, out) == (0, "file name is 900000 bytes, the limit is 1024\n"), err
    saved = {path.name for path in folder.iterdir() if path.is_file() and path.read_bytes() == b"hostile"}
    assert saved == set(NAMES.values())
    assert not (tmp_path / "outside").exists()
    assert all(char.isprintable() or char == "\n" for char in err)
