"""Trains pie-tiny's draft head: one more layer, which guesses the tokens after the next one.

    nice -n 10 python -m tools.tiny.head --minutes 8

The trunk stays as it ships. For every token it reads, the head is given the trunk's hidden state and the token that
follows, and learns what the trunk says after that. Later guesses go on from earlier ones, as in the engine: the keys
and values of what is known are made of the trunk's hidden states, those of guesses of the head's own. `--minutes`
counts the processor's time, `--wall-minutes` ends a run on a busy machine; the weights are written every 25 steps.
"""

import argparse
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file
from tokenizers import Tokenizer
from torch import Tensor, nn
from torch.nn import functional

from tools.tiny.chat import pieces
from tools.tiny.model import Layer, Linear, TinyConfig, TinyModel, attend, rotary_angles
from tools.tiny.optimizer import make_optimizers
from tools.tiny.text import make_sample
from tools.tiny.train import LONGEST, TOKENIZER

SHIPPED = Path(__file__).parents[2] / "pie_mlx" / "engine" / "model" / "embedded" / "pie-tiny"
DEPTHS, WEIGHT_OF_LATER, KEEP, HELD_OUT = 4, 0.85, 0.96, 24


@dataclass(frozen=True)
class Example:
    """A conversation of T tokens; hidden states [T, width] of the trunk, before its last layer and at its end, what it
    says after each [T], and which tokens are the model's own [T]."""

    tokens: Tensor
    inner: Tensor
    hidden: Tensor
    said: Tensor
    learned: Tensor

    def rows(self) -> Tensor:
        """Tokens after which guesses begin: that after the next one is the model's own."""
        return self.learned[2:].nonzero()[:, 0]

    def counts(self, rows: Tensor, depth: int) -> Tensor:
        """Which of the guesses `depth` tokens later are about the model's own text."""
        places = rows + 2 + depth
        return (places < len(self.tokens)) & self.learned[places.clamp(max=len(self.tokens) - 1)]


class Head(nn.Module):
    """Names are those of Qwen3.5's checkpoints, so that its loader reads them."""

    def __init__(self, config: TinyConfig) -> None:
        super().__init__()
        width = config.hidden_size
        self.config = config
        self.pre_fc_norm_embedding = nn.RMSNorm(width, eps=config.rms_norm_eps)
        self.pre_fc_norm_hidden = nn.RMSNorm(width, eps=config.rms_norm_eps)
        self.fc = Linear(2 * width, width)
        self.layers = nn.ModuleList([Layer(config)])
        self.norm = nn.RMSNorm(width, eps=config.rms_norm_eps)

    def mixed(self, embedded: Tensor, hidden: Tensor) -> Tensor:
        """Both [.., width] as the layer's input."""
        return self.fc(torch.cat([self.pre_fc_norm_embedding(embedded), self.pre_fc_norm_hidden(hidden)], -1))

    def guesses(self, embed: Tensor, example: Example, rows: Tensor) -> list[Tensor]:
        """What the head makes of each depth [R, width], for guesses that begin at `rows`.

        At depth d it reads token row + d + 1, and the hidden state before it: the trunk's at first, then its own.
        """
        layer, count = self.layers[0], len(example.tokens) - 1
        angles = rotary_angles(torch.arange(count + DEPTHS), self.config)
        known = self.mixed(embed[example.tokens[1:]], example.hidden[:-1])
        _, keys, values = layer.before(known, angles[0][:count], angles[1][:count])
        seen = torch.arange(count)[None] <= rows[:, None]
        own: list[tuple[Tensor, Tensor]] = []
        found: list[Tensor] = []
        for depth in range(DEPTHS):
            places = rows + depth
            token = example.tokens[(places + 1).clamp(max=count)]
            x = known[rows] if depth == 0 else self.mixed(embed[token], found[-1])
            query, key, value = layer.before(x, angles[0][places], angles[1][places])
            if depth:
                own.append((key, value))
            scale = query.shape[-1] ** -0.5
            scores = (query @ keys.transpose(1, 2) * scale).masked_fill(~seen, -1e9)
            mine = [(query * key).sum(-1, keepdim=True) * scale for key, _ in own]
            weights = torch.softmax(torch.cat([scores, *mine], -1), -1)
            mixed = weights[..., :count] @ values
            for place, (_, value) in enumerate(own):
                mixed = mixed + weights[..., count + place, None] * value
            found.append(self.norm(layer.after(x, mixed, None)))
        return found


def loss_of(head: Head, trunk: TinyModel, batch: list[Example]) -> Tensor:
    """Mean cross-entropy with what the trunk says; later guesses count less."""
    embed, total, count = trunk.model.embed_tokens.weight, torch.zeros(()), 0
    for example in batch:
        rows = example.rows()
        for depth, hidden in enumerate(head.guesses(embed, example, rows)):
            places = example.counts(rows, depth)
            wanted = example.said[rows[places] + 1 + depth]
            losses = functional.cross_entropy(trunk.logits(hidden[places]), wanted, reduction="sum")
            total = total + WEIGHT_OF_LATER**depth * losses
        count += len(rows)
    return total / count


@torch.no_grad()
def acceptance(head: Head, trunk: TinyModel, held_out: list[Example]) -> tuple[list[float], list[float]]:
    """How often each guess is right where all before it are, at any token, and tokens per pass with that many guesses.

    Passes begin after a wrong guess more often than elsewhere, where the next one is wrong more often too; so the
    latter are counted pass by pass, and are fewer than the rates alone promise.
    """
    right, tried = torch.zeros(DEPTHS), torch.zeros(DEPTHS)
    tokens, passes = 0, [0] * DEPTHS
    for example in held_out:
        rows = example.rows()
        alive = torch.ones(len(rows), dtype=torch.bool)
        accepted = torch.zeros(DEPTHS, len(rows), dtype=torch.int)
        for depth, hidden in enumerate(head.guesses(trunk.model.embed_tokens.weight, example, rows)):
            alive = alive & example.counts(rows, depth)
            tried[depth] += alive.sum()
            alive = alive & (
                trunk.logits(hidden).argmax(-1) == example.said[(rows + 1 + depth).clamp(max=len(example.said) - 1)]
            )
            right[depth] += alive.sum()
            accepted[depth:] += alive.int()
        tokens += len(rows)
        for depth, found in enumerate(accepted.tolist()):
            passes[depth] += passes_of(found)
    return (right / tried.clamp(min=1)).tolist(), [tokens / count for count in passes]


def passes_of(accepted: list[int]) -> int:
    """Passes that write a text, where so many guesses that begin at each of its tokens are right."""
    place, passes = 0, 0
    while place < len(accepted):
        place, passes = place + 1 + accepted[place], passes + 1
    return passes


def examples(trunk: TinyModel, seed: int, split: str) -> Iterator[Example]:
    """Conversations as the trunk reads them."""
    tokenizer, number = Tokenizer.from_file(str(TOKENIZER)), 0
    while True:
        parts = pieces(make_sample(seed, number, split, 1.0))
        number += 1
        encoded = tokenizer.encode_batch([text for text, _ in parts])
        tokens = torch.tensor([token for encoding in encoded for token in encoding.ids])
        learned = torch.cat([torch.full((len(e.ids),), mine) for (_, mine), e in zip(parts, encoded, strict=True)])
        if len(tokens) > LONGEST or not learned[2:].any():
            continue
        with torch.no_grad():
            inner, hidden = states(trunk, tokens)
            said = trunk.logits(hidden).argmax(-1)
        yield Example(tokens, inner, hidden, said, learned)


def states(trunk: TinyModel, tokens: Tensor) -> tuple[Tensor, Tensor]:
    """What the last layer reads, and what comes out in the end, each [T, width]."""
    angles = rotary_angles(torch.arange(len(tokens)), trunk.config)
    x = inner = trunk.model.embed_tokens(tokens)
    for layer in trunk.model.layers:
        inner = x
        x = layer.after(x, attend(*layer.before(x, *angles), [len(tokens)]), None)
    return inner, trunk.model.norm(x)


@torch.no_grad()
def begin(head: Head, trunk: TinyModel, stream: Iterator[Example], tokens: int) -> None:
    """Begin as the trunk's last layer, reading the best linear guess at what that reads of the next token."""
    head.layers[0].load_state_dict(trunk.model.layers[-1].state_dict())
    head.norm.load_state_dict(trunk.model.norm.state_dict())
    width, embed = trunk.config.hidden_size, trunk.model.embed_tokens.weight
    squares, products, done = torch.zeros(2 * width, 2 * width), torch.zeros(2 * width, width), 0
    while done < tokens:
        example = next(stream)
        embedded, hidden = embed[example.tokens[1:]], example.hidden[:-1]
        read = torch.cat([head.pre_fc_norm_embedding(embedded), head.pre_fc_norm_hidden(hidden)], -1)
        squares += read.T @ read
        products += read.T @ example.inner[1:]
        done += len(example.tokens)
    ridge = 1e-3 * squares.diagonal().mean() * torch.eye(2 * width)
    head.fc.weight.copy_(torch.linalg.solve(squares + ridge, products).T)


def write(weights: dict[str, Tensor], out: Path) -> None:
    """The head as it ships, in float16."""
    save_file({f"mtp.{name}": value.half().contiguous() for name, value in weights.items()}, out)
    out.chmod(0o644)


def train(head: Head, trunk: TinyModel, options: argparse.Namespace, held_out: list[Example]) -> dict[str, Tensor]:
    """The running mean of the weights at the end; the rate falls over the second half."""
    optimizers, stream = make_optimizers(head, options.lr), examples(trunk, options.seed, "train")
    average = {name: value.clone() for name, value in head.state_dict().items()}
    begun, clock, steps, tokens, recent = time.process_time(), time.perf_counter(), 0, 0, list[float]()

    def done() -> float:
        parts = ((time.process_time() - begun) / options.minutes, (time.perf_counter() - clock) / options.wall_minutes)
        return max(parts) / 60

    while (part := done()) < 1:
        batch = [next(stream)]
        while sum(len(example.tokens) for example in batch) < options.batch_tokens:
            batch.append(next(stream))
        loss = loss_of(head, trunk, batch)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(head.parameters(), 1.0)
        for optimizer in optimizers:
            for group in optimizer.param_groups:
                group["lr"] = options.lr * min(1.0, (steps + 1) / 20, max(0.02, (1 - part) / 0.5))
            optimizer.step()
            optimizer.zero_grad()
        for name, value in head.state_dict().items():
            average[name].lerp_(value, 1 - KEEP)
        recent.append(loss.item())
        steps, tokens = steps + 1, tokens + sum(int(example.learned.sum()) for example in batch)
        if steps % 25 == 0:
            rates, per_pass = acceptance(head, trunk, held_out)
            print(
                f"step {steps}, {time.process_time() - begun:.0f} s, {tokens:,} learned tokens, loss "
                f"{sum(recent) / len(recent):.3f}, right {' '.join(f'{rate:.2f}' for rate in rates)}, "
                f"tokens per pass {' '.join(f'{rate:.2f}' for rate in per_pass)}",
                flush=True,
            )
            recent = []
            write(average, options.out)
    return average


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=SHIPPED / "mtp.safetensors")
    parser.add_argument("--start-from", type=Path, help="a head to go on from; without one it begins anew")
    parser.add_argument("--minutes", type=float, default=8)
    parser.add_argument("--wall-minutes", type=float, default=float("inf"))
    parser.add_argument("--batch-tokens", type=int, default=2048)
    parser.add_argument("--begin-tokens", type=int, default=30_000)
    parser.add_argument("--lr", type=float, default=4e-3)
    parser.add_argument("--seed", type=int, default=71)
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()
    torch.manual_seed(options.seed)
    torch.set_num_threads(options.threads)
    config = TinyConfig(num_hidden_layers=8)
    trunk = TinyModel(config)
    trunk.load_state_dict({name: value.float() for name, value in load_file(SHIPPED / "model.safetensors").items()})
    trunk.eval().requires_grad_(False)
    head = Head(config)
    held = examples(trunk, options.seed, "heldout")
    held_out = [next(held) for _ in range(HELD_OUT)]
    if options.start_from is None:
        begin(head, trunk, examples(trunk, options.seed + 1, "train"), options.begin_tokens)
    else:
        head.load_state_dict(
            {name.removeprefix("mtp."): value.float() for name, value in load_file(options.start_from).items()}
        )
    print("begins with", acceptance(head, trunk, held_out), flush=True)
    head.eval()  # so small products take longer in bfloat16
    write(train(head, trunk, options, held_out), options.out)


if __name__ == "__main__":
    main()
