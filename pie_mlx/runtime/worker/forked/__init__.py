"""Code of the fork server and of the workers it forks. Never imports MLX or the engine, so that forks stay small."""
