"""Programs in processes of their own.

A fork server, which never touches MLX, forks a worker per launch; a socket pair joins the worker to the engine. What
only the worker and the fork server import stays light: no module here imports the engine but `executor` and `workers`.
"""
