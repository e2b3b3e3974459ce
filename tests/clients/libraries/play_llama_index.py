"""LlamaIndex: a chat, whole and as a stream, and an agent with a tool."""

import asyncio
import sys

from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.llms import ChatMessage
from llama_index.llms.openai_like import OpenAILike

url, model = sys.argv[1:]
llm = OpenAILike(
    model=model,
    api_base=f"{url}/v1",
    api_key="none",
    is_chat_model=True,
    is_function_calling_model=True,
    max_retries=0,
)
HELLO = [ChatMessage(role="user", content="Hello")]


def weather(city: str) -> str:
    """The degrees in a city."""
    assert city == "Paris"
    return "21"


assert llm.chat(HELLO).message.content == "Hello there."
assert list(llm.stream_chat(HELLO))[-1].message.content == "Hello there."


async def ask():
    return str(await FunctionAgent(tools=[weather], llm=llm).run("How warm is it in Paris?"))


assert asyncio.run(ask()) == "It is 21 degrees in Paris."
