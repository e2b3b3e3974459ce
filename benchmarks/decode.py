"""Decode throughput, prefix sharing and time to first token beside mlx-lm, on one random Llama in one run.

    python -m benchmarks.decode [--new-tokens 32] [--repeats 3]

Both sides use the same weights in float32 and the same BLAS; rounds alternate, and the one with the median ratio
counts. `pie bench` measures more of this kind, with the same code. Of longer texts the tails of 16 continuations alone
would take more than a tenth of what mlx-lm keeps.
"""

import argparse
import asyncio
import tempfile
from pathlib import Path

from pie_mlx import Engine
from pie_mlx.bench.contest import Contest, Sizes
from pie_mlx.bench.peak_pages import PeakPages
from pie_mlx.bench.peer import MlxLm
from pie_mlx.bench.random_llama import DESCRIPTION, write_random_llama
from pie_mlx.bench.row import Row
from pie_mlx.engine.model.blas import use_fast_blas


async def compare(directory: Path, sizes: Sizes) -> list[Row]:
    pages = PeakPages()
    async with Engine(str(directory), total_pages=4096, on_event=pages.see) as engine:
        contest = Contest(engine, MlxLm(directory), pages, sizes)
        return [
            *await contest.decode(),
            *await contest.decode(256),
            *await contest.decode(2048),
            *await contest.batch(8),
            *await contest.batch(32),
            *await contest.continuations(),
            *await contest.equal_prompt(),
        ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--new-tokens", type=int, default=32)
    parser.add_argument("--repeats", type=int, default=3)
    arguments = parser.parse_args()
    print(f"BLAS for both: {use_fast_blas()}")
    with tempfile.TemporaryDirectory() as directory:
        write_random_llama(Path(directory))
        rows = asyncio.run(compare(Path(directory), Sizes(arguments.new_tokens, arguments.repeats)))
    print(f"{f'{DESCRIPTION}, float32, greedy':44} {'mlx-lm':>12} {'pie-mlx':>12}")
    for row in rows:
        print(row.text())


if __name__ == "__main__":
    main()
