"""What runs in the fork server and in the workers it forks. Never imports MLX or the engine: forks stay small."""
