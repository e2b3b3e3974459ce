"""The Metal kernels: for each a `.metal` file, its launcher, and a reference in `references/`."""
