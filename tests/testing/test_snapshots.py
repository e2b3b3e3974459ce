"""Snapshots of transcripts."""

import pytest

from pie_mlx.testing.snapshots import check_snapshot


def test_the_first_run_is_kept_and_the_same_one_passes(tmp_path):
    for _ in range(2):
        check_snapshot(tmp_path, "capital", "user: Capital?\nanswer: Paris", update=False)
    assert (tmp_path / "__snapshots__" / "capital.txt").read_text() == "user: Capital?\nanswer: Paris\n"


def test_another_run_fails_with_a_diff(tmp_path):
    check_snapshot(tmp_path, "capital", "user: Capital?\nanswer: Paris", update=False)
    with pytest.raises(AssertionError) as failed:
        check_snapshot(tmp_path, "capital", "user: Capital?\nanswer: Rome", update=False)
    assert str(failed.value).splitlines()[0] == "capital.txt differs (--pie-update keeps this run):"
    assert str(failed.value).splitlines()[-2:] == ["-answer: Paris", "+answer: Rome"]


def test_an_update_keeps_it(tmp_path):
    check_snapshot(tmp_path, "capital", "one", update=False)
    check_snapshot(tmp_path, "capital", "two", update=True)
    check_snapshot(tmp_path, "capital", "two", update=False)


def test_a_name_stays_in_its_folder(tmp_path):
    check_snapshot(tmp_path, "../../secret", "one", update=False)
    assert [path.name for path in (tmp_path / "__snapshots__").iterdir()] == ["secret.txt"]
