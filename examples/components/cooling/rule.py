"""Writes the rule that the component draws with: `python examples/components/cooling/rule.py`."""

from pathlib import Path

from inferlet import rule
from inferlet.rules import Number, Row, Value


@rule
def cooling(row: Row, temperature: Number, rate: Number) -> tuple[Value, dict[str, Number]]:
    """Begins wild and calms down."""
    return row.logits / temperature, {"temperature": temperature * rate}


if __name__ == "__main__":
    Path(__file__).with_name("cooling.rule").write_bytes(cooling(temperature=1.0, rate=1.0).code)
