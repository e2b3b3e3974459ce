"""Trains pie-tiny on freshly generated text; stops and resumes at any time.

The learning rate warms up, stays constant, and falls linearly over the last part of the time budget. A checkpoint holds
weights, optimiser states, the number of the next sample and the version of the generator, so that

    python -m tools.tiny.train --out /tmp/tiny --minutes 120

can be ended (SIGTERM saves first) or killed, and started again with the same arguments; `--minutes` counts training
time over all starts and may be raised later as long as the fall has not begun. What is exported is a running mean of
the weights, which is better than any one state while the learning rate is high. `--start-from` goes on from the weights
and the log of a model that was exported, where its checkpoint is gone; take another `--seed`, so that no sample is seen
twice.
"""

import argparse
import json
import shutil
import signal
import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file
from tokenizers import Tokenizer
from torch.nn import functional

from tools.tiny.chat import pieces
from tools.tiny.model import TinyConfig, TinyModel
from tools.tiny.optimizer import make_optimizers
from tools.tiny.ranks import Ranks, run_ranks
from tools.tiny.text import VERSION, make_sample

TOKENIZER = Path(__file__).parent / "tokenizer.json"
SHIPPED_LOG = Path(__file__).parent / "log.jsonl"
LONGEST = 1400
LONGEST_STEP_SECONDS = 20.0
LOG_EVERY_STEPS = 20


@dataclass(frozen=True)
class Settings:
    """What a run depends on, besides the generator and the sizes."""

    out: Path
    minutes: float
    batch_tokens: int
    lr: float
    seed: int
    fall: float
    curriculum_minutes: float
    checkpoint_minutes: float
    keep: float = 0.998
    fused: bool = False
    start_from: Path | None = None


@dataclass
class Batch:
    """Conversations end to end: tokens [T], rows that predict a learned token and those tokens."""

    tokens: torch.Tensor
    lengths: list[int]
    rows: torch.Tensor
    targets: torch.Tensor


class Stream:
    """Batches of every `stride`th sample from `next_sample` on."""

    def __init__(self, tokenizer: Tokenizer, seed: int, next_sample: int, stride: int = 1) -> None:
        self.tokenizer, self.seed, self.next_sample, self.stride = tokenizer, seed, next_sample, stride

    def batch(self, size: int, progress: float) -> Batch:
        """At least `size` tokens of whole conversations."""
        tokens: list[int] = []
        lengths: list[int] = []
        rows: list[int] = []
        targets: list[int] = []
        while len(tokens) < size:
            ids, learned = self._encoded(progress)
            if len(ids) > LONGEST:
                continue
            rows += [len(tokens) + place - 1 for place in learned]
            targets += [ids[place] for place in learned]
            tokens += ids
            lengths.append(len(ids))
        return Batch(torch.tensor(tokens), lengths, torch.tensor(rows), torch.tensor(targets))

    def _encoded(self, progress: float) -> tuple[list[int], list[int]]:
        sample = make_sample(self.seed, self.next_sample, "train", progress)
        self.next_sample += self.stride
        ids: list[int] = []
        learned: list[int] = []
        parts = pieces(sample)
        for (_, mine), encoding in zip(parts, self.tokenizer.encode_batch([text for text, _ in parts]), strict=True):
            if mine:
                learned += range(len(ids), len(ids) + len(encoding.ids))
            ids += encoding.ids
        return ids, learned


class Run:
    """The state of a training and its checkpoint, as one rank has it."""

    def __init__(self, settings: Settings, config: TinyConfig, ranks: Ranks) -> None:
        torch.manual_seed(settings.seed)
        self.settings, self.ranks = settings, ranks
        self.model = TinyModel(config, settings.fused)
        self.optimizers = make_optimizers(self.model, settings.lr)
        self.stream = Stream(Tokenizer.from_file(str(TOKENIZER)), settings.seed, ranks.own, ranks.count)
        self.step, self.tokens, self.seconds = 0, 0, 0.0
        self.first_step = 0
        self.versions: list[tuple[int, int]] = []
        self.stopped = False
        self.average = self._copied_weights()

    def _copied_weights(self) -> dict[str, torch.Tensor]:
        return {name: value.clone() for name, value in self.model.state_dict().items()}

    @property
    def path(self) -> Path:
        return self.settings.out / "checkpoint.pt"

    def save(self) -> None:
        """The first rank writes; every rank must call, because none may draw a sample again that another has drawn."""
        (next_sample,) = self.ranks.largest(self.stream.next_sample)
        if self.ranks.own:
            return
        state: dict[str, Any] = {
            "config": self.model.config.__dict__,
            "model": self.model.state_dict(),
            "average": self.average,
            "optimizers": [optimizer.state_dict() for optimizer in self.optimizers],
            "next_sample": int(next_sample),
            "step": self.step,
            "tokens": self.tokens,
            "seconds": self.seconds,
            "versions": self.versions,
            "seed": self.settings.seed,
        }
        unfinished = self.path.with_suffix(".partial")
        torch.save(state, unfinished)
        unfinished.replace(self.path)

    def load(self) -> None:
        if self.path.exists():
            state = torch.load(self.path, weights_only=True)
            self.model.load_state_dict(state["model"])
            for optimizer, saved in zip(self.optimizers, state["optimizers"], strict=True):
                optimizer.load_state_dict(saved)
            self.stream.next_sample = state["next_sample"] + self.ranks.own
            self.step, self.tokens, self.seconds = state["step"], state["tokens"], state["seconds"]
            self.versions = [tuple(item) for item in state["versions"]]
            self.average = state["average"]
        elif self.settings.start_from:
            self._start_from(self.settings.start_from)
        if not self.versions or self.versions[-1][0] != VERSION:
            self.versions.append((VERSION, self.stream.next_sample))

    def _start_from(self, exported: Path) -> None:
        """Weights and counts of an exported model; the optimisers begin anew, with a warm-up."""
        self.model.load_state_dict(load_file(exported / "model.safetensors"))
        self.average = self._copied_weights()
        last = json.loads(SHIPPED_LOG.read_text().splitlines()[-1])
        self.step, self.tokens, self.seconds = last["step"], last["tokens"], last["minutes"] * 60
        self.first_step = self.step
        if not self.ranks.own:
            shutil.copy(SHIPPED_LOG, self.settings.out / "log.jsonl")

    def rate(self) -> float:
        """The learning rate's factor: 100 steps of warm-up, constant, then falling to zero."""
        total = self.settings.minutes * 60
        left = max(0.0, 1 - self.seconds / total)
        return min(1.0, (self.step - self.first_step + 1) / 100, max(0.02, left / self.settings.fall))

    def train_step(self) -> float:
        """One step of all ranks; the mean loss."""
        begin = time.perf_counter()
        progress = self.seconds / 60 / self.settings.curriculum_minutes
        batch = self.stream.batch(self.settings.batch_tokens // self.ranks.count, progress)
        hidden = self.model(batch.tokens, batch.lengths, batch.rows)
        loss = functional.cross_entropy(self.model.logits(hidden), batch.targets)
        loss.backward()
        self.ranks.share_gradients(self.model.parameters())
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        for optimizer in self.optimizers:
            for group in optimizer.param_groups:
                group["lr"] = self.settings.lr * self.rate()
            optimizer.step()
            optimizer.zero_grad()
        self._average()
        return self._counted(loss.item(), len(batch.tokens), begin)

    @torch.no_grad()
    def _average(self) -> None:
        """Moves the running mean of the weights, which is what is exported, towards those of this step."""
        for name, value in self.model.state_dict().items():
            self.average[name].lerp_(value, 1 - self.settings.keep)

    def _counted(self, loss: float, tokens: int, begin: float) -> float:
        total_loss, total_tokens = self.ranks.sum(torch.tensor([loss, tokens], dtype=torch.float64)).tolist()
        # A process that was stopped meanwhile has not trained: the fall of the learning rate must not jump.
        elapsed = min(time.perf_counter() - begin, LONGEST_STEP_SECONDS)
        self.seconds, stopped = self.ranks.largest(self.seconds + elapsed, self.stopped)
        self.stopped = bool(stopped)
        self.step += 1
        self.tokens += int(total_tokens)
        return total_loss / self.ranks.count

    def stop(self, *_: object) -> None:
        """Ends the run after the step under way; a signal handler."""
        self.stopped = True

    def losses(self) -> Iterator[float]:
        while self.seconds < self.settings.minutes * 60 and not self.stopped:
            yield self.train_step()

    def log(self, losses: list[float]) -> None:
        if self.ranks.own:
            return
        line = {
            "step": self.step,
            "tokens": self.tokens,
            "minutes": round(self.seconds / 60, 2),
            "loss": round(sum(losses) / len(losses), 4),
            "rate": round(self.rate(), 3),
            "version": VERSION,
        }
        with (self.settings.out / "log.jsonl").open("a") as file:
            file.write(json.dumps(line) + "\n")
        print(line, flush=True)


def train(settings: Settings, config: TinyConfig, ranks: Ranks) -> None:
    settings.out.mkdir(parents=True, exist_ok=True)
    run = Run(settings, config, ranks)
    run.load()
    signal.signal(signal.SIGTERM, run.stop)
    saved, recent = run.seconds, []
    for loss in run.losses():
        recent.append(loss)
        if run.step % LOG_EVERY_STEPS == 0:
            run.log(recent)
            recent = []
        if run.seconds - saved > settings.checkpoint_minutes * 60:
            run.save()
            saved = run.seconds
    run.save()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True, help="folder of checkpoint.pt and log.jsonl")
    parser.add_argument("--minutes", type=float, default=120, help="training time over all starts")
    parser.add_argument("--batch-tokens", type=int, default=8192)
    parser.add_argument("--lr", type=float, default=4e-3)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--fall", type=float, default=0.35, help="last part of the time with a falling learning rate")
    parser.add_argument("--curriculum-minutes", type=float, default=20, help="until then: more exercises in copying")
    parser.add_argument("--checkpoint-minutes", type=float, default=3)
    parser.add_argument("--keep", type=float, default=0.998, help="what each step keeps of the running mean of weights")
    parser.add_argument("--ranks", type=int, default=1, help="processes that share the work, one thread each")
    parser.add_argument("--fused", action="store_true", help="compile the layers; needs a C++ compiler")
    parser.add_argument(
        "--start-from", type=Path, help="folder of an exported model, used while there is no checkpoint"
    )
    parser.add_argument("--layers", type=int, default=5)
    parser.add_argument("--hidden", type=int, default=192)
    parser.add_argument("--intermediate", type=int, default=512)
    arguments = vars(parser.parse_args())
    config = TinyConfig(
        num_hidden_layers=arguments.pop("layers"),
        hidden_size=arguments.pop("hidden"),
        intermediate_size=arguments.pop("intermediate"),
    )
    ranks = arguments.pop("ranks")
    run_ranks(ranks, partial(train, Settings(**arguments), config))


if __name__ == "__main__":
    main()
