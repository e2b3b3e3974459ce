"""The tokenizer of pie-tiny: byte-level BPE made for copying.

A word has the same tokens wherever it stands (after a space, a quote or a colon), because spaces are cut off from all
words but a closed list of function words, which are never copied alone. Digits stand alone, so that sums can be learned
digit by digit.

`python -m tools.tiny.tokenizer OUT` trains it on the generated text.
"""

import argparse
from collections.abc import Iterator
from pathlib import Path

from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, pre_tokenizers, trainers

from tools.tiny.chat import render
from tools.tiny.text import make_sample
from tools.tiny.text.source import phrases

SIZE = 2048
SAMPLES = 30_000
SPECIAL = ("<|endoftext|>", "<|im_start|>", "<|im_end|>")
MARKERS = (
    "<tool_call>",
    "</tool_call>",
    "<tool_response>",
    "</tool_response>",
    "<tools>",
    "</tools>",
    "<think>",
    "</think>",
)

_FUNCTION_WORDS = phrases("""a | an | the | is | are | was | were | be | has | have | had | do | does | did |
in | of | to | at | on | for | from | with | by | as | and | or | not | no | it | its | that | this | these |
there | he | she | they | you | your | me | my | i | what | which | who | where | when | how | can | could |
will | would | please | if | then | than | so | all | one | about | into""")
_ANY_CASE = "|".join(
    f"[{word[0].upper()}{word[0]}]{word[1:]}" for word in sorted(_FUNCTION_WORDS, key=len, reverse=True)
)
PATTERN = "|".join(
    (
        rf" ?(?:{_ANY_CASE})(?!\p{{L}}) ?",
        r"\p{L}+",
        r"\p{N}",
        r" ?[^\s\p{L}\p{N}]+(?: [^\s\p{L}\p{N}]+)* ?",
        r"[\r\n]+",
        r"\s",
    )
)


def _texts(samples: int) -> Iterator[str]:
    for number in range(samples):
        yield render(make_sample(7, number, "train", progress=0.5))


def train(samples: int = SAMPLES) -> Tokenizer:
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(PATTERN), behavior="isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    tokenizer.decoder = decoders.ByteLevel()
    markers = [AddedToken(text, normalized=False, special=False) for text in MARKERS]
    trainer = trainers.BpeTrainer(
        vocab_size=SIZE - len(MARKERS),
        special_tokens=[AddedToken(text, normalized=False, special=True) for text in SPECIAL],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    # The markers are cut out before training, so that no merge is wasted on their letters.
    tokenizer.train_from_iterator(_without_markers(_texts(samples)), trainer)
    tokenizer.add_tokens(markers)
    return tokenizer


def _without_markers(texts: Iterator[str]) -> Iterator[str]:
    for text in texts:
        for marker in (*SPECIAL, *MARKERS):
            text = text.replace(marker, "\n")
        yield text


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path, help="file to write, such as tokenizer.json")
    parser.add_argument("--samples", type=int, default=SAMPLES)
    arguments = parser.parse_args()
    tokenizer = train(arguments.samples)
    tokenizer.save(str(arguments.out))
    print(f"{tokenizer.get_vocab_size()} tokens")


if __name__ == "__main__":
    main()
