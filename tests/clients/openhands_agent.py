"""The software agent of OpenHands, which has no command line of its own: its task in this directory."""

import os
import sys

from openhands.sdk import LLM, Agent, Conversation, Tool
from openhands.tools.file_editor import FileEditorTool

url, model, task = sys.argv[1:]
llm = LLM(model=f"openai/{model}", base_url=f"{url}/v1", api_key="none", num_retries=0, usage_id="agent")
agent = Agent(llm=llm, tools=[Tool(name=FileEditorTool.name)])
conversation = Conversation(agent=agent, workspace=os.getcwd())
conversation.send_message(task)
conversation.run()
