"""Keys, tokens, settings and logs of the engine are not to be had."""

import gc
import os
import sys


def places(home):
    return [f"{home}/{name}" for name in input_names] + [f"{home}/{one}" for one in ("", "run", "logs", "programs")]


input_names = ("config.toml", "hostile.toml", "authorized_users.toml", "run/engine.json", "run/lock", "logs/engine.log")


def look(path):
    try:
        return os.listdir(path) if os.path.isdir(path) else open(path).read()
    except OSError:
        return None


def texts():
    """Every text that is in this process: what the fork server knew, a program knows."""
    return [one for one in gc.get_objects() if isinstance(one, dict)]


async def main(input):
    names = [name for name, value in os.environ.items() if input["secret"] in value]
    held = [str(key) for one in texts() for key, value in list(one.items()) if value == input["secret"]]
    read = [path for path in places(input["home"]) if look(path)]
    arguments = [word for word in sys.argv + sys.orig_argv if input["secret"] in word]
    tried = len(os.environ) + len(places(input["home"]))
    return {"tried": tried, "worked": [*names, *(key for key in held if key != "secret"), *read, *arguments]}
