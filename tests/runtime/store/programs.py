"""Programs and packages for the tests."""

import io
import zipfile

MAIN = b"async def main(input):\n    return 'done'\n"


class Clock:
    """Seconds that pass when told."""

    def __init__(self):
        self.now = 1_000_000_000.0

    def __call__(self):
        return self.now


def manifest(name="demo", version="0.1.0", **dependencies):
    needs = "".join(f'{key} = "{value}"\n' for key, value in dependencies.items())
    return f'[package]\nname = "{name}"\nversion = "{version}"\n' + (f"[dependencies]\n{needs}" if needs else "")


def write_directory(folder, text, **files):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "main.py").write_bytes(MAIN)
    (folder / "Pie.toml").write_text(text)
    for name, content in files.items():
        (folder / f"{name}.py").write_text(content)
    return folder


def archive(*entries, compression=zipfile.ZIP_STORED):
    """A zip of (name or ZipInfo, bytes), written without any rule."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", compression) as file:
        for name, data in entries:
            file.writestr(name, data)
    return buffer.getvalue()


def package(*entries, text=None):
    return archive(("main.py", MAIN), ("Pie.toml", text or manifest()), *entries)
