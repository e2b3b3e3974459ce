"""Counts the words of its input, and names the models of the engine."""

import json

from wit_world import exports
from wit_world.imports import runtime, session


class Run(exports.Run):
    def run(self, input: str) -> str:
        for model in runtime.models():
            session.send(model)
        return str(len(json.loads(input)["text"].split()))
