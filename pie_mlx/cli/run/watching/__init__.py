"""`pie run --watch`: what has changed on disk, and the runs that follow from it."""
