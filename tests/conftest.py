"""Settings every test shares."""

import os

from hypothesis import settings

os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

settings.register_profile("ci", deadline=None, max_examples=50)
settings.load_profile("ci")
