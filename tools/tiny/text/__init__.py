"""The training text of pie-tiny: one module per family of tasks, all from our own word lists and grammars."""

from tools.tiny.text.mixture import FAMILIES, VERSION, make_sample
from tools.tiny.text.sample import Check, Sample
from tools.tiny.text.source import Source, Split

__all__ = ["FAMILIES", "VERSION", "Check", "Sample", "Source", "Split", "make_sample"]
