"""Goldens of screens: their text in files to read and compare, their pictures as fingerprints.

A picture in SVG has a hundred kilobytes, and one changed number changes it in many places. A fingerprint of all cells
with their colours notices as much and takes a line. What differs is written as SVG, to be looked at in a browser.
"""

import hashlib
import json
import os
from pathlib import Path

from tests.tui.harness import screen_strips

GOLDENS = Path(__file__).parent / "snapshots"
FINGERPRINTS = GOLDENS / "pictures.json"
UPDATE = bool(os.environ.get("PIE_UPDATE_SCREENS"))
HASH_BYTES = 6


class Goldens:
    """What has changed, by the names of screens. SVGs of changed ones are in `folder`."""

    def __init__(self, folder):
        self._folder, self._changed = folder, []
        self._known = json.loads(FINGERPRINTS.read_text()) if FINGERPRINTS.exists() else {}

    def compare_text(self, name, text):
        file = GOLDENS / f"{name}.txt"
        if not file.exists() or file.read_text(encoding="utf-8") != text:
            self._changed.append(f"{name}:\n{text}")
        if UPDATE:
            file.write_text(text, encoding="utf-8")

    def compare_picture(self, name, app):
        now = fingerprints(app)
        if self._known.get(name) != now:
            (self._folder / f"{name}.svg").write_text(app.export_screenshot(title=name), encoding="utf-8")
            what = "text" if (self._known.get(name) or now)[0] != now[0] else "colours"
            self._changed.append(f"{name}: the {what} of it; now {self._folder / name}.svg")
        self._known[name] = now

    def check(self):
        """Fails if something has changed; with PIE_UPDATE_SCREENS=1, what is now becomes the golden."""
        if UPDATE:
            lines = (f"{json.dumps(name)}: {json.dumps(now)}" for name, now in sorted(self._known.items()))
            FINGERPRINTS.write_text("{\n" + ",\n".join(lines) + "\n}\n")
        else:
            assert not self._changed, "\n".join(self._changed)


def fingerprints(app):
    """Of the text of the screen, and of the styles of its cells."""
    strips = screen_strips(app)
    text = "\n".join(strip.text for strip in strips)
    styles = "\n".join(f"{segment.cell_length} {segment.style}" for strip in strips for segment in strip.simplify())
    return [hashlib.blake2b(part.encode(), digest_size=HASH_BYTES).hexdigest() for part in (text, styles)]
