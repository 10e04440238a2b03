# Needs Python >= 3.10, a Rust toolchain, a C++ compiler and make. Everything else is installed into .venv, at the versions
# of requirements/ and Cargo.lock: `make demo` installs build.txt and run.txt, targets that test or lint also dev.txt. Stamp
# files make a second call quick.

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
CARGO_TARGET_DIR ?= target
export CARGO_TARGET_DIR
# Cargo profile of the extension: `quick` builds fast; wheels and benchmarks have `release`.
PROFILE ?= quick
# For `partita --version`; empty if there is no repository.
COMMIT := $(shell git describe --always --dirty=+ --abbrev=12 2>/dev/null)
FUZZ_SECONDS ?= 60
# Random incremental scripts, compared with Z3 and Bitwuzla.
SCRIPT_SECONDS ?= 600
FUZZ_SEED ?= 1
CSMITH_SEEDS ?= 300
RANDOM_PROGRAMS ?= 200
FLOAT_SAMPLES ?= 1000000
RESULTS ?= partita-bench
INTO ?= docs/experiments

RUST_SOURCES := Cargo.toml Cargo.lock $(shell find core/src bindings -name '*.rs' -o -name Cargo.toml -not -path '*/target/*')

.PHONY: help demo test lint docs plots soak corpus operands hostile long-paths memory stop resume exhaustive random-programs certificates register libraries faults java cpp threads tasks models coreutils bench fuzz wheel clean build

help:
	@echo "make demo     build, then explore and solve the examples"
	@echo "make test     build, then all tests (cargo and pytest)"
	@echo "make lint     clippy, rustfmt, ruff, mypy, words of the glossary"
	@echo "make docs     the documentation as a site, in build/site"
	@echo "make plots    RESULTS=$(RESULTS), a folder of python -m experiments, into INTO=$(INTO)"
	@echo "make soak     make corpus, operands, hostile, long-paths, memory, stop, resume, exhaustive, random-programs, certificates, register, libraries, faults, java, cpp, threads, tasks, models and fuzz: tests that take long"
	@echo "make hostile  programs that try to break limits of time and memory, with a table of what each took"
	@echo "make exhaustive  every input of the programs of tests/programs/exhaustive, natively and in the reported paths"
	@echo "make random-programs  every input of RANDOM_PROGRAMS random programs, under sanitizers and in the reported paths"
	@echo "make operands  float operators on a million operands per operator, format and mode"
	@echo "make register  every library function with symbolic arguments, compared with the native one"
	@echo "make tasks    tasks in the manner of SV-COMP, and 32-bit programs of csmith"
	@echo "make corpus   query logs of benchmarks/queries (and ../shared/corpus) against their recorded verdicts"
	@echo "make coreutils  fetch and build GNU Coreutils; 270 command lines in the engine and natively"
	@echo "make bench    benchmarks (release build)"
	@echo "make fuzz     both parsers, programs of csmith, search strategies, queries against Z3: FUZZ_SECONDS=$(FUZZ_SECONDS) each"
	@echo "make wheel    an installable wheel in dist/"
	@echo "make clean    remove everything that make has made"

PIP_INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --requirement

$(VENV)/.build: requirements/build.txt
	@echo "== installing what building needs into $(VENV)"
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -c 'import sys; sys.exit(0 if sys.version_info >= (3, 10) else "expected Python >= 3.10, found %d.%d: make PYTHON=python3.12" % sys.version_info[:2])'
	$(PIP_INSTALL) requirements/build.txt
	touch $@

$(VENV)/.run: requirements/run.txt | $(VENV)/.build
	@echo "== installing what running needs into $(VENV)"
	$(PIP_INSTALL) requirements/run.txt
	touch $@

$(VENV)/.dev: $(VENV)/.run requirements/dev.txt requirements/experiments.txt
	@echo "== installing tools and libraries for tests into $(VENV)"
	$(PIP_INSTALL) requirements/dev.txt
	touch $@

# Installed in place: the Python part is used from python/, the extension is copied into it. One profile at a time.
$(VENV)/.built-$(PROFILE): pyproject.toml $(RUST_SOURCES) | $(VENV)/.build
	@echo "== building partita ($(PROFILE))"
	MAKEFLAGS= PARTITA_COMMIT=$(COMMIT) VIRTUAL_ENV=$(abspath $(VENV)) $(BIN)/maturin develop --profile $(PROFILE) --locked --quiet
	rm -f $(VENV)/.built-*
	touch $@

# Side by side: what running needs is downloaded while the extension is compiled.
build:
	@$(MAKE) --no-print-directory --jobs=2 $(VENV)/.run $(VENV)/.built-$(PROFILE)

demo: build
	@echo "== partita run on an example with a planted bug"
	@rm -rf build/demo
	$(BIN)/partita run examples/rle.c --out build/demo; test $$? = 1
	$(BIN)/partita show build/demo
	$(BIN)/partita report build/demo
	$(BIN)/partita replay examples/rle.c build/demo --quiet
	@echo "== partita smt on the examples"
	@for file in examples/*.smt2 examples/*.kquery; do echo "-- partita smt $$file"; $(BIN)/partita smt $$file || exit 1; done
	@echo "== the Python solver"
	@for file in examples/*.py; do echo "-- python $$file"; $(BIN)/python $$file || exit 1; done

test: build $(VENV)/.dev
	@echo "== cargo test"
	cargo test --locked --workspace
	@echo "== pytest"
	$(BIN)/python -m pytest --numprocesses 2 --dist worksteal -rs --durations=15

lint: build $(VENV)/.dev
	@echo "== clippy, rustfmt"
	cargo clippy --locked --workspace --all-targets -- -D warnings
	cargo fmt --all --check
	@echo "== ruff, mypy"
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	@echo "== words that the glossary replaces"
	$(BIN)/python tests/lint/words.py

docs: build $(VENV)/.dev
	@echo "== documentation"
	$(BIN)/mkdocs build --strict --quiet
	@echo "build/site/index.html"

# The results of a run with `--scale quick` with all packages built; runs at the papers' sizes go INTO=docs/experiments/full.
plots: build $(VENV)/.dev
	@echo "== plots of $(RESULTS)"
	$(BIN)/python -m experiments --redraw --out $(RESULTS)
	mkdir -p $(INTO)
	cp $(RESULTS)/*.svg $(INTO)/

soak: corpus operands hostile long-paths memory stop resume exhaustive random-programs certificates register libraries faults java cpp threads tasks models fuzz

long-paths: build $(VENV)/.dev
	@echo "== paths of thousands of rounds"
	$(BIN)/python tests/soak/long_paths.py

memory: build $(VENV)/.dev
	@echo "== memory against --max-memory"
	$(BIN)/python tests/soak/memory.py

stop: build $(VENV)/.dev
	@echo "== runs that are stopped at random moments"
	$(BIN)/python tests/soak/stop.py

resume: build $(VENV)/.dev
	@echo "== runs that are killed and resumed; nodes of a cluster that come and go"
	$(BIN)/python tests/soak/resume.py
	$(BIN)/python -m pytest -q tests/soak/cluster_nodes.py

cpp: build $(VENV)/.dev
	@echo "== 200 random C++ programs, here and natively"
	$(BIN)/python tests/soak/differential.py cpp 200 $(FUZZ_SEED)

threads: build $(VENV)/.dev
	@echo "== 100 random programs with threads, here and natively"
	$(BIN)/python tests/soak/differential.py threads 100 $(FUZZ_SEED)

tasks: build $(VENV)/.dev
	@echo "== tasks in the manner of SV-COMP, and 32-bit programs of csmith"
	$(BIN)/python tests/soak/tasks.py
	$(BIN)/python tests/soak/csmith.py 300 1 -m32

models: build $(VENV)/.dev
	@echo "== models of 1,000 satisfiable checks, read back by Z3"
	$(BIN)/python tests/soak/models.py 1000 --seed $(FUZZ_SEED)

hostile: build $(VENV)/.dev
	@echo "== programs that try to break limits of time and memory"
	$(BIN)/python tests/soak/hostile.py

corpus: build $(VENV)/.dev
	@echo "== query logs"
	$(BIN)/python tests/soak/corpus.py
	PARTITA_FLOAT_CORPUS_STEP=1 $(BIN)/python -m pytest -q tests/python/solver/test_float_corpus.py

operands: build $(VENV)/.dev
	@echo "== float operators: a million operands per operator, format and mode"
	PARTITA_FLOAT_SAMPLES=$(FLOAT_SAMPLES) cargo test --locked --profile quick --package partita-core --test integration float::
	PARTITA_FLOAT_BACKENDS=all $(BIN)/python -m pytest -q tests/python/solver/test_backend_floats.py

exhaustive: build $(VENV)/.dev
	@echo "== every input of small programs"
	$(BIN)/python tests/soak/exhaustive.py

random-programs: build $(VENV)/.dev
	@echo "== every input of random programs, under sanitizers: $(RANDOM_PROGRAMS) of them"
	$(BIN)/python tests/soak/random_programs.py $(RANDOM_PROGRAMS) $(FUZZ_SEED)

certificates: build $(VENV)/.dev
	@echo "== certificates of all small programs, checked with another solver"
	$(BIN)/python tests/soak/certificates.py

register: build $(VENV)/.dev
	@echo "== every function of the register of models, each argument symbolic in turn, all inputs of two bytes"
	PARTITA_REGISTER=all $(BIN)/python -m pytest -q --numprocesses 2 --dist worksteal tests/python/run/test_register.py

libraries: build $(VENV)/.dev
	@echo "== functions of the C library on 100,000 values, in the engine and natively"
	PARTITA_LIBC_VALUES=100000 PARTITA_LIBM_VALUES=100000 $(BIN)/python -m pytest --numprocesses 2 tests/python/whole/test_libc.py tests/python/whole/test_libm.py

faults: build $(VENV)/.dev
	@echo "== failing writes, full disks, SIGKILL at random moments"
	$(BIN)/python tests/soak/faults.py

java: build $(VENV)/.dev
	@echo "== 500 generated Java programs, in the engine and in the Java virtual machine"
	$(BIN)/python tests/soak/java.py 500

coreutils: build $(VENV)/.dev
	@echo "== GNU Coreutils, in the engine and natively"
	$(BIN)/python -m experiments.sources coreutils --into build
	$(BIN)/python tests/soak/coreutils.py build/coreutils/coreutils-9.1/src

bench: $(VENV)/.dev
	@$(MAKE) --no-print-directory build PROFILE=release
	@echo "== benchmarks"
	cargo bench --locked --workspace
	$(BIN)/python -m experiments intervals
	$(BIN)/python -m experiments backends
	$(BIN)/python -m experiments integers
	$(BIN)/python -m experiments families
	$(BIN)/python -m experiments floats
	$(BIN)/python -m experiments engine
	$(BIN)/python -m experiments store
	$(BIN)/python -m experiments shared_store
	$(BIN)/python -m experiments workers
	$(BIN)/python -m experiments open_paths

fuzz: build $(VENV)/.dev
	@echo "== fuzzing both parsers, $(FUZZ_SECONDS) seconds each"
	core/fuzz/run $(FUZZ_SECONDS)
	@echo "== damaged class files"
	$(BIN)/python tests/soak/fuzz_classes.py $(FUZZ_SECONDS) $(FUZZ_SEED)
	@echo "== random programs of csmith, run concretely, $(CSMITH_SEEDS) of them"
	$(BIN)/python tests/soak/csmith.py $(CSMITH_SEEDS) 1
	@echo "== every program: answers against Z3, tests against the compiled program"
	$(BIN)/python tests/soak/predictions.py $(FUZZ_SECONDS)
	@echo "== every program without each layer"
	$(BIN)/python tests/soak/ablation.py $(FUZZ_SECONDS)
	@echo "== every program with every search strategy"
	$(BIN)/python tests/soak/fuzz_search.py $(FUZZ_SEED)
	@echo "== random queries over small domains, against all assignments"
	PARTITA_FUZZ_SEEDS=100..135 cargo test --locked --quiet --package partita-core --test integration interval_queries::
	@echo "== a writer of the store, killed 200 times; random queries with a store against Z3"
	PARTITA_STORE_KILLS=200 cargo test --locked --quiet --package partita-core --test integration store::a_killed_writer
	PARTITA_STORE_SCRIPTS=100 $(BIN)/python -m pytest -q tests/python/solver/test_store.py -k z3
	@echo "== random queries, every chain against Z3"
	$(BIN)/python tests/soak/fuzz_scripts.py --seconds $(SCRIPT_SECONDS) --seed $(FUZZ_SEED)
	$(BIN)/python tests/soak/fuzz_queries.py --seconds $(FUZZ_SECONDS) --seed $(FUZZ_SEED)
	@echo "== order, difference and linear queries: 34,000 through each of three chains against Z3"
	$(BIN)/python tests/soak/fuzz_queries.py --family order --queries 34000 --seed $(FUZZ_SEED)
	@echo "== words, bytes, fields, tables: 34,000 through each of three chains against Z3"
	$(BIN)/python tests/soak/fuzz_queries.py --family sets --queries 34000 --seed $(FUZZ_SEED)
	@echo "== floating point: 12,000 queries through each of nine chains against Z3, one chain also against Bitwuzla"
	$(BIN)/python tests/soak/fuzz_queries.py --family floats --queries 12000 --seed $(FUZZ_SEED)

wheel: $(VENV)/.build
	@echo "== a wheel in dist/"
	PARTITA_COMMIT=$(COMMIT) $(BIN)/maturin build --release --locked --out dist

clean:
	rm -rf $(VENV) target dist build core/fuzz/target .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -not -path './.git/*' -prune -exec rm -rf {} +
	rm -f python/partita/*.so
