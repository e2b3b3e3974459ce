"""LiteLLM, by both of its interfaces that reach an engine."""

import sys

import litellm

url, model = sys.argv[1:]
HELLO = [{"role": "user", "content": "Hello"}]
for name, base in ((f"openai/{model}", f"{url}/v1"), (f"anthropic/{model}", url)):
    options = {"model": name, "api_base": base, "api_key": "none", "max_tokens": 100, "num_retries": 0}
    answer = litellm.completion(messages=HELLO, **options)
    assert answer.choices[0].message.content == "Hello there.", answer
    chunks = list(litellm.completion(messages=HELLO, stream=True, **options))
    assert "".join(chunk.choices[0].delta.content or "" for chunk in chunks) == "Hello there.", chunks
