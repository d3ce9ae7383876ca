# Felicity. `make help` lists the targets.
VENV ?= .venv
BIN := $(VENV)/bin
FELICITY := $(BIN)/felicity
PIP := $(BIN)/pip install --quiet --disable-pip-version-check
WORKERS ?= 2

.PHONY: help demo test check lint format types models docs docs-check site vendor vendor-check bench clean
.DEFAULT_GOAL := help

help: ## Show this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

$(BIN)/pip:
	tools/make_venv.sh $(VENV)

$(VENV)/.demo: pyproject.toml | $(BIN)/pip
	$(PIP) --editable '.[local,build,report]'
	touch $@

$(VENV)/.dev: pyproject.toml | $(BIN)/pip
	$(PIP) --editable '.[dev]'
	touch $@ $(VENV)/.demo

demo: $(VENV)/.demo ## Install, run the Gricean study on the embedded model, print its table
	$(FELICITY) run examples/demo.toml
	$(FELICITY) report runs/demo/gricean-maxims/*-names runs/demo/gricean-maxims/*-named-answer \
		runs/demo/gricean-maxims/*-plain --out runs/demo/report

models: $(VENV)/.dev ## Fetch the two embedded models that the tests need
	$(FELICITY) models --fetch all

test: models ## Run all tests, doctests and the README's code (WORKERS=2 files at a time)
	$(BIN)/pytest --numprocesses $(WORKERS) --dist loadfile

lint: $(VENV)/.dev ## Look for faults of style
	$(BIN)/ruff check .

format: $(VENV)/.dev ## Format the code
	$(BIN)/ruff format .

format-check: $(VENV)/.dev
	$(BIN)/ruff format --check .

types: $(VENV)/.dev ## Check types (mypy, strict)
	$(BIN)/mypy

docs: models ## Write the generated pages, executing the notebook
	$(BIN)/python tools/make_cli_docs.py
	$(BIN)/python tools/make_quickstart.py
	$(BIN)/python tools/make_schema.py

docs-check: models ## Fail where a generated page is stale or the notebook does not run
	$(BIN)/python tools/make_cli_docs.py --check
	$(BIN)/python tools/make_schema.py --check
	$(BIN)/python tools/make_quickstart.py --check

site: docs ## Build the documentation site into site/ (warnings are errors)
	$(BIN)/mkdocs build --strict

vendor: ## Build the libraries of report.html and of surveys anew from npm (needs node)
	tools/vendor_frontend.sh
	tools/vendor_survey.sh

vendor-check: ## Fail where a vendored library is not the file that was built
	cd src/felicity/report/page/vendor && sha256sum --check --quiet SHA256SUMS
	cd src/felicity/survey/page/vendor && sha256sum --check --quiet SHA256SUMS

check: format-check lint types docs-check vendor-check test ## All of the above that can fail

PEERS := .venv-peers
BENCH := $(BIN)/python benchmarks/scoring.py --peers-venv $(PEERS)
ITEMS ?= 2250
REPEATS ?= 3

$(PEERS)/.done: benchmarks/make_peers.sh
	benchmarks/make_peers.sh $(PEERS)
	touch $@

.bench-models/.done: benchmarks/make_models.py | models
	$(BIN)/python benchmarks/make_models.py .bench-models
	touch $@

bench: models $(PEERS)/.done .bench-models/.done ## Measure scoring speed beside peers (hours; ITEMS=225: minutes)
	$(BENCH) --items $(ITEMS) --repeats $(REPEATS) --peer minicons --peer lm-eval
	$(BENCH) --items $(ITEMS) --repeats $(REPEATS) --peer minicons --peer lm-eval --model .bench-models/gpt2-small-shaped
	$(BENCH) --items $(ITEMS) --repeats $(REPEATS) --peer minicons --model .bench-models/roberta-base-shaped

clean: ## Remove what the tools left behind; runs and caches of models stay
	rm -rf .pytest_cache .mypy_cache .ruff_cache .hypothesis dist build
	find src tests tools benchmarks -name __pycache__ -type d -exec rm -rf {} +
