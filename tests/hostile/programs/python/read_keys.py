"""Private files of the person who runs the engine cannot be read."""

import os


async def main(input):
    try:
        with open(input["path"]) as file:
            return {"read": file.read()}
    except OSError as error:
        return {"refused": os.strerror(error.errno)}
