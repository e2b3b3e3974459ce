"""How each client learns of an engine: from variables, arguments and files of our own, never from files of the user."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

WAIT_MILLISECONDS = 3_600_000
"""How long a client may wait for an answer: a long prompt takes minutes on a small machine."""
UNKNOWN_CONTEXT = 32_768


@dataclass(frozen=True, slots=True)
class Target:
    """An engine: `url` is `http://host:port`, `context` the tokens its model reads. `directory` is the client's own."""

    url: str
    model: str
    context: int
    key: str
    directory: Path

    @property
    def replies(self) -> int:
        """The most tokens of a reply: a client that takes these off its prompt must have something left."""
        return max(1, min(self.context // 4, 32_000))


@dataclass(frozen=True, slots=True)
class Setup:
    """What a client gets; `files` by their names in its directory."""

    environment: Mapping[str, str]
    arguments: tuple[str, ...] = ()
    files: Mapping[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True, slots=True)
class ClientProgram:
    """A client: its command, how to install it, and what it is given."""

    command: str
    install: str
    setup: Callable[[Target], Setup]


def general_variables(target: Target) -> dict[str, str]:
    """The variables that most clients read."""
    return {
        "OPENAI_BASE_URL": f"{target.url}/v1",
        "OPENAI_API_BASE": f"{target.url}/v1",
        "OPENAI_API_KEY": target.key,
        "OPENAI_MODEL": target.model,
        "ANTHROPIC_BASE_URL": target.url,
        "ANTHROPIC_AUTH_TOKEN": target.key,
        "ANTHROPIC_MODEL": target.model,
        "OLLAMA_HOST": target.url,
    }


def _claude(target: Target) -> Setup:
    """Its attribution header would change the beginning of each prompt, so that no pages could be used again."""
    sizes = ("OPUS", "SONNET", "HAIKU", "FABLE")
    return Setup(
        {
            "ANTHROPIC_BASE_URL": target.url,
            "ANTHROPIC_AUTH_TOKEN": target.key,
            "ANTHROPIC_API_KEY": "",
            "ANTHROPIC_MODEL": target.model,
            "ANTHROPIC_SMALL_FAST_MODEL": target.model,
            **{f"ANTHROPIC_DEFAULT_{size}_MODEL": target.model for size in sizes},
            "CLAUDE_CODE_SUBAGENT_MODEL": target.model,
            "CLAUDE_CODE_ATTRIBUTION_HEADER": "0",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "CLAUDE_CODE_MAX_OUTPUT_TOKENS": str(target.replies),
            "API_TIMEOUT_MS": str(WAIT_MILLISECONDS),
            "CLAUDE_CONFIG_DIR": str(target.directory),
        }
    )


def _codex(target: Target) -> Setup:
    """Its directory is ours, but not its file there: it writes down which folders it may trust."""
    provider = {"name": "pie-mlx", "base_url": f"{target.url}/v1", "env_key": "PIE_API_KEY", "wire_api": "responses"}
    table = ", ".join(f"{key} = {json.dumps(value)}" for key, value in provider.items())
    settings = {
        "model": json.dumps(target.model),
        "model_provider": '"pie"',
        "model_providers.pie": f"{{{table}, stream_idle_timeout_ms = {WAIT_MILLISECONDS}}}",
        "model_context_window": str(target.context),
        "check_for_update_on_startup": "false",
    }
    arguments = [word for name, value in settings.items() for word in ("-c", f"{name}={value}")]
    return Setup({"CODEX_HOME": str(target.directory), "PIE_API_KEY": target.key}, tuple(arguments))


def _opencode(target: Target) -> Setup:
    limit = {"context": target.context, "output": target.replies}
    provider = {
        "npm": "@ai-sdk/openai-compatible",
        "name": "pie-mlx",
        "options": {"baseURL": f"{target.url}/v1", "apiKey": "{env:PIE_API_KEY}", "timeout": WAIT_MILLISECONDS},
        "models": {target.model: {"name": target.model, "tool_call": True, "limit": limit}},
    }
    name = f"pie/{target.model}"
    content = {
        "provider": {"pie": provider},
        "model": name,
        "small_model": name,
        "autoupdate": False,
        "share": "disabled",
    }
    return Setup({"OPENCODE_CONFIG_CONTENT": json.dumps(content), "PIE_API_KEY": target.key})


def _aider(target: Target) -> Setup:
    name = f"openai/{target.model}"
    limits = {"max_input_tokens": target.context, "max_output_tokens": target.replies, "max_tokens": target.replies}
    costs = {"input_cost_per_token": 0, "output_cost_per_token": 0, "litellm_provider": "openai", "mode": "chat"}
    return Setup(
        {
            "OPENAI_API_BASE": f"{target.url}/v1",
            "OPENAI_API_KEY": target.key,
            "AIDER_MODEL": name,
            "AIDER_WEAK_MODEL": name,
            "AIDER_EDITOR_MODEL": name,
            "AIDER_MODEL_METADATA_FILE": str(target.directory / "models.json"),
            "AIDER_TIMEOUT": str(WAIT_MILLISECONDS // 1000),
            "AIDER_CHECK_UPDATE": "false",
            "AIDER_ANALYTICS": "false",
            # Its library fetches a list of prices at start, and waits long where it cannot.
            "LITELLM_LOCAL_MODEL_COST_MAP": "True",
        },
        files={"models.json": json.dumps({name: {**limits, **costs}})},
    )


def _pi(target: Target) -> Setup:
    """Its directory is ours, so that no account of the user's own is read there."""
    model = {"id": target.model, "contextWindow": target.context, "maxTokens": target.replies}
    provider = {"baseUrl": f"{target.url}/v1", "api": "openai-completions", "apiKey": "PIE_API_KEY", "models": [model]}
    return Setup(
        {"PI_CODING_AGENT_DIR": str(target.directory), "PI_OFFLINE": "1", "PIE_API_KEY": target.key},
        ("--provider", "pie", "--model", target.model),
        files={"models.json": json.dumps({"providers": {"pie": provider}})},
    )


def _qwen_code(target: Target) -> Setup:
    return Setup(
        {
            "OPENAI_BASE_URL": f"{target.url}/v1",
            "OPENAI_API_KEY": target.key,
            "OPENAI_MODEL": target.model,
            "QWEN_HOME": str(target.directory),
        },
        ("--auth-type", "openai"),
    )


CLIENTS: Mapping[str, ClientProgram] = {
    "claude": ClientProgram("claude", "npm install -g @anthropic-ai/claude-code", _claude),
    "codex": ClientProgram("codex", "npm install -g @openai/codex", _codex),
    "opencode": ClientProgram("opencode", "npm install -g opencode-ai", _opencode),
    "aider": ClientProgram("aider", "python3 -m pip install aider-install && aider-install", _aider),
    "pi": ClientProgram("pi", "npm install -g @mariozechner/pi-coding-agent", _pi),
    "qwen-code": ClientProgram("qwen", "npm install -g @qwen-code/qwen-code", _qwen_code),
}
