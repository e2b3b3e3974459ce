"""Converts texts to tokens of one model, and tokens to texts."""

from dataclasses import dataclass, field

from pie_mlx.engine.hosting.turns import Turns
from pie_mlx.engine.model.loaded import LoadedModel
from pie_mlx.engine.text.conversation.chats import Chats
from pie_mlx.engine.text.grammar import GrammarService, NativeToolGrammars
from pie_mlx.engine.text.tokens.tokenizer import Tokenizer
from pie_mlx.errors import ModelLoadError, PieError

TEXT_THREADS = 2
COMPILING_THREADS = 4
"""One program has one step at a time, so it cannot delay the others."""
LEAST_NAMED = 4
"""Weights may have some rows without a token, but never this many times the tokens."""


@dataclass(frozen=True, slots=True)
class Language:
    """The tokenizer, the chat templates and the grammars of one model. Slow work on texts runs in `turns`; grammars are
    compiled in turns of their own."""

    tokenizer: Tokenizer
    chats: Chats
    grammars: GrammarService
    turns: Turns = field(default_factory=lambda: Turns(TEXT_THREADS, "pie-texts"))
    compiling: Turns = field(default_factory=lambda: Turns(COMPILING_THREADS, "pie-compiling"))

    def close(self) -> None:
        """Stops new turns."""
        self.turns.close()
        self.compiling.close()


def language_of(model: LoadedModel) -> Language:
    """The language of a model. Raises ModelLoadError for a vocabulary or a template that cannot be used."""
    try:
        tokenizer = Tokenizer(model.tokenizer)
        chats = Chats(tokenizer, model.eos_token_ids)
    except (PieError, KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:  # a panic in tokenizers is not an Exception
        raise ModelLoadError(
            f"model: the tokenizer of {model.name} cannot be used: {' '.join(str(error).split())[:300]}",
            hint="copy the tokenizer files of the original model again",
        ) from error
    if tokenizer.size < model.vocabulary_size // LEAST_NAMED:
        sizes = f"{tokenizer.size:,} tokens, the weights {model.vocabulary_size:,}"
        raise ModelLoadError(
            f"model: the tokenizer of {model.name} has {sizes}",
            hint="copy the tokenizer files of the original model again",
        )
    chat = chats.plain
    marks = tokenizer.control_ids if chat.formats().channels else ()
    grammars = GrammarService(tokenizer, model.vocabulary_size, chat.stop_tokens, NativeToolGrammars(chat), marks=marks)
    return Language(tokenizer, chats, grammars)
