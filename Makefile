# Each target sets up the environments that it needs. You need a Python and a C compiler.
PYTHON ?= python3
VENVS  := .venvs
NEWEST := $(VENVS)/newest
OLDEST := $(VENVS)/oldest
TOOLS  := $(VENVS)/tools
BUILD  := $(VENVS)/build
# The oldest pyarrow that pyproject.toml allows.
OLDEST_PYARROW := $(shell sed -n 's/^ *"pyarrow>=\([0-9]*\)",/\1.0.0/p' pyproject.toml)
SOURCES := $(shell find _arrow_io arrow_digest kiln_arrow -name '*.py' -o -name '*.c' -o -name '*.h') pyproject.toml setup.py README.md
PYTEST_ARGS ?= -q -n auto --dist worksteal
PEERS := starfix-compiled starfix-current older

.PHONY: demo test test-all test-newest test-lanes test-oldest test-oldest-native sanitize lint golden smoke bench bench-full pictures fuzz fuzz-commands fuzz-sample test-torch test-lance clean-exits coverage docs clean

# Hash one table that is written in many ways. The environment has what users install, and nothing else.
demo: $(VENVS)/demo/ready
	$(VENVS)/demo/bin/python docs/demo.py

# Run all tests against the installed wheel, with the newest pyarrow and the C library. Contributors run this.
# Property tests draw a quarter of their examples; test-all draws all of them.
test: export KILN_TEST_EXAMPLES := few
test: test-newest

# Run everything that has to hold before a change lands, two targets at a time. test-oldest runs all tests with the oldest
# supported pyarrow and without the C library. test-oldest-native runs the tests that touch the C library with the oldest
# pyarrow. test-lanes runs the golden vectors in every number of lanes that this CPU has.
ALL := lint test-newest test-lanes test-oldest test-oldest-native sanitize golden smoke demo docs fuzz-sample
test-all:
	$(MAKE) --no-print-directory $(VENVS)/wheel $(VENVS)/demo/ready
	$(MAKE) --no-print-directory --jobs=2 --output-sync=target $(ALL)

test-newest: $(NEWEST)/ready
	$(NEWEST)/bin/python .ci/kernels.py $${ARROW_DIGEST_REQUIRE_NATIVE:+native}
	KILN_TEST_INSTALLED=1 $(NEWEST)/bin/pytest $(PYTEST_ARGS)

test-lanes: $(NEWEST)/ready
	for lanes in $$($(NEWEST)/bin/python .ci/kernels.py lanes); do \
	    ARROW_DIGEST_LANES=$$lanes $(NEWEST)/bin/pytest $(PYTEST_ARGS) tests/digest/test_golden.py || exit 1; done

test-oldest: $(OLDEST)/ready
	ARROW_DIGEST_KERNELS=portable $(OLDEST)/bin/python .ci/kernels.py portable
	ARROW_DIGEST_KERNELS=portable KILN_TEST_INSTALLED=1 $(OLDEST)/bin/pytest $(PYTEST_ARGS)

test-oldest-native: $(OLDEST)/ready
	KILN_TEST_INSTALLED=1 $(OLDEST)/bin/pytest $(PYTEST_ARGS) tests/digest/test_native.py tests/digest/test_golden.py

# The C library under AddressSanitizer and UndefinedBehaviorSanitizer.
sanitize: $(NEWEST)/ready
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
	$(NEWEST)/bin/python golden/generate_trees.py --check
	$(OLDEST)/bin/python golden/generate_trees.py --check
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

# Draw the pictures and tables again, from figures that were measured before.
pictures: $(NEWEST)/ready $(VENVS)/pictures
	$(NEWEST)/bin/python benchmarks/render.py
	$(NEWEST)/bin/python benchmarks/figures.py

$(VENVS)/pictures: $(NEWEST)/ready pyproject.toml
	$(NEWEST)/bin/pip install --quiet --disable-pip-version-check $$($(PYTHON) .ci/requirements.py bench)
	touch $@

# Versions of starfix with two different hashes share one name. Older versions of the other peers show whose hashes change.
$(VENVS)/starfix-compiled/ready: REQUIREMENTS := starfix==0.1.3
$(VENVS)/starfix-current/ready: REQUIREMENTS := starfix
$(VENVS)/starfix-%/ready:
	$(PYTHON) -m venv $(@D)
	$(@D)/bin/pip install --quiet --disable-pip-version-check --upgrade $(REQUIREMENTS) numpy
	touch $@

$(VENVS)/older/ready: $(VENVS)/wheel
	bash .ci/venv $(VENVS)/older $(PYTHON) pyarrow==$(OLDEST_PYARROW) pandas==2.2.3 polars==1.30.0 duckdb==1.3.0

# A coverage-guided run over the Kiln decoders; tests/fuzz/README.md has the last full one.
fuzz: $(NEWEST)/ready
	$(NEWEST)/bin/pip install --quiet --disable-pip-version-check $$($(PYTHON) .ci/requirements.py fuzz)
	$(NEWEST)/bin/python tests/fuzz/fuzz_kiln.py

# Every command on every bit of small files' footers and schemas flipped, and on 200,000 mutations of them.
fuzz-commands: $(NEWEST)/ready
	KILN_TEST_INSTALLED=1 $(NEWEST)/bin/python tests/fuzz/fuzz_commands.py $(FUZZ_ARGS)

# A fixed part of fuzz-commands, about a minute on one core.
fuzz-sample: $(NEWEST)/ready
	KILN_TEST_INSTALLED=1 $(NEWEST)/bin/python tests/fuzz/fuzz_commands.py --every 139 --mutations 2000 --workers 1

# torch is a large download, so its tests have an environment and a target of their own.
test-torch: $(VENVS)/wheel
	bash .ci/venv $(VENVS)/torch $(PYTHON) $$($(PYTHON) .ci/requirements.py torch)
	KILN_TEST_TORCH=1 $(VENVS)/torch/bin/pytest tests/kiln/test_torch.py tests/kiln/test_arrow_torch.py $(PYTEST_ARGS)

# Lance is a large download too.
test-lance: $(VENVS)/wheel
	bash .ci/venv $(VENVS)/lance $(PYTHON) $$($(PYTHON) .ci/requirements.py lance)
	KILN_TEST_LANCE=1 $(VENVS)/lance/bin/pytest tests/kiln/test_arrow_lance.py $(PYTEST_ARGS)

# Two hundred processes that read tensors from Parquet, each of which has to end with status 0.
clean-exits: $(NEWEST)/ready
	KILN_ARROW_TEST_EXITS=200 $(NEWEST)/bin/pytest tests/kiln/test_arrow_processes.py -k ends_well

# Golden tests are left out, because a branch that only golden vectors reach has no test that claims something about it.
coverage: $(NEWEST)/ready
	$(NEWEST)/bin/pytest -p no:arrow_digest -m "not golden" --cov --cov-report=term $(PYTEST_ARGS)

# The documentation site, in docs/_build. A warning is a failure.
docs: $(VENVS)/wheel
	bash .ci/venv $(VENVS)/docs $(PYTHON) $$($(PYTHON) .ci/requirements.py docs)
	$(VENVS)/docs/bin/sphinx-build -W --keep-going -n -E -q -c docs . docs/_build

$(VENVS)/wheel: $(BUILD)/ready $(SOURCES)
	rm -rf dist build
	$(BUILD)/bin/python -m build --outdir dist .
	bash .ci/repair $(BUILD)/bin
	ls -t dist/*.whl | head -1 > $@

$(BUILD)/ready: pyproject.toml
	$(PYTHON) -m venv $(BUILD)
	$(BUILD)/bin/pip install --quiet --disable-pip-version-check $$($(PYTHON) .ci/requirements.py build)
	touch $@

$(TOOLS)/ready: pyproject.toml
	$(PYTHON) -m venv $(TOOLS)
	$(TOOLS)/bin/pip install --quiet --disable-pip-version-check $$($(PYTHON) .ci/requirements.py lint runtime)
	touch $@

$(VENVS)/demo/ready: $(SOURCES)
	$(PYTHON) -m venv $(VENVS)/demo
	$(VENVS)/demo/bin/pip install --quiet --disable-pip-version-check .
	touch $@

$(NEWEST)/ready: $(VENVS)/wheel
	bash .ci/venv $(NEWEST) $(PYTHON)

$(OLDEST)/ready: $(VENVS)/wheel
	bash .ci/venv $(OLDEST) $(PYTHON) pyarrow==$(OLDEST_PYARROW)

clean:
	rm -rf $(VENVS) dist build docs/_build *.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
