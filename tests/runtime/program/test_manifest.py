import pytest

from pie_mlx.errors import LaunchError
from pie_mlx.runtime.program.manifest import examine_manifest, parse_manifest

PACKAGE = '[package]\nname = "demo"\nversion = "0.1.0"\n'


def findings(text):
    manifest, found = examine_manifest(text)
    assert (manifest is None) == bool(found)
    return found


def test_a_minimal_manifest_names_the_program():
    manifest = parse_manifest(PACKAGE)
    assert manifest.identity == "demo@0.1.0"
    assert manifest.runtime.entry == "main"


def test_a_manifest_without_parameters_accepts_anything():
    assert parse_manifest(PACKAGE).parameters.problems({"whatever": 1}) == []


def test_name_and_version_are_required():
    assert findings("") == ["[package] name: missing", "[package] version: missing"]


def test_all_findings_are_reported_together():
    text = """
    [package]
    name = "no spaces"
    version = "1.0"
    licence = "MIT"
    [runtime]
    entry = "not a name"
    inferlet = "soon"
    [parameters]
    prompt = { type = "str" }
    count = { type = "int", default = "many", min = 5, max = 1 }
    text = "string"
    [packge]
    """
    assert findings(text) == [
        "[packge]: unknown section, did you mean 'package'?",
        "[runtime] entry: 'not a name' is not the name of a function",
        "[runtime] inferlet: 'soon' is not a version: expected major.minor.patch",
        "[parameters.prompt] type: 'str' is none of string, int, float, bool, list, object, any,"
        " did you mean 'string'?",
        '[parameters.count] default: expected int, got string "many"',
        "[parameters.count] min: 5 is above max 1",
        '[parameters] text: expected a table such as { type = "string" }, got string "string"',
        "[package] name: 'no spaces' is not a valid name: use letters, digits, '-' and '_', at most 64",
        "[package] version: '1.0' is not a version: expected major.minor.patch",
        "[package] licence: unknown key, did you mean 'license'?",
    ]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ('call = "both"', "[runtime] call: expected input or kwargs, got 'both'"),
        ('language = "rust"', "[runtime] language: expected python, got 'rust'"),
        ("validate = 1", "[runtime] validate: expected bool, got int 1"),
        ('packages = "numpy"', '[runtime] packages: expected list of strings, got string "numpy"'),
        ("packages = [1]", "[runtime] packages: expected list of strings, got list"),
        ('entrypoint = "main"', "[runtime] entrypoint: unknown key, did you mean 'entry'?"),
    ],
)
def test_runtime_keys_are_checked(line, expected):
    assert findings(f"{PACKAGE}[runtime]\n{line}\n") == [expected]


def test_a_section_that_is_no_table_is_reported():
    assert findings('runtime = "python"\n' + PACKAGE) == ['[runtime]: expected a table, got string "python"']


def test_informative_keys_mean_nothing():
    text = f'{PACKAGE}license = "MIT"\nkeywords = ["a"]\nhomepage = "x"\n[runtime]\nmcp = "1"\n"python-runtime" = "3"\n'
    assert findings(text) == []


@pytest.mark.parametrize("line", ['core = "0.4"', 'call = "kwargs"'])
def test_parameters_of_manifests_for_other_engines_are_documentation(line):
    manifest = parse_manifest(f'{PACKAGE}[runtime]\n{line}\n[parameters]\nn = {{ type = "number" }}\n')
    assert manifest.parameters.problems({}) == []
    assert manifest.parameters.problems({"n": "x", "m": 1}) == []


def test_validate_can_be_switched_on_and_off():
    declared = '[parameters]\nn = { type = "int" }\n'
    enforced = parse_manifest(f'{PACKAGE}[runtime]\ncore = "0.4"\nvalidate = true\n{declared}')
    free = parse_manifest(f"{PACKAGE}[runtime]\nvalidate = false\n{declared}")
    assert enforced.parameters.problems({}) != []
    assert free.parameters.problems({}) == []


def test_dependencies_are_requirements():
    manifest = parse_manifest(f'{PACKAGE}[dependencies]\nother = "^1.0.0"\n')
    assert manifest.dependencies["other"].text == "^1.0.0"
    assert findings(f'{PACKAGE}[dependencies]\n"a b" = "1"\n') == [
        "[dependencies] a b: not the name of a program",
        "[dependencies] a b: '1' is not a version: expected major.minor.patch",
    ]


def test_what_is_not_toml_is_said_so():
    assert findings("[package")[0].startswith("not TOML: ")


def test_a_manifest_longer_than_64_kib_is_refused():
    assert findings(PACKAGE + "#" * (64 << 10)) == ["longer than 64 KiB"]


def test_parsing_raises_one_error_with_everything():
    with pytest.raises(LaunchError, match=r"Invalid manifest: \[package\] name: missing; \[package\] version: missing"):
        parse_manifest("")


@pytest.mark.parametrize("value", ["1979-05-27", "nan", "[inf]", "{ a = 07:32:00 }"])
def test_a_default_that_json_does_not_know_is_refused(value):
    text = f'{PACKAGE}[parameters]\nwhen = {{ type = "any", default = {value} }}\n'
    assert findings(text) == ["[parameters.when] default: JSON has no such value"]


def test_of_many_findings_the_first_are_told():
    found = findings(PACKAGE + "".join(f"k{number} = 1\n" for number in range(5000)))
    assert (len(found), found[-1]) == (21, "and 4,980 more")


def test_long_keys_are_told_in_short():
    (found,) = findings(f'{PACKAGE}"{"k" * 60_000}" = 1\n')
    assert len(found) < 100


@pytest.mark.parametrize(
    "text", ["a." * 20_000 + "b = 1", 'version = "1.0.' + "9" * 5000 + '"', "a = " + "[" * 30_000, "a = " + "9" * 5000]
)
def test_a_manifest_that_would_take_long_is_refused(text):
    assert len(findings(f'[package]\nname = "a"\n{text}\n')) == 1
