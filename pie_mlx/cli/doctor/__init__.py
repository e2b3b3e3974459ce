"""`pie doctor`: the diagnosis, the check of the kernels, and the report for maintainers."""
