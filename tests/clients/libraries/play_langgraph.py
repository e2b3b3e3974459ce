"""LangGraph: an agent that calls a tool in a loop."""

import sys

from langchain_core.tools import tool
from langchain_openai import ChatOpenAI
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition

url, model = sys.argv[1:]


@tool
def weather(city: str) -> str:
    """The degrees in a city."""
    assert city == "Paris"
    return "21"


chat = ChatOpenAI(model=model, base_url=f"{url}/v1", api_key="none", max_retries=0).bind_tools([weather])
graph = StateGraph(MessagesState)
graph.add_node("model", lambda state: {"messages": [chat.invoke(state["messages"])]})
graph.add_node("tools", ToolNode([weather]))
graph.add_edge(START, "model")
graph.add_conditional_edges("model", tools_condition)
graph.add_edge("tools", "model")
said = graph.compile().invoke({"messages": [("user", "How warm is it in Paris?")]})["messages"]
assert [message.type for message in said] == ["human", "ai", "tool", "ai"], said
assert said[-1].content == "It is 21 degrees in Paris."
