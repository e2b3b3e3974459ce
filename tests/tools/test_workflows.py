"""What runs on hosted machines: the file is one that they understand, and each of its commands is understood here."""

import os
import re
import shlex
import subprocess
import sys

import pytest
import yaml

from tests.docs.pages import ROOT
from tests.docs.test_commands import parsed

FOLDER = ROOT / ".github" / "workflows"
WORKFLOWS = {path.name: yaml.safe_load(path.read_text(encoding="utf-8")) for path in sorted(FOLDER.glob("*.y*ml"))}
JOBS = {f"{file}: {name}": job for file, workflow in WORKFLOWS.items() for name, job in workflow["jobs"].items()}
COMMANDS = {line for job in JOBS.values() for step in job["steps"] for line in step.get("run", "").splitlines()}
MAC = WORKFLOWS["macos.yml"]["jobs"]


@pytest.mark.parametrize("file", WORKFLOWS)
def test_it_is_a_workflow_as_its_schema_says(file):
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.github-workflows", FOLDER / file]
    checked = subprocess.run(command, capture_output=True, text=True)
    assert checked.returncode == 0, checked.stdout


@pytest.mark.parametrize("line", sorted(COMMANDS))
def test_each_command_is_understood(line):
    words = shlex.split(line)
    match words[0].removeprefix(".venv/bin/"):
        case "pie":
            parsed(words[1:])
        case "make":
            # Without the environment that this suite was itself made in.
            own = {name: value for name, value in os.environ.items() if name != "VENV" and "MAKE" not in name}
            asked = subprocess.run(["make", "-n", "-C", ROOT, *words[1:]], capture_output=True, text=True, env=own)
            assert asked.returncode == 0, asked.stderr
        case "python3":
            assert (ROOT / words[-1]).is_file()
        case other:
            pytest.fail(f"nothing here knows what {other} is")


def test_the_doctor_comes_first_and_what_it_finds_is_kept_whatever_it_is():
    steps = MAC["doctor"]["steps"]
    written = {word for step in steps for word in shlex.split(step.get("run", "")) if word.endswith(".json")}
    *_, upload = steps
    assert upload["uses"].startswith("actions/upload-artifact@")
    assert set(upload["with"]["path"].split()) == written == {"report.json", "kernels.json"}
    assert upload["if"] == "always()"
    assert all(step["if"] in ("always()", "success() || failure()") for step in steps if "--" in step.get("run", ""))


def test_tests_wait_for_the_doctor_and_run_whatever_it_says():
    assert MAC["tests"]["needs"] == "doctor"
    assert MAC["tests"]["if"] == "${{ !cancelled() }}"
    assert "make test" in [step.get("run") for step in MAC["tests"]["steps"]]


@pytest.mark.parametrize("job", JOBS)
def test_each_job_has_an_end_may_only_read_and_takes_a_python_that_works(job):
    assert JOBS[job]["timeout-minutes"] <= 60
    assert WORKFLOWS[job.partition(":")[0]]["permissions"] == {"contents": "read"}
    pythons = [step["with"]["python-version"] for step in JOBS[job]["steps"] if "setup-python" in step.get("uses", "")]
    assert all(re.fullmatch(r"3\.1[1-4]", python) for python in pythons)
