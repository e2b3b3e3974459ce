"""LangChain: a chat model with a tool."""

import sys

from langchain_core.messages import HumanMessage, ToolMessage
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI

url, model = sys.argv[1:]


@tool
def weather(city: str) -> str:
    """The degrees in a city."""
    return "21"


chat = ChatOpenAI(model=model, base_url=f"{url}/v1", api_key="none", max_retries=0)
assert chat.invoke("Hello").content == "Hello there."
assert "".join(chunk.content for chunk in chat.stream("Hello")) == "Hello there."
asked = HumanMessage("How warm is it in Paris?")
said = chat.bind_tools([weather]).invoke([asked])
(call,) = said.tool_calls
assert (call["name"], call["args"]) == ("weather", {"city": "Paris"}), said
result = ToolMessage(weather.invoke(call["args"]), tool_call_id=call["id"])
assert chat.bind_tools([weather]).invoke([asked, said, result]).content == "It is 21 degrees in Paris."
