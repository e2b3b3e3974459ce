"""smolagents: an agent that calls a tool, and then gives its answer by a call."""

import sys

from smolagents import OpenAIModel, ToolCallingAgent, tool

url, model = sys.argv[1:]


@tool
def weather(city: str) -> str:
    """The degrees in a city.

    Args:
        city: Its name.
    """
    assert city == "Paris"
    return "21"


chosen = OpenAIModel(model_id=model, api_base=f"{url}/v1", api_key="none")
for stream in (False, True):
    agent = ToolCallingAgent(tools=[weather], model=chosen, max_steps=3, stream_outputs=stream)
    assert agent.run("How warm is it in Paris?") == "It is 21 degrees in Paris."
