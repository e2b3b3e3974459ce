"""Who launched whom."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pie_mlx.errors import LaunchError
from pie_mlx.runtime.children.launch_tree import LaunchLimits, LaunchTree


def chain(tree: LaunchTree, *names: str) -> None:
    """Each launches the next."""
    for parent, child in zip((None, *names), names, strict=False):
        tree.add_process(child, parent)


def test_descendants_are_all_that_run_below() -> None:
    tree = LaunchTree()
    chain(tree, "a", "b", "c")
    tree.add_process("d", "a")
    assert tree.descendants("a") == ["b", "d", "c"]
    tree.end("b")
    assert tree.descendants("a") == ["d", "c"]
    assert tree.ancestors("c") == ["c", "b", "a"]


def test_generations_are_bounded() -> None:
    tree = LaunchTree(LaunchLimits(depth=2))
    chain(tree, "a", "b", "c")
    with pytest.raises(LaunchError, match="max_launch_depth is 2"):
        tree.add_process("d", "c")


def test_running_descendants_of_a_root_are_bounded() -> None:
    tree = LaunchTree(LaunchLimits(children=2))
    chain(tree, "a", "b", "c")
    with pytest.raises(LaunchError, match="max_children is 2"):
        tree.add_process("d", "a")
    tree.end("c")
    tree.add_process("d", "a")


def test_without_children_nothing_is_launched() -> None:
    tree = LaunchTree(LaunchLimits(children=0))
    tree.add_process("a")
    with pytest.raises(LaunchError):
        tree.add_process("b", "a")


def test_a_process_that_ended_launches_nothing() -> None:
    tree = LaunchTree()
    tree.add_process("a")
    tree.end("a")
    for parent in ("a", "never"):
        with pytest.raises(LaunchError, match="has ended"):
            tree.add_process("b", parent)


def test_a_child_that_ended_is_remembered_while_its_parent_may_ask() -> None:
    tree = LaunchTree()
    chain(tree, "a", "b")
    assert tree.end("b") == []
    assert tree.is_child("b", "a")
    assert not tree.is_child("a", "b")
    assert tree.forget("b") == ["b"]
    assert not tree.is_child("b", "a")


def test_who_forgot_a_child_may_ask_about_it_no_more() -> None:  # I1
    tree = LaunchTree()
    chain(tree, "a", "b")
    assert tree.is_child("b", "a")
    assert not tree.is_child("a", "b")
    tree.forget("b")
    assert not tree.is_child("b", "a")
    assert tree.descendants("a") == ["b"]


def test_everything_is_forgotten_with_the_last_that_runs() -> None:
    tree = LaunchTree()
    chain(tree, "a", "b", "c")
    assert tree.end("a") == []
    assert tree.end("b") == []
    assert sorted(tree.end("c")) == ["a", "b", "c"]


STEP = st.tuples(st.sampled_from(["launch", "end", "forget"]), st.integers(0, 30), st.booleans())


@given(st.lists(STEP, max_size=80))
def test_the_books_balance_whatever_happens(steps: list[tuple[str, int, bool]]) -> None:
    tree = LaunchTree(LaunchLimits(depth=3, children=4))
    running: list[str] = []
    for number, (step, choice, root) in enumerate(steps):
        chosen = running[choice % len(running)] if running else None
        if step == "launch":
            name = f"p{number}"
            try:
                tree.add_process(name, None if root else chosen)
                running.append(name)
            except LaunchError:
                pass
        elif step == "end" and chosen:
            running.remove(chosen)
            tree.end(chosen)
        elif step == "forget":
            tree.forget(f"p{choice}")
        tree.check_integrity()
        assert all(name in tree for name in running)
    for name in running:
        tree.end(name)
        tree.check_integrity()
    assert not any(f"p{number}" in tree for number in range(len(steps)))
