"""What the engine knows of one model as a maker of vectors."""

from dataclasses import dataclass
from typing import Any

from pie_mlx.calls import EmbeddingFormat, Reranking
from pie_mlx.engine.embedding.conventions import conventions_in
from pie_mlx.engine.embedding.frame import Frame, pair_frame, single_frame
from pie_mlx.engine.embedding.judging import judges_of
from pie_mlx.engine.embedding.queue import EncoderQueue
from pie_mlx.engine.embedding.reader import TextReader
from pie_mlx.engine.model.encoders.pageless import EncoderNetwork
from pie_mlx.engine.model.loaded import LoadedModel
from pie_mlx.engine.text.tokens.tokenizer import Tokenizer
from pie_mlx.errors import InvalidArgumentError


@dataclass(frozen=True, slots=True)
class Embedder:
    """`queue` computes texts of an encoder; without one, they are passes of contexts. `judges` are the tokens for yes
    and no of a model that judges documents. `squashes`: scores of a cross-encoder go through a sigmoid."""

    format: EmbeddingFormat
    reader: TextReader
    queue: EncoderQueue | None = None
    judges: tuple[int, int] | None = None
    squashes: bool = True

    def prompt(self, text: str | None, name: str | None) -> str:
        """The text before others. Raises InvalidArgumentError for a name that the model has not."""
        if text is not None:
            return text
        if name is None:
            return self.format.default_prompt
        if name not in self.format.prompts:
            known = ", ".join(self.format.prompts) or "none"
            raise InvalidArgumentError(f"embed: the model has no prompt {name!r}", hint=f"it has {known}")
        return self.format.prompts[name]


def embedder_of(model: LoadedModel, tokenizer: Tokenizer, queue: EncoderQueue | None) -> Embedder:
    """How a model that was loaded makes vectors. Raises ModelLoadError for conventions that are not implemented."""
    card, network = model.card, model.network
    encoder = network.encoder if isinstance(network, EncoderNetwork) else None
    folder = card.files[0].parent if card.files else None
    told = conventions_in(folder, card.config, is_encoder=encoder is not None)
    # A decoder reads one token less than it has positions, as it does in a request for text.
    most = model.maximum_positions - (encoder is None)
    framed = encoder is not None or told.found
    reader = TextReader(
        tokenizer,
        single_frame(tokenizer.backend) if framed else Frame(),
        Frame() if encoder is None else pair_frame(tokenizer.backend, typed=_is_told_types(tokenizer)),
        min(most, told.longest or most),
        model.vocabulary_size,
        told.lowers,
    )
    judges = None if encoder is not None else judges_of(model.name, tokenizer, told.judges)
    reranking: Reranking = "compares" if judges is None else "judges"
    if encoder is not None and encoder.labels:
        reranking = "scores"
    format = EmbeddingFormat(
        told.pooling,
        told.normalizes,
        model.hidden_size if encoder is None else encoder.width,
        reader.longest,
        dict(told.prompts),
        told.default_prompt,
        reranking,
    )
    return Embedder(format, reader, queue, judges, told.squashes)


def _is_told_types(tokenizer: Tokenizer) -> bool:
    names: Any = getattr(tokenizer.pretrained, "model_input_names", ())
    return "token_type_ids" in names
