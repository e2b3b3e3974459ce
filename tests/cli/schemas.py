"""JSON Schemas of what listing verbs print with --json: the contract with scripts."""

import json

import jsonschema

TEXT, COUNT, FLAG = {"type": "string"}, {"type": "integer", "minimum": 0}, {"type": "boolean"}
DIGEST = {"type": "string", "pattern": "^[0-9a-f]{64}$"}
TIME = {"type": "string", "pattern": r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$"}
VERSIONS = {"type": "object", "additionalProperties": TEXT}


def row(**properties):
    """An object with exactly these keys."""
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


def rows(**properties):
    return {"type": "array", "items": row(**properties)}


PROGRAM = {
    "program": {"type": "string", "pattern": r"^[a-zA-Z0-9][a-zA-Z0-9_-]*@\d+\.\d+\.\d+"},
    "name": TEXT,
    "version": TEXT,
    "kind": {"enum": ["package", "module"]},
    "owner": TEXT,
    "program_hash": DIGEST,
    "manifest_hash": DIGEST,
    "size_bytes": COUNT,
    "installed_at": TIME,
    "dependencies": VERSIONS,
}
PARAMETER = {
    "type": "object",
    "properties": {
        "name": TEXT,
        "type": {"enum": ["string", "int", "float", "bool", "list", "object", "any"]},
        "required": FLAG,
        "description": TEXT,
        "choices": {"type": "array"},
        "min": {"type": "number"},
        "max": {"type": "number"},
        "default": {},
    },
    "required": ["name", "type", "required", "description"],
    "additionalProperties": False,
}
MODEL = {
    "name": TEXT,
    "loads": FLAG,
    "problem": TEXT,
    "architecture": TEXT,
    "tier": TEXT,
    "lacks": {"type": "object", "additionalProperties": TEXT},
    "quantization": TEXT,
    "maximum_positions": COUNT,
    "size_bytes": COUNT,
    "weight_bytes": COUNT,
    "kv_bytes_per_token": COUNT,
    "modified_at": TIME,
    "embedded": FLAG,
    "revision": TEXT,
    "source": TEXT,
    "path": TEXT,
}

STATUS = {"enum": ["ok", "warning", "error"]}
NUMBER, ANY, TEXTS = {"type": "number"}, {"type": ["string", "null"]}, {"type": "array", "items": TEXT}
ID = {"type": "string", "pattern": "^[0-9a-f-]{36}$"}
PROCESS = {
    "process": ID,
    "user": TEXT,
    "id": ID,
    "username": TEXT,
    "program": TEXT,
    "input": {"type": "string", "maxLength": 1024},
    "elapsed_secs": COUNT,
    "state": {"enum": ["queued", "running", "waiting", "suspended", "returned", "failed", "killed"]},
    "reason": {"type": "string"},
    "attached": FLAG,
    "kind": {"enum": ["process", "daemon"]},
    "parent": {"type": ["string", "null"]},
    "model": TEXT,
    "started_at": TIME,
    "started_at_secs": NUMBER,
    "pages": COUNT,
    "own_pages": COUNT,
    "balance": NUMBER,
    "spent": NUMBER,
    "bid": NUMBER,
    "prompt_tokens": COUNT,
    "cached_tokens": COUNT,
    "miss": {"type": "string"},
}

SCHEMAS = {
    "ps": rows(**PROCESS),
    "logs": rows(process=ID, user=TEXT, username=TEXT, program=TEXT, started_at=TIME, started_at_secs=NUMBER),
    "client list": rows(**PROCESS),
    "client ping": row(url=TEXT, milliseconds=NUMBER),
    "client install": row(installed=TEXT),
    "list": rows(**PROGRAM, answers_requests=FLAG),
    "install": row(**PROGRAM),
    "show": row(
        **PROGRAM, description=TEXT, parameters={"type": "array", "items": PARAMETER}, manifest=TEXT, path=TEXT
    ),
    "remove": row(removed={"type": "array", "items": TEXT}, scratch={"type": "array", "items": TEXT}),
    "build": row(path=TEXT, program=TEXT, digest=DIGEST, size_bytes=COUNT),
    "new": row(name=TEXT, path=TEXT, files={"type": "array", "items": TEXT}),
    "check": rows(subject=TEXT, level={"enum": ["error", "warning"]}, finding=TEXT),
    "model list": rows(**MODEL),
    "model ps": rows(
        name=TEXT,
        state={"enum": ["unloaded", "loading", "loaded", "unloading", "failed"]},
        text=TEXT,
        size_bytes=COUNT,
        processes=COUNT,
        expires_in_seconds={"type": ["number", "null"], "minimum": 0},
        progress={"type": ["number", "null"], "minimum": 0, "maximum": 1},
        pages={"type": ["object", "null"]},
        price={"type": ["number", "null"], "minimum": 0},
        draft_model=TEXT,
        stays=TEXT,
        holders={"type": "array", "items": TEXT},
    ),
    "model load": row(loaded=TEXT),
    "model unload": row(unloaded=TEXT),
    "model show": row(**MODEL, context=COUNT, needed_bytes=COUNT, memory_bytes=COUNT, fits=FLAG),
    "model download": row(name=TEXT, path=TEXT, problem=TEXT),
    "model remove": row(removed=TEXT, freed_bytes=COUNT),
    "auth list": rows(user=TEXT, key=TEXT, type=TEXT, fingerprint=TEXT),
    "auth add": row(user=TEXT, key=TEXT, type=TEXT, fingerprint=TEXT),
    "auth new-key": row(path=TEXT, public_key=TEXT, fingerprint=TEXT),
    "auth trust": row(url=TEXT, fingerprint=TEXT),
    "auth remove": row(user=TEXT, removed={"type": "array", "items": TEXT}),
    "mcp list": rows(
        name=TEXT, transport={"enum": ["stdio", "http"]}, command=ANY, args=TEXTS, env=TEXTS, url=ANY, headers=TEXTS
    ),
    "mcp test": rows(name=TEXT, state={"enum": ["answers", "failed"]}, milliseconds=NUMBER, tools=TEXTS, error=TEXT),
    "cache": row(
        kept={
            "type": "array",
            "items": row(model=TEXT, user=TEXT, identity=TEXT, pages=COUNT, size_bytes=COUNT, used_at=TIME),
        },
        written_bytes=COUNT,
        path=TEXT,
    ),
    "doctor": rows(check=TEXT, state=STATUS, status=STATUS, message=TEXT, hint=TEXT),
    "model search": rows(**MODEL),
    "model recommend": rows(name=TEXT, weight_bytes=COUNT, needed_bytes=COUNT, good_at=TEXT, on_disk=FLAG),
    "config show": rows(key=TEXT, value={}, origin=TEXT),
    "version": {"type": "object", "additionalProperties": TEXT},
}


def parsed(verb, text):
    """What a verb printed, found to be what its schema says."""
    value = json.loads(text)
    jsonschema.validate(value, {"$schema": "https://json-schema.org/draft/2020-12/schema", **SCHEMAS[verb]})
    return value
