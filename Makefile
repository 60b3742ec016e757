# The two commands of the README are `make quickstart` and `make test`; each does all the set-up that is missing.
BUILD := build
JOBS  := $(shell nproc)

.PHONY: all programs install deb wheel quickstart claims claims-book validation test test-recipes test-long asan tsan fuzz soak mutation gpu-bundle cuda planner-page setup setup-tests schema docs format tidy clean help

all: $(BUILD)/build.ninja
	cmake --build $(BUILD) -j $(JOBS)

# What a run needs, without the tests.
programs: $(BUILD)/build.ninja
	cmake --build $(BUILD) -j $(JOBS) --target longhaul longhaul-train longhaul-sim

# Programs, scenarios and completion for bash below PREFIX: docs/howto/install.md.
PREFIX := /usr/local
install: programs
	cmake --install $(BUILD) --prefix $(PREFIX)

# The same as a Debian package: BUILD/longhaul_VERSION_ARCHITECTURE.deb; scripts/try_deb.sh tries it (as root).
deb: programs
	cd $(BUILD) && cpack

# The Python package with longhaul itself, for pip on any Linux: dist/*.whl.
wheel:
	cmake --preset wheel
	cmake --build build-wheel -j $(JOBS) --target longhaul
	scripts/wheel.sh build-wheel dist

quickstart: setup programs
	$(BUILD)/bin/longhaul run scenarios/quickstart.json --out results/quickstart --jobs $(JOBS) --resume

# The verdict: the network-only claims of scenarios/paper, continued where they were cut; results/claims/*.md are the matrices.
CLAIMS := internet stragglers start-apart regions homes overlap libraries
claims: setup programs
	mkdir -p results/claims
	for of in $(CLAIMS); do \
	  $(BUILD)/bin/longhaul run scenarios/paper/claim-$$of.json --out results/claims/$$of --jobs $(JOBS) --resume && \
	  $(BUILD)/bin/longhaul claims results/claims/$$of -o results/claims/$$of.md || exit; \
	done

# Ten claims of others on one page, in a minute.
claims-book: setup programs
	scripts/claims_book.py $(BUILD)/bin/longhaul > $(BUILD)/book.md && mv $(BUILD)/book.md results/reference/claims/book.md

# Every figure that others measured beside its prediction; docs/validation/real-runs.md has them in short.
VALIDATION := results/reference/validation/tables.md
validation: setup programs
	$(BUILD)/bin/longhaul validate --jobs $(JOBS) --format markdown > $(BUILD)/validation.md
	{ echo '# Every figure of real runs'; echo; echo 'Written by `make validation`.'; echo; cat $(BUILD)/validation.md; } > $(VALIDATION)

test: setup-tests all
	ctest --test-dir $(BUILD) --output-on-failure -j $(JOBS)

# The recipes for schedulers in docs/examples, which `make test` skips where a scheduler is missing: installs them all (slurmd wants root).
test-recipes: setup-tests all
	scripts/setup.sh --recipes
	LONGHAUL_RECIPES=all ctest --test-dir $(BUILD) --output-on-failure -R '^recipe_'

# The checks that take minutes: losses over three seeds, fifty kills of each method, packets against flow over a grid, 200 drawn
# plans beside their runs, and the hour of docs/howto/reviewers.md.
test-long: setup-tests all
	cmake --build $(BUILD) -j $(JOBS) --target long_test
	$(BUILD)/bin/long_test
	tests/soak/plans.py $(BUILD)/bin $(BUILD)/drawn-plans
	python3 tests/walks/reviewer.py $(BUILD)/bin/longhaul .

# The unit tests of all that needs neither LibTorch nor ns-3, with the address and undefined-behaviour sanitizers; the build is that of
# make fuzz.
asan: setup-tests
	scripts/setup.sh --fuzz
	cmake --preset fuzz
	cmake --build build-fuzz -j $(JOBS)
	ctest --preset fuzz -j $(JOBS) -E 'browser|report_lint'

# What runs in several threads, with the thread sanitizer: the back-ends, and ranks as threads. (The job pool has no threads: it is one
# loop over the messages of its children.)
tsan: setup-tests
	cmake --preset tsan
	cmake --build build-tsan -j $(JOBS) --target threads_test
	build-tsan/bin/threads_test

# Each fuzz target for a minute (FUZZ_SECONDS), from the corpus in the tree and what earlier calls found: docs/howto/fuzz.md.
FUZZ_SECONDS := 60
FUZZ_TARGETS := units json csv scenario matrix graphml link_trace shards safetensors checkpoint trace journal absences run_directory measured
fuzz:
	scripts/setup.sh --fuzz
	cmake --preset fuzz
	cmake --build build-fuzz -j $(JOBS) --target $(FUZZ_TARGETS:=_fuzz)
	for target in $(FUZZ_TARGETS); do \
	  mkdir -p build-fuzz/found/$$target && echo "== $$target" && \
	  build-fuzz/bin/$${target}_fuzz -max_total_time=$(FUZZ_SECONDS) -timeout=20 -rss_limit_mb=3000 -verbosity=0 \
	    -print_final_stats=1 -artifact_prefix=build-fuzz/found/$$target- \
	    build-fuzz/found/$$target tests/fuzz/corpus/$$target || exit; \
	done

# Random scenarios, killed and resumed at random, for an hour (SOAK_SECONDS): docs/howto/fuzz.md. What differs stays in build/soak.
SOAK_SECONDS := 3600
SOAK_SEED := 1
soak: programs
	tests/soak/soak.py $(BUILD)/bin $(BUILD)/soak --seconds $(SOAK_SECONDS) --seed $(SOAK_SEED)

# Small faults of product lines, and whether the unit tests of their folders notice them: CONTRIBUTING.md. A stopped run continues.
MUTATION_ROOMS := replay
MUTATION_SINCE :=
MUTATION_DRAW := 60
mutation: setup-tests
	tests/mutation/mutate.py $(MUTATION_ROOMS:%=--room %) $(MUTATION_SINCE:%=--since %) --draw $(MUTATION_DRAW) \
	  --build build-mutation --results $(BUILD)/mutants.jsonl

# The planner in one HTML file, which opens from the disk: build/bin/longhaul-planner.html (docs/howto/plan.md).
EMSCRIPTEN := /usr/share/emscripten/cmake/Modules/Platform/Emscripten.cmake
planner-page:
	scripts/setup.sh --planner-page
	cmake -S browser -B build-browser -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_TOOLCHAIN_FILE=$(EMSCRIPTEN)
	cmake --build build-browser -j $(JOBS)
	mkdir -p $(BUILD)/bin && cp build-browser/longhaul-planner.html $(BUILD)/bin/

# The programs with CUDA, in build-cuda, against a PyTorch that pip installs into torch-cuda (docs/howto/gpu.md).
cuda:
	scripts/setup.sh --cuda
	cmake --preset cuda
	cmake --build build-cuda -j $(JOBS) --target longhaul longhaul-train longhaul-sim

# What scripts/first_card.sh needs on a GPU machine without a network; also needs Debian's package googletest.
gpu-bundle: programs
	scripts/gpu_bundle.sh $(BUILD) $(BUILD)/gpu-bundle.tar.gz

# Installs the Debian packages that are missing (as root or through sudo), or says which.
setup:
	@scripts/setup.sh

# And those that the tests use besides.
setup-tests:
	@scripts/setup.sh --tests

$(BUILD)/build.ninja: | setup
	cmake --preset release

# The schemas are made from the declarations in core/, methods/ and net/topologies/.
schema: programs
	$(BUILD)/bin/longhaul list schema > scenarios/scenario.schema.json
	$(BUILD)/bin/longhaul plan --schema > scenarios/plan.schema.json

# And a page for each section of the options; `longhaul list options` prints the same.
docs: programs
	scripts/option_pages.py $(BUILD)/bin/longhaul $(BUILD)/docs/options

format:
	git ls-files '*.h' '*.cc' '*.cu' '*.cuh' | xargs clang-format -i

tidy: all
	git ls-files '*.cc' | xargs clang-tidy -p $(BUILD) --quiet

clean:
	rm -rf $(BUILD)

help:
	@echo "make quickstart   set up, build, run scenarios/quickstart.json, open results/quickstart/report.html"
	@echo "make install      programs, scenarios and completion for bash into PREFIX=/usr/local"
	@echo "make deb|wheel    a Debian package of all, a Python package with longhaul alone"
	@echo "make claims       set up, build, run the claims of scenarios/paper/claim-*.json (network alone), matrices in results/claims"
	@echo "make claims-book  ten published claims, judged on one page: results/reference/claims/book.md"
	@echo "make validation   replay scenarios/validation, write results/reference/validation/tables.md"
	@echo "make test         set up, build, run all tests"
	@echo "make test-recipes the recipes of docs/examples for schedulers, which it installs"
	@echo "make test-long    the checks that take many minutes"
	@echo "make asan|tsan    unit tests with sanitizers: address and undefined behaviour, threads"
	@echo "make fuzz         every fuzz target for a minute (FUZZ_SECONDS=60)"
	@echo "make soak         random scenarios, killed and resumed at random, for an hour (SOAK_SECONDS=3600)"
	@echo "make mutation     mutants of MUTATION_ROOMS=replay, of lines since MUTATION_SINCE=, and whether tests notice them"
	@echo "make cuda         the programs with CUDA, against a PyTorch by pip, in build-cuda"
	@echo "make planner-page the planner in one HTML file, by Emscripten"
	@echo "make gpu-bundle   pack what scripts/first_card.sh needs on a GPU machine"
	@echo "make setup|all|schema|docs|format|tidy|clean"
