"""What `%load_ext pie_mlx` makes of a shell."""

import pytest

SET_UP = """
from inferlet import Context, Distribution, Model, Sampler, runtime, session
model = Model.load(runtime.models()[0])
trunk = Context(model).system("You are brief.")
await trunk.flush()
"""


@pytest.fixture(autouse=True, scope="module")
def _set_up(cells):
    cells.run(SET_UP)


def test_a_cell_awaits_as_a_program_does(cells):
    text = cells.run(
        "with trunk.fork().user('Who are you?') as asked:\n"
        "    text = await asked.generate(Sampler.argmax(), max_tokens=6).collect_text()\ntext"
    )
    assert text.startswith("I am")


def test_a_context_is_shown_in_its_tree(cells):
    cells.run("fork = trunk.fork(); leaf = fork.fork(); other = Context(model)")
    shown = cells.html("fork")
    names = cells.run("trunk.id, fork.id, leaf.id, other.id")
    places = [shown.find(f"{name}</") for name in names[:3]]
    assert places == sorted(places)
    assert min(places) > 0
    assert f"<b>&emsp;{names[1]}</b>" in shown
    assert f">{names[3]}<" not in shown


def test_a_released_context_is_shown_without_a_tree(cells):
    cells.run("gone = Context(model); gone.release()")
    assert "released" in cells.html("gone")
    assert "<table>" not in cells.html("gone")


def test_an_output_is_shown_with_a_bar_for_each_likely_token(cells):
    cells.run(
        "passed = trunk.fork().forward().input(model.tokenizer().encode('Hello'))\n"
        "probe = passed.probe(0, Distribution(1.0, 5))\noutput = await passed.execute()"
    )
    shown = cells.html("output")
    assert shown.count("<meter") == 5
    likeliest = cells.run("output.distribution(probe)[1][0]")
    assert f"{likeliest:.3f}" in shown


def test_markup_in_tokens_is_text(cells):
    cells.run(
        "passed = trunk.fork().forward().input(model.tokenizer().encode('a<b>'))\n"
        "drawn = passed.sample([0], Sampler.argmax())\noutput = await passed.execute()\n"
        "output._tokens = model.tokenizer().encode('<b>bold</b>')"
    )
    assert "&lt;b&gt;bold" in cells.html("output")


def test_a_stream_shows_its_text_and_returns_it(cells, capsys):
    text = cells.run("await stream(trunk.fork().user('Who are you?').generate(Sampler.argmax(), max_tokens=12))")
    assert text.startswith("I am pie-tiny")
    assert text in capsys.readouterr().out


def test_what_a_cell_sends_appears_below_it(cells, capsys):
    cells.run("session.send('working')\nimport asyncio\nawait asyncio.sleep(0.1)")
    assert "working" in capsys.readouterr().out


def test_the_magic_tells_model_pages_and_price(cells):
    told = cells.run("%pie")
    assert "pie-tiny" in repr(told)
    assert "8192 pages" in repr(told)
    assert "0.00 credits" in repr(told)
    assert repr(told) in told._repr_html_()


def test_threads_of_a_cell_have_the_engine_too(cells):
    names = cells.run(
        "from concurrent.futures import ThreadPoolExecutor\n"
        "with ThreadPoolExecutor(1) as pool:\n    names = pool.submit(runtime.models).result()\nnames"
    )
    assert names == ["pie-tiny"]


def test_another_model_replaces_the_first_and_its_contexts(cells):
    cells.run("kept = Context(model)")
    cells.run("%pie pie-tiny")
    assert cells.run(
        "from pie_mlx.errors import EngineStoppedError\n"
        "try:\n    kept.fork()\nexcept EngineStoppedError as error:\n    said = str(error)\nsaid"
    )
    cells.run(SET_UP)


def test_without_the_extension_a_cell_is_told_how_to_run(cells):
    from inferlet import runtime
    from pie_mlx.errors import EngineStoppedError

    cells.run("%unload_ext pie_mlx")
    with pytest.raises(EngineStoppedError, match="does not run inside an inferlet"):
        runtime.models()
    cells.run("%load_ext pie_mlx")
    cells.run(SET_UP)
