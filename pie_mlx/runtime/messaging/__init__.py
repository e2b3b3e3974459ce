"""Messages between the programs of a user: queues and broadcasts, in memory, gone with the engine."""

from pie_mlx.runtime.messaging.channel import Channel
from pie_mlx.runtime.messaging.hub import Hub
from pie_mlx.runtime.messaging.limits import MessagingLimits

__all__ = ["Channel", "Hub", "MessagingLimits"]
