# Every target first makes .venv, or makes it anew when constraints.txt or pyproject.toml changed.
# PYTHON=python3.12 chooses another Python; REPORT=DIR keeps JUnit files of the tests there.

STAMP := $(shell sh tools/setup.sh --stamp)
BIN := .venv/bin
SOURCES := src tests tools bench examples
LAB_FILES = $(sort $(shell grep -rl --include='*.py' 'mark\.lab' tests))
SPELLED := $(wildcard *.md) deploy docs examples src tools bench

.DEFAULT_GOAL := help
.PHONY: help demo test test-all test-lab test-long check types style site documents bench format reference reference-times setup clean-venv

help:
	@echo "make demo      a first look: run 71 jobs of twenty programs, say what limited them and what answers for real"
	@echo "make test      the quick tests, which any machine can run: about 3 minutes"
	@echo "make test-all  the quick and the thorough tests, as in make check"
	@echo "make test-lab  the tests that need root, strace, fio, a browser or loop devices"
	@echo "make test-long campaigns over beds, many seeds, soak tests: hours; TESTS=tests/lab chooses some,"
	@echo "               results stay under .long, one file a run"
	@echo "make check     the one gate: format, lint, spelling, types, imports, reference pages, site, tests, documents"
	@echo "make site      build the documents as a site in build/site"
	@echo "make bench     what mawl's own parts cost, each compared with its peer; as root it installs peers by apt-get"
	@echo "make format    format the code and sort its imports"
	@echo "make reference print the reference pages and the mixed workloads from the code again, and lower the budget"
	@echo "make reference-times PLACE=DIR  measure what each program takes alone, in DIR: two hours and 60 GB"
	@echo "make clean-venv  remove .venv"
	@echo "settings: PYTHON=python3.12 (another Python), ROWS=generator (bench rows), REPORT=DIR (JUnit files)"

$(STAMP):
	@sh tools/setup.sh

setup: $(STAMP)

demo: $(STAMP)
	@$(BIN)/mawl demo

test: LEFT_OUT := and not thorough
test test-all: $(STAMP)
	$(BIN)/pytest -m "not lab and not long $(LEFT_OUT)" --durations=40 -n 3 --dist worksteal \
	    $(if $(REPORT),--junitxml=$(REPORT)/test.xml)

# Three lab tests at a time load the machine: one that fails is tried again, and CI names it.
# The tests that run alone also run if others failed; they have the time that is left.
test-lab: $(STAMP)
	others=0; \
	$(BIN)/pytest $(LAB_FILES) -m "lab and not alone and not long" --durations=40 -n 3 --dist worksteal \
	    --reruns 1 --rerun-except "stopped: |time of the whole run was over" \
	    $(if $(REPORT),"--junitxml=$(REPORT)/test-lab.xml") || others=$$?; \
	$(BIN)/pytest $(LAB_FILES) -m "lab and alone and not long" --durations=40 $(if $(REPORT),"--junitxml=$(REPORT)/test-alone.xml") && exit $$others

test-long: $(STAMP)
	mkdir -p "$(or $(REPORT),.long)"
	$(BIN)/pytest -m long --durations=40 $(TESTS) --junitxml="$(or $(REPORT),.long)/$$(date +%Y-%m-%dT%H-%M-%S)-$$$$.xml"

check: $(STAMP)
	$(MAKE) -j 2 --output-sync=target documents types style site
	$(MAKE) test-all

types: $(STAMP)
	$(BIN)/mypy

style: $(STAMP)
	$(BIN)/ruff format --check $(SOURCES)
	$(BIN)/ruff check $(SOURCES)
	$(BIN)/codespell $(SPELLED)
	$(BIN)/lint-imports
	$(BIN)/python -m tools.workloads --check
	$(BIN)/python -m tools.reference --check
	$(BIN)/python -m tools.published_table --check

site: $(STAMP)
	$(BIN)/python -m tools.docs_site

documents: $(STAMP)
	$(BIN)/python -m tools.documents

bench: $(STAMP)
	$(BIN)/python -m bench $(ROWS)

format: $(STAMP)
	$(BIN)/ruff check --select I --fix $(SOURCES)
	$(BIN)/ruff format $(SOURCES)

reference: $(STAMP)
	$(BIN)/python -m tools.workloads
	$(BIN)/python -m tools.reference
	$(BIN)/python -m tools.published_table
	$(BIN)/python -m tools.budget

reference-times: $(STAMP)
	$(BIN)/python -m tools.reference_times --place $(PLACE)

clean-venv:
	rm -rf .venv
