"""LiteLLM's proxy in front of the engine, asked in OpenAI's and in Anthropic's way."""

import json
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import httpx
import openai

url, model = sys.argv[1:]
SERVED = {
    "model_name": "served",
    "litellm_params": {"model": f"openai/{model}", "api_base": f"{url}/v1", "api_key": "none"},
}
KEY = "sk-of-the-proxy"
HELLO = [{"role": "user", "content": "Hello"}]
ASKED = [{"role": "user", "content": "How warm is it in Paris?"}]
SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}


def wait_for(base):
    while True:
        try:
            return httpx.get(f"{base}/health/liveliness").raise_for_status()
        except httpx.HTTPError:
            assert proxy.poll() is None, "the proxy has ended"
            time.sleep(0.2)


def ask(base):
    client = openai.OpenAI(base_url=f"{base}/v1", api_key=KEY, max_retries=0)
    answer = client.chat.completions.create(model="served", messages=HELLO)
    assert answer.choices[0].message.content == "Hello there.", answer
    chunks = list(client.chat.completions.create(model="served", messages=HELLO, stream=True))
    assert "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices) == "Hello there."
    tools = [{"type": "function", "function": {"name": "weather", "parameters": SCHEMA}}]
    (call,) = client.chat.completions.create(model="served", messages=ASKED, tools=tools).choices[0].message.tool_calls
    assert json.loads(call.function.arguments) == {"city": "Paris"}
    body = {
        "model": "served",
        "max_tokens": 100,
        "messages": ASKED,
        "tools": [{"name": "weather", "input_schema": SCHEMA}],
    }
    (used,) = (
        httpx.post(f"{base}/v1/messages", json=body, headers={"x-api-key": KEY}, timeout=60)
        .raise_for_status()
        .json()["content"]
    )
    assert (used["name"], used["input"]) == ("weather", {"city": "Paris"})


with tempfile.TemporaryDirectory() as home, socket.socket() as free:
    free.bind(("127.0.0.1", 0))
    port = free.getsockname()[1]
    config = Path(home) / "config.yaml"
    config.write_text(json.dumps({"model_list": [SERVED], "general_settings": {"master_key": KEY}}))
    free.close()
    words = [Path(sys.executable).with_name("litellm"), "--config", config, "--host", "127.0.0.1", "--port", str(port)]
    proxy = subprocess.Popen(words)
    try:
        wait_for(f"http://127.0.0.1:{port}")
        ask(f"http://127.0.0.1:{port}")
    finally:
        proxy.terminate()
        proxy.wait()
