"""Each kernel once more, in numpy: tests and the self-check compare kernels with these."""
