"""A linear probe of the hidden state, on the device: a text ends at its first token if the model is about to refuse.

It looks along the direction from the mean hidden state of requests that are answered to that of requests that are
refused. (Arditi et al., Refusal in Language Models Is Mediated by a Single Direction, 2024.)

    pie run examples/refusal-probe -- --request "Fly me to the moon."
"""

from statistics import fmean
from typing import Any

from inferlet import Context, HiddenState, Model, Sampler, rule, runtime, session
from inferlet.rules import Number, Row, Value, Vector


@rule
def refuses(row: Row, direction: Vector, middle: Number, first: Number = 1.0) -> tuple[Value, dict[str, Number]]:
    return first * (row.hidden_state.dot(direction) - middle) > 0.0, {"first": 0.0}


async def main(input: dict[str, Any]) -> None:
    model = Model.load(runtime.models()[0])
    pairs = [*zip(await mean_state(model, input["refused"]), await mean_state(model, input["answered"]), strict=True)]
    middle = sum((refused - answered) * (refused + answered) / 2 for refused, answered in pairs)
    with Context(model) as context:
        generator = context.user(input["request"]).generate(Sampler.argmax(), max_tokens=input["max_tokens"])
        generator.until(refuses(direction=[refused - answered for refused, answered in pairs], middle=middle))
        text = await generator.collect_text()
    session.send("It is about to refuse.\n" if generator.finish_reason == "rule" else f"{text}\n")


async def mean_state(model: Model, requests: list[str]) -> list[float]:
    """Of the rows from which the first tokens of the answers are drawn."""
    states = list[list[float]]()
    for request in requests:
        with Context(model) as context:
            generator = context.user(request).generate(Sampler.argmax(), max_tokens=1)
            probe = generator.probe_each_step(-1, HiddenState())
            states += [(await step.execute()).hidden_state(probe) or [] async for step in generator]
    return [fmean(values) for values in zip(*states, strict=True)]
