"""What is said around tools: system prompts, openings, errors, links between wishes, wishes that no tool serves."""

from tools.tiny.text.source import phrases

SYSTEMS = phrases("""You are a helpful assistant. | Use the tools when they help. |
You are an agent with tools. | You are a helpful assistant with tools. | Call a tool if you need one. |
You help with tools. | You can use tools to answer. | Answer with the help of the tools. |
You are a tool-using assistant. | You are a careful agent. | Be brief. | You are an assistant. Use tools. |
Call tools when needed. | You have tools. | Use a tool if it fits. | You are an agent. | Work with the tools. |
Help the user with the tools. | Answer questions, use tools. | You are a helper with functions. |
Use functions when you need them. | You are a polite assistant. | You are an assistant that calls functions. |
Only call a tool that fits. | You can call functions. | Do what the user wants. | You are a home assistant. |
You are an office assistant. | You are a weather agent. | Keep your answers short. |
You are an assistant that can use tools. | You are an assistant that calls tools. | You are a helpful agent. |
You are a helpful assistant that uses tools. | You are a helpful AI assistant with access to tools. |
You are an AI assistant. You may call functions. | You are an AI agent. Choose the right tool. |
You are a smart home assistant. | You are a travel assistant with tools. | You are a personal assistant. |
You are a personal assistant. Tools help you. | You are a friendly assistant with functions. |
You are a shopping assistant. | You are a voice assistant. | You are a precise agent. Use the tools. |
You are a reliable assistant. Use functions if needed. | You are a service agent of a company. |
You are an assistant in a chat. Tools are there. | You are an expert in calling functions. |
You are a function calling model. | You are a tool calling agent. |
You have access to tools. Use them when needed. | You have access to functions. |
You have access to the following functions. | You have functions that you can call. |
You have some tools. Pick the right one. | You may call a function to help the user. | You may use the tools. |
You can call tools to help the user. | You can use functions to answer the user. |
You answer with the help of functions. | You work with tools and give short answers. |
Call a function if it helps. | Call the right function for each request. | Call the right tool. |
Choose the tool that fits the request. | Choose a function that fits. | Pick the tool that fits the wish. |
Pick the right tool and fill in its arguments. | Use the right tool for the task. |
Use the functions to help the user. | Use the functions only if they fit. | Use the given tools. |
Use tools to answer questions. | Use a function when the user wants something done. |
Only use the tools you are given. | Only call functions that are listed. |
Do not call a tool that does not fit. | Do not make up values. Use the tools. | Help the user with functions. |
Help people with your tools. | Help with tasks and call tools. | Answer the user. Call tools if needed. |
Answer the question or call a function. | Answer briefly and use tools. | Answer requests. You have functions. |
Tools are at your service. | Functions are available to you. | If a tool fits, call it. |
If a function fits the request, use it. | If no tool fits, say so. | When a tool can help, call it. |
Follow the wishes of the user. Use tools. | Do the tasks of the user with your tools. |
Be helpful and use the tools. | Be brief and call functions when needed. | Keep answers short and use tools. |
Read the tools and choose one.""")
OPENERS = phrases("""Hi!  | Quick question:  | Please help.  | Hello,  | One more thing:  | Next:  | Okay.  |
I need this:  | A task for you:  | Hey.  | So,  | Good morning!  |
Can you help?  | Now this:  | My next wish:  | Listen:  | Right,  | Good evening.  | Please do this:  |
I have a task.  | And now:  | First of all:  | Hello there.  | Your turn:  | Another thing:  | Good day.  |
Hello, quick question:  | Hello, I need something:  | Hi there.  | Hi, a task:  | Hey there.  | Hey, one thing:  |
Good day, please help:  | Good evening, one question:  | Good afternoon.  | Excuse me.  | Sorry to bother you.  |
A question:  | A small task:  | A quick task:  | A wish:  | My task:  | My wish:  | My next question:  |
Next question:  | Next task:  | Next, please:  | One more question:  | One more task:  | Another question:  |
Another task:  | Another wish:  | Also this:  | And one more:  | Now something else:  | Something else:  |
Second thing:  | Last thing:  | Last question:  | Great, now:  | Good. Now:  | Okay, next:  | Okay, so:  | Well then.  |
Right, next:  | I have a question.  | I have a wish.  | I need help.  | Can you do this?  | Could you help me?  |
Help me with this:  | Do this for me:  | Please do this for me:  | Back to work:  | I am busy.  | I am back. """)
CLOSERS = phrases(""" Thanks. |  Please. |  Thank you! |  It is urgent. |  Take your time. |
 Thanks in advance. |  I am in a hurry. |  That would help me. |  That would help a lot. |  Thanks a lot. |
 Thank you very much. |  Thank you in advance. |  Many thanks in advance. |  Please hurry. |  Please do it now. |
 It is important. |  It is important to me. |  It is not urgent. |  I need it today. |  I need this now. |
 I am waiting for it. |  No hurry. |  Can you do that? |  Could you do that for me? |  Please and thank you. |
 That is all. |  That is all I need. |  You would help me a lot. |  Take care of it, please.""")
ERRORS = phrases("""not found | timeout | service unavailable | permission denied | invalid value |
no connection | unknown name | limit reached | internal error | access denied | bad request | server busy |
no such entry | out of range | network down | key expired | no permission | wrong code | not allowed |
empty answer | connection lost | too many requests | bad key | cannot connect | missing value | no such city |
no such user | disk full | wrong password | closed today | no data | system down | invalid name | too long |
already exists | file not found | user not found | page not found | no result | nothing found | no match |
no such file | no such item | no such order | no such name | unknown city | unknown user | unknown item |
unknown code | unknown error | invalid code | invalid date | invalid request | invalid key | invalid number |
wrong value | wrong name | wrong key | bad value | bad name | bad code | missing name | missing key |
missing permission | permission missing | not permitted | not available | not supported | not valid |
access not allowed | login failed | login needed | request failed | request denied | request refused |
connection refused | connection failed | connection closed | no network | network error |
network not available | server error | server down | server not found | server closed | service down |
service closed | service not found | system error | system busy | system closed | internal failure |
internal server error | database error | database down | device offline | device not found | device busy |
printer offline | account locked | account closed | account not found | password expired | code expired |
session expired | time limit reached | daily limit reached | limit exceeded | memory full | list full |
list empty | too short | too many items | too large | value too large | value out of range | date out of range |
already closed | already sent | already done | sold out | closed now | item not available | entry locked |
key locked | key not valid | operation failed | operation not allowed | unauthorized | forbidden |
404 not found | error 500""")
# What stands between two wishes of one turn.
JOINTS = (
    *(" ", " And ", " Also: ", " Then: ", "\n", " Also, ", " And also: ", " And then: ", " Then, ", " After that: "),
    *(" And after that: ", " Next: ", " And next: ", " Second: ", " Plus: ", " And this: ", " And one more thing: "),
    *(" One more thing: ", " One more: ", " Another thing: ", " And another thing: ", " In addition: ", " Besides: "),
    *("\nAlso: ", "\nThen: ", "\nAnd: ", "\nAnd then: ", "\nNext: ", "\nSecond: ", "\nOne more thing: ", "\n\n"),
    *("\nAfter that: ", " When that is done: ", " At the same time: ", " I also need this: ", "\nI also need this: "),
)
# Wishes that no tool here serves, beside those for tools that are not offered.
UNSERVED = phrases("""Wash my car. | Cut my hair. | Iron my shirts. | Wash the dishes for me. | Feed my cat. |
Walk my dog. | Give my dog some water. | Cook me a meal. | Cook dinner for us. | Make breakfast for me. |
Make my bed. | Carry my bags. | Carry this table upstairs. | Drive my car to the shop. | Fix my car. |
Fix the roof of my house. | Paint my house. | Paint the kitchen wall. | Build me a house. | Build a wall for me. |
Can you iron my shirts? | Can you wash my clothes? | Can you cook dinner for me? | Can you cut my hair? |
Can you feed the dog? | Can you fix my shoes? | Can you carry my bags upstairs? | Can you drive my car? |
Can you water my plants? | Can you paint a wall? | Can you make my bed? | Can you build me a table? |
Could you wash my shirts? | Could you walk the dog for me? | Could you cook a meal for us? |
Could you fix the wall? | Water my plants. | Please water the plants. | Please wash my clothes. |
Please feed my dog. | Please walk the dog. | Please iron my clothes. | Please fix my shoes. |
Please cut the grass. | I need someone to cut the grass. | I need someone to wash my car. |
I need someone to cook dinner. | I need someone to fix the roof. | I want you to wash the dishes. |
I want you to walk my dog. | I want you to paint my house. | I'd like you to make breakfast. |
I'd like you to cut my hair. | My car is broken. Fix it. | My shoes are dirty. Wash them. |
My dog is hungry. Feed it. | My cat wants water. | The plants need water. | The grass is too long. Cut it. |
The roof is broken. Fix it. | The dishes are dirty. Wash them. | Would you feed my cat? |
Would you carry this bag for me? | Would you cut the grass? | wash my car please | walk the dog |
cut the grass please | Can you wash the dishes? | Can you walk the dog? | Could you cut the grass? |
Could you iron a shirt for me? | iron my shirts | paint the wall please | My shirts are dirty. Wash them. |
My hair is too long. Cut it. | The wall is old. Paint it. | Please cook a meal for us.""")
