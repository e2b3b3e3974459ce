"""Decode throughput, prefix sharing and time to first token beside mlx-lm, on one random model in one run.

    python -m benchmarks.decode [--model-type llama|qwen3_next|lfm2] [--new-tokens 32] [--repeats 3]

Both sides use the same weights in float32 and the same BLAS; rounds alternate, and the one with the median ratio
counts. `pie bench` measures more of this kind, with the same code. Of longer texts the tails of 16 continuations alone
would take more than a tenth of what mlx-lm keeps.
"""

import argparse
import asyncio
import tempfile
from collections.abc import Sequence
from pathlib import Path

from benchmarks.random_hybrid import SIZES, write_random_hybrid
from pie_mlx import Engine
from pie_mlx.backends import current_backend
from pie_mlx.bench.comparison import Row
from pie_mlx.bench.contest import Contest, PeakPages, Sizes
from pie_mlx.bench.peer import MlxLm
from pie_mlx.bench.random_llama import DESCRIPTION, write_random_llama

SMOKE = (
    *("--new-tokens", "2", "--repeats", "1"),
    *("--contexts", "8", "--streams", "2", "--shared-prompt", "32"),
)


async def compare(directory: Path, arguments: argparse.Namespace) -> list[Row]:
    sizes = Sizes(arguments.new_tokens, arguments.repeats, arguments.shared_prompt)
    pages = PeakPages()
    async with Engine(str(directory), total_pages=4096, on_event=pages.on_event) as engine:
        contest = Contest(engine, MlxLm(directory), pages, sizes)
        return [
            *[row for context in arguments.contexts for row in await contest.decode(context)],
            *[row for streams in arguments.streams for row in await contest.batch(streams)],
            *await contest.continuations(),
            *await contest.equal_prompt(),
        ]


def write_model(directory: Path, model_type: str) -> str:
    """Write the model; answers what it is."""
    if model_type in SIZES:
        return write_random_hybrid(directory, model_type)
    write_random_llama(directory)
    return DESCRIPTION


def main(words: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model-type", choices=["llama", *SIZES], default="llama")
    parser.add_argument("--new-tokens", type=int, default=32)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument(
        "--contexts", type=int, nargs="*", default=[64, 256, 2048], help="tokens after which one decodes"
    )
    parser.add_argument("--streams", type=int, nargs="*", default=[8, 32], help="of a batch")
    parser.add_argument("--shared-prompt", type=int, default=1024, help="tokens that continuations share")
    arguments = parser.parse_args(words)
    print(f"matrix products of both: {current_backend().prepare()}")
    with tempfile.TemporaryDirectory() as directory:
        what = write_model(Path(directory), arguments.model_type)
        rows = asyncio.run(compare(Path(directory), arguments))
    print(f"{f'{what}, float32, greedy':44} {'mlx-lm':>12} {'pie-mlx':>12}")
    for row in rows:
        print(row.text())


if __name__ == "__main__":
    main()
