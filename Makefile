# Everything a developer does here. CI calls these targets and nothing else.

# The interpreter that .venv is made from: any CPython from 3.9 to 3.14.
PYTHON ?= python3

MATURIN := maturin>=1.16,<2
RUFF := ruff==0.17.4
TEST_TOOLS := 'pytest>=7.4' 'pytest-xdist>=3.5' 'sortedcontainers>=2.4' 'coverage>=7.4' \
	'hypothesis>=6.82' 'behave>=1.3' 'pytest-bdd>=8' 'gherkin-official>=29'

# Tests mostly wait for processes, each of which has a core. Those of a file stay together, as they share what they made.
SIDE_BY_SIDE := -n 2 --dist loadfile

BIN := .venv/bin
CHOICE := target/python-choice
# Files and folders, so that a deleted file counts as a change.
SOURCES := Cargo.toml Cargo.lock pyproject.toml \
	$(shell find crates/*/src crates/*/Cargo.toml crates/*/build.rs 2>/dev/null) \
	$(shell find python/testwright -name '*.py' -o -name '*.pyi')
PYTHON_FILES := python scripts examples docs bench crates/python/src/support.py crates/python/src/coverage/observe.py crates/python/src/model/strategies \
	crates/capture/src/validate/runner.py crates/capture/src/validate/guard.py crates/capture/src/mutate/run/*.py \
	crates/capture/src/write/helpers.py crates/readable/src/steps/*.py

# The tests embed the interpreter: it is found at build time by the first, noticed to have changed by the second,
# and finds its packages by the third (a virtual environment is recognised by the `python3` that is first on PATH).
EMBED = PYO3_PYTHON="$$(head -1 $(CHOICE))" PYO3_ENVIRONMENT_SIGNATURE="$$(cat $(CHOICE))" PATH="$(CURDIR)/$(BIN):$$PATH"

.DELETE_ON_ERROR:
.PHONY: help install demo test test-rust test-python check fix bench fuzz clean FORCE

help: ## show this list
	@grep -E '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | awk -F '\t' '{ printf "  make %-9s %s\n", $$1, $$2 }'
	@echo; echo '  PYTHON=/path/to/python3.12 after any of them chooses the interpreter (now: $(PYTHON)).'

install: target/installed ## make .venv with the testwright command in it, built in release mode

# Changes only when another Python is chosen than last time.
$(CHOICE): FORCE
	@mkdir -p target
	@command -v $(PYTHON) >/dev/null || { echo "There is no $(PYTHON) on this machine. Install Python, or choose one: make PYTHON=/path/to/python3.12" >&2; exit 1; }
	@$(PYTHON) scripts/choose_python.py > $@.new || { rm -f $@.new; exit 1; }
	@if cmp -s $@.new $@; then rm $@.new; else mv $@.new $@; fi

.venv/ready: $(CHOICE)
	rm -rf .venv
	"$$(head -1 $(CHOICE))" -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check '$(MATURIN)' $(TEST_TOOLS)
	@touch $@

# What pip says about itself is of no interest, so its output is dropped; cargo and errors are still heard.
# Its own target folder, because maturin's and `cargo test`'s builds of pyo3 differ and would replace each other.
target/installed: .venv/ready $(SOURCES)
	@command -v cargo >/dev/null || { echo "Rust is needed to build Testwright: install it with rustup, then try again" >&2; exit 1; }
	CARGO_TARGET_DIR=target/maturin VIRTUAL_ENV="$(CURDIR)/.venv" $(BIN)/maturin develop --release >/dev/null
	@touch $@

demo: install ## run the first example: a failure is found and reduced
	@$(BIN)/testwright run examples/first-minute/*.tstl --seed 1; status=$$?; \
	if [ $$status -eq 1 ]; then echo; echo "That is what was to be shown: the example has a bug on purpose."; \
	else echo "The demo was to find a failure (exit status 1), but the exit status is $$status." >&2; exit 1; fi

test: test-rust test-python ## everything: Rust, Python, examples, docs

# The tests of crates that embed Python are linked to its shared library. Debian's python3 comes without.
test-rust: install
	@if $(BIN)/python -c 'import os, sysconfig as s; v = s.get_config_var; sys_ok = v("Py_ENABLE_SHARED") and os.path.exists(os.path.join(v("LIBDIR"), v("LDLIBRARY"))); raise SystemExit(not sys_ok)'; then \
		echo cargo test --no-fail-fast --workspace --exclude testwright-extension; \
		$(EMBED) cargo test --quiet --no-fail-fast --workspace --exclude testwright-extension; \
	else \
		echo "NOTE: this Python has no shared library, so the Rust tests that embed it are left out." >&2; \
		echo "      To run them too: sudo apt install python3-dev, or choose another PYTHON." >&2; \
		cargo test --quiet --no-fail-fast -p testwright-core -p testwright-source -p testwright-lang -p testwright-model -p testwright-capture -p testwright-readable -p testwright-report -p testwright-campaign; \
	fi

test-python: install
	PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/python -m pytest -q $(SIDE_BY_SIDE)

check: .venv/ready ## format, lints with warnings denied, promises about dependencies
	cargo fmt --all --check
	$(EMBED) cargo clippy --quiet --workspace --all-targets -- -D warnings
	@scripts/check_dependencies
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check '$(RUFF)'
	$(BIN)/ruff format --check $(PYTHON_FILES)
	$(BIN)/ruff check $(PYTHON_FILES)

fix: .venv/ready ## format, and accept the output of the expectation tests for you to read in the diff
	cargo fmt --all
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check '$(RUFF)'
	$(BIN)/ruff format $(PYTHON_FILES)
	$(BIN)/ruff check --fix $(PYTHON_FILES)
	$(EMBED) UPDATE_EXPECT=1 UPDATE_EXPECTATIONS=1 cargo test --quiet --workspace --exclude testwright-extension
	$(MAKE) install
	PATH="$(CURDIR)/$(BIN):$$PATH" UPDATE_EXPECTATIONS=1 $(BIN)/python -m pytest -q python/tests/test_examples.py

ifdef BENCH_PYTHONS
bench: ## measure everything against others and write docs/benchmarks.md (QUICK=1: a little of it, BRIEF=1: what depends on the interpreter)
	@for python in $(BENCH_PYTHONS); do $(MAKE) bench PYTHON=$$python BENCH_PYTHONS= || exit 1; done
else
bench: install
	@$(BIN)/python bench/run.py $(if $(QUICK),--quick) $(if $(BRIEF),--brief)
endif

fuzz: ## throw broken harnesses at the parser for SECONDS (default 60)
	cargo run --release --quiet -p testwright-fuzz -- $(or $(SECONDS),60) $(or $(SEED),1)

clean: ## remove all that was built
	rm -rf target .venv dist testwright-out .pytest_cache .ruff_cache
	find python -name '__pycache__' -prune -exec rm -rf {} + -o -name '_native*.so' -exec rm -f {} +
