"""Giving memory back after a model."""

import asyncio
import gc

import mlx.core as mx

from pie_mlx.engine.model.runner.device_thread import DeviceThread
from pie_mlx.system import return_freed_memory


async def free_memory(device: DeviceThread) -> None:
    """Collect what is left of a model, and give freed buffers and memory back to the system."""
    gc.collect()
    await asyncio.wrap_future(device.thread.submit(mx.clear_cache))
    await asyncio.to_thread(return_freed_memory)
