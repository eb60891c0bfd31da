# Each target sets up what it needs; a Python and a C compiler are all that has to be there.
PYTHON ?= python3
VENVS  := .venvs
NEWEST := $(VENVS)/newest
OLDEST := $(VENVS)/oldest
TOOLS  := $(VENVS)/tools
# The oldest pyarrow that pyproject.toml allows.
OLDEST_PYARROW := $(shell sed -n 's/^ *"pyarrow>=\([0-9]*\)",/\1.0.0/p' pyproject.toml)
SOURCES := $(shell find _arrow_io arrow_digest kiln_arrow -name '*.py' -o -name '*.c' -o -name '*.h') pyproject.toml setup.py README.md
PYTEST_ARGS ?=
PEERS := starfix-compiled starfix-current older

.PHONY: demo test test-newest test-oldest sanitize lint golden smoke bench bench-full pictures fuzz test-torch test-lance clean-exits coverage docs clean

demo: $(NEWEST)/ready
	$(NEWEST)/bin/python docs/demo.py

# The tests run against the installed wheel: all of them with the newest pyarrow and the C library, and all of them with
# the oldest supported pyarrow and without it. What touches the C library also runs with the oldest pyarrow, and the
# golden vectors in every number of lanes that this CPU has.
test: test-newest test-oldest

test-newest: $(NEWEST)/ready
	$(NEWEST)/bin/python .ci/kernels.py $${ARROW_DIGEST_REQUIRE_NATIVE:+native}
	KILN_TEST_INSTALLED=1 $(NEWEST)/bin/pytest $(PYTEST_ARGS)
	for lanes in $$($(NEWEST)/bin/python .ci/kernels.py lanes); do \
	    ARROW_DIGEST_LANES=$$lanes $(NEWEST)/bin/pytest -q tests/digest/test_golden.py || exit 1; done

test-oldest: $(OLDEST)/ready
	ARROW_DIGEST_KERNELS=portable $(OLDEST)/bin/python .ci/kernels.py portable
	ARROW_DIGEST_KERNELS=portable KILN_TEST_INSTALLED=1 $(OLDEST)/bin/pytest $(PYTEST_ARGS)
	KILN_TEST_INSTALLED=1 $(OLDEST)/bin/pytest $(PYTEST_ARGS) tests/digest/test_native.py tests/digest/test_golden.py

# The C library under AddressSanitizer and UndefinedBehaviorSanitizer.
sanitize: $(NEWEST)/ready
	$(NEWEST)/bin/pip install --quiet --disable-pip-version-check setuptools
	bash .ci/sanitize $(abspath $(NEWEST))/bin/python

lint: $(TOOLS)/ready
	$(TOOLS)/bin/ruff format --check .
	$(TOOLS)/bin/ruff check .
	$(TOOLS)/bin/mypy
	$(TOOLS)/bin/lint-imports
	$(TOOLS)/bin/python benchmarks/figures.py --check

golden: $(NEWEST)/ready $(OLDEST)/ready
	$(NEWEST)/bin/python golden/generate.py --check
	$(OLDEST)/bin/python golden/generate.py --check
	$(NEWEST)/bin/python golden/generate_kiln.py --check

# One quick run on every other supported Python that is installed.
smoke: $(VENVS)/wheel
	bash .ci/smoke

# Every figure of the documentation, measured anew: under fifteen minutes on two cores, if nothing else runs there.
# bench-full takes larger sizes and more rounds.
bench: SCALE ?= bench
bench-full: SCALE := full
bench bench-full: $(NEWEST)/ready $(PEERS:%=$(VENVS)/%/ready) $(VENVS)/pictures
	$(NEWEST)/bin/python benchmarks/measure.py --scale $(SCALE) \
	    $(foreach peer,$(PEERS),--peer $(subst -,_,$(peer))=$(abspath $(VENVS)/$(peer)/bin/python))
	$(MAKE) pictures

# The pictures and tables, from figures that were measured before.
pictures: $(NEWEST)/ready $(VENVS)/pictures
	$(NEWEST)/bin/python benchmarks/render.py
	$(NEWEST)/bin/python benchmarks/figures.py

$(VENVS)/pictures: $(NEWEST)/ready pyproject.toml
	$(NEWEST)/bin/pip install --quiet --disable-pip-version-check $$($(PYTHON) .ci/requirements.py bench)
	touch $@

# The two generations of arrow0's reference share a name; older versions of the other peers show whose hashes last.
$(VENVS)/starfix-compiled/ready: REQUIREMENTS := starfix==0.1.3
$(VENVS)/starfix-current/ready: REQUIREMENTS := starfix
$(VENVS)/starfix-%/ready:
	$(PYTHON) -m venv $(@D)
	$(@D)/bin/pip install --quiet --disable-pip-version-check --upgrade $(REQUIREMENTS) numpy
	touch $@

$(VENVS)/older/ready: $(VENVS)/wheel
	bash .ci/venv $(VENVS)/older $(PYTHON) pyarrow==$(OLDEST_PYARROW) pandas==2.2.3 polars==1.30.0 duckdb==1.3.0

# A coverage-guided run over the Kiln decoders; fuzz/README.md has the last full one.
fuzz: $(NEWEST)/ready
	$(NEWEST)/bin/pip install --quiet --disable-pip-version-check $$($(PYTHON) .ci/requirements.py fuzz)
	$(NEWEST)/bin/python fuzz/fuzz_kiln.py

# torch is large, so it is tested apart from the rest.
test-torch: $(VENVS)/wheel
	bash .ci/venv $(VENVS)/torch $(PYTHON) $$($(PYTHON) .ci/requirements.py torch)
	KILN_TEST_TORCH=1 $(VENVS)/torch/bin/pytest tests/kiln/test_torch.py tests/kiln/test_arrow_torch.py $(PYTEST_ARGS)

# So is Lance.
test-lance: $(VENVS)/wheel
	bash .ci/venv $(VENVS)/lance $(PYTHON) $$($(PYTHON) .ci/requirements.py lance)
	KILN_TEST_LANCE=1 $(VENVS)/lance/bin/pytest tests/kiln/test_arrow_lance.py $(PYTEST_ARGS)

# Two hundred processes that read tensors from Parquet, each of which has to end with status 0.
clean-exits: $(NEWEST)/ready
	$(NEWEST)/bin/python benchmarks/clean_exits.py 200

# Branches that only golden vectors reach are not covered by claims.
coverage: $(NEWEST)/ready
	$(NEWEST)/bin/pytest -p no:arrow_digest -m "not golden" --cov --cov-report=term $(PYTEST_ARGS)

# The documentation site, in docs/_build. A warning is a failure.
docs: $(VENVS)/wheel
	bash .ci/venv $(VENVS)/docs $(PYTHON) $$($(PYTHON) .ci/requirements.py docs)
	$(VENVS)/docs/bin/sphinx-build -W --keep-going -n -E -q -c docs . docs/_build

$(VENVS)/wheel: $(TOOLS)/ready $(SOURCES)
	rm -rf dist build
	$(TOOLS)/bin/python -m build --outdir dist .
	bash .ci/repair $(TOOLS)/bin
	ls -t dist/*.whl | head -1 > $@

$(TOOLS)/ready: pyproject.toml
	$(PYTHON) -m venv $(TOOLS)
	$(TOOLS)/bin/pip install --quiet --disable-pip-version-check $$($(PYTHON) .ci/requirements.py lint build runtime)
	touch $@

$(NEWEST)/ready: $(VENVS)/wheel
	bash .ci/venv $(NEWEST) $(PYTHON)

$(OLDEST)/ready: $(VENVS)/wheel
	bash .ci/venv $(OLDEST) $(PYTHON) pyarrow==$(OLDEST_PYARROW)

clean:
	rm -rf $(VENVS) dist build docs/_build *.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
