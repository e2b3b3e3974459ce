"""tokenizer.json and its settings, from the metadata of a GGUF file."""

from collections.abc import Sequence
from typing import Any, cast

from tokenizers import AddedToken, Regex, Tokenizer, decoders, normalizers, pre_tokenizers, processors
from tokenizers.models import BPE

from pie_mlx.engine.model.gguf.header import GgufModel

_UNKNOWN, _CONTROL, _USER_DEFINED = 2, 3, 4
_SPACE = "▁"
_WORDS = r"[^\r\n\p{L}\p{N}]?\p{L}+"
_ENDINGS = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)"
_MARKS = r" ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
_UPPER, _LOWER = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]", r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]"
_LAST_MARKS = r" ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
_PATTERNS = {
    **dict.fromkeys(("qwen2", "stablelm2", "hunyuan"), rf"{_ENDINGS}|{_WORDS}|\p{{N}}|{_MARKS}"),
    **dict.fromkeys(
        ("llama-bpe", "llama3", "llama-v3", "falcon3", "smaug-bpe", "dbrx", "pixtral"),
        rf"{_ENDINGS}|{_WORDS}|\p{{N}}{{1,3}}|{_MARKS}",
    ),
    "tekken": (
        rf"[^\r\n\p{{L}}\p{{N}}]?{_UPPER}*{_LOWER}+|[^\r\n\p{{L}}\p{{N}}]?{_UPPER}+{_LOWER}*|\p{{N}}|{_LAST_MARKS}"
    ),
    "gpt-4o": (
        rf"[^\r\n\p{{L}}\p{{N}}]?{_UPPER}*{_LOWER}+{_ENDINGS}?|[^\r\n\p{{L}}\p{{N}}]?{_UPPER}+{_LOWER}*{_ENDINGS}?"
        rf"|\p{{N}}{{1,3}}|{_LAST_MARKS}"
    ),
}
"""Where texts are cut before merges, as the original tokenizers have it, by llama.cpp's name of the rule."""
_PLAIN = ("gpt-2", "olmo", "mpt", "jais", "default")
_DIGITS = ("smollm", "starcoder", "refact", "command-r", "codeshell", "exaone", "minerva")
_WHOLE_WORDS = ("llama-bpe", "llama3", "llama-v3", "tekken")
"""Rules of tokenizers that take a word of the vocabulary as it is, without merges."""
_BEGINS = ("llama-bpe", "llama3", "llama-v3", "tekken")
"""Rules of tokenizers that put a mark before each text, where the file does not say whether."""

Vocabulary = tuple[Tokenizer, dict[str, Any]]


def vocabulary(model: GgufModel) -> Vocabulary:
    """The tokenizer, and tokenizer_config.json. Raises ModelLoadError for a kind that is not read."""
    kind = model.value("tokenizer.ggml.model", str, "")
    tokens = model.texts("tokenizer.ggml.tokens")
    if len(set(tokens)) < len(tokens) or not tokens:
        raise model.refused("its vocabulary is empty, or has a token twice")
    types = _numbers(model, "tokenizer.ggml.token_type", len(tokens))
    if kind == "gpt2":
        tokenizer, begins = _bytes_bpe(model, tokens), _rule(model) in _BEGINS
    elif kind == "llama":
        tokenizer, begins = _pieces_bpe(model, tokens), True
    else:
        raise model.refused(
            f"a tokenizer of the kind {kind!r:.40} is not read from GGUF", "fetch the model as MLX weights"
        )
    cast("Any", tokenizer).add_tokens(
        [_added(token, one) for token, one in zip(tokens, types, strict=True) if one in _ADDED]
    )
    settings = _settings(model, tokens)
    _mark_beginning(model, tokenizer, settings, begins=begins)
    return tokenizer, settings


def end_ids(model: GgufModel) -> list[int]:
    """Tokens that end a text, a turn or a message."""
    tokens = len(model.texts("tokenizer.ggml.tokens"))
    named = (model.metadata.get(f"tokenizer.ggml.{name}_token_id") for name in ("eos", "eot", "eom"))
    return sorted({one for one in named if type(one) is int and one in range(tokens)})


_ADDED = (_CONTROL, _USER_DEFINED)


def _added(token: str, kind: int) -> AddedToken:
    return AddedToken(token, normalized=False, special=kind == _CONTROL)


def _numbers(model: GgufModel, key: str, count: int) -> list[Any]:
    found: Any = model.metadata.get(key, [1] * count)
    if not isinstance(found, list) or len(cast("list[Any]", found)) != count:
        raise model.refused(f"its {key} does not have {count:,} numbers")
    return cast("list[Any]", found)


def _rule(model: GgufModel) -> str:
    """How texts are cut; old files do not say it."""
    named = model.value("tokenizer.ggml.pre", str, "default")
    return "qwen2" if named == "default" and model.architecture.startswith("qwen") else named


def _bytes_bpe(model: GgufModel, tokens: Sequence[str]) -> Tokenizer:
    """GPT-2's kind: bytes are written as printable characters, and merges are listed."""
    rule = _rule(model)
    merges = [tuple(merge.split(" ", 1)) for merge in model.texts("tokenizer.ggml.merges")]
    ids = {token: number for number, token in enumerate(tokens)}
    kept = [
        (one[0], one[1]) for one in merges if len(one) == 2 and one[0] in ids and one[1] in ids and "".join(one) in ids
    ]
    if len(kept) < len(merges):
        raise model.refused("its merges are not of its tokens")
    tokenizer = Tokenizer(BPE(ids, kept, ignore_merges=rule in _WHOLE_WORDS))
    if rule in _PATTERNS:
        cut = [pre_tokenizers.Split(Regex(_PATTERNS[rule]), "isolated")]
    elif rule in (*_PLAIN, *_DIGITS):
        cut = [pre_tokenizers.Digits(individual_digits=True)] if rule in _DIGITS else []
    else:
        raise model.refused(
            f"its rule for cutting texts, {rule!r:.40}, is not known", "fetch the same model as MLX weights"
        )
    in_words = rule not in _PATTERNS
    pieces = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=in_words)
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([*cut, pieces])
    if rule == "qwen2":
        tokenizer.normalizer = normalizers.NFC()
    tokenizer.decoder = decoders.ByteLevel()
    return tokenizer


def _pieces_bpe(model: GgufModel, tokens: Sequence[str]) -> Tokenizer:
    """SentencePiece's kind: the pair whose whole has the best score is merged first."""
    scores = _numbers(model, "tokenizer.ggml.scores", len(tokens))
    types = _numbers(model, "tokenizer.ggml.token_type", len(tokens))
    ids = {token: number for number, token in enumerate(tokens)}
    merges = [pair for _, _, pair in sorted(_pairs(ids, scores, types), key=lambda one: (-one[0], one[1]))]
    unknown = next((token for token, kind in zip(tokens, types, strict=True) if kind == _UNKNOWN), None)
    unknown = unknown or _token(model, "unknown", tokens)
    tokenizer = Tokenizer(BPE(ids, merges, unk_token=unknown, fuse_unk=True, byte_fallback=True))
    prefix = model.value("tokenizer.ggml.add_space_prefix", bool, True)
    scheme = "first" if prefix else "never"
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(_SPACE, prepend_scheme=scheme, split=False)
    strip = [decoders.Strip(" ", 1, 0)] if prefix else []
    tokenizer.decoder = decoders.Sequence(
        [decoders.Replace(_SPACE, " "), decoders.ByteFallback(), decoders.Fuse(), *strip]
    )
    return tokenizer


def _pairs(
    ids: dict[str, int], scores: Sequence[float], types: Sequence[int]
) -> list[tuple[float, int, tuple[str, str]]]:
    """Both halves of each token, wherever it can be cut, with its score and its id."""
    return [
        (scores[number], number, (token[:cut], token[cut:]))
        for token, number in ids.items()
        if types[number] == 1
        for cut in range(1, min(len(token), _LONGEST_PIECE))
        if token[:cut] in ids and token[cut:] in ids
    ]


_LONGEST_PIECE = 256
"""Characters; a hostile token of megabytes would have as many halves as characters."""


def _settings(model: GgufModel, tokens: Sequence[str]) -> dict[str, Any]:
    named = {"bos": "bos", "eos": "eos", "pad": "padding", "unk": "unknown"}
    marks = {f"{short}_token": _token(model, name, tokens) for short, name in named.items()}
    template = model.value("tokenizer.chat_template", str, "")
    return {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "clean_up_tokenization_spaces": False,
        **{name: token for name, token in marks.items() if token is not None},
        **({"chat_template": template} if template else {}),
    }


def _token(model: GgufModel, name: str, tokens: Sequence[str]) -> str | None:
    number = model.metadata.get(f"tokenizer.ggml.{name}_token_id")
    return tokens[number] if type(number) is int and number in range(len(tokens)) else None


def _mark_beginning(model: GgufModel, tokenizer: Tokenizer, settings: dict[str, Any], *, begins: bool) -> None:
    mark = settings.get("bos_token")
    if mark is None or not model.value("tokenizer.ggml.add_bos_token", bool, begins):
        return
    settings["add_bos_token"] = True
    place = (mark, tokenizer.token_to_id(mark))
    tokenizer.post_processor = processors.TemplateProcessing(
        single=f"{mark} $A", pair=f"{mark} $A {mark} $B:1", special_tokens=[place]
    )
