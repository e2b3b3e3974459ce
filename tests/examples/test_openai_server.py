"""Served as its page says: an engine that stays, then serve.py."""

import os
import subprocess
import sys

import openai
import pytest

from tests.examples.stage import EXAMPLES
from tests.ports import free_port

QUESTION = [{"role": "user", "content": "What is the capital of Norway?"}]


@pytest.fixture(scope="module")
def client(tmp_path_factory):
    environment = {**os.environ, "PIE_HOME": str(tmp_path_factory.mktemp("home"))}
    command = [sys.executable, "-m", "pie_mlx", "serve", "--json", "--port", "0"]
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as serving:
        serving.stdout.readline()
        script = [sys.executable, str(EXAMPLES / "openai-server" / "serve.py"), str(free_port())]
        address = subprocess.run(script, env=environment, capture_output=True, text=True, check=True).stdout.strip()
        with openai.OpenAI(base_url=address, api_key="any", max_retries=0) as client:
            yield client
        serving.terminate()


def test_strategies_are_models(client):
    assert [model.id for model in client.models.list()] == ["plain", "careful"]


@pytest.mark.parametrize("model", ["plain", "careful"])
def test_a_conversation_is_answered(client, model):
    answer = client.chat.completions.create(model=model, messages=QUESTION, max_tokens=24)
    assert answer.model == model
    assert answer.choices[0].message.content


def test_what_it_does_not_know_is_refused(client):
    with pytest.raises(openai.NotFoundError, match="choose plain or careful"):
        client.chat.completions.create(model="other", messages=QUESTION)
