"""Programs in processes of their own: a fork server forks a worker per launch, joined to the engine by a socket pair.

The modules here are the engine's end; `forked` is the other, and imports neither the engine nor MLX.
"""
