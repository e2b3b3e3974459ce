"""The declarations that editors and `tsc` read, from the JSDoc of the SDK: `python -m tools.javascript.declarations`.

TypeScript comes from npm (`make js-types`). Tests need only the digest of the sources, which is written beside.
"""

import hashlib
import json
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from pie_mlx.runtime.javascript.node import find_node
from tools.javascript.files import ROOT, SDK

TYPES = SDK / "types"
DIGEST = TYPES / "sources.digest"
TYPESCRIPT = ROOT / ".typescript" / "node_modules"
EXAMPLES, DOCS, TESTS = ROOT / "examples", ROOT / "docs", ROOT / "tests" / "javascript"
TEMPLATE = ROOT / "pie_mlx" / "cli" / "templates_of_node" / "ts" / "main.ts.template"
_STRICT = {
    "strict": True,
    "target": "esnext",
    "lib": ["esnext"],
    "module": "nodenext",
    "moduleResolution": "nodenext",
    "types": ["node"],
    "typeRoots": [str(TYPESCRIPT / "@types")],
}


def sources() -> list[Path]:
    """The modules of the SDK."""
    return sorted(SDK.rglob("*.mjs"))


def digest() -> str:
    """Of everything that declarations are made from."""
    made = hashlib.sha256()
    for file in sources():
        made.update(file.relative_to(SDK).as_posix().encode() + b"\0" + file.read_bytes() + b"\0")
    return made.hexdigest()


def write_declarations() -> None:
    """Check the SDK and write its declarations. Raises CalledProcessError after tsc has said why."""
    emit = {"allowJs": True, "checkJs": True, "declaration": True, "emitDeclarationOnly": True}
    with tempfile.TemporaryDirectory() as folder:
        _compile({**emit, "rootDir": str(SDK), "outDir": folder}, [SDK / "index.mjs"])
        _strip_internal(Path(folder))
        shutil.rmtree(TYPES, ignore_errors=True)
        shutil.copytree(folder, TYPES)
    DIGEST.write_text(f"{digest()}\n", encoding="utf-8")


def check_examples() -> None:
    """Raises CalledProcessError if one of the examples, the docs, the tests or the template is not strictly typed."""
    with tempfile.TemporaryDirectory(dir=ROOT) as folder:
        Path(folder, "node_modules").mkdir()
        Path(folder, "node_modules", "inferlet").symlink_to(SDK)
        Path(folder, "package.json").write_text('{"type": "module"}', encoding="utf-8")
        programs = [*EXAMPLES.glob("*/*.ts"), *TESTS.rglob("*.ts"), TEMPLATE]
        texts = [file.read_text(encoding="utf-8") for file in sorted(programs)]
        for page in sorted(DOCS.rglob("*.md")):
            texts += re.findall(
                r"^```typescript\n(.*?)^```", page.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE
            )
        files = [Path(folder, f"{number}.ts") for number in range(len(texts))]
        for file, text in zip(files, texts, strict=True):
            file.write_text(text, encoding="utf-8")
        _compile({"noEmit": True}, files)


def _strip_internal(folder: Path) -> None:
    """What is marked `@internal`: tsc leaves it in declarations of JavaScript."""
    typescript = TYPESCRIPT / "typescript" / "lib" / "typescript.js"
    script = Path(__file__).with_name("strip_internal.mjs")
    subprocess.run([find_node().path, str(script), str(typescript), *map(str, folder.rglob("*.d.mts"))], check=True)


def _compile(options: dict[str, object], files: list[Path]) -> None:
    with tempfile.NamedTemporaryFile("w", suffix=".json", dir=ROOT) as config:
        json.dump({"compilerOptions": {**_STRICT, **options}, "files": [str(file) for file in files]}, config)
        config.flush()
        tsc = [find_node().path, str(TYPESCRIPT / "typescript" / "bin" / "tsc")]
        subprocess.run([*tsc, "--project", config.name], check=True)


if __name__ == "__main__":
    try:
        write_declarations()
        check_examples()
    except subprocess.CalledProcessError as failed:
        sys.exit(failed.returncode)
