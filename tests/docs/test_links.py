"""Links lead somewhere."""

import pytest

from tests.docs.pages import PAGES, ROOT, anchors, links, name


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_every_link_of_a_page_leads_somewhere(page):
    broken = [link for link in links(page) if not leads_somewhere(page, link)]
    assert broken == []


def leads_somewhere(page, link):
    path, _, anchor = link.partition("#")
    if path.startswith(("http://127.0.0.1", "https://", "http://")):
        return True
    target = (page.parent / path).resolve() if path else page
    return target.exists() and (not anchor or anchor in anchors(target))


def test_every_page_can_be_reached_from_the_first_ones():
    seen, waiting = set(), [ROOT / "README.md", ROOT / "docs" / "README.md"]
    while waiting:
        page = waiting.pop()
        if page in seen or page.suffix != ".md":
            continue
        seen.add(page)
        waiting += [(page.parent / link.partition("#")[0]).resolve() for link in links(page) if "://" not in link]
    assert [name(page) for page in PAGES if page not in seen] == []
