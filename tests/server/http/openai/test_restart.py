"""Prompts of the three APIs after a restart of their server."""

import anthropic
import openai

from pie_mlx.engine.settings import DiskCacheSettings
from pie_mlx.events import PagesLoaded
from tests.server.http.openai.conftest import MODEL, TinyServer

CHAT = [{"role": "user", "content": "Remember the milk. " * 40}]
MESSAGES = [{"role": "user", "content": "Remember the bread. " * 40}]


def ask(server):
    """What a chat and a message tell of their prompts."""
    with openai.OpenAI(base_url=f"{server.http}/v1", api_key="any", max_retries=0) as client:
        chat = client.chat.completions.create(model=MODEL, messages=CHAT, max_tokens=1)
    with anthropic.Anthropic(base_url=server.http, api_key="any", max_retries=0) as client:
        message = client.messages.create(model=MODEL, messages=MESSAGES, max_tokens=1)
    return chat.timings["cache"], message.usage


def test_equal_prompts_are_read_from_disk(tmp_path):
    kept = DiskCacheSettings(str(tmp_path / "kv"))
    first = TinyServer(tmp_path, disk_cache=kept).start()
    try:
        cache, _ = ask(first)
        assert (cache["from_memory"], cache["from_disk"]) == (0, 0)
    finally:
        first.stop()
    second = TinyServer(tmp_path, disk_cache=kept).start()
    try:
        cache, usage = ask(second)
        assert cache["from_memory"] == 0
        assert cache["from_disk"] > 100 > cache["computed"]
        assert usage.cache_read_input_tokens > 100 > usage.input_tokens
        assert [event.pages for event in second.seen() if isinstance(event, PagesLoaded)] != []
    finally:
        second.stop()
