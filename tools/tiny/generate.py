"""Prints samples of the generated text.

python -m tools.tiny.generate --count 3 --split heldout --task "tool call"
"""

import argparse

from tools.tiny.chat import render
from tools.tiny.text import make_sample


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=5)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--split", choices=["heldout", "train"], default="train")
    parser.add_argument("--task", help="print only samples of this task")
    arguments = parser.parse_args()
    shown, number = 0, 0
    while shown < arguments.count:
        sample = make_sample(arguments.seed, number, arguments.split)
        number += 1
        if arguments.task in (None, sample.task):
            print(f"=== {sample.task}\n{render(sample)}")
            shown += 1


if __name__ == "__main__":
    main()
