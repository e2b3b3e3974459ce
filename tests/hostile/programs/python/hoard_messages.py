"""What programs of a user leave unread takes no more of the engine's memory however many they are."""

from inferlet import messaging


async def main(input):
    subscriptions = [messaging.subscribe(f"topic {input['number']} {number}") for number in range(64)]
    for round in range(6):
        for number in range(64):
            messaging.broadcast(f"topic {input['number']} {number}", f"{round} {number} ".ljust(900_000, "x"))
    return sum(subscription.dropped for subscription in subscriptions)
