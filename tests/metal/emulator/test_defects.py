"""Each detector of the emulator catches the defect it is for, and stays silent without it."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import mlx.core as mx
import numpy as np
import pytest

from pie_mlx.errors import InvalidArgumentError, InvalidTypeError
from pie_mlx.metal.emulator import Builder, Emulator, EmulatorError, KernelDefectError, LaunchReport, MetalTypeError
from pie_mlx.metal.emulator.memory import place
from pie_mlx.metal.kernels.requirements import first_fence
from pie_mlx.metal.launcher import KernelLauncher

HEAD = """
  uint i = thread_position_in_grid.x;
  uint t = thread_index_in_threadgroup;
  uint lane = thread_index_in_simdgroup;
  uint simd = simdgroup_index_in_threadgroup;
"""
BARRIER = "threadgroup_barrier(mem_flags::mem_threadgroup);"


def run(
    emulator: Emulator,
    body: str,
    *,
    data: mx.array | None = None,
    threads: int = 64,
    group: int = 64,
    outputs: int | None = None,
    **options: Any,
) -> np.ndarray:
    kernel = emulator.metal_kernel("probe", ["data"], ["result"], HEAD + body, **options)
    values = mx.arange(64).astype(mx.float32) if data is None else data
    size = (threads if outputs is None else outputs,)
    (result,) = kernel(
        inputs=[values], template=[("N", 4)], grid=(threads, 1, 1), threadgroup=(group, 1, 1),
        output_shapes=[size], output_dtypes=[mx.float32],
    )  # fmt: skip
    return np.array(result)


def defect_of(emulator: Emulator, body: str, **options: Any) -> str:
    with pytest.raises(KernelDefectError) as caught:
        run(emulator, body, **options)
    return caught.value.defect


SHIFT = "threadgroup float shared[64]; shared[t] = data[i]; {} result[i] = shared[63 - t];"


def test_a_barrier_makes_an_exchange_through_threadgroup_memory_right(emulator: Emulator) -> None:
    assert run(emulator, SHIFT.format(BARRIER)).tolist() == list(range(63, -1, -1))


def test_a_missing_barrier_is_found(emulator: Emulator) -> None:
    # Thread 0 reads first what thread 63 has not written yet.
    assert defect_of(emulator, SHIFT.format("")) == "unwritten_read"


def test_a_write_after_a_read_without_a_barrier_is_a_race(emulator: Emulator) -> None:
    body = SHIFT.format(BARRIER) + "shared[t] = 0.0f;"
    assert defect_of(emulator, body) == "race"


def test_a_barrier_that_orders_other_memory_does_not_help(emulator: Emulator) -> None:
    assert defect_of(emulator, SHIFT.format("threadgroup_barrier(mem_flags::mem_device);")) == "race"


def test_a_simd_barrier_orders_its_own_group_only(emulator: Emulator) -> None:
    barrier = "simdgroup_barrier(mem_flags::mem_threadgroup);"
    own = "threadgroup float shared[64]; shared[t] = data[i]; {} result[i] = shared[t ^ 1];"
    assert run(emulator, own.format(barrier))[0] == 1
    assert defect_of(emulator, own.format("simd_sum(1.0f);")) == "race"
    assert defect_of(emulator, own.replace("t ^ 1", "63 - t").format(barrier)) == "unwritten_read"


def test_two_threads_writing_one_element_race(emulator: Emulator) -> None:
    assert defect_of(emulator, "result[i / 2] = 1.0f;", outputs=32) == "race"


def test_threadgroups_that_touch_the_same_element_race(emulator: Emulator) -> None:
    body = "result[i] = 1.0f; if (i == 64) result[0] = 2.0f;"
    assert defect_of(emulator, body, threads=128) == "group_race"


def test_a_row_read_back_by_another_threadgroup_races(emulator: Emulator) -> None:
    body = "const_cast<device float*>(data)[i] = 1.0f; result[i] = data[127 - i];"
    data = mx.zeros((128,))
    assert defect_of(emulator, body, data=data, threads=128, mutable_inputs=["data"]) == "group_race"


@pytest.mark.parametrize("index", ["i + 1", "i - 1", "i + 1000"])
def test_a_read_outside_an_array_is_found(emulator: Emulator, index: str) -> None:
    assert defect_of(emulator, f"result[i] = data[{index}];") == "out_of_bounds"


def test_a_write_outside_an_output_is_found(emulator: Emulator) -> None:
    assert defect_of(emulator, "result[i] = 1.0f;", outputs=60) == "out_of_bounds"


def test_a_vector_that_sticks_out_is_found(emulator: Emulator) -> None:
    body = "float4 four = *(const device float4*)(data + i); result[i] = four[3];"
    assert defect_of(emulator, body) == "out_of_bounds"


def test_a_threadgroup_array_that_is_too_small_is_found(emulator: Emulator) -> None:
    body = f"threadgroup float shared[32]; shared[t] = 1.0f; {BARRIER} result[i] = shared[t];"
    assert defect_of(emulator, body) == "out_of_bounds"


def test_reading_what_nobody_wrote_is_found_in_every_memory(emulator: Emulator) -> None:
    assert defect_of(emulator, "result[i] = result[i] + 1.0f;") == "unwritten_read"
    assert defect_of(emulator, "threadgroup float shared[64]; result[i] = shared[t];") == "unwritten_read"


def test_threadgroup_memory_of_the_group_before_counts_as_unwritten(emulator: Emulator) -> None:
    body = f"threadgroup float shared[64]; if (i < 64) shared[t] = 1.0f; {BARRIER} result[i] = shared[t];"
    assert defect_of(emulator, body, threads=128) == "unwritten_read"


def test_inputs_with_a_map_of_written_elements_are_watched(emulator: Emulator) -> None:
    with emulator.assume(data=np.arange(64) != 5):
        assert run(emulator, "result[i] = i == 5 ? 0.0f : data[i];")[6] == 6
        assert defect_of(emulator, "result[i] = data[i];") == "unwritten_read"


def test_an_output_not_fully_written_is_found(emulator: Emulator) -> None:
    assert defect_of(emulator, "if (i > 0) result[i] = 1.0f;") == "unwritten_output"


def test_a_sparse_output_may_stay_partly_unwritten(emulator: Emulator) -> None:
    assert run(emulator, "if (i > 0) result[i] = 1.0f;", sparse_outputs=["result"])[1] == 1


def test_an_input_written_without_being_declared_is_found(emulator: Emulator) -> None:
    body = "const_cast<device float*>(data)[i] = 1.0f; result[i] = 0.0f;"
    assert defect_of(emulator, body) == "read_only_write"


def test_memory_that_mlx_would_copy_is_not_written_in_place(emulator: Emulator) -> None:
    across = np.zeros((4, 8), np.float32).T
    with pytest.raises(ValueError, match="not contiguous"):
        place([across], [True])
    assert place([across], [False])[0].origin is None


def test_a_declared_input_is_written_in_place(emulator: Emulator) -> None:
    data = mx.zeros((64,))
    mx.eval(data)
    run(emulator, "const_cast<device float*>(data)[i] = i; result[i] = 0.0f;", data=data, mutable_inputs=["data"])
    assert data.tolist() == list(range(64))


@pytest.mark.parametrize(
    "body",
    [
        "float s = 0.0f; if (lane < 16) s = simd_sum(data[i]); result[i] = s;",
        "float s; if (lane < 16) s = simd_sum(1.0f);\n else s = simd_sum(2.0f);\n result[i] = s;",
        "if (lane == 0) { result[i] = 0.0f; return; } result[i] = simd_max(data[i]);",
        f"if (lane == 0) {{ {BARRIER} }} result[i] = 0.0f;",
        f"result[i] = 0.0f; if (simd == 0) return; {BARRIER}",
        f"result[i] = 0.0f; if (simd == 0) {{ {BARRIER} }}\n else {{ {BARRIER} }}",
        f"result[i] = simd_sum(1.0f); if (t < 40) {{ {BARRIER} }}",
    ],
)
def test_threads_that_part_ways_at_a_meeting_point_are_found(emulator: Emulator, body: str) -> None:
    assert defect_of(emulator, body) == "divergence"


def test_simd_groups_may_take_different_ways_between_barriers(emulator: Emulator) -> None:
    body = f"float s = 1.0f; if (simd == 0) s = simd_sum(data[i]); {BARRIER} result[i] = s;"
    assert run(emulator, body).tolist() == [496.0] * 32 + [1.0] * 32


def test_more_threadgroup_memory_than_a_gpu_has_is_found(emulator: Emulator) -> None:
    body = "threadgroup float a[8000]; threadgroup float b[200]; a[t] = 1.0f; b[t] = 1.0f; result[i] = 0.0f;"
    assert defect_of(emulator, body) == "threadgroup_memory"


def test_a_misaligned_access_is_found(emulator: Emulator) -> None:
    body = "result[i] = *(const device float*)((const device uchar*)data + 2);"
    assert defect_of(emulator, body) == "misaligned"


@pytest.mark.parametrize("threads", [63, 65, 0])
def test_a_grid_of_broken_threadgroups_is_refused(emulator: Emulator, threads: int) -> None:
    with pytest.raises(InvalidArgumentError, match="whole number of threadgroups"):
        run(emulator, "result[i] = 1.0f;", threads=threads, outputs=64)


def test_a_wrong_grid_leaves_or_leaves_out_elements(emulator: Emulator) -> None:
    assert defect_of(emulator, "result[i] = 1.0f;", threads=128, outputs=64) == "out_of_bounds"
    assert defect_of(emulator, "result[i] = 1.0f;", threads=64, outputs=128) == "unwritten_output"


def test_arrays_in_the_wrong_place_are_refused(launcher: KernelLauncher) -> None:
    keys, slots = mx.zeros((1, 2, 4, 64)), mx.zeros((1,), mx.int32)
    inputs = {"k_new": keys, "v_new": keys, "k_pool": slots, "v_pool": keys, "slots": keys, "fence_in": first_fence()}
    with pytest.raises(InvalidTypeError, match="k_pool is mlx"):
        launcher.launch("kv_write", inputs, {"T": mx.float32}, (32, 1, 1), (32, 1, 1), {"fence": ((1,), mx.int32)})


def test_a_missing_array_is_refused(launcher: KernelLauncher) -> None:
    with pytest.raises(InvalidArgumentError, match="expected the arrays"):
        launcher.launch("kv_write", {}, {"T": mx.float32}, (32, 1, 1), (32, 1, 1), {"fence": ((1,), mx.int32)})


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("const float* p = data; result[i] = p[0];", "address space"),
        ("threadgroup float shared[64]; device float* p = shared; result[i] = p[0];", "__local"),
        ("device float* p = data; p[0] = 1.0f; result[i] = 0.0f;", "const"),
        ("result[i] = nothing(data[i]);", "undeclared"),
    ],
)
def test_what_metal_would_not_compile_is_refused(emulator: Emulator, body: str, reason: str) -> None:
    with pytest.raises(MetalTypeError, match=reason):
        run(emulator, body)


def test_a_small_buffer_passed_as_a_device_pointer_is_refused(emulator: Emulator) -> None:
    with pytest.raises(MetalTypeError, match="__constant"):
        run(emulator, "const device float* p = data; result[i] = p[0];", data=mx.zeros((4,)))


def test_bfloat_needs_an_explicit_conversion(emulator: Emulator) -> None:
    with pytest.raises(MetalTypeError):
        run(emulator, "bfloat b = data[i]; result[i] = float(b);")


def test_atomic_updates_of_one_word_are_no_race(emulator: Emulator) -> None:
    body = f"""threadgroup atomic_uint count;
    if (t == 0) atomic_store_explicit(&count, 0u, memory_order_relaxed); {BARRIER}
    atomic_fetch_add_explicit(&count, 1u, memory_order_relaxed); {BARRIER}
    result[i] = float(atomic_load_explicit(&count, memory_order_relaxed));"""
    body = body.replace("threadgroup atomic_uint count;", "threadgroup atomic_uint counts[1];").replace(
        "&count,", "&counts[0],"
    )
    assert run(emulator, body).tolist() == [64.0] * 64


def test_bytes_are_counted_as_requested_unique_and_written(emulator: Emulator, reports: list[LaunchReport]) -> None:
    run(emulator, "result[i] = data[0] + data[t];", threads=128)
    traffic = reports[0].traffic
    assert traffic["data"].requested_read == 2 * 128 * 4
    assert traffic["data"].read == 2 * 64 * 4
    assert traffic["result"].written == 128 * 4


def test_matrix_lanes_hold_the_elements_metal_gives_them(emulator: Emulator) -> None:
    body = """
    simdgroup_float8x8 left; simdgroup_float8x8 right; simdgroup_float8x8 out;
    uint row = ((lane / 4) & 4) + (lane / 2) % 4; uint column = ((lane / 4) & 2) * 2 + (lane % 2) * 2;
    left.thread_elements()[0] = data[row * 8 + column]; left.thread_elements()[1] = data[row * 8 + column + 1];
    right.thread_elements()[0] = data[column * 8 + row]; right.thread_elements()[1] = data[(column + 1) * 8 + row];
    out.thread_elements()[0] = 0.0f; out.thread_elements()[1] = 0.0f;
    simdgroup_multiply_accumulate(out, left, right, out);
    result[row * 8 + column] = out.thread_elements()[0]; result[row * 8 + column + 1] = out.thread_elements()[1];
    """
    matrix = np.arange(64, dtype=np.float32).reshape(8, 8)
    result = run(emulator, body, threads=32, group=32, outputs=64).reshape(8, 8)
    np.testing.assert_array_equal(result, matrix @ matrix.T)


def test_without_a_compiler_the_reason_and_the_remedy_are_told(tmp_path: Path, emulator: Emulator) -> None:
    missing = replace(emulator, builder=Builder(tmp_path, compiler="no-such-compiler"))
    with pytest.raises(EmulatorError, match="no C\\+\\+ compiler") as caught:
        run(missing, "result[i] = 2.0f;")
    assert "PIE_METAL=off" in caught.value.hint


def test_close_arrays_are_moved_apart_and_written_back(emulator: Emulator) -> None:
    memory = mx.zeros((128,))
    mx.eval(memory)
    left: Sequence[mx.array] = [memory[:64], memory[64:]]
    kernel = emulator.metal_kernel(
        "probe", ["a", "b"], ["result"], HEAD + "const_cast<device float*>(b)[i] = 3.0f; result[i] = a[i];",
        mutable_inputs=["b"],
    )  # fmt: skip
    kernel(inputs=left, grid=(64, 1, 1), threadgroup=(64, 1, 1), output_shapes=[(64,)], output_dtypes=[mx.float32])
    assert memory[64:].tolist() == [3.0] * 64
