"""Decode throughput, prefix sharing and time to first token beside mlx-lm, on one random Llama in one run.

    python -m benchmarks.decode [--new-tokens 32] [--repeats 3]

Both sides use the same weights in float32 and the same BLAS; rounds alternate, and the one with the median ratio
counts. `pie bench` measures more of this kind, with the same code. Of longer texts the tails of 16 continuations alone
would take more than a tenth of what mlx-lm keeps.
"""

import argparse
import asyncio
import tempfile
from collections.abc import Sequence
from pathlib import Path

from pie_mlx import Engine
from pie_mlx.bench.comparison import Row
from pie_mlx.bench.contest import Contest, PeakPages, Sizes
from pie_mlx.bench.peer import MlxLm
from pie_mlx.bench.random_llama import DESCRIPTION, write_random_llama
from pie_mlx.engine.model.blas import use_fast_blas

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


def main(words: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--new-tokens", type=int, default=32)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument(
        "--contexts", type=int, nargs="*", default=[64, 256, 2048], help="tokens behind which one decodes"
    )
    parser.add_argument("--streams", type=int, nargs="*", default=[8, 32], help="of a batch")
    parser.add_argument("--shared-prompt", type=int, default=1024, help="tokens that continuations share")
    arguments = parser.parse_args(words)
    print(f"BLAS for both: {use_fast_blas()}")
    with tempfile.TemporaryDirectory() as directory:
        write_random_llama(Path(directory))
        rows = asyncio.run(compare(Path(directory), arguments))
    print(f"{f'{DESCRIPTION}, float32, greedy':44} {'mlx-lm':>12} {'pie-mlx':>12}")
    for row in rows:
        print(row.text())


if __name__ == "__main__":
    main()
