"""`python -m pie_mlx`: the command line of this interpreter, where no script `pie` is on the path."""

from pie_mlx.cli.script import main

main()
