"""`python -m tests.vectors` writes the vectors from the Python SDK."""

from tests.vectors.files import FILES, vectors, write

if __name__ == "__main__":
    for name in FILES:
        write(name, vectors(name))
