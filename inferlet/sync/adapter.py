"""LoRA adapters, whose operations never wait for the model: the same object as in the asynchronous SDK."""

from inferlet.adapter import Adapter

__all__ = ["Adapter"]
