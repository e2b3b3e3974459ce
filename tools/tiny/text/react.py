"""Tools in the ReAct style: thought, action and its input as text, the result as an observation (Yao et al. 2022)."""

import json
from typing import Any

from tools.tiny.text.sample import Check, Message, Sample, assistant, system, user
from tools.tiny.text.source import Source, phrases
from tools.tiny.text.tool_use import Offer, Request, distinct_offers, outcome, request, schema, unserved

INTROS = phrases("""Answer with the help of these tools: | You have these tools: | You can use these tools:\n |
Tools: | Answer the questions as well as you can. Your tools: | You are an agent with these tools:\n |
These tools are there for you: | You may call the following tools: | Available tools: | Use these tools: |
Your tools are: | Work with these tools: | Help the user. You have access to these tools: | The tools: |
You have access to these tools: | You have access to the following tools: | You have the following tools: |
You may use these tools: | You can call these tools: | You can use the following tools: |
You are an assistant with these tools: | You are a helpful assistant. You have these tools: |
You are an agent. Use these tools:\n | You answer questions with these tools: |
You solve tasks with the help of these tools: | Answer the question. You have access to these tools: |
Answer the following questions as best you can. You have access to the following tools:\n |
Answer with tools. The tools are: | Answer questions. You can use these tools: |
Help the user with these tools: | Help people with the following tools: | Solve the task with these tools: |
Solve each task step by step. Tools: | Think and act. Your tools: | Think first, then use a tool. The tools: |
Use the following tools: | Use these tools to answer: | Use the tools to help the user:\n |
Here are your tools: | Here are the tools: | These are your tools: | These tools can help you: |
The following tools are available: | The tools that you may use: | Tools you can use: | Tools you may call: |
Tools for you: | The available tools are: | List of tools: | Work step by step with these tools: |
Choose from these tools: | Only use these tools: | Call these tools when you need them: |
Each task can be done with one of these tools: | To help the user, call these tools:""")
FORMS = phrases("""Use this format:\n\n{f} | Write in this form:\n{f} | Always write like this:\n{f} |
Answer in this form:\n\n{f} | The format is:\n{f} | Follow this format:\n{f} | Format:\n{f} | Write:\n{f} |
Your answers look like this:\n{f} | Use the following format:\n\n{f} | Step by step, in this form:\n{f} |
Use this form:\n{f} | Use the form:\n{f} | Use exactly this format:\n{f} | Use the format below:\n\n{f} |
Use this format for every answer:\n{f} | Please use this format:\n{f} | Write in this format:\n{f} |
Write your answer in this form:\n{f} | Write each step in this format:\n{f} | Write your steps like this:\n{f} |
Write like this:\n\n{f} | Always use this form:\n{f} | Always use the following format:\n{f} |
Always answer in this form:\n{f} | Always follow this form:\n{f} | Answer like this:\n{f} |
Answer in the following format:\n{f} | Answer step by step in this format:\n{f} |
Your answer must have this form:\n{f} | Your answers must follow this format:\n{f} |
Your steps look like this:\n{f} | Follow this form:\n{f} | Follow the format:\n\n{f} |
Follow these steps:\n{f} | Keep to this format:\n{f} | Keep this form:\n{f} | Stick to this format:\n\n{f} |
This is the format:\n{f} | This is the form of your answers:\n{f} | This form is needed:\n{f} |
The form is:\n{f} | The form of an answer:\n{f} | The steps are:\n{f} | Form:\n{f} | Steps:\n{f} |
Go step by step:\n{f} | Work in these steps:\n{f} | Think and act in this form:\n\n{f}""")
FORM = (
    "Thought: what to do\nAction: the tool\nAction Input: its arguments as JSON\nObservation: the result\n"
    "Final Answer: the answer"
)
KNOWN = "Thought: I have the result."
UNNEEDED = "Thought: I need no tool."


def _described(source: Source, offer: Offer, shape: int) -> str:
    """One line about a tool: by its parameters, by a signature, or its JSON schema."""
    function: dict[str, Any] = schema(source, offer, wrapped=False, described=0.9)
    types = {key: value["type"] for key, value in function["parameters"]["properties"].items()}
    about = function.get("description", "")
    if shape == 0:
        return f"- {offer.name}: {about} Arguments: {json.dumps(types)}"
    if shape == 1:
        return f"{offer.name}({', '.join(f'{key}: {kind}' for key, kind in types.items())}) {about}".strip()
    return json.dumps(function)


def _instruction(source: Source, offers: list[Offer]) -> str:
    shape = source.integer(0, 2)
    tools = "\n".join(_described(source, offer, shape) for offer in offers)
    return f"{source.one(INTROS)}\n{tools}\n\n{source.fill(FORMS, f=FORM)}"


def action(wish: Request) -> str:
    """The turn that calls a tool; the program answers with an observation."""
    arguments = json.dumps(wish.arguments, ensure_ascii=False)
    return f"Thought: I need {wish.offer.name}.\nAction: {wish.offer.name}\nAction Input: {arguments}"


def _observed(value: Any) -> Message:
    return user("Observation: " + (value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)))


def make_react(source: Source) -> Sample:
    """One to four questions; the last ends in its action or in the final answer."""
    offers = distinct_offers(source, source.any((1, 1, 2, 2, 3, 4)))
    turns: list[Message] = [system(_instruction(source, offers))]
    mark = source.any(("", "", "Question: "))
    wish, values = request(source, source.any(offers)), list[str]()
    for _ in range(source.any((1, 1, 2, 3))):
        if source.chance(0.2):
            asked, said = unserved(source, offers)
            turns += [user(mark + asked), assistant(f"{UNNEEDED}\nFinal Answer: {said}")]
        wish = request(source, source.any(offers))
        value, answer, values = outcome(source, wish)
        turns += [user(mark + wish.text), assistant(action(wish))]
        turns += [_observed(value), assistant(f"{KNOWN}\nFinal Answer: {answer}")]
    if source.chance(0.6):
        return Sample("ReAct", tuple(turns[:-2]), Check("exact", action(wish)))
    return Sample("ReAct", tuple(turns), Check("contains", ["Final Answer: ", *values]))
