"""Notebooks: `%load_ext pie_mlx` makes the cells of a notebook one program that runs beside an engine.

Cells import `inferlet` and await as a program does; contexts, outputs and generators are shown as pictures.
"""

from pie_mlx.notebook.extension import load_ipython_extension, unload_ipython_extension

__all__ = ["load_ipython_extension", "unload_ipython_extension"]
