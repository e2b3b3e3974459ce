"""Messages between the programs of one user: queues and broadcasts, in memory, lost with the engine."""

from pie_mlx.runtime.messaging.channel import Channel
from pie_mlx.runtime.messaging.hub import Hub
from pie_mlx.runtime.messaging.limits import MessagingLimits

__all__ = ["Channel", "Hub", "MessagingLimits"]
