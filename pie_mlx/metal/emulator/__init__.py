"""Runs Metal kernels on a CPU and finds their defects. It knows Metal and MLX's launches, not what our kernels
compute."""

from pie_mlx.metal.emulator.address_spaces import MetalTypeError, check_types
from pie_mlx.metal.emulator.build import Builder, EmulatorError, cache_folder
from pie_mlx.metal.emulator.emulator import EmulatedKernel, Emulator
from pie_mlx.metal.emulator.fences import FenceError, Graph, check_chain, parse_graph, traced_graph
from pie_mlx.metal.emulator.launch import KernelDefectError, LaunchReport, Traffic
from pie_mlx.metal.emulator.printed import printed_sources
from pie_mlx.metal.emulator.source import Argument, GeneratedSource, generate_source

__all__ = [
    "Argument",
    "Builder",
    "EmulatedKernel",
    "Emulator",
    "EmulatorError",
    "FenceError",
    "GeneratedSource",
    "Graph",
    "KernelDefectError",
    "LaunchReport",
    "MetalTypeError",
    "Traffic",
    "cache_folder",
    "check_chain",
    "check_types",
    "generate_source",
    "parse_graph",
    "printed_sources",
    "traced_graph",
]
