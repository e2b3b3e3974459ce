"""Microsoft's Agent Framework: an agent with a tool, by chats and by responses that go on from one another."""

import asyncio
import sys

from agent_framework import Agent
from agent_framework.openai import OpenAIChatClient, OpenAIChatCompletionClient

url, model = sys.argv[1:]


def weather(city: str) -> str:
    """The degrees in a city."""
    assert city == "Paris"
    return "21"


async def ask(kind):
    client = kind(model=model, base_url=f"{url}/v1", api_key="none")
    agent = Agent(client=client, tools=[weather])
    session = agent.create_session()
    for _ in range(2):
        answer = await agent.run("How warm is it in Paris?", session=session)
        assert answer.text == "It is 21 degrees in Paris.", answer
    return session


assert asyncio.run(ask(OpenAIChatClient)).service_session_id.startswith("resp_")
asyncio.run(ask(OpenAIChatCompletionClient))
