# Everything stands on one virtual environment, `.venv`, built from requirements.lock with checked hashes.
# `make demo` or `make test` alone is enough on a machine that has Python 3.11 or newer and make.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
PIP := $(BIN)/python -m pip -qq --disable-pip-version-check
LINTED := $(wildcard src tests benchmarks fuzz tools ci)
TYPED := $(wildcard src tests benchmarks fuzz ci)

FUZZERS := $(sort $(wildcard fuzz/[a-z]*.py))
FUZZ_SECONDS ?= 60

EPOCHS ?= 40
QWEN := 0.24.4

# Tests share the cores; `make test WORKERS=0` runs them in one process, TESTS and ARGS choose among them.
WORKERS ?= auto
TESTS ?=
ARGS ?=

.DEFAULT_GOAL := help
.PHONY: help install compiled demo demo-live live test check check-static bench fuzz lock packs clean

help:  ## Show this list
	@sed -nE 's/^([a-z-]+):.*## (.*)/\1|\2/p' $(MAKEFILE_LIST) | while IFS='|' read -r name text; do printf '  make %-9s %s\n' "$$name" "$$text"; done

# An environment that was moved or copied still points at its old place: the stamp holds the place.
$(shell test ! -f $(STAMP) || test "$$(cat $(STAMP))" = "$(CURDIR)" || rm -f $(STAMP))

install: $(STAMP) compiled  ## Build .venv (the other targets do it when needed)

$(STAMP): requirements.lock pyproject.toml
	@command -v $(PYTHON) >/dev/null || { echo "error: there is no '$(PYTHON)' here; name a Python 3.11 or newer: make PYTHON=python3.12 …" >&2; exit 2; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "error: Outstep needs Python 3.11 or newer, '$(PYTHON)' is $$($(PYTHON) --version 2>&1); try make PYTHON=python3.12 …" >&2; exit 2; }
	@echo "setting up $(VENV) from requirements.lock"
	@{ $(BIN)/python -c 'import pip, sys; sys.exit(sys.version_info < (3, 11))' && grep -qF '$(CURDIR)/' $(BIN)/pip; } 2>/dev/null || \
		$(PYTHON) -m venv --clear $(VENV)
	@$(PIP) install --require-hashes -r requirements.lock
	@$(PIP) install --no-deps --no-build-isolation -e .
	@echo '$(CURDIR)' > $@

# Where PYTHONDONTWRITEBYTECODE is set, every start would compile anew what changed since.
compiled: $(STAMP)
	@$(BIN)/python -m compileall -q src

demo: $(STAMP) compiled  ## Judge six recorded refund sessions
	@PATH="$(CURDIR)/$(BIN):$$PATH" tools/demo.sh

# llama.cpp with two models of random weights, and DeepSeek Harness: no key, and nothing but packages is downloaded.
demo-live: $(VENV)/.live compiled  ## Let two local models and a harness play a battery (EPOCHS=40)
	@$(BIN)/python examples/live/demo.py --epochs $(EPOCHS) $(ARGS)

live: $(VENV)/.live $(VENV)/.qwen  ## Install what live tests drive: llama.cpp, DeepSeek Harness, Qwen Code

# From the npm registry, and only where npm is there: nothing but a test needs it.
$(VENV)/.qwen: $(STAMP)
	@! command -v npm >/dev/null || npm install --silent --no-audit --no-fund --ignore-scripts --no-save --prefix $(VENV)/qwen @qwen-code/qwen-code@$(QWEN)
	@touch $@

$(VENV)/.live: $(STAMP) requirements-live.lock
	@echo "setting up llama.cpp and DeepSeek Harness from requirements-live.lock"
	@$(PIP) install --require-hashes -r requirements-live.lock
	@touch $@

test: $(STAMP)  ## Run the tests
	@$(BIN)/python -m pytest -n $(WORKERS) $(ARGS) $(TESTS)

check: test check-static  ## Run the tests and the static checks

# Every tool runs, so that all that is wrong shows at once.
check-static: $(STAMP)
	@status=0; \
	$(BIN)/ruff check --quiet $(LINTED) || status=1; \
	$(BIN)/ruff format --quiet --check $(LINTED) || { echo "error: not formatted; run $(BIN)/ruff format $(LINTED)" >&2; status=1; }; \
	$(BIN)/mypy --no-error-summary $(TYPED) || status=1; \
	$(BIN)/lint-imports --no-logo --no-cache > $(VENV)/imports.log 2>&1 || { cat $(VENV)/imports.log; status=1; }; \
	test $$status -eq 0 && echo "static checks passed: ruff, mypy, import-linter"

bench: $(STAMP) compiled  ## Measure speed against baselines (ROWS="startup …" for some of it)
	@$(BIN)/python benchmarks/run.py $(ROWS)

fuzz: $(VENV)/.fuzz  ## Feed random bytes to the readers for FUZZ_SECONDS each (Linux)
	@test -n "$(FUZZERS)" || { echo "error: there is nothing to run in fuzz/" >&2; exit 2; }
	@set -e; for name in $(basename $(notdir $(FUZZERS))); do echo "== fuzz/$$name.py"; mkdir -p .fuzz/$$name; \
		$(BIN)/python fuzz/$$name.py -max_total_time=$(FUZZ_SECONDS) -max_len=65536 -artifact_prefix=.fuzz/$$name- \
			.fuzz/$$name $(wildcard tests/adapters); done

$(VENV)/.fuzz: $(STAMP) requirements-fuzz.lock
	@$(PIP) install --require-hashes -r requirements-fuzz.lock
	@touch $@

lock:  ## Pin every dependency anew (UPGRADE=1 takes the newest versions)
	@PYTHON="$(PYTHON)" UPGRADE="$(UPGRADE)" tools/lock.sh

packs: $(STAMP)  ## Compile the bundled packs
	@$(BIN)/python -m outstep.contracts.packs

clean:  ## Remove .venv and every cache
	rm -rf $(VENV) .fuzz .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis dist build
	find src tests tools benchmarks fuzz -name __pycache__ -type d -prune -exec rm -rf {} + 2>/dev/null || true
