# Each target sets up what it needs; a Python and a C compiler are all that has to be there.
PYTHON ?= python3
VENVS  := .venvs
NEWEST := $(VENVS)/newest
OLDEST := $(VENVS)/oldest
TOOLS  := $(VENVS)/tools
# The oldest pyarrow that pyproject.toml allows.
OLDEST_PYARROW := $(shell sed -n 's/^ *"pyarrow>=\([0-9]*\)",/\1.0.0/p' pyproject.toml)
SOURCES := $(shell find arrow_digest kiln_arrow -name '*.py' -o -name '*.c' -o -name '*.h') pyproject.toml README.md
PYTEST_ARGS ?=

.PHONY: demo test lint golden smoke bench coverage clean

demo: $(NEWEST)/ready
	$(NEWEST)/bin/python docs/demo.py

# The tests run against the installed wheel, with the newest and the oldest supported pyarrow.
test: test-newest test-oldest

test-%: $(VENVS)/%/ready
	KILN_TEST_INSTALLED=1 $(VENVS)/$*/bin/pytest $(PYTEST_ARGS)

lint: $(TOOLS)/ready
	$(TOOLS)/bin/ruff format --check .
	$(TOOLS)/bin/ruff check .
	$(TOOLS)/bin/mypy
	$(TOOLS)/bin/lint-imports

golden: $(NEWEST)/ready $(OLDEST)/ready
	$(NEWEST)/bin/python golden/generate.py --check
	$(OLDEST)/bin/python golden/generate.py --check

# One quick run on every other supported Python that is installed.
smoke: $(VENVS)/wheel
	bash .ci/smoke

bench: $(NEWEST)/ready
	$(NEWEST)/bin/pytest benchmarks --benchmark-only

# Branches that only golden vectors reach are not covered by claims.
coverage: $(NEWEST)/ready
	$(NEWEST)/bin/pytest -m "not golden" --cov --cov-report=term $(PYTEST_ARGS)

$(VENVS)/wheel: $(TOOLS)/ready $(SOURCES)
	rm -rf dist build
	$(TOOLS)/bin/python -m build --outdir dist .
	mkdir -p $(VENVS) && ls -t dist/*.whl | head -1 > $@

$(TOOLS)/ready: pyproject.toml
	$(PYTHON) -m venv $(TOOLS)
	$(TOOLS)/bin/pip install --quiet --disable-pip-version-check $$($(PYTHON) .ci/requirements.py lint build runtime)
	touch $@

$(NEWEST)/ready: $(VENVS)/wheel
	bash .ci/venv $(NEWEST) $(PYTHON)

$(OLDEST)/ready: $(VENVS)/wheel
	bash .ci/venv $(OLDEST) $(PYTHON) pyarrow==$(OLDEST_PYARROW)

clean:
	rm -rf $(VENVS) dist build *.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
