"""BERT and its kin RoBERTa, XLM-R and CamemBERT (Devlin et al. 2018; Liu et al. 2019; Conneau et al. 2019)."""

import mlx.core as mx

from pie_mlx.engine.model.encoders.configuration import Settings
from pie_mlx.engine.model.encoders.layers import Head, Part, activation, attention, layers

NAMES = (
    (r"^(bert|roberta)\.", ""),
    (r"^embeddings\.word_embeddings\.", "words."),
    (r"^embeddings\.position_embeddings\.", "positions."),
    (r"^embeddings\.token_type_embeddings\.", "types."),
    (r"^embeddings\.LayerNorm\.", "norm."),
    (r"^encoder\.layer\.", "layers."),
    (r"\.attention\.self\.", "."),
    (r"\.attention\.output\.dense\.", ".out."),
    (r"\.attention\.output\.LayerNorm\.", ".attention_norm."),
    (r"\.intermediate\.dense\.", ".up."),
    (r"\.output\.dense\.", ".down."),
    (r"\.output\.LayerNorm\.", ".norm."),
    (r"\.gamma$", ".weight"),
    (r"\.beta$", ".bias"),
    (r"^pooler\.dense\.", "head.dense."),  # of BERT
    (r"^classifier\.dense\.", "head.dense."),  # of RoBERTa
    (r"^classifier\.out_proj\.", "head.out."),
    (r"^classifier\.", "head.out."),
)
"""From names of weights in files to those here, in order."""


class Layer(Part):
    """Attention, then two matrices, each added to what came in and normalised."""

    def __init__(self, settings: Settings) -> None:
        super().__init__()
        width, inner, epsilon = settings.width, settings.integer("intermediate_size"), settings.epsilon
        self.heads = settings.heads
        self.query, self.key = layers.Linear(width, width), layers.Linear(width, width)
        self.value, self.out = layers.Linear(width, width), layers.Linear(width, width)
        self.attention_norm = layers.LayerNorm(width, eps=epsilon)
        self.up, self.down = layers.Linear(width, inner), layers.Linear(inner, width)
        self.norm = layers.LayerNorm(width, eps=epsilon)
        self.function = activation(settings.text("hidden_act", "gelu"))

    def __call__(self, x: mx.array, mask: mx.array) -> mx.array:
        found = attention(self.query(x), self.key(x), self.value(x), self.heads, mask)
        x = self.attention_norm(x + self.out(found))
        return self.norm(x + self.down(self.function(self.up(x))))


class Bert(Part):
    """Implements Network, with learned positions."""

    def __init__(self, settings: Settings) -> None:
        super().__init__()
        width, roberta = settings.width, settings.kind != "bert"
        self.first_position = settings.first_position
        self.words = layers.Embedding(settings.integer("vocab_size"), width)
        self.positions = layers.Embedding(settings.integer("max_position_embeddings"), width)
        self.types = layers.Embedding(settings.integer("type_vocab_size", 2), width)
        self.norm = layers.LayerNorm(width, eps=settings.epsilon)
        self.layers = [Layer(settings) for _ in range(settings.integer("num_hidden_layers"))]
        if settings.labels:
            self.head = Head(width, settings.labels, "tanh")
        self.one_type = roberta

    def __call__(self, tokens: mx.array, attended: mx.array, types: mx.array) -> mx.array:
        places = mx.arange(self.first_position, self.first_position + tokens.shape[1])
        kinds = mx.zeros_like(types) if self.one_type else types
        x = self.norm(self.words(tokens) + self.positions(places) + self.types(kinds))
        for layer in self.layers:
            x = layer(x, attended)
        return x
