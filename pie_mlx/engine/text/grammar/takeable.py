"""What no engine may be given: it would end the process, or take for ever."""

from pie_mlx.engine.text.grammar.json_schema.chains import check_levels
from pie_mlx.engine.text.grammar.json_schema.numbers import check_divisors, check_lowest
from pie_mlx.engine.text.grammar.json_schema.schema import Schema


def check_takeable(schema: Schema) -> None:
    """Raises GrammarError for a schema that an engine cannot be trusted with."""
    check_divisors(schema)
    check_lowest(schema)
    check_levels(schema)
