"""The parts of mlx-lm that we use. Imported only here, because the import would change a limit of the process."""

from pie_mlx.engine.model.mlx_lm.transformers_package import import_by_name
from pie_mlx.open_files import limit_kept

import_by_name()
with limit_kept():
    from mlx_lm import models, utils
    from mlx_lm.models import activations, base, cache, switch_layers

__all__ = ["activations", "base", "cache", "models", "switch_layers", "utils"]
