import re

from pie_mlx.events import ContextForked


def test_two_forks_share_the_pages_of_their_prefix(play):
    played = play("fork-and-tool", {"city": "Lima"})
    forks = played.of(ContextForked)
    assert len(forks) == 2
    assert len({fork.shared_pages for fork in forks} - {0}) == 1
    kept, alone = map(int, re.search(r"(\d+) pages hold what would take (\d+)", played.text).groups())
    assert kept == alone - 2 * forks[0].shared_pages
