"""A second model over the weights of a loaded one."""

from collections.abc import Callable
from dataclasses import replace

from pie_mlx.engine.model.loaded import LoadedModel
from pie_mlx.engine.model.loading.load import architecture_of, load_network
from pie_mlx.engine.model.memory import with_format
from pie_mlx.engine.model.mlx_lm.weights import retyped
from pie_mlx.engine.model.networks.paged_network import PagedNetwork
from pie_mlx.engine.settings import KvFormat
from pie_mlx.errors import ModelLoadError


def over_same_weights(loaded: LoadedModel, name: str, kv: KvFormat, report: Callable[[str], None]) -> LoadedModel:
    """A model that computes with the weights of `loaded`, which count there, and has states and a pool of its own.

    Its pages are of the format `kv`. Call `allocate` on it before the first step. Raises ModelLoadError for a model
    that has no weights to write text with, and where its files have gone.
    """
    network, card = loaded.network, loaded.card
    if not isinstance(network, PagedNetwork):
        raise ModelLoadError(f"{name}: it has no weights that write text", hint="choose a model that writes")
    configuration, *files = card.files
    # Only headers are read: no step must find modules that another network's step is in.
    module = load_network(configuration.parent, files, card.config, lazy=True)
    retyped(module, "auto", report)
    module.update(network.model.parameters())
    again = PagedNetwork(module, architecture_of(card.config), latent=network.latent)
    return LoadedModel(replace(card, name=name, weight_bytes=0), again, with_format(again.shapes, kv, name))
