import sys
import threading

import pytest

from pie_mlx.errors import LaunchError
from pie_mlx.runtime.execution.entry import program_entry
from pie_mlx.runtime.program.program import find_program
from pie_mlx.runtime.store import ProgramStore
from tests.runtime.store.programs import MAIN, manifest, write_directory


def install(store, name, version, **needs):
    return store.install(MAIN, manifest(name, version, **needs)).record


@pytest.mark.parametrize(
    ("requirement", "chosen"),
    [("^1.0.0", "1.4.0"), ("1.2.0", "1.2.0"), ("*", "2.0.0"), (">=1.0.0, <1.4.0", "1.2.0"), ("^2.0.0-rc.1", "2.0.0")],
)
def test_the_highest_installed_match_is_written_down(store, requirement, chosen):
    for version in ("1.2.0", "1.4.0", "2.0.0", "2.1.0-beta"):
        install(store, "lib", version)
    assert install(store, "app", "0.1.0", lib=requirement).dependencies == {"lib": chosen}


def test_a_later_install_changes_nothing(store):
    install(store, "lib", "1.0.0")
    install(store, "app", "0.1.0", lib="*")
    install(store, "lib", "1.1.0")
    assert store.find("app").program.dependencies["lib"].identity == "lib@1.0.0"


def test_a_missing_one_is_named_with_the_chain(store):
    with pytest.raises(
        LaunchError, match=r"program 'app@0.1.0': needs program 'lib' \(\^1.0.0\), which is not installed"
    ):
        install(store, "app", "0.1.0", lib="^1.0.0")
    install(store, "lib", "2.0.0")
    with pytest.raises(LaunchError, match=r"needs program 'lib' \(\^1.0.0\), installed: 2.0.0") as error:
        install(store, "app", "0.1.0", lib="^1.0.0")
    assert error.value.hint == "install it first, chain: app@0.1.0 -> lib ^1.0.0"


def test_a_cycle_is_refused_with_the_chain(store):
    install(store, "a", "1.0.0")
    install(store, "b", "1.0.0", a="*")
    install(store, "c", "1.0.0", b="*")
    with pytest.raises(LaunchError, match=r"depends on itself: a@1.0.0 -> c@1.0.0 -> b@1.0.0 -> a@1.0.0"):
        store.install(MAIN, manifest("a", "1.0.0", c="*"), force=True)


def test_another_version_of_itself_is_no_cycle(store):
    install(store, "a", "1.0.0")
    install(store, "b", "1.0.0", a="*")
    assert install(store, "a", "2.0.0", b="*").dependencies == {"b": "1.0.0"}


def test_what_others_depend_on_is_not_removed(store):
    install(store, "lib", "1.0.0")
    install(store, "app", "0.1.0", lib="*")
    with pytest.raises(LaunchError, match=r"program 'lib@1.0.0': app@0.1.0 depends on it"):
        store.remove("lib")
    store.remove("app")
    assert store.remove("lib") == ["lib@1.0.0"]


async def test_the_modules_of_a_dependency_are_importable_under_its_name(store, tmp_path):
    lib = write_directory(tmp_path / "lib", manifest("my-lib", "1.0.0"), words="from own import X\n", own="X = 'lib'\n")
    store.install_path(lib)
    app = write_directory(
        tmp_path / "app", manifest("app", "1.0.0") + '[dependencies]\nmy-lib = "*"\n', own="X = 'app'\n"
    )
    (app / "main.py").write_text(
        "import my_lib.words\nfrom my_lib.words import X\nfrom my_lib import own as theirs\nimport own\n"
        "async def main(input):\n    return [my_lib.words.X, X, theirs.X, own.X]\n"
    )
    program = store.install_path(app).program
    before = set(sys.modules)
    assert await program_entry(program).run({}) == ["lib", "lib", "lib", "app"]
    assert await program_entry(store.resolved(find_program(app))).run({}) == ["lib", "lib", "lib", "app"]
    assert [name for name in sys.modules if name.startswith("pie_program_") and name not in before] == []


def test_stores_of_several_processes_write_one_after_the_other(home):
    def work(number):
        store = ProgramStore(home)
        for version in range(5):
            store.install(MAIN, manifest(version=f"{number}.{version}.0"))

    threads = [threading.Thread(target=work, args=[number]) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(ProgramStore(home).listing()) == 20
