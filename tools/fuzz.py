"""Fuzzing for a while: `python -m tools.fuzz [--seconds 300]`, or `make fuzz SECONDS=300`.

Half of the time goes to the properties of `tests/fuzz` with many examples, the other half to libFuzzer, which follows
the branches of the readers in `tests/fuzz/targets.py` (Linux only). What was found is kept below `.fuzz/`: inputs to
begin from the next time, and for each finding the bytes and the traceback. Exits with 1 if something was found.
"""

import argparse
import os
import subprocess
import sys
import time
from importlib.util import find_spec
from pathlib import Path

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / ".fuzz"
INPUT_LIMIT_BYTES = 4096
SLOW_SECONDS = 5
"""One input that takes so long is a finding."""
MEMORY_LIMIT_MIB = 2048
EXAMPLES = 300

SEARCH = """
import os
import sys
import atheris
with atheris.instrument_imports(include=["pie_mlx.server.frames", "pie_mlx.runtime"]):
    from tests.fuzz.targets import TARGETS
folder, *options = sys.argv[1:]
for name, target in TARGETS.items():
    if os.fork() == 0:
        with open(f"{folder}/{name}.log", "wb") as log:
            os.dup2(log.fileno(), 1)
            os.dup2(log.fileno(), 2)
        atheris.Setup([name, *options, f"-artifact_prefix={folder}/found/{name}-", f"{folder}/corpus/{name}"], target)
        atheris.Fuzz()
    _, status = os.wait()
    print(name, status, flush=True)
"""
"""Reading pie_mlx with its branches counted takes long: it is done once, and each reader is searched by a fork."""


def examples(seconds: float) -> list[str]:
    """Try properties with another seed each time; the names of those that do not hold."""
    ends, seed = time.monotonic() + seconds, 0
    while (left := ends - time.monotonic()) > 1:
        environment = {**os.environ, "PIE_FUZZ_EXAMPLES": str(EXAMPLES)}
        command = [sys.executable, "-m", "pytest", "tests/fuzz", "-q", "-o", "timeout=0", f"--hypothesis-seed={seed}"]
        log = FOLDER / "examples.log"
        with log.open("w") as output:
            child = subprocess.Popen(
                [*command, "--hypothesis-profile=fuzz"], cwd=ROOT, env=environment, stdout=output, stderr=output
            )
        try:
            status = child.wait(left)
        except subprocess.TimeoutExpired:
            child.terminate()
            child.wait()
            break
        print(f"properties, seed {seed}: {log.read_text().splitlines()[-1]}", flush=True)
        if status:
            return [f"properties, seed {seed}: see {log}"]
        seed += 1
    return []


def branches(seconds: float) -> list[str]:
    """Let libFuzzer search one reader after the other; what it found."""
    limits = [f"-max_len={INPUT_LIMIT_BYTES}", f"-timeout={SLOW_SECONDS}", f"-rss_limit_mb={MEMORY_LIMIT_MIB}"]
    options = [*limits, f"-max_total_time={max(1, int(seconds / len(_seeded())))}", "-print_final_stats=1"]
    command = [sys.executable, "-c", SEARCH, str(FOLDER), *options]
    search = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    findings: list[str] = []
    assert search.stdout is not None
    for line in search.stdout:
        name, status = line.split()
        log = FOLDER / f"{name}.log"
        tried = [row.split()[-1] for row in log.read_text().splitlines() if "number_of_executed_units" in row]
        print(f"{name}: {tried[0] if tried else 'an unknown number of'} inputs tried", flush=True)
        findings += [] if status == "0" else [f"{name}: see {log}"]
    return findings if search.wait() == 0 else [*findings, "the search itself failed"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=300.0)
    options = parser.parse_args()
    (FOLDER / "found").mkdir(parents=True, exist_ok=True)
    has_search = find_spec("atheris") is not None
    share = options.seconds / 2 if has_search else options.seconds
    findings = [*(branches(share) if has_search else []), *examples(share)]
    print("found: " + ("; ".join(findings) or "nothing"))
    sys.exit(bool(findings))


def _seeded() -> list[str]:
    """The readers, each with an input to begin from."""
    from tests.fuzz.test_bytes import SEEDS

    for name, seed in SEEDS.items():
        corpus = FOLDER / "corpus" / name
        corpus.mkdir(parents=True, exist_ok=True)
        (corpus / "seed").write_bytes(seed)
    return list(SEEDS)


if __name__ == "__main__":
    main()
