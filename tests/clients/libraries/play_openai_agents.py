"""The OpenAI Agents SDK: an agent with a tool, by responses and by chats."""

import sys

import openai
from agents import (
    Agent,
    OpenAIChatCompletionsModel,
    OpenAIResponsesModel,
    Runner,
    function_tool,
    set_tracing_disabled,
)

url, model = sys.argv[1:]
set_tracing_disabled(True)
client = openai.AsyncOpenAI(base_url=f"{url}/v1", api_key="none", max_retries=0)


@function_tool
def weather(city: str) -> str:
    """The degrees in a city."""
    assert city == "Paris"
    return "21"


for kind in (OpenAIResponsesModel, OpenAIChatCompletionsModel):
    agent = Agent("guide", model=kind(model, client), tools=[weather])
    assert Runner.run_sync(agent, "How warm is it in Paris?").final_output == "It is 21 degrees in Paris."
