"""What pages in 8 and 4 bits cost and save: `python -m benchmarks.kv_dtype [--model DIRECTORY | --gguf FILE]`.

Every format reads the same text, and writes after the same prompts. Columns: bytes of a token's keys and values, in
float16 as without quantisation on a GPU; pages that fit the same budget; perplexity; Kullback-Leibler divergence of the
next token; how often the likeliest token is the same along text that the full format wrote greedily; and the time of a
decode step, which on a CPU the decoding makes no shorter.
"""

import argparse
import gc
import tempfile
import time
from collections.abc import Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass, replace
from io import StringIO
from pathlib import Path
from statistics import median

import mlx.core as mx
import numpy as np
import numpy.typing as npt
from rich.console import Console
from rich.table import Table

from benchmarks.driving import Driver, Work
from benchmarks.random_llama import EMBEDDED
from pie_mlx.engine.model.gguf.converted import write_conversion
from pie_mlx.engine.model.loaded import LoadedModel
from pie_mlx.engine.model.loading.load import load_model
from pie_mlx.engine.settings import KvFormat
from pie_mlx.metal import page_bytes
from tools.tiny.chat import pieces, prompt
from tools.tiny.evaluate import heldout_samples

SMOKE = ("--formats", "int8,", "--tokens", "40", "--greedy", "8", "--prompts", "1")
DOCUMENT = Path(__file__).parents[1] / "docs" / "decisions.md"
PAGE_SIZE, CHUNK = 16, 64
STEPS = 24
"""Decode steps that are timed."""

Logits = npt.NDArray[np.float32]


@dataclass(frozen=True)
class Texts:
    """Token sequences to read, which tokens of each count, and prompts to write after."""

    read: list[list[int]]
    counted: list[npt.NDArray[np.bool_]]
    prompts: list[list[int]]


@dataclass(frozen=True)
class Line:
    """What one format gives. `same` is the share of equal choices along the greedy text."""

    name: str
    token_bytes: float
    capacity: float
    perplexity: float
    divergence: float
    same: float
    milliseconds: float


def conversations(model: LoadedModel, tokens: int, prompts: int) -> Texts:
    """Held-out conversations of pie-tiny's generator, in which `tokens` tokens are the assistant's: those count."""
    samples, read, counted = heldout_samples(20), list[list[int]](), list[npt.NDArray[np.bool_]]()
    while sum(map(np.sum, counted)) < tokens and len(read) < len(samples):
        parts = [(model.tokenizer.encode(text), written) for text, written in pieces(samples[len(read)])]
        read.append([token for ids, _ in parts for token in ids])
        counted.append(np.array([written for ids, written in parts for _ in ids])[1:])
    return Texts(read, counted, [model.tokenizer.encode(prompt(sample)) for sample in samples[:prompts]])


def document(model: LoadedModel, tokens: int, prompts: int) -> Texts:
    """A page of the documentation, and beginnings of its parts."""
    ids = model.tokenizer.encode(DOCUMENT.read_text(encoding="utf-8"))
    counted = np.ones(len(ids[:tokens]) - 1, np.bool_)
    return Texts([ids[:tokens]], [counted], [ids[place * 150 : place * 150 + 100] for place in range(prompts)])


def logits_of(driver: Driver, tokens: Sequence[int]) -> Logits:
    """Logits after each token of a text, read in chunks."""
    context, parts = driver.context(), list[Logits]()
    for start in range(0, len(tokens), CHUNK):
        step = driver.step([Work(context, tokens[start : start + CHUNK])])
        logits = driver.model.forward(replace(step, logit_rows=list(range(len(step.positions)))))
        driver.model.finish(logits)
        parts.append(np.array(logits))
    driver.release(context)
    return np.concatenate(parts)


def log_softmax(logits: Logits) -> Logits:
    shifted = logits - logits.max(-1, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(-1, keepdims=True))


def step_milliseconds(driver: Driver, prompts: Sequence[Sequence[int]]) -> float:
    """The median time of a step that decodes one token after each prompt."""
    contexts = [driver.context() for _ in prompts]
    driver.run([Work(context, tokens) for context, tokens in zip(contexts, prompts, strict=True)])
    times: list[float] = []
    for _ in range(STEPS):
        started = time.perf_counter()
        driver.run([Work(context, [5]) for context in contexts])
        times.append(time.perf_counter() - started)
    for context in contexts:
        driver.release(context)
    return median(times[STEPS // 3 :]) * 1000


@dataclass
class Comparison:
    """Measures one format after the other against the first."""

    directory: Path
    arguments: argparse.Namespace
    expected: list[Logits] | None = None
    written: list[list[int]] | None = None
    choices: list[Logits] | None = None

    def line(self, name: str, kv: KvFormat) -> Line:
        """What a format gives."""
        model = load_model(str(self.directory), name="model", dtype=self.arguments.dtype, kv=kv)
        texts_of = conversations if self.directory == EMBEDDED else document
        texts = texts_of(model, self.arguments.tokens, self.arguments.prompts)
        longest = max(map(len, [*texts.read, *texts.prompts])) + self.arguments.greedy
        model.allocate(pages=(len(texts.prompts) + 1) * (longest // PAGE_SIZE + 2), page_size=PAGE_SIZE)
        driver = Driver(model)
        found = [log_softmax(logits_of(driver, text)[:-1]) for text in texts.read]
        self.expected = self.expected or found
        if self.written is None:
            greedy = driver.greedy(texts.prompts, self.arguments.greedy)
            self.written = [[*start, *after] for start, after in zip(texts.prompts, greedy, strict=True)]
        chosen = [
            logits_of(driver, text)[len(start) - 1 : -1].argmax(-1)
            for start, text in zip(texts.prompts, self.written, strict=True)
        ]
        self.choices = self.choices or chosen
        same = np.concatenate([a == b for a, b in zip(chosen, self.choices, strict=True)])
        losses = [-logits[range(len(text) - 1), text[1:]] for logits, text in zip(found, texts.read, strict=True)]
        kl = [(np.exp(want) * (want - got)).sum(-1) for want, got in zip(self.expected, found, strict=True)]
        counts = np.concatenate(texts.counted)
        half = page_bytes([shape.unquantised for shape in model.layers], 1, mx.float16)
        own = page_bytes(model.layers, 1, mx.float16)
        return Line(
            name,
            own,
            half / own,
            float(np.exp(np.concatenate(losses)[counts].mean())),
            float(np.concatenate(kl)[counts].mean()),
            float(same.mean()),
            step_milliseconds(driver, texts.prompts),
        )


def formats(group_sizes: Sequence[int], layers: int) -> dict[str, KvFormat]:
    """The formats to compare, the full one first."""
    found = {"auto": KvFormat()}
    for dtype in ("int8", "int4"):
        found |= {f"{dtype}, groups of {size}": KvFormat(dtype, size) for size in group_sizes}
        ends = (0, -1) if layers > 2 else (0,)
        found[f"{dtype}, first and last layer full"] = KvFormat(dtype, None, ends)
    return found


def table(lines: Sequence[Line], title: str) -> Table:
    """A row for each format."""
    shown = Table(title=title)
    for heading in ("format", "B/token", "capacity", "perplexity", "change", "divergence", "same choice", "ms/step"):
        shown.add_column(heading, justify="left" if heading == "format" else "right")
    for line in lines:
        shown.add_row(
            line.name,
            f"{line.token_bytes:,.0f}",
            f"x{line.capacity:.2f}",
            f"{line.perplexity:.4f}",
            f"{line.perplexity / lines[0].perplexity - 1:+.2%}",
            f"{line.divergence:.1e}",
            f"{line.same:.2%}",
            f"{line.milliseconds:.1f}",
        )
    return shown


def compared(directory: Path, arguments: argparse.Namespace) -> Table:
    """The table of one model."""
    model = load_model(str(directory), name="model")
    sizes = {size for shape in model.layers if shape.elements for size in (shape.key_dim, shape.value_dim)}
    groups = [size for size in (64, 32) if all(each % size == 0 for each in sizes)]
    wanted = ("auto", *(arguments.formats or ("int",)))
    kinds = {name: kv for name, kv in formats(groups, len(model.layers)).items() if name.startswith(wanted)}
    del model
    gc.collect()
    comparison = Comparison(directory, arguments)
    lines = [comparison.line(name, kv) for name, kv in kinds.items()]
    return table(
        lines, f"{directory.name}: {arguments.tokens} tokens read, {arguments.prompts} x {arguments.greedy} written"
    )


def main(argv: Sequence[str] | None = None) -> None:
    """Print the table of a model."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", type=Path, default=EMBEDDED, help="a directory; unset: pie-tiny")
    parser.add_argument("--gguf", type=Path, help="a GGUF file instead, converted to float16")
    parser.add_argument("--dtype", default="float32", help="of weights and activations")
    parser.add_argument("--formats", nargs="+", help="beginnings of the rows to measure beside the first; unset: all")
    parser.add_argument("--tokens", type=int, default=2000, help="tokens of text to read")
    parser.add_argument("--prompts", type=int, default=8, help="prompts to write after")
    parser.add_argument("--greedy", type=int, default=250, help="tokens to write after each")
    arguments = parser.parse_args(argv)
    with tempfile.TemporaryDirectory() as folder:
        directory = arguments.model
        if arguments.gguf is not None:
            directory = Path(folder) / arguments.gguf.stem
            with redirect_stdout(StringIO()):
                write_conversion(arguments.gguf, directory, dequantise=True, dtype="float16")
        Console(width=140).print(compared(directory, arguments))


if __name__ == "__main__":
    main()
