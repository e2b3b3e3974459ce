import pytest

from pie_mlx.testing.engine import TestEngine

AGENT = """\
import random
from inferlet import Context, Model, Sampler, runtime, session


async def main(input):
    model = Model.load(runtime.models()[0])
    with Context(model) as context:
        context.user(f"{input['prompt']} {random.random()}")
        answer = await context.generate(Sampler.argmax(), max_tokens=16).collect_text()
        session.send(answer)
        print("checking")
        context.user("Are you sure?")
        sure = await context.generate(Sampler.argmax(), max_tokens=4).collect_text()
    return {"answer": answer, "sure": sure}
"""


@pytest.fixture(scope="session")
def scripted():
    """An engine whose model says what a test says."""
    with TestEngine(scripted=True, isolation="inline") as engine:
        yield engine


@pytest.fixture
def agent(tmp_path):
    (tmp_path / "agent.py").write_text(AGENT)
    return tmp_path / "agent.py"
