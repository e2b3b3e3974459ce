import pytest

from pie_mlx.config import load_config
from pie_mlx.errors import ConfigError

MODEL = '[[model]]\nname = "a"\nhf_repo = "org/a"\n'


@pytest.fixture
def load(tmp_path):
    def load(text="", **environment):
        (tmp_path / "config.toml").write_text(text)
        return load_config(environment={"PIE_HOME": str(tmp_path), **environment})

    return load


def problems(load, text="", **environment):
    with pytest.raises(ConfigError) as error:
        load(text, **environment)
    return error.value.message.removeprefix("config: ").split("\n     ")


def test_no_file_is_no_error(tmp_path):
    config = load_config(environment={"PIE_HOME": str(tmp_path / "nothing")}).config
    assert [(model.name, model.hf_repo) for model in config.model] == [("pie-tiny", "pie-tiny")]


def test_a_file_that_was_named_must_exist(tmp_path):
    with pytest.raises(ConfigError, match="no such file"):
        load_config(tmp_path / "other.toml", {})


def test_the_file_wins_over_defaults_and_the_environment_over_the_file(load):
    loaded = load(
        MODEL + "[model.engine]\nkv_page_size = 8\ntotal_pages = 100\n", PIE_MODEL__0__ENGINE__TOTAL_PAGES="200"
    )
    engine = loaded.config.model[0].engine
    assert (engine.kv_page_size, engine.total_pages, engine.random_seed) == (8, 200, 42)


def test_every_value_knows_its_origin(load, tmp_path):
    settings = load(MODEL, PIE_MODEL__0__ENGINE__TOTAL_PAGES="200").settings
    assert settings["model.0.name"].origin == str(tmp_path / "config.toml")
    assert settings["model.0.engine.total_pages"].origin == "PIE_MODEL__0__ENGINE__TOTAL_PAGES"
    assert settings["model.0.engine.random_seed"].origin == "default"


def test_without_a_file_the_environment_can_name_another_model(load):
    model = load(PIE_MODEL__0__HF_REPO="org/other-4bit").config.model[0]
    assert (model.name, model.hf_repo) == ("other-4bit", "org/other-4bit")


@pytest.mark.parametrize(
    ("repo", "name"), [("org/other-4bit", "other-4bit"), ("./m4/", "m4"), ("/a/../m4", "m4"), ("m4", "m4"), ("/", "/")]
)
def test_a_model_is_called_by_the_last_part_of_what_it_is(load, repo, name):
    assert load(f'[[model]]\nhf_repo = "{repo}"\n').config.model[0].name == name


def test_a_name_that_is_set_stays_whatever_is_loaded(load):
    assert (
        load('[[model]]\nname = "mine"\nhf_repo = "a/b"\n', PIE_MODEL__0__HF_REPO="c/d").config.model[0].name == "mine"
    )


def test_text_keys_keep_text_that_looks_like_a_number(load):
    assert load(MODEL, PIE_MODEL__0__HF_REPO="01234").config.model[0].hf_repo == "01234"


def test_other_variables_are_not_ours(load):
    assert load(PIE_URL="ws://x", PIE_LOG="debug", HOME="/x").config.model[0].name == "pie-tiny"


def test_all_errors_are_listed_with_key_value_origin_and_rule(load, tmp_path):
    text = MODEL.replace('"org/a"', "3") + "[model.engine]\nkv_page_siz = 16\n[model.scheduler]\npolicy = 'best'\n"
    origin = tmp_path / "config.toml"
    assert problems(load, text, PIE_MODEL__0__ENGINE__TOTAL_PAGES="0") == [
        f"model.0.hf_repo = 3 ({origin}): expected `str`, got `int` (repo id, directory, or pie-tiny)",
        f"model.0.engine.kv_page_siz ({origin}): unknown key, did you mean 'model.0.engine.kv_page_size'?",
        f"model.0.scheduler.policy = 'best' ({origin}): invalid enum value 'best': one of market, fcfs, priority"
        " (who gets pages and rows first: by bid, by age, or by a fixed priority)",
        "model.0.engine.total_pages = 0 (PIE_MODEL__0__ENGINE__TOTAL_PAGES): expected `int` >= 1"
        " (pages of the pool; unset: by kv_memory_fraction)",
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[[model]]\n", ["model.0.hf_repo: missing"]),
        ("[server]\nprt = 1\n", ["server.prt ("]),
        ('[[mcp]]\ntransport = "http"\n', ["mcp.0.name: missing"]),
        ("[nonsense]\n", ["nonsense ("]),
        ("[model]\nname = 'a'\n", ["model.name ("]),
    ],
)
def test_what_is_missing_or_unknown_is_named(load, text, expected):
    found = problems(load, text)
    assert [line for line, start in zip(found, expected, strict=True) if not line.startswith(start)] == []


def test_empty_tables_are_as_good_as_none(load):
    assert load(MODEL + "[model.engine]\n[model.scheduler]\n").config.model[0].engine.type == "mlx"


def test_several_models_keep_their_order(load):
    config = load(MODEL + MODEL.replace('"a"', '"b"') + "[model.engine]\ntype = 'dummy'\n").config
    assert [(model.name, model.engine.type) for model in config.model] == [("a", "mlx"), ("b", "dummy")]


def test_a_model_that_has_no_predecessor_is_refused(load):
    assert "model.2: there is no model.1" in problems(load, MODEL, PIE_MODEL__2__NAME="x", PIE_MODEL__2__HF_REPO="x")


def test_what_is_not_toml_is_said_so(load):
    assert "not TOML" in problems(load, "[")[0]


def test_entries_of_a_table_of_texts_are_values_of_their_own(load):
    text = '[[mcp]]\nname = "a"\ntransport = "stdio"\ncommand = "run"\nenv = { TOKEN = "x" }\n'
    loaded = load(text, PIE_MCP__0__ENV__Other="y")
    assert loaded.config.mcp[0].env == {"TOKEN": "x", "Other": "y"}
    assert loaded.settings["mcp.0.env.Other"].origin == "PIE_MCP__0__ENV__Other"


def test_a_value_this_version_cannot_honour_is_refused(load):
    (found,) = problems(load, MODEL + "[model.engine]\ndevice = 'cpu'\n")
    assert found.startswith("model.0.engine.device = 'cpu'")
    assert "knows no other value than the default" in found


def test_the_default_of_such_a_key_may_be_written_down(load):
    assert load(MODEL + "[model.engine]\ndevice = 'auto'\n").config.model[0].engine.device == "auto"


def test_the_format_of_pages_is_chosen_by_layer(load):
    text = "kv_cache_dtype = 'int8'\nkv_cache_group_size = 32\nkv_cache_full_layers = [0, -1]\n"
    engine = load(MODEL + "[model.engine]\n" + text).config.model[0].engine
    assert (engine.kv_cache_dtype, engine.kv_cache_group_size, engine.kv_cache_full_layers) == ("int8", 32, [0, -1])


@pytest.mark.parametrize(
    "line", ["kv_cache_dtype = 'int5'", "kv_cache_group_size = 48", "kv_cache_full_layers = ['x']"]
)
def test_pages_of_a_format_that_there_is_not(load, line):
    assert line.split()[0] in problems(load, MODEL + f"[model.engine]\n{line}\n")[0]


def test_a_not_a_number_is_no_share(load):
    assert "kv_memory_fraction" in problems(load, MODEL + "[model.engine]\nkv_memory_fraction = nan\n")[0]


def test_harmless_keys_of_the_ancestor_are_passed_over_with_one_warning_each(load):
    text = '[server]\nregistry = "https://x"\n[runtime]\nwasm_max_memory_mb = 5\n' + MODEL
    loaded = load(text + "[model.engine]\ntensor_parallel_size = 1\n")
    assert [warning.partition(" (")[0] for warning in loaded.warnings] == [
        "server.registry",
        "runtime.wasm_max_memory_mb",
        "model.0.engine.tensor_parallel_size",
    ]
    assert "max_memory_mb" in loaded.warnings[1]
    assert "server.registry" not in loaded.settings


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            MODEL + "[model.driver]\ntype = 'cuda_native'\nkv_page_size = 16\n",
            'model.0.driver ({origin}): write instead: [model.engine] type = "mlx", kv_page_size = 16',
        ),
        (MODEL + "[model.engine]\ntype = 'vllm'\n", "model.0.engine.type ({origin}): 'vllm' does not run on a Mac"),
        (MODEL + "[model.engine]\ndevice = ['cuda:0']\n", "model.0.engine.device ({origin}): one device serves"),
        (MODEL + "[model.engine]\ndevice = 'cuda:0'\n", "model.0.engine.device ({origin}): 'cuda:0' does not run"),
        (MODEL + "[model.engine]\ntensor_parallel_size = 2\n", "model.0.engine.tensor_parallel_size ({origin}): one"),
        (MODEL + "[model.engine]\nswap_pool_size = 2\n", "model.0.engine.swap_pool_size ({origin}): write spill_max"),
        (MODEL + "[model.engine]\nkv_cache_dtype = 'fp8'\n", "model.0.engine.kv_cache_dtype ({origin}): 'fp8' is not"),
        (
            MODEL + "[model.engine]\nkv_cache_dtype = 'float16'\n",
            "model.0.engine.kv_cache_dtype ({origin}): pages have",
        ),
        (MODEL + "[model.engine]\nmtp_depth = 1\n", "model.0.engine.mtp_depth ({origin}): remove it"),
        ("[model.qwen]\nhf_repo = 'x'\n", 'model.qwen ({origin}): write [[model]] with name = "qwen"'),
        ("[model]\nname = 'x'\n", "model.name ({origin}): write [[model]] with two brackets"),
        ("[model]\n[model.engine]\ntype = 'x'\n", "model.engine.type ({origin}): write [[model]] with two brackets"),
        ("[server]\nprimary_model = 'x'\n", "server.primary_model ({origin}): put that [[model]] first"),
        ("[server]\nallow_filesystem = true\n", "server.allow_filesystem ({origin}): write runtime.allow_fs"),
        ("[engine]\ntype = 'x'\n", "engine.type ({origin}): write [[model]]"),
        ("[sandbox]\nmode = 'x'\n", "sandbox.mode ({origin}): write [runtime] sandbox"),
    ],
)
def test_shapes_of_other_versions_are_refused_with_what_to_write(load, tmp_path, text, expected):
    found = problems(load, text)
    assert found[0].startswith(expected.format(origin=tmp_path / "config.toml"))
    assert [line for line in found if "unknown key" in line] == []
