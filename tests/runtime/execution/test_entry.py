import pytest

from pie_mlx.errors import LaunchError
from pie_mlx.runtime.execution.entry import check_offers, function_entry, program_entry
from pie_mlx.runtime.program.manifest import parse_manifest
from pie_mlx.runtime.program.program import find_program

PACKAGE = '[package]\nname = "demo"\nversion = "0.1.0"\n'


def write(tmp_path, main, runtime=""):
    (tmp_path / "main.py").write_text(main)
    (tmp_path / "Pie.toml").write_text(f"{PACKAGE}[runtime]\n{runtime}\n")
    return program_entry(find_program(tmp_path))


async def test_a_program_gets_its_input(tmp_path):
    entry = write(tmp_path, "async def main(input):\n    return input['n'] + 1\n")
    assert await entry.run({"n": 1}) == 2


@pytest.mark.parametrize("runtime", ['entry = "handle"', ""])
async def test_a_program_that_answers_requests_says_how_it_is_served(tmp_path, runtime):
    with pytest.raises(LaunchError, match="answers HTTP requests") as refused:
        await write(tmp_path, "async def handle(request):\n    return {}\n", runtime).run({})
    assert "launch_daemon('demo@0.1.0', PORT)" in refused.value.hint


async def test_a_program_may_take_keywords(tmp_path):
    entry = write(tmp_path, "async def main(n, m=2):\n    return n + m\n", 'call = "kwargs"')
    assert await entry.run({"n": 1}) == 3


async def test_every_run_executes_the_file_afresh(tmp_path):
    entry = write(tmp_path, "SEEN = []\nasync def main(input):\n    SEEN.append(1)\n    return len(SEEN)\n")
    assert [await entry.run({}), await entry.run({})] == [1, 1]


async def test_another_entry_can_be_named(tmp_path):
    entry = write(tmp_path, "async def start(input):\n    return 'started'\n", 'entry = "start"')
    assert await entry.run({}) == "started"


@pytest.mark.parametrize(
    ("main", "why"),
    [
        ("main = 3\n", "main is not 'async def'"),
        ("async def main(): ...\n", "main does not take one argument"),
        ("async def main(a, b): ...\n", "main does not take one argument"),
    ],
)
async def test_a_main_that_cannot_be_awaited_with_an_input_is_refused(tmp_path, main, why):
    with pytest.raises(LaunchError, match=why):
        await write(tmp_path, main).run({})


def test_a_function_is_named_after_itself():
    async def my_program(input): ...

    assert function_entry(my_program).identity == "my-program@0.0.0"


def test_an_object_with_an_async_call_is_a_program():
    class Program:
        async def __call__(self, input): ...

    assert function_entry(Program()).identity == "Program@0.0.0"


def test_a_plain_main_is_over_when_it_returns(tmp_path):  # Y1
    assert write(tmp_path, "def main(input):\n    return input['n'] + 1\n").run({"n": 1}) == 2
    assert write(tmp_path, "def main(n, m=2):\n    return n + m\n", 'call = "kwargs"').run({"n": 1}) == 3


def test_a_plain_main_takes_one_argument(tmp_path):
    with pytest.raises(LaunchError, match="main does not take one argument"):
        write(tmp_path, "def main(): ...\n").run({})


def test_a_plain_function_is_a_program():
    def my_program(input): ...

    assert function_entry(my_program).identity == "my-program@0.0.0"
    with pytest.raises(LaunchError, match="does not take one argument"):
        function_entry(lambda: None)


@pytest.mark.parametrize(
    ("lines", "why"),
    [
        ('[runtime]\ninferlet = "^99.0.0"', r"needs inferlet \^99\.0\.0, this is"),
        (
            '[runtime]\npackages = ["msgspec", "not-there>=1"]',
            "needs the package 'not-there>=1', which is not installed",
        ),
        ('[runtime]\npackages = ["msgspec<0.1"]', "needs the package 'msgspec<0.1', installed is"),
        ('[runtime]\npackages = ["=="]', r"\[runtime\] packages: '=='"),
        ('[dependencies]\nother = "^1.0.0"', r"needs program 'other' \(\^1\.0\.0\), which is not installed"),
    ],
)
def test_what_this_engine_does_not_have_is_refused(lines, why):
    with pytest.raises(LaunchError, match=why):
        check_offers(parse_manifest(PACKAGE + lines))


def test_packages_for_other_platforms_are_not_asked_for():
    check_offers(parse_manifest(PACKAGE + '[runtime]\npackages = ["nothing; sys_platform == \'plan9\'", "msgspec"]'))
