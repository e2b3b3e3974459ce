"""`pie doctor`: what facts mean, what it prints, how it ends; facts are given, but for one look at this machine."""

import itertools
import json
import sys
from dataclasses import replace

import pytest

from pie_mlx.engine.settings import DiskCacheSettings, EngineSettings
from pie_mlx.errors import ConfigError
from pie_mlx.gpu_meter.gpu_reading import NO_GPU, GpuReading
from pie_mlx.metal.record import KernelRecord, read_record, record_key, write_record
from pie_mlx.runtime.doctor import diagnosis, machine
from pie_mlx.runtime.doctor.diagnosis import (
    BackendFacts,
    Diagnosis,
    DiskCacheFacts,
    FactFailure,
    Facts,
    MlxFacts,
    ModelFacts,
    NetworkFacts,
    RecordFacts,
    SandboxFacts,
    SpillFacts,
    diagnose,
)
from pie_mlx.runtime.store import ProgramStore
from pie_mlx.supported import Machine
from tests.cli.schemas import parsed
from tests.metal.conftest import BUILD_FOLDER
from tests.runtime.store.test_owners import give, install

LINUX = Machine((3, 11, 7), "Linux", "x86_64", glibc="2.36")
MLX = MlxFacts("0.32.4", "0.32.4", "cpu", "a processor")
OFF, METAL = BackendFacts("auto", "off"), BackendFacts("auto", "metal")
TROUBLE = FactFailure("it broke: badly", "mend it")
GOOD = Facts(
    platform=LINUX,
    mlx=MLX,
    products="OpenBLAS 1, 2 threads",
    configuration="1 model, from default",
    models={"pie-tiny": ModelFacts(9 << 20, 64, 1 << 30, 8 << 30)},
    tiny="loads",
    grammars="1.9.1",
    spills={"pie-tiny": SpillFacts("/spill", 1 << 30, 2 << 30, True)},
    backend=OFF,
    record=None,
    sandbox=SandboxFacts("best-effort", ["network"], []),
)


@pytest.fixture
def given(monkeypatch):
    """Has the command find `facts`."""
    return lambda facts: monkeypatch.setattr(machine, "machine_facts", lambda file, environment: facts)


def test_a_machine_that_is_fine_is_ok_in_every_line():
    assert {line.status for line in diagnose(GOOD)} == {"ok"}
    assert {line.hint for line in diagnose(GOOD)} == {""}


def test_python_and_platform_are_named():
    assert diagnosis.python_line(LINUX) == Diagnosis("python", "ok", "3.11.7")
    assert diagnosis.platform_line(LINUX) == Diagnosis("platform", "ok", "Linux x86_64: MLX's CPU backend")
    mac = Machine((3, 12, 0), "Darwin", "arm64", "15.1")
    assert diagnosis.platform_line(mac) == Diagnosis("platform", "ok", "macOS 15.1 on arm64")


def test_what_keeps_mlx_from_this_machine_is_an_error_with_the_way_out():
    machine = LINUX._replace(python=(3, 10, 9), machine="riscv64")
    for line in (diagnosis.python_line(machine), diagnosis.platform_line(machine)):
        assert line.status == "error"
        assert line.hint


@pytest.fixture
def mlx_on_a_mac(monkeypatch):
    """MLX as it is built for macOS, with as many GPUs as are given."""
    import mlx.core as mx

    def given(gpus):
        monkeypatch.setattr(mx.metal, "is_available", lambda: True)
        monkeypatch.setattr(mx, "device_count", lambda device: gpus)

    return given


@pytest.mark.parametrize("words", [[], ["--kernels"]])
def test_a_mac_that_shows_no_gpu_is_told_what_to_do(pie, mlx_on_a_mac, words):
    mlx_on_a_mac(0)
    ended = pie("doctor", *words)
    assert ended.code == 1
    assert "mlx: this Mac shows no GPU to programs" in ended.out + ended.err
    assert "try: run it outside any sandbox" in ended.out + ended.err


def test_what_needs_mlx_is_not_looked_at_without_it(pie, mlx_on_a_mac):
    mlx_on_a_mac(0)
    lines = {row["check"]: row["status"] for row in json.loads(pie("doctor", "--json").out)}
    assert lines["mlx"] == "error"
    assert {"python", "platform", "configuration", "sandbox", "grammars"} <= lines.keys()
    assert lines.keys().isdisjoint({"pie-tiny", "model pie-tiny", "matrix products", "kernels"})


@pytest.mark.parametrize(
    ("mlx", "status"),
    [(MLX, "ok"), (replace(MLX, required=""), "ok"), (replace(MLX, version="0.33.0"), "warning"), (TROUBLE, "error")],
)
def test_mlx_must_load_and_should_be_the_version_asked_for(mlx, status):
    assert diagnosis.mlx_line(mlx).status == status


@pytest.mark.parametrize(
    ("products", "status"),
    [("Accelerate", "ok"), ("reference BLAS (PIE_FAST_BLAS=0)", "warning"), (TROUBLE, "error")],
)
def test_slow_matrix_products_are_a_warning(products, status):
    assert diagnosis.products_line(products).status == status


def test_every_mistake_of_the_configuration_is_a_line():
    lines = diagnosis.configuration_lines(FactFailure("config: a: unknown key\n     b: missing", "correct these"))
    assert [(line.status, line.message) for line in lines] == [("error", "a: unknown key"), ("error", "b: missing")]


def test_an_embedded_model_that_does_not_load_is_an_error():
    assert diagnosis.tiny_line(TROUBLE).status == "error"


def test_memory_is_shown_against_what_there_is():
    line = diagnosis.memory_line("big", ModelFacts(3 << 30, 1000, 1 << 30, 8 << 30, 1 << 29))
    assert line.check == "model big"
    assert (
        line.message
        == "3.00 GiB of weights, 1.00 GiB for 1,000 pages and up to 0.50 GiB for a batch, of 8.00 GiB available"
    )


def test_a_model_that_does_not_fit_is_an_error():
    assert diagnosis.memory_line("big", TROUBLE) == diagnosis.Diagnosis(
        "model big", "error", "it broke: badly", "mend it"
    )


def test_a_model_without_weights_needs_no_memory():
    assert diagnosis.memory_line("dummy", ModelFacts(0, 0, 0, 0)).status == "ok"


@pytest.mark.parametrize(
    ("spill", "status", "words"),
    [
        (SpillFacts("/spill", 0, 0, False), "ok", "off"),
        (SpillFacts("/spill", 2 << 30, 1 << 30, True), "warning", "1.00 GiB free, up to 2.00 GiB wanted"),
        (SpillFacts("/spill", 1 << 30, 2 << 30, False), "warning", "cannot be written"),
        (TROUBLE, "warning", "it broke"),
    ],
)
def test_a_spill_that_cannot_work_is_only_a_warning(spill, status, words):
    line = diagnosis.spill_line("pie-tiny", spill)
    assert line.status == status
    assert words in line.message


def test_grammars_that_do_not_load_are_an_error():
    assert diagnosis.grammar_line(TROUBLE).status == "error"


@pytest.mark.parametrize(
    ("backend", "status"),
    [(OFF, "ok"), (METAL, "ok"), (BackendFacts("emulate", "emulate"), "warning"), (TROUBLE, "error")],
)
def test_the_backend_is_the_one_pie_metal_chooses(backend, status):
    assert diagnosis.backend_line(backend).status == status


@pytest.mark.parametrize(
    ("record", "backend", "expected"),
    [
        (None, OFF, []),
        (None, METAL, [("warning", "not checked on this machine yet")]),
        (RecordFacts("/k", "0.32.4", (), whole=False), METAL, [("ok", "the first case of each passed")]),
        (RecordFacts("/k", "0.32.4", ()), METAL, [("ok", "all passed")]),
        (RecordFacts("/k", "0.32.4", ("kv_write",)), METAL, [("warning", "kv_write: disabled")]),
        (
            RecordFacts("/k", "0.1", ("kv_write",), True, "mlx 0.1"),
            METAL,
            [("warning", "mlx 0.1: not valid")],
        ),
        (RecordFacts("/k", "", ()), METAL, [("warning", "cannot be read")]),
    ],
)
def test_recorded_kernel_checks_are_told(record, backend, expected):
    lines = list(diagnosis.record_lines(record, backend))
    assert [line.status for line in lines] == [status for status, _ in expected]
    for line, (_, words) in zip(lines, expected, strict=True):
        assert words in line.message


def test_a_record_is_read_as_it_was_written(tmp_path):
    path = tmp_path / "kernels.json"
    assert machine.record_facts(path) is None
    key = record_key()
    write_record(path, key, KernelRecord(frozenset({"kv_write"})), [])
    assert machine.record_facts(path) == RecordFacts(str(path), key.mlx, ["kv_write"])
    write_record(path, replace(key, mlx="0.1", device="Apple M1"), KernelRecord(whole=False), [])
    assert machine.record_facts(path) == RecordFacts(str(path), "0.1", [], False, "mlx 0.1, Apple M1")
    path.write_text("[")
    assert machine.record_facts(path) == RecordFacts(str(path), "", [])


CACHE = DiskCacheFacts("/kv", 1 << 30, 4 << 30, 9 << 30, 8 << 30)


@pytest.mark.parametrize(
    ("cache", "status", "words"),
    [
        (None, "ok", "off"),
        (CACHE, "ok", "/kv: 1.00 GiB of up to 4.00 GiB, 9.00 GiB written so far"),
        (replace(CACHE, usable_bytes=2 << 30), "warning", "room for 2.00 GiB more"),
    ],
)
def test_the_disk_cache_is_told_with_what_was_written(cache, status, words):
    line = diagnosis.disk_cache_line("pie-tiny", cache)
    assert line.status == status
    assert words in line.message


def test_a_disk_cache_need_not_exist_yet(tmp_path):
    facts = machine.disk_cache_facts(
        EngineSettings(disk_cache=DiskCacheSettings(str(tmp_path / "a" / "b"), max_bytes=5))
    )
    assert (facts.kept_bytes, facts.wanted_bytes, facts.written_bytes) == (0, 5, 0)
    assert machine.disk_cache_facts(EngineSettings()) is None


def test_a_spill_directory_need_not_exist_yet(tmp_path):
    facts = machine.spill_facts(EngineSettings(spill_directory=str(tmp_path / "a" / "b"), spill_max_bytes=5))
    assert facts.writable
    assert facts.wanted_bytes == 5
    assert facts.free_bytes > 0
    assert not (tmp_path / "a").exists()


@pytest.mark.parametrize(
    ("error", "message"), [(ConfigError("a: b", hint="c"), "a: b"), (RuntimeError("x"), "RuntimeError: x")]
)
def test_looking_never_fails(error, message):
    def look():
        raise error

    assert machine.attempt(look).message == message


def test_each_line_says_how_what_and_what_to_do(pie, given):
    given(replace(GOOD, products="reference BLAS", mlx=TROUBLE))
    ended = pie("doctor")
    assert ended.code == 1
    assert "ok       python: 3.11.7\n" in ended.out
    assert "error    mlx: it broke: badly\n         try: mend it\n" in ended.out
    assert "warning  matrix products: reference BLAS: prefill is slow\n" in ended.out


def test_warnings_alone_are_no_failure(pie, given):
    given(replace(GOOD, products="reference BLAS"))
    assert pie("doctor").code == 0


def test_json_is_one_array_of_lines(pie, given):
    given(replace(GOOD, mlx=TROUBLE))
    ended = pie("doctor", "--json")
    rows = parsed("doctor", ended.out)
    assert ended.code == 1
    trouble = {"check": "mlx", "status": "error", "state": "error", "message": "it broke: badly", "hint": "mend it"}
    assert trouble in rows


def test_quiet_shows_what_needs_attention(pie, given):
    given(replace(GOOD, products="reference BLAS"))
    assert pie("doctor", "-q").out.startswith("warning  matrix products")


def test_this_machine_is_looked_at_for_real(pie, home):
    (home / "config.toml").write_text('[[model]]\nname = "gone"\nhf_repo = "./nowhere"\n')
    ended = pie("doctor", "--json")
    lines = {row["check"]: row for row in json.loads(ended.out)}
    assert ended.code == 1
    assert lines["pie-tiny"]["status"] == lines["configuration"]["status"] == lines["mlx"]["status"] == "ok"
    assert "./nowhere" in lines["model gone"]["message"]


def test_a_pool_that_does_not_fit_is_told_with_the_numbers(tiny_model_directory):
    settings = EngineSettings(model=str(tiny_model_directory("llama")), total_pages=1 << 40)
    from pie_mlx.runtime.doctor.footprint import model_footprint

    found = machine.attempt(lambda: model_footprint(settings))
    assert "they exceed the" in diagnosis.memory_line("big", found).message
    assert machine.attempt(lambda: model_footprint(replace(settings, total_pages=4))).pages == 4


def test_a_draft_model_counts_among_what_is_taken(tiny_model_directory):
    from pie_mlx.runtime.doctor.footprint import model_footprint

    alone = EngineSettings(model=str(tiny_model_directory("llama")), total_pages=4)
    both = model_footprint(replace(alone, draft_model=alone.model))
    one = model_footprint(alone)
    assert (both.weight_bytes, both.pool_bytes, both.pages) == (2 * one.weight_bytes, 2 * one.pool_bytes, 4)


def test_the_weights_of_a_draft_model_that_is_another_model_count_there(pie, home):
    (home / "config.toml").write_text(
        '[aliases]\nhelper = "small"\n'
        '[[model]]\nname = "large"\nhf_repo = "pie-tiny"\n[model.engine]\ndraft_model = "helper"\ntotal_pages = 4\n'
        '[[model]]\nname = "small"\nhf_repo = "pie-tiny"\n[model.engine]\ntotal_pages = 4\ndraft_head = false\n'
    )
    facts = machine.machine_facts(None, {"PIE_HOME": str(home)}).models
    large, small = facts["large"], facts["small"]
    assert isinstance(large, ModelFacts)
    assert isinstance(small, ModelFacts)
    assert large.weight_bytes < 2 * small.weight_bytes
    assert large.pool_bytes > 2 * small.pool_bytes


def test_quantised_pages_are_told_with_their_own_bytes():
    from pie_mlx.runtime.doctor.footprint import model_footprint

    full, int8, int4 = (
        model_footprint(EngineSettings(total_pages=4, kv_dtype=each)) for each in ("auto", "int8", "int4")
    )
    assert int8.pool_bytes == full.pool_bytes * 36 // 128  # of a head of 32: 32 bytes of codes and 4 of scale and bias
    assert int4.pool_bytes == full.pool_bytes * 20 // 128
    found = machine.attempt(lambda: model_footprint(EngineSettings(kv_dtype="int8", kv_group_size=64)))
    assert "groups of 64 do not divide the head size 32" in diagnosis.memory_line("pie-tiny", found).message


@pytest.mark.parametrize("words", [["--kernel", "kv_write"], ["--output", "x"], ["--kernels", "--kernel", "nonsense"]])
def test_kernel_options_that_make_no_sense_are_a_wrong_command_line(pie, words):
    assert pie("doctor", *words).code == 2


@pytest.fixture
def on_a_mac(monkeypatch):
    """The command as it runs on an Apple GPU, where one kernel of one case fails and chunks of 64 rows gather."""
    from pie_mlx.cli.doctor import kernels
    from pie_mlx.metal.checks.check_cases import Case
    from pie_mlx.metal.launcher import metal_launcher

    def wrong(backend):
        raise RuntimeError("no such instruction")

    monkeypatch.setattr(kernels, "launcher_to_check", lambda environment: metal_launcher())
    monkeypatch.setattr(kernels, "measured_gather_rows", lambda backend, clock: 64)
    monkeypatch.setattr(kernels, "check_cases", lambda: [Case("page_copy", "plain", 0.0, wrong)])


def test_on_a_mac_a_kernel_that_fails_is_disabled_in_the_record(pie, on_a_mac, home):
    ended = pie("doctor", "--kernels")
    assert ended.code == 1
    assert "page_copy is off, MLX operations are used instead: plain: no such instruction" in ended.err
    assert read_record(home / "kernels.json", record_key()) == KernelRecord(frozenset({"page_copy"}), 64)


def test_a_part_of_the_kernels_is_not_recorded(pie, on_a_mac, home):
    assert "not recorded" in pie("doctor", "--kernels", "--kernel", "page_copy").err
    assert not (home / "kernels.json").exists()


def test_a_table_that_cannot_be_written_is_told(pie, on_a_mac, tmp_path):
    ended = pie("doctor", "--kernels", "--output", tmp_path)
    assert ended.code == 1
    assert f"pie: doctor: {tmp_path}: " in ended.err


@pytest.mark.parametrize(("device", "speed"), [("Apple M1 Max", "320.0 of 400"), ("Apple M9", "320.0")])
def test_what_a_kernel_moves_is_compared_with_its_chip(device, speed):
    from pie_mlx.cli.doctor.kernels import table
    from pie_mlx.metal.checks.selfcheck import KernelCheck

    (_, row) = table([KernelCheck("kv_write", 4, 0.5, 5e-6, 1e-5, "", 320e9)], device).splitlines()
    assert row.split() == ["kv_write", "4", "5.0e-06", "1e-05", *speed.split(), "ok"]


@pytest.fixture
def emulated(home):
    """Compiled kernels are shared with the tests of the kernels."""
    if sys.platform == "darwin":
        pytest.skip("the emulator runs on Linux")
    BUILD_FOLDER.mkdir(exist_ok=True)
    (home / "cache").mkdir()
    (home / "cache" / "metal").symlink_to(BUILD_FOLDER)


@pytest.mark.timeout(300)  # may be the first to need the kernel built
def test_one_kernel_is_checked_on_the_emulator(pie, emulated, home, tmp_path):
    ended = pie("doctor", "--kernels", "--kernel", "page_copy", "--output", tmp_path / "kernels.json")
    assert ended.code == 0
    assert ended.err == "pie: checking kernels on the emulator, which measures no speed\n"
    heading, row = ended.out.splitlines()
    assert heading.split() == ["kernel", "cases", "worst", "error", "tolerance", "GB/s", "verdict"]
    assert row.split() == ["page_copy", "3", "0.0e+00", "0e+00", "-", "ok"]
    assert json.loads((tmp_path / "kernels.json").read_text())["failing"] == []
    assert not (home / "kernels.json").exists()


def test_a_kernel_that_fails_is_told_and_fails_the_command(pie, emulated, monkeypatch):
    from pie_mlx.cli.doctor import kernels
    from pie_mlx.metal.checks.check_cases import Case

    def wrong(backend):
        raise RuntimeError("no such instruction")

    monkeypatch.setattr(kernels, "check_cases", lambda: [Case("page_copy", "plain", 0.0, wrong)])
    ended = pie("doctor", "--kernels", "--json")
    (row,) = json.loads(ended.out)
    assert ended.code == 1
    assert "page_copy fails: plain: no such instruction" in ended.err
    assert (row["passed"], row["worst_error"]) == (False, None)


@pytest.mark.parametrize(
    ("sandbox", "status", "says"),
    [
        (SandboxFacts("best-effort", ["network"], []), "ok", "tried and stopped: network"),
        (SandboxFacts("best-effort", [], ["network"], reason="old"), "warning", "tried and not stopped: network (old)"),
        (SandboxFacts("required", [], ["network"]), "error", "tried and not stopped: network"),
        (SandboxFacts("off", [], ["network"]), "warning", "off"),
        (SandboxFacts("best-effort", [], [], allowed_works=False), "error", "programs cannot work in it"),
        (TROUBLE, "error", "it broke"),
    ],
)
def test_the_sandbox_is_judged_by_what_it_stopped(sandbox, status, says):
    line = diagnosis.sandbox_line(sandbox)
    assert line.status == status
    assert says in line.message


@pytest.mark.parametrize(
    ("network", "status", "says"),
    [
        (NetworkFacts(["*"], "best-effort"), "ok", "programs may reach *: tried, nothing else is reached"),
        (NetworkFacts([], "best-effort"), "ok", "programs may reach no host"),
        (NetworkFacts(["a.b"], "best-effort", "old"), "warning", "can get past their proxy: old"),
        (NetworkFacts(["a.b"], "required", "old"), "error", "can get past their proxy: old"),
        (NetworkFacts(["a.b"], "off"), "warning", "nothing keeps them to it"),
        (TROUBLE, "error", "it broke"),
    ],
)
def test_the_network_is_judged_by_what_was_tried(network, status, says):
    (line,) = diagnosis.network_lines(network)
    assert line.status == status
    assert says in line.message


def test_each_program_that_is_damaged_or_not_of_its_names_owner_is_a_warning():
    facts = diagnosis.ProgramFacts(["tool@1.0.0: its record is damaged"], ["tool@2.0.0"])
    damaged, contested = diagnosis.program_lines(facts)
    assert (damaged.status, damaged.message) == ("warning", "tool@1.0.0: its record is damaged")
    assert (contested.status, contested.hint) == ("warning", "pie remove tool@2.0.0")
    assert list(diagnosis.program_lines(diagnosis.ProgramFacts())) == []
    assert [line.status for line in diagnosis.program_lines(TROUBLE)] == ["error"]


@pytest.mark.parametrize(("keys", "contested"), [("true", ["tool@2.0.0"]), ("false", [])])
def test_owners_of_names_count_where_users_have_keys(home, keys, contested):
    (home / "config.toml").write_text(f"[auth]\nenabled = {keys}\n")
    clock = itertools.count(1.0)
    store = ProgramStore(home, clock=lambda: next(clock))
    install(store, "ada")
    install(store, "ada", version="2.0.0")
    give(store, home, "tool@2.0.0", "bob")
    assert machine.program_facts(None, {"PIE_HOME": str(home)}).contested == contested


def test_looking_at_programs_makes_no_directory_for_them(home):
    assert machine.program_facts(None, {"PIE_HOME": str(home)}) == diagnosis.ProgramFacts()
    assert list(home.iterdir()) == []


def test_programs_without_a_network_are_no_line():
    assert list(diagnosis.network_lines(None)) == []


@pytest.mark.parametrize(
    ("reading", "status", "message"),
    [
        (NO_GPU, "ok", "not readable here: no Apple GPU"),
        (GpuReading(0.03, 0.42, 41.4), "ok", "3% busy, 0.4 W, 41 °C"),
        (GpuReading(0.03, None, 41.4, "no energy"), "warning", "3% busy, 41 °C; not all readable here: no energy"),
        (GpuReading(), "warning", "not all readable here: the counters stand still"),
        (FactFailure("it broke", "mend it"), "warning", "it broke"),
    ],
)
def test_what_is_read_of_the_gpu_is_said(reading, status, message):
    line = diagnosis.gpu_line(reading)
    assert (line.status, line.message) == (status, message)
