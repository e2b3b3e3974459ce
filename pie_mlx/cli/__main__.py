"""`python -m pie_mlx.cli`"""

from pie_mlx.cli.main import main

main()
