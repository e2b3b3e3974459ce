"""A file's name can lead out of the folder it is saved in, or end the command that saves it."""

from inferlet import session


async def main(input):
    for name in input["names"]:
        session.send_file(b"hostile", name)
    try:
        session.send_file(b"hostile", "n" * 900_000)
    except ValueError as error:
        return str(error)
