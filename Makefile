# The one list of commands. `make` alone prints it; every target sets up what it needs.
#
# Set-up happens once per change of requirements.lock or pyproject.toml: .venv/.ready is the
# stamp. Nothing outside this folder is read or written, but for Debian's packages python3-venv
# and, for targets that start Spark, Java, where they are missing and we are root.

SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
MAKEFLAGS += --no-print-directory

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
ARGS ?=

# Put before a command that starts Spark: finds a Java, or brings one (nothing else needs it).
WITH_JAVA = java="$$(VENV="$(VENV)" tools/java.sh)"; JAVA_HOME="$$java"

# The user's own packages and start-up files must not leak into our environment.
export PYTHONNOUSERSITE := 1
unexport PYTHONPATH PYTHONHOME VIRTUAL_ENV
# Spark starts a handful of Pythons that import the same modules: they are compiled once.
unexport PYTHONDONTWRITEBYTECODE

CODE := src examples tests tools $(wildcard benchmarks)
FAST := not slow and not spark and not browser
ALL := not spark and not browser
PYTEST := $(BIN)/python -m pytest
# All kernels as machine code that looks at the bounds of its arrays; such code is kept by itself.
CHECKED := NUMBA_BOUNDSCHECK=1 CEDR_PATIENCE=0 NUMBA_CACHE_DIR="$(CURDIR)/$(VENV)/bounds-checked"
# The folders whose branch coverage is held above a threshold: the ones that say what a query means.
COVERED := model expression language plan semantics
COVERAGE_LEAST := 95
# `make test` runs each test once, but for those of plans. Tests that ask what a query means are traced, which takes four
# times as long; so the others are not. Properties run with many examples. What is in no list is run by `others`.
TRACED := $(addprefix tests/,paper builder hosts runtime $(COVERED))
MANY := $(addprefix tests/,properties conformance)

.PHONY: help setup demo test check fmt lint types layers unit props thorough exhaustive coverage others spark golden bench bench-peers bench-spark profile soak soak-spark kills walk docs docs-check lock java wheels hooks clean

help: ## list the targets
	@echo "Usage: make TARGET [ARGS='more arguments for the tool']"
	@echo
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | while IFS= read -r line; do \
		printf '  %-11s %s\n' "$${line%%:*}" "$${line##*## }"; done

setup: $(READY) ## make .venv from requirements.lock (all other targets do this by themselves)

$(READY): requirements.lock pyproject.toml tools/setup.sh
	@PYTHON="$(PYTHON)" VENV="$(VENV)" tools/setup.sh
	@touch $@

demo: $(READY) ## the paper's query on Spark, three levels side by side (ARGS='--host local' without Spark)
	@$(WITH_JAVA) $(BIN)/cedr demo $(ARGS)

# Not `check`: the three that follow the layers hold all the fast tests already, and the slow ones.
test: lint types layers others coverage thorough spark docs-check ## everything: check, the slow tests, coverage, docs

check: lint types layers unit ## before each commit: lint, types, layers, fast tests (under two minutes)

fmt: $(READY) ## format the code and repair what can be repaired
	@$(BIN)/ruff check --fix-only --quiet $(CODE)
	@$(BIN)/ruff format --quiet $(CODE)

lint: $(READY) ## ruff: rules and format
	@$(BIN)/ruff check --quiet --output-format concise $(CODE) && \
		$(BIN)/ruff format --check --quiet $(CODE) || { echo "lint: try 'make fmt'"; exit 1; }
	@echo "lint: clean"

types: $(READY) ## mypy, strict, on the package and the demo
	@$(BIN)/mypy --no-error-summary
	@echo "types: clean"

layers: $(READY) ## imports only point backwards (import-linter)
	@$(BIN)/lint-imports --no-logo --no-cache

unit: $(READY) ## the fast tests: no JVM, few examples for each property
	@HYPOTHESIS_PROFILE=quick $(PYTEST) -q -n auto -m "$(FAST)" $(ARGS)

props: $(READY) ## the properties alone, with very many examples
	@HYPOTHESIS_PROFILE=deep $(PYTEST) -q -n auto tests/properties $(ARGS)

thorough: $(READY) ## the properties with many examples, the same ones each time, and with bounds checked
	@$(CHECKED) HYPOTHESIS_PROFILE=thorough $(PYTEST) -q -n auto -m "$(ALL)" $(MANY) tests/plan $(ARGS)

exhaustive: $(READY) ## all small histories in all orders, operator by operator (ARGS='--slice 1/50' for a part)
	@$(BIN)/python -m tests.exhaustive $(ARGS)

others: $(READY) ## the tests, slow ones too, that neither coverage nor thorough nor spark runs
	@HYPOTHESIS_PROFILE=check $(PYTEST) -q -n auto -m "$(ALL)" $(addprefix --ignore ,$(TRACED) $(MANY)) $(ARGS)

coverage: $(READY) ## the tests of what a query means, traced; each core folder has its branch coverage checked
	@HYPOTHESIS_PROFILE=quick $(PYTEST) -q -n auto -m "$(ALL)" --cov --cov-report= $(TRACED) $(ARGS)
	@for folder in $(COVERED); do \
		report="$$($(BIN)/coverage report --include="src/cedr/$$folder/*" --fail-under=$(COVERAGE_LEAST))" || \
			{ echo "$$report"; echo "coverage: cedr.$$folder is below $(COVERAGE_LEAST) %"; exit 1; }; \
		echo "coverage: cedr.$$folder $$(echo "$$report" | grep -oE '[0-9.]+%' | tail -n 1)"; \
	done

# A Spark session for each of two processes: most of the time one of them waits.
spark: $(READY) ## the tests that start Spark; a Java is brought where there is none
	@$(WITH_JAVA) HYPOTHESIS_PROFILE=check $(PYTEST) -q -n 2 --dist loadfile -m spark $(ARGS)

golden: $(READY) ## rewrite the golden files; then read the difference line by line
	@CEDR_GOLDEN=rewrite $(PYTEST) -q -n 0 -m "$(FAST)" --ignore tests/docs --ignore tests/repo $(ARGS)
	@git --no-pager diff --stat -- tests 2>/dev/null || true

bench: $(READY) ## the benchmarks, results as JSON (ARGS='runtime --events 500000' for some, smaller)
	@$(BIN)/python -m benchmarks $(ARGS)

bench-peers: $(READY) ## the same query by Flink SQL and DuckDB, in an environment of their own (ARGS='--events 500000')
	@$(WITH_JAVA) $(BIN)/python -m benchmarks.peers $(ARGS)

bench-spark: $(READY) ## the Spark host beside pipelines that do nothing and the query by hand (ARGS='--events 500000 --only bounded')
	@$(WITH_JAVA) $(BIN)/python -m benchmarks.on_spark $(ARGS)

profile: $(READY) ## where the time of one benchmark goes (ARGS="--case 'FIRST, one batch'")
	@$(BIN)/python -m benchmarks.profile_runtime $(ARGS)

soak: $(READY) ## a long run with advancing guarantees: is memory flat? (ARGS='--messages 1000000')
	@$(BIN)/python -m benchmarks.soak $(ARGS)

soak-spark: $(READY) ## the same through Spark: do its processes stay under their bound? (ARGS='--events 50000000')
	@$(WITH_JAVA) $(BIN)/python -m benchmarks.soak_spark $(ARGS)

kills: $(READY) ## a stream on Spark, killed fifty times at drawn places: is the output the same? (ARGS='--kills 5')
	@$(WITH_JAVA) $(BIN)/python -m tests.spark.kills $(ARGS)

walk: $(READY) ## the way of a batch through the engine, function by function (ARGS=--spark: of a bucket)
	@$(BIN)/python tools/walk.py $(ARGS)

docs: $(READY) ## regenerate the generated pages of docs/
	@$(BIN)/python tools/generate_docs.py

docs-check: $(READY) ## fail if a generated page is not up to date
	@$(BIN)/python tools/generate_docs.py --check

lock: $(READY) ## renew requirements.lock (ARGS=--upgrade for the newest versions)
	@$(BIN)/uv pip compile pyproject.toml --extra testing --extra spark --extra delta --extra duckdb --extra kafka --extra postgres --group dev --universal --python-version 3.11 \
		--generate-hashes --no-emit-index-url --no-header --quiet -o requirements.lock $(ARGS)
	@echo "lock: $$(grep -c '==' requirements.lock) packages"

java: $(READY) ## find a Java for Spark, or bring one; print its home
	@VENV="$(VENV)" tools/java.sh

wheels: $(READY) ## build a wheel and try it in fresh environments (ARGS='python3.12 python3.13')
	@$(WITH_JAVA) VENV="$(VENV)" tools/wheels.sh $(or $(ARGS),$(PYTHON))

hooks: $(READY) ## install the pre-commit hooks, which call these same targets
	@$(BIN)/pre-commit install

clean: ## remove everything that make made
	@rm -rf $(VENV) .build dist htmlcov .coverage .coverage.* .hypothesis .mypy_cache .ruff_cache .pytest_cache .import_linter_cache
	@find src tests tools -name __pycache__ -type d -prune -exec rm -rf {} +
