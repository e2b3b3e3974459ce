"""The page of conversations: whole, without scripts, and safe to open whatever programs and models write."""

import base64
import hashlib
import re
from html.parser import HTMLParser

from pie_mlx.events import ContextCreated, ContextForked, ProcessLaunched, TokensComputed
from pie_mlx.trace.conversation import conversations, walked
from pie_mlx.trace.file import Recorded
from pie_mlx.trace.page import page_of

LAUNCHED, CREATED = ProcessLaunched("p", "ada", "prog@1.0.0"), ContextCreated("p", 1)


class Page(HTMLParser):
    """The tokens of a page, its other texts, and whether each element is closed where it was opened."""

    def __init__(self, text):
        super().__init__()
        self.open, self.elements, self.tokens, self.texts, self.titles = [], [], [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        if tag != "meta":
            self.open.append((tag, dict(attrs).get("class") or ""))
        if tag == "span":
            self.titles.append(dict(attrs).get("title"))

    def handle_endtag(self, tag):
        assert self.open.pop()[0] == tag

    def handle_data(self, data):
        inside = self.open[-1] if self.open else ("", "")
        (self.tokens if inside[0] == "span" else self.texts).append(data)


def told(*pieces, held=0, context=1, drawn=(), **more):
    """A pass whose inputs are `pieces`, which draws `drawn`."""
    texts = tuple(piece.encode() if isinstance(piece, str) else piece for piece in (*pieces, *drawn))
    ids = tuple(range(held, held + len(texts)))
    return TokensComputed("p", context, held, ids[: len(pieces)], ids[len(pieces) :], pieces=texts, **more)


def shown(*events):
    page = Page(page_of(Recorded([LAUNCHED, CREATED, *events])))
    assert page.open == []
    return page


def test_tokens_are_shown_in_order_and_each_once():
    page = shown(told("Hello", ","), told(" you", held=2, drawn=["!"]), told("!", held=3, drawn=["."]))
    assert page.tokens[-5:] == ["Hello", ",", " you", "!", "."]


def test_drawn_tokens_are_marked_with_their_probability():
    page = shown(
        told("a", drawn=["b"], logprobs=(-0.1,)),
        told("b", held=1, drawn=["c"], likely=((2, 0.3), (7, 0.2)), likely_pieces=(b"c", b"x")),
    )
    classes = [attributes["class"] for tag, attributes in page.elements if tag == "span"][-3:]
    assert classes == ["t", "t d sure", "t d unsure"]
    assert page.titles[-2:] == ["token 1\nprobability 0.9048", "token 2\nprobability 0.3000\n0.3000 'c'\n0.2000 'x'"]


def test_tokens_that_were_taken_back_are_replaced():
    page = shown(told("a", "b", drawn=["c"]), told("x", held=1))
    assert page.tokens[-2:] == ["a", "x"]


def test_a_fork_is_inside_what_it_was_forked_from_with_its_own_tokens():
    page = shown(told("a", "b"), ContextForked("p", 2, 1, 1), told("c", held=2, context=2))
    assert any("Context 2 fork of 1 after 2 tokens" in text for text in page.texts)
    assert page.tokens[-3:] == ["a", "b", "c"]


def test_a_character_of_several_tokens_is_shown_with_the_last():
    assert shown(told(*["é".encode()[:1], "é".encode()[1:]])).tokens[-2:] == ["‥", "é"]


def test_nothing_of_programs_and_models_is_markup():
    evil = '</span><script>alert(1)</script>"\x1b\x00'
    events = [
        ProcessLaunched("p", "ada", evil),
        CREATED,
        told(evil, drawn=[evil], likely=((1, 0.5),), likely_pieces=(evil.encode(),)),
    ]
    page = Page(page_of(Recorded(events)))
    assert {tag for tag, _ in page.elements}.isdisjoint({"script", "img", "a", "iframe", "link"})
    assert not re.search(r"[\x00\x1b]", page_of(Recorded(events)))
    assert "".join(page.tokens[-2:]).count("<script>alert(1)</script>") == 2


def test_it_loads_and_runs_nothing():
    text = page_of(Recorded([LAUNCHED]))
    style = re.search(r"<style>(.*)</style>", text, re.DOTALL)[1]
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    assert f'http-equiv="Content-Security-Policy" content="{policy}"' in text
    assert not re.search(r"<script|\bstyle=|\bon\w+=|src=|href=|url\(|@import", text)


def test_ten_thousand_tokens_are_a_page():
    events = [told(*["word "] * 2000, held=held) for held in range(0, 10_000, 2000)]
    page = shown(*events)
    assert page.tokens.count("word ") == 10_000


def test_a_run_without_tokens_says_how_to_get_them():
    assert any("the trace has no tokens" in text.lower() for text in shown().texts)


def test_a_real_run_is_shown_with_its_costs(recorded):
    page = Page(page_of(recorded))
    found = conversations(recorded.events)
    root, fork = walked(one for roots in found.roots.values() for one in roots)
    assert (fork.source, fork.first, [token.id for token in fork.tokens[:2]]) == (root.context, 40, [5, 7])
    assert root.pages > 2
    assert any(token.probability is not None for token in fork.tokens)
    assert any(token.likely for token in fork.tokens)
    text = " ".join(page.texts)
    assert "credits paid" in text
    assert f"{root.passes} passes · {root.computed} tokens computed" in text
