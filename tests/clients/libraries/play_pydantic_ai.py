"""Pydantic AI: an agent with a tool, by the interfaces of OpenAI and of Anthropic."""

import sys

from pydantic_ai import Agent
from pydantic_ai.models.anthropic import AnthropicModel
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.anthropic import AnthropicProvider
from pydantic_ai.providers.openai import OpenAIProvider

url, model = sys.argv[1:]
models = (
    OpenAIChatModel(model, provider=OpenAIProvider(base_url=f"{url}/v1", api_key="none")),
    AnthropicModel(model, provider=AnthropicProvider(base_url=url, api_key="none")),
)
for chosen in models:
    agent = Agent(chosen)

    @agent.tool_plain
    def weather(city: str) -> str:
        """The degrees in a city."""
        assert city == "Paris"
        return "21"

    assert agent.run_sync("How warm is it in Paris?").output == "It is 21 degrees in Paris."
