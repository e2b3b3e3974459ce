"""What docs/security.md says is held is held by tests that are there."""

import re

from tests.docs.pages import ROOT


def test_every_claim_names_tests_that_are_there():
    rows = [
        line for line in (ROOT / "docs" / "security.md").read_text(encoding="utf-8").splitlines() if ".py` |" in line
    ]
    assert len(rows) > 30
    for row in rows:
        files = re.findall(r"`([\w/]+\.py)`", row.split("|")[-2])
        assert files, row
        assert [file for file in files if not (ROOT / "tests" / file).exists()] == [], row


def test_every_attack_names_tests_that_are_there():
    rows = [line for line in (ROOT / "docs" / "attacks.md").read_text(encoding="utf-8").splitlines() if ".py::" in line]
    assert [row.split("|")[1].strip() for row in rows] == [str(number) for number in range(1, len(rows) + 1)]
    for row in rows:
        for file, name in re.findall(r"`([\w/]+\.py)::(\w+)`", row):
            assert re.search(rf"def {name}\(", (ROOT / "tests" / file).read_text(encoding="utf-8")), (file, name)
