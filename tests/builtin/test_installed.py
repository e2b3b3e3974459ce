"""Built-in programs are installed when an engine starts."""

import msgspec
import pytest

from pie_mlx.runtime.daemon import install_builtins
from pie_mlx.runtime.engine import Engine
from pie_mlx.runtime.store import ProgramStore
from pie_mlx.runtime.store.records import encode_record

MANIFEST = '[package]\nname = "text-completion"\nversion = "1.0.0"\n'


def give_away(store, folder):
    """As the first release let users take such a name."""
    (record,) = store.listing()
    (folder / "meta.json").write_bytes(encode_record(msgspec.structs.replace(record, owner="ada")))


@pytest.fixture
def store(tmp_path):
    return ProgramStore(tmp_path)


def test_they_are_there_by_name(store):
    install_builtins(store)
    install_builtins(store)
    assert {record.identity for record in store.listing()} == {"openai@1.0.0", "text-completion@1.0.0"}


def test_a_program_of_a_user_with_such_a_name_is_left_alone(store, tmp_path):
    store.install(b"async def main(input):\n    return 1\n", MANIFEST, owner="internal")
    give_away(store, tmp_path / "programs" / "text-completion" / "1.0.0")
    install_builtins(store)
    assert store.find("text-completion").record.owner == "ada"


def test_a_name_that_is_taken_but_for_its_case_keeps_no_engine_from_starting(store):
    text = MANIFEST.replace("text-completion", "Text_Completion")
    store.install(b"async def main(input):\n    return 1\n", text, owner="internal")
    install_builtins(store)
    assert {record.name for record in store.listing()} == {"openai", "Text_Completion"}


def test_an_older_one_of_ours_is_replaced(store):
    store.install(b"async def main(input):\n    return 1\n", MANIFEST, owner="internal")
    install_builtins(store)
    assert "prompt" in store.find("text-completion").manifest.parameters.declared


async def test_text_completion_sends_what_it_returns(store):
    install_builtins(store)
    sent = []
    async with Engine(dummy=True, total_pages=64, seed=1) as engine:
        program = store.find("text-completion").program
        answer = await engine.run(program, {"prompt": "Hello", "max_tokens": 12}, on_message=sent.append)
    assert answer == "".join(sent) != ""
