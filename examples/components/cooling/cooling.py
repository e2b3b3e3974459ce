"""Continues a text with a rule that runs on the device, all tokens in one pass."""

import json
from pathlib import Path

from wit_world import exports
from wit_world.imports import runtime
from wit_world.imports.context import Context
from wit_world.imports.inference import ForwardPass, Sampler_Multinomial
from wit_world.imports.model import Model
from wit_world.imports.rules import DrawOptions, Rule, Value_Number, drawn, sample, up_to

GRAPH = Path(__file__).with_name("cooling.rule").read_bytes()  # while the component is built


class Run(exports.Run):
    def run(self, input: str) -> str:
        asked = json.loads(input)
        model = Model.load(runtime.models()[0])
        tokens = model.tokenizer().encode(asked["prompt"])
        rule = Rule.create(GRAPH, [("temperature", Value_Number(2.0)), ("rate", Value_Number(0.8))])
        step = ForwardPass(model)
        step.context(Context.create(model))
        step.input_tokens(tokens, list(range(len(tokens))))
        sample(step, [len(tokens) - 1], Sampler_Multinomial((1.0, 1)), rule, DrawOptions(asked["seed"], None))
        up_to(step, asked["max_tokens"], [])
        future = step.execute()
        future.pollable().block()
        return model.tokenizer().decode(drawn(future)[0].tokens)
