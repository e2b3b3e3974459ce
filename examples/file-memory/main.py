"""Memory in files: notes are kept under /scratch, a directory of this user and this program that outlives every run.

Programs have no files unless the configuration allows it, hence the variable.

    PIE_RUNTIME__ALLOW_FS=true pie run examples/file-memory -- --ask "Where is the key?"
"""

from pathlib import Path
from typing import Any

from inferlet import Context, Model, Sampler, runtime, session

NOTES = Path("/scratch/notes.txt")


async def main(input: dict[str, Any]) -> str | None:
    notes = remember(input["remember"])
    session.send(f"[notes: {len(notes)}]\n")
    return await answer(notes, input) if input["ask"] else None


def remember(note: str) -> list[str]:
    """All notes, with this one, if there is one and it is new."""
    notes = NOTES.read_text().splitlines() if NOTES.exists() else []
    if note and note not in notes:
        notes.append(note)
        NOTES.write_text("\n".join(notes))
    return notes


async def answer(notes: list[str], input: dict[str, Any]) -> str:
    """What the notes say."""
    with Context(Model.load(runtime.models()[0])) as context:
        context.system(f"Use these notes: {' '.join(notes)}").user(input["ask"])
        return await context.generate(Sampler.argmax(), max_tokens=input["max_tokens"]).collect_text()
