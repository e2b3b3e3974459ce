"""Whose programs a name means, on an engine that knows who its users are."""

import threading

import msgspec
import pytest

from pie_mlx.errors import AuthError, LaunchError, ProgramOwnerError
from pie_mlx.runtime.daemon.builtin_programs import BUILTIN
from pie_mlx.runtime.store import ProgramStore, TrustedOwners
from pie_mlx.runtime.store.owners import RESERVED_NAMES
from pie_mlx.runtime.store.records import encode_record
from tests.runtime.store.programs import MAIN, manifest


@pytest.fixture
def store(home, clock):
    return ProgramStore(home, owners=TrustedOwners.of_engine(["ops"], authenticated=True), clock=clock)


@pytest.fixture
def open_store(home):
    return ProgramStore(home, owners=TrustedOwners.of_engine([], authenticated=False))


def install(store, owner, name="tool", version="1.0.0", *, source=MAIN, needs=None, **options):
    return store.install(source, manifest(name, version, **(needs or {})), owner=owner, **options).record


def give(store, home, identity, owner):
    """As the first release let others install under any name."""
    name, version = identity.split("@")
    (record,) = [record for record in store.listing() if record.identity == identity]
    record = msgspec.structs.replace(record, owner=owner)
    (home / "programs" / name / version / "meta.json").write_bytes(encode_record(record))


@pytest.mark.parametrize("version", ["0.0.1", "1.0.0", "2.0.0"])
@pytest.mark.parametrize("force", [False, True])
def test_nobody_installs_any_version_under_the_name_of_another(store, version, force):
    install(store, "ada")
    with pytest.raises(ProgramOwnerError, match="'tool': the name belongs to the user 'ada'") as error:
        install(store, "bob", version=version, source=MAIN + b"# bob\n", force=force)
    assert error.value.owner == "ada"
    assert [record.owner for record in store.listing()] == ["ada"]


def test_an_owner_installs_more_versions(store):
    install(store, "ada")
    assert install(store, "ada", version="2.0.0").owner == "ada"


def test_what_an_administrator_installs_under_a_name_belongs_to_its_owner(store):
    install(store, "ada")
    assert install(store, "local", version="2.0.0").owner == "ada"
    assert install(store, "bob", version="3.0.0", admin=True).owner == "ada"
    assert install(store, "ada", version="4.0.0").owner == "ada"


def test_a_name_is_free_again_when_its_last_version_is_removed(store):
    install(store, "ada")
    store.remove("tool", owner="ada")
    assert install(store, "bob").owner == "bob"
    with pytest.raises(ProgramOwnerError, match="belongs to the user 'bob'"):
        store.find("tool@1.0.0", "ada")


def test_the_names_of_what_comes_with_the_engine_are_those_of_its_folders():
    assert {place.name for place in BUILTIN.iterdir() if (place / "main.py").exists()} == RESERVED_NAMES


@pytest.mark.parametrize(
    "name", ["openai", "OpenAI", "chat", "Chat", "text-completion", "text_completion", "TEXT_completion"]
)
@pytest.mark.parametrize("owner", ["bob", "local"])
def test_nobody_takes_a_name_that_comes_with_the_engine_or_one_alike(store, open_store, name, owner):
    for any_store in (store, open_store):
        with pytest.raises(ProgramOwnerError, match="the name comes with the engine"):
            install(any_store, owner, name, "99.0.0", admin=True)


@pytest.mark.parametrize("name", ["ｏpenai", "chat\u200b", "сhat", "opena\u0131"])
def test_names_that_look_alike_by_other_letters_are_no_names(store, name):
    with pytest.raises(LaunchError, match="is not a valid name"):
        install(store, "bob", name)


def test_names_alike_are_refused_whoever_owns_them(store):
    install(store, "ada", "my-tool")
    with pytest.raises(LaunchError, match="'my-tool' is installed"):
        install(store, "bob", "My_Tool")


@pytest.mark.parametrize("identifier", ["tool", "tool@latest", "tool@1.0.0"])
def test_a_name_means_no_program_of_somebody_who_is_not_trusted(store, identifier):
    install(store, "bob")
    with pytest.raises(ProgramOwnerError, match="'tool' belongs to the user 'bob'") as error:
        store.find(identifier, "ada")
    assert error.value.hint.startswith("launch 'bob:tool'")
    assert not store.check("tool", "1.0.0", "ada")


@pytest.mark.parametrize("owner", ["ada", "ops", "local", "internal"])
def test_a_name_means_ones_own_programs_and_those_of_the_trusted(store, owner):
    install(store, owner)
    assert store.find("tool", "ada").record.owner == owner
    assert store.check("tool", "1.0.0", "ada")


@pytest.mark.parametrize("identifier", ["bob:tool", "bob:tool@latest", "bob:tool@1.0.0"])
def test_a_full_name_means_the_program_of_its_owner(store, identifier):
    install(store, "bob")
    assert store.find(identifier, "ada").record.owner == "bob"


def test_a_full_name_means_nobody_elses_program(store):
    install(store, "ada")
    with pytest.raises(ProgramOwnerError, match="belongs to the user 'ada'"):
        store.find("bob:tool", "ada")


@pytest.mark.parametrize("identifier", [":tool", "-:tool", "a b:tool", "a/b:tool", "ada:", "ada:tool@x"])
def test_impossible_full_names_are_refused(store, identifier):
    with pytest.raises(LaunchError, match="Invalid program identifier"):
        store.find(identifier, "ada")


def test_without_authentication_all_users_are_one(open_store):
    install(open_store, "bob")
    assert open_store.find("tool", "ada").record.owner == "bob"
    assert install(open_store, "local", version="2.0.0").version == "2.0.0"


def test_a_dependency_is_no_program_of_somebody_its_dependent_does_not_trust(store):
    install(store, "bob", "lib")
    with pytest.raises(ProgramOwnerError, match="'lib' belongs to the user 'bob'"):
        install(store, "ada", "app", needs={"lib": "*"})
    with pytest.raises(ProgramOwnerError, match="'lib' belongs to the user 'bob'"):
        store.unpack(MAIN, manifest("app", "1.0.0", lib="*"), "ada")


def test_a_dependency_is_looked_up_for_the_owner_of_its_dependent(store):
    install(store, "bob", "lib")
    install(store, "bob", "app", needs={"lib": "*"})
    assert store.find("bob:app", "ada").program.dependencies["lib"].owner == "bob"


def test_a_dependency_whose_owner_is_trusted_no_more_keeps_its_dependent_from_starting(store, home):
    install(store, "ops", "lib")
    install(store, "ada", "app", needs={"lib": "*"})
    later = ProgramStore(home, owners=TrustedOwners.of_engine([], authenticated=True))
    with pytest.raises(ProgramOwnerError, match="'lib' belongs to the user 'ops'"):
        later.find("app", "ada")


def test_the_same_contents_again_change_nothing_for_who_trusts_their_owner(store):
    install(store, "ops")
    assert install(store, "ada").owner == "ops"
    install(store, "bob", "other")
    with pytest.raises(ProgramOwnerError):
        install(store, "ada", "other")


def test_only_owners_and_administrators_remove(store):
    install(store, "ada")
    with pytest.raises(AuthError, match="Permission denied"):
        store.remove("tool", owner="bob")
    assert store.remove("tool", owner="bob", admin=True) == ["tool@1.0.0"]


def test_of_users_who_install_a_new_name_at_once_one_wins(store):
    won, lost, start = [], [], threading.Barrier(4)

    def race(owner):
        start.wait()
        try:
            won.append(install(store, owner, source=MAIN + owner.encode()).owner)
        except ProgramOwnerError as error:
            lost.append(error.owner)

    threads = [threading.Thread(target=race, args=[f"user{number}"]) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (len(won), lost) == (1, won * 3)


def test_a_name_of_several_owners_belongs_to_the_oldest_and_means_only_the_trusted(store, home, clock):
    install(store, "ada")
    clock.now += 1
    install(store, "ada", version="2.0.0")
    give(store, home, "tool@2.0.0", "bob")
    assert store.contested() == ["tool@2.0.0"]
    assert store.find("tool", "ada").identity == "tool@1.0.0"
    with pytest.raises(LaunchError, match=r"tool@2\.0\.0' is not installed"):
        store.find("tool@2.0.0", "ada")
    with pytest.raises(ProgramOwnerError, match="belongs to the user 'ada'"):
        install(store, "bob", version="3.0.0")


def test_a_version_of_a_user_under_a_name_of_the_engine_is_contested(store, home):
    install(store, "internal", "openai", "9.0.0")
    assert store.contested() == []
    give(store, home, "openai@9.0.0", "bob")
    assert store.contested() == ["openai@9.0.0"]
    with pytest.raises(ProgramOwnerError):
        store.find("openai", "ada")


def test_a_damaged_program_is_for_administrators_to_replace(store, home):
    install(store, "ada")
    (home / "programs" / "tool" / "1.0.0" / "meta.json").write_text("{")
    with pytest.raises(ProgramOwnerError):
        install(store, "bob")
    assert install(store, "local").owner == "local"
