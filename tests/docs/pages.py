"""README and docs, taken apart: code blocks, command lines, links."""

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
GENERATED = {
    *(
        f"docs/reference/{name}.md"
        for name in ("architectures", "blocking", "cli", "config", "hosts", "http", "javascript", "sdk", "waits")
    ),
    "docs/gallery.md",
}
PAGES = sorted([ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")])
WRITTEN = [page for page in PAGES if str(page.relative_to(ROOT)) not in GENERATED]

_FENCE = re.compile(r"^```(\w*)\n(.*?)^```", re.DOTALL | re.MULTILINE)
_LINK = re.compile(r"\]\(([^)\s]+)\)")


@dataclass(frozen=True, slots=True)
class Block:
    """A piece of code with where it stands."""

    page: str
    number: int
    code: str

    @property
    def is_program(self) -> bool:
        return "inferlet" in self.code and "pie_mlx" not in self.code

    def __str__(self) -> str:
        return f"{self.page}-{self.number}"


def name(page: Path) -> str:
    """Its path below the root."""
    return str(page.relative_to(ROOT))


def python_blocks(page: Path) -> list[Block]:
    """The python blocks of a page, in order."""
    return blocks_in("python", page)


def blocks_in(wanted: str, page: Path) -> list[Block]:
    """The blocks of a page in one language, in order."""
    found = [code for language, code in _FENCE.findall(page.read_text(encoding="utf-8")) if language == wanted]
    return [Block(name(page), number, code) for number, code in enumerate(found)]


def languages(page: Path) -> set[str]:
    """Of the fenced blocks of a page."""
    return {language for language, _ in _FENCE.findall(page.read_text(encoding="utf-8"))}


def command_lines(page: Path) -> list[str]:
    """What stands indented by four, or in a fence without language, and begins with a command."""
    text = page.read_text(encoding="utf-8")
    plain = "".join(code for language, code in _FENCE.findall(text) if not language)
    indented = [line[4:] for line in _FENCE.sub("", text).splitlines() if line.startswith("    ")]
    lines = [line.strip() for line in [*indented, *plain.splitlines()]]
    return [line for line in lines if re.match(r"((\w+=\S+ )*(pie|make|python)\b(?! \w+,)|export )", line)]


def links(page: Path) -> list[str]:
    """Where a page leads to, code left out."""
    return _LINK.findall(re.sub(r"`[^`]*`", "", _FENCE.sub("", page.read_text(encoding="utf-8"))))


def anchors(page: Path) -> set[str]:
    """The headings of a page as GitHub names them, and the places that the page names itself."""
    text = _FENCE.sub("", page.read_text(encoding="utf-8"))
    headings = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    named = {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}
    return named | set(re.findall(r'<a id="([^"]+)">', text))
