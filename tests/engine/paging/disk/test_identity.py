"""What the KV on a disk depends on."""

import os
from pathlib import Path

import pytest

from pie_mlx.engine.paging.disk.identity import WeightDigests, identity_of


@pytest.fixture
def weights(tmp_path: Path) -> Path:
    path = tmp_path / "model.safetensors"
    path.write_bytes(bytes(3 << 20))
    return path


def test_any_byte_of_the_weights_counts(weights: Path, tmp_path: Path) -> None:
    digests = WeightDigests(tmp_path / "kv")
    before = digests.compute([weights])
    changed = bytearray(weights.read_bytes())
    changed[2_000_003] ^= 1
    weights.write_bytes(changed)
    assert digests.known([weights]) is None
    assert digests.compute([weights]) != before


def test_weights_that_did_not_change_are_read_once(weights: Path, tmp_path: Path) -> None:
    digests = WeightDigests(tmp_path / "kv")
    assert digests.unknown_bytes([weights]) == weights.stat().st_size
    found = digests.compute([weights])
    again = WeightDigests(tmp_path / "kv")
    assert (again.known([weights]), again.unknown_bytes([weights])) == (found, 0)


@pytest.mark.parametrize("change", ["touched", "replaced"])
def test_a_file_with_another_time_or_inode_is_read_again(weights: Path, tmp_path: Path, change: str) -> None:
    digests = WeightDigests(tmp_path / "kv")
    digests.compute([weights])
    if change == "touched":
        os.utime(weights, ns=(1, 1))
    else:
        facts = weights.stat()
        other = tmp_path / "other"
        other.write_bytes(weights.read_bytes())
        os.utime(other, ns=(facts.st_atime_ns, facts.st_mtime_ns))
        other.replace(weights)
    assert digests.known([weights]) is None


def test_a_damaged_list_of_digests_is_made_anew(weights: Path, tmp_path: Path) -> None:
    digests = WeightDigests(tmp_path / "kv")
    found = digests.compute([weights])
    (tmp_path / "kv" / "weights.json").write_bytes(b"{")
    assert digests.known([weights]) is None
    assert digests.compute([weights]) == found


def test_a_stop_does_not_wait_for_the_weights_to_be_read(weights: Path, tmp_path: Path) -> None:
    with pytest.raises(OSError, match="stops"):
        WeightDigests(tmp_path / "kv").compute([weights], is_wanted=lambda: False)


def test_model_weights_and_device_are_told_apart() -> None:
    names = {
        identity_of(*each)
        for each in ((b"a", ["1"], "cpu"), (b"b", ["1"], "cpu"), (b"a", ["2"], "cpu"), (b"a", ["1"], "gpu"))
    }
    assert len(names) == 4
