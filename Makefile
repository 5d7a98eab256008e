# Everything a developer does here. CI calls these targets and nothing else.

# The interpreter that .venv is made from: any CPython from 3.9 to 3.14.
PYTHON ?= python3

MATURIN := maturin>=1.16,<2
RUFF := ruff==0.17.4
TEST_TOOLS := 'pytest>=7.4' 'pytest-xdist>=3.5' 'sortedcontainers>=2.4' 'coverage>=7.4' \
	'hypothesis>=6.82' 'behave>=1.3' 'pytest-bdd>=8' 'gherkin-official>=29'

# Tests mostly wait for processes, so there are more of them than cores. Those of a file stay together, as they share what
# they made.
SIDE_BY_SIDE := -n 3 --dist loadfile

# The Python tests of `make smoke`: the commands that most people use, and the pages.
SMOKE := $(addprefix python/tests/test_,check.py replay.py explore.py package.py docstrings.py triage.py regress.py)

# Interpreters for `make soak`, besides the chosen one.
OTHER_PYTHONS ?= $(shell for v in 9 10 11 12 13 14; do command -v python3.$$v; done)

BIN := .venv/bin
PYTEST = PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/python -m pytest -q $(SIDE_BY_SIDE)
CHOICE := target/python-choice
# Files and folders, so that a deleted file counts as a change.
SOURCES := Cargo.toml Cargo.lock pyproject.toml \
	$(shell find crates/*/src crates/*/Cargo.toml crates/*/build.rs 2>/dev/null) \
	$(shell find python/testwright -name '*.py' -o -name '*.pyi')
PYTHON_FILES := python scripts examples docs bench crates/python/src/support.py crates/python/src/place_of_failure.py crates/python/src/coverage/observe.py crates/python/src/model/strategies \
	crates/capture/src/validate/runner.py crates/capture/src/validate/guard.py crates/capture/src/mutate/run/*.py \
	crates/capture/src/write/helpers.py crates/readable/src/steps/*.py

# What maturin sets when it builds the extension module, so that cargo's builds and maturin's share what they can.
# PATH lets an embedded interpreter find the packages of .venv: it looks for the `python3` that is first there.
EMBED = PYO3_BUILD_EXTENSION_MODULE=1 PYO3_PYTHON="$(CURDIR)/$(BIN)/python" PYTHON_SYS_EXECUTABLE="$(CURDIR)/$(BIN)/python" \
	PYO3_ENVIRONMENT_SIGNATURE="$$($(BIN)/python -c 'import sys, struct; print("cpython-%d.%d-%dbit" % (sys.version_info[:2] + (8 * struct.calcsize("P"),)))')" \
	PATH="$(CURDIR)/$(BIN):$$PATH"

# Tests of crates that embed Python are linked to its shared library. Debian's python3 comes without.
HAS_LIBRARY = $(shell $(BIN)/python -c 'import os, sysconfig as s; v = s.get_config_var; print("yes" if v("Py_ENABLE_SHARED") and os.path.exists(os.path.join(v("LIBDIR"), v("LDLIBRARY"))) else "")')
WITHOUT_PYTHON := core source lang model capture readable report campaign
TESTED = $(if $(HAS_LIBRARY),--workspace --exclude testwright-extension,$(addprefix -p testwright-,$(WITHOUT_PYTHON)))
CARGO_TEST = $(EMBED) cargo test --quiet --no-fail-fast $(TESTED)

.DELETE_ON_ERROR:
.PHONY: help install demo smoke test test-rust test-python soak check fix bench fuzz clean FORCE

help: ## show this list
	@grep -E '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | awk -F '\t' '{ printf "  make %-9s %s\n", $$1, $$2 }'
	@echo; echo '  PYTHON=/path/to/python3.12 after any of them chooses the interpreter (now: $(PYTHON)).'

install: target/installed-release ## make .venv with the testwright command in it, built in release mode

# Changes only when another Python is chosen than last time.
$(CHOICE): FORCE
	@mkdir -p target
	@command -v $(PYTHON) >/dev/null || { echo "There is no $(PYTHON) on this machine. Install Python, or choose one: make PYTHON=/path/to/python3.12" >&2; exit 1; }
	@$(PYTHON) scripts/choose_python.py > $@.new || { rm -f $@.new; exit 1; }
	@if cmp -s $@.new $@; then rm $@.new; else mv $@.new $@; fi

.venv/ready: $(CHOICE)
	rm -rf .venv
	@# What was built for another interpreter has its paths.
	@for profile in dev release; do cargo clean --quiet --profile $$profile -p pyo3-build-config 2>/dev/null || true; done
	"$$(head -1 $(CHOICE))" -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check '$(MATURIN)' $(TEST_TOOLS)
	@touch $@

# There is one installed command, built either for use or for tests. The build for tests has no optimisation, line numbers,
# and checks for overflow; it takes a third of the time, and the tests, which mostly wait for processes, need a tenth more.
target/installed-release target/installed-dev: target/installed-%: .venv/ready $(SOURCES)
	@command -v cargo >/dev/null || { echo "Rust is needed to build Testwright: install it with rustup, then try again" >&2; exit 1; }
	rm -f target/installed-*
	VIRTUAL_ENV="$(CURDIR)/.venv" $(BIN)/maturin develop --profile $* >/dev/null
	@touch $@

demo: install ## run the first example: a failure is found and reduced
	@$(BIN)/testwright run examples/first-minute/*.tstl --seed 1; status=$$?; \
	if [ $$status -eq 1 ]; then echo; echo "That is what was to be shown: the example has a bug on purpose."; \
	else echo "The demo was to find a failure (exit status 1), but the exit status is $$status." >&2; exit 1; fi

smoke: target/installed-dev ## the tests for the inner loop: under a minute once built
	$(CARGO_TEST) --lib
	$(if $(HAS_LIBRARY),$(EMBED) cargo test --quiet -p testwright-cli --test integration)
	$(PYTEST) $(SMOKE)

test: test-rust test-python ## what every change must pass: Rust, Python, examples, docs

test-rust: target/installed-dev
	$(if $(HAS_LIBRARY),,@echo "NOTE: this Python has no shared library, so the Rust tests that embed it are left out. To run them too: sudo apt install python3-dev, or choose another PYTHON." >&2)
	$(CARGO_TEST)

# Some tests wait for processes for a limited time. Those that fail are run once more, one at a time: what fails then, too,
# does not fail because the machine is busy.
test-python: target/installed-dev
	$(PYTEST) || { echo "These are run once more, one at a time:"; $(PYTEST) -n 0 --last-failed --last-failed-no-failures none; }

# Everything at full size, with an optimised build; then the Python tests on the other interpreters that are here.
soak: install ## the long tests: kills, hostile systems, sweeps, benchmarks, other interpreters (hours)
	SOAK=1 $(PYTEST)
	$(MAKE) target/installed-dev
	SOAK=1 SWEEP=all $(CARGO_TEST)
	@for python in $(OTHER_PYTHONS); do $(MAKE) test-python PYTHON=$$python || exit 1; done

check: .venv/ready ## format, lints and documentation with warnings denied, promises about dependencies
	cargo fmt --all --check
	$(EMBED) cargo clippy --quiet --workspace --all-targets -- -D warnings
	$(EMBED) RUSTDOCFLAGS="-D warnings" cargo doc --quiet --workspace --no-deps --document-private-items
	@scripts/check_dependencies
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check '$(RUFF)'
	$(BIN)/ruff format --check $(PYTHON_FILES)
	$(BIN)/ruff check $(PYTHON_FILES)

fix: target/installed-dev ## format, and accept the output of the expectation tests for you to read in the diff
	cargo fmt --all
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check '$(RUFF)'
	$(BIN)/ruff format $(PYTHON_FILES)
	$(BIN)/ruff check --fix $(PYTHON_FILES)
	UPDATE_EXPECT=1 UPDATE_EXPECTATIONS=1 $(CARGO_TEST)
	UPDATE_EXPECTATIONS=1 $(PYTEST) python/tests/test_examples.py

ifdef BENCH_PYTHONS
bench: ## measure everything against others and write docs/benchmarks.md (QUICK=1: a little of it, BRIEF=1: what depends on the interpreter, BENCH_PYTHONS="…": several interpreters)
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
