package fairlead_test

import (
	"bufio"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/fairlead-io/fairlead"

// imports says which packages of this module a package may use, and why. What
// is not listed may use nothing of the module. Tests are free.
var imports = []struct {
	from string // a package, or a tree of packages when it ends in /...
	to   []string
	why  string
}{
	{".", []string{"internal/check", "internal/ensure", "internal/mask"}, "the root is what users import everywhere: jobs, the standard library, and what refuses, compares and masks fields"},
	{"driver", []string{".", "alert", "batch", "bulk", "hold", "internal/check", "schedule", "sweep"}, "what a node asks of a store is put together from jobs and what makes them"},
	{"schedule", []string{".", "access", "internal/check", "internal/cron", "internal/ensure", "internal/envelope"}, "a feature decides which jobs exist: it knows jobs, and no other feature, node or store; of access only what an entry of the audit log is"},
	{"batch", []string{".", "internal/await", "internal/check", "internal/descriptors", "internal/paged", "internal/reserved"}, "as schedule"},
	{"sweep", []string{".", "access", "internal/await", "internal/check", "internal/ensure", "internal/reserved"}, "as schedule"},
	{"alert", []string{".", "access", "internal/check", "internal/ensure", "internal/mask", "internal/reserved"}, "as schedule"},
	{"hold", []string{"."}, "what kept jobs waiting follows from jobs and from what a store saw"},
	{"bulk", []string{".", "access", "internal/await", "internal/cause", "internal/check", "internal/mask", "internal/reserved"}, "as schedule"},
	{"access", []string{".", "internal/check"}, "who may use the service is nothing that jobs or nodes know of"},
	{"engine", []string{".", "alert", "batch", "driver", "hold", "schedule", "sweep", "internal/descriptors", "internal/mask", "internal/outage", "internal/starts", "internal/verdict"}, "a node works on any store: it must not know SQL or a database"},
	{"internal/verdict", []string{".", "driver", "internal/descriptors"}, "what becomes of a job is decided without a database: nodes, stores and the model of the suite all ask here"},
	{"internal/outage", []string{"."}, "whether the database is away is what a node says of its beats; of the root only its errors are known"},
	{"internal/starts", []string{".", "driver"}, "what was started is counted without a database"},
	{"worker", []string{".", "driver", "engine", "sweep", "sweep/items", "api/fairlead/v1", "api/fairlead/v1/fairleadv1connect", "api/rpc", "internal/message"}, "a remote worker is a node that knows the service and no store"},
	{"postgres", []string{".", "access", "batch", "driver", "schedule", "sweep", "internal/dispatch", "internal/envelope", "internal/pgurl", "internal/reads", "internal/sqlstore", "internal/verdict"}, "a store knows the contract and what SQL stores share, no engine and no other store"},
	{"mysql", []string{".", "access", "batch", "driver", "schedule", "sweep", "internal/dispatch", "internal/envelope", "internal/mysqlurl", "internal/reads", "internal/sqlstore", "internal/verdict"}, "as postgres"},
	{"seal", []string{".", "access", "alert", "batch", "bulk", "driver", "internal/envelope", "internal/verdict", "schedule", "sweep"}, "a store around any other; it refuses replacements in the place of a store, which cannot look into what is sealed"},
	{"internal/envelope", []string{"."}, "what a sealed document looks like is known without a key; of the root only what bounds jobs"},
	{"internal/password", []string{"."}, "a password is a text from a file or a command; of the root only its errors are known"},
	{"internal/pgurl", []string{"internal/password"}, "as internal/mysqlurl"},
	{"internal/mysqlurl", []string{".", "internal/password"}, "what a URL means follows from its text; of the root only its errors are known"},
	{"sqlite", []string{".", "access", "batch", "driver", "schedule", "sweep", "internal/dispatch", "internal/envelope", "internal/reads", "internal/sqlstore", "internal/verdict"}, "as postgres"},
	{"internal/sqlstore", []string{".", "access", "alert", "batch", "bulk", "driver", "hold", "internal/dispatch", "internal/envelope", "internal/paged", "internal/verdict", "schedule", "sweep"}, "what SQL stores share knows no database/sql driver"},
	{"internal/paged", []string{"."}, "bytes are counted of any list"},
	{"internal/receiver", nil, "the service and the console cut off slow receivers alike"},
	{"internal/reads", nil, "what was read is added up without knowing by whom"},
	{"internal/await", []string{"."}, "something is looked at again without knowing what it is; of the root only its errors are known"},
	{"internal/ensure", nil, "structs are compared without knowing what they declare"},
	{"internal/descriptors", nil, "errors are told apart by what the system says"},
	{"internal/check", nil, "fields are refused for what their values are"},
	{"internal/cause", nil, "errors are told apart by their texts alone"},
	{"internal/mask", []string{"internal/reserved"}, "what is confidential of a document follows from paths, and from the names of kinds"},
	{"internal/cron", nil, "when something is due follows from the text, the zone and the time alone"},
	{"internal/reserved", nil, "names of kinds are shared without knowing who makes them"},
	{"internal/dispatch", nil, "which jobs start is decided without a database"},
	{"internal/window", nil, "what is done of a sweep is kept without knowing what an item is"},
	{"server/internal/joint", nil, "questions are shared without knowing what they are about"},
	{"internal/pace", nil, "when an item may start follows from the rate and the clock"},
	{"internal/outbound", nil, "how a call ends follows from HTTP and its context alone"},
	{"internal/source", []string{"internal/outbound"}, "where items come from knows neither sweeps nor stores"},
	{"cmd/fairlead/internal/tables", []string{"internal/mysqlurl", "internal/pgurl", "internal/source"}, "databases to read from are opened without knowing what for"},
	{"internal/sweeping", []string{".", "internal/descriptors", "internal/window", "internal/pace", "internal/source"}, "a shard is run without a database: its caller keeps the checkpoints"},
	{"sweep/items", []string{".", "sweep", "httpcall", "internal/descriptors", "internal/mask", "internal/pace", "internal/source", "internal/sweeping"}, "what goes over items is a plain user of sweeps; its own calls are those of httpcall, and it names the args to mask"},
	{"storetest", []string{".", "access", "alert", "batch", "bulk", "driver", "hold", "internal/paged", "internal/tier", "internal/verdict", "schedule", "sweep"}, "the suite judges stores by the contract alone; what the contract makes of a job is decided in one place"},
	{"metrics", []string{".", "bulk", "driver", "engine", "schedule"}, "what a node and any store do is counted from outside"},
	{"tracing", []string{".", "internal/mask"}, "a middleware is a plain user of the root; it hides what the node hides"},
	{"fairleadtest", []string{".", "batch", "bulk", "driver", "engine", "schedule", "sqlite", "sweep"}, "a node for users' tests"},
	{"fairleadtest/pgtest", []string{"fairleadtest", "postgres"}, "a store with a clock that a test moves"},
	{"fairleadtest/mysqltest", []string{"fairleadtest", "internal/mysqlurl", "mysql"}, "as fairleadtest/pgtest"},
	{"httpcall", []string{".", "tracing", "internal/descriptors", "internal/mask", "internal/outbound"}, "a handler is a plain user of the root; its calls belong to traces"},
	{"external", []string{".", "batch", "driver", "engine", "httpcall", "internal/mask", "internal/reserved", "sweep"}, "jobs run elsewhere by calls under the same guard, and a node's listener tells of failures"},
	{"cdc", []string{".", "batch", "internal/outbound"}, "operations on connectors speak HTTP, and know of batches only what one does with a target"},
	{"cdc/connecttest", nil, "a double of Kafka Connect knows nothing of who asks it"},
	{"api/rpc", nil, "methods are called and served by their descriptors, whatever the schema is"},
	{"api/...", []string{"api/fairlead/v1", "api/batch_scheduler", "api/rpc"}, "the schema knows nothing of who serves it"},
	{"internal/wire", []string{"api/fairlead/v1"}, "messages are read and checked by what the schema says of them"},
	{"internal/message", []string{".", "api/fairlead/v1", "batch", "sweep"}, "jobs and messages are made of each other without knowing who sends them"},
	{"server/internal/rest", []string{".", "api/fairlead/v1", "internal/wire"}, "resources are made of the schema; of the root only its errors are known"},
	{"server/internal/openapi", []string{"api", "api/fairlead/v1", "server/internal/rest"}, "routes are described by what they are made of"},
	{"server/internal/tasks", []string{".", "api/fairlead/v1", "httpcall", "internal/mask", "internal/message", "schedule"}, "tasks are schedules of HTTP calls under other names"},
	{"server", []string{".", "access", "alert", "api/batch_scheduler", "api/fairlead/v1", "api/fairlead/v1/fairleadv1connect", "api/rpc", "batch", "bulk", "driver", "hold", "httpcall", "internal/mask", "internal/message", "server/internal/openapi", "internal/paged", "internal/reserved", "server/internal/rest", "server/internal/tasks", "internal/verdict", "internal/wire", "schedule", "server/internal/audit", "server/internal/authn", "server/internal/callbacks", "server/internal/caller", "server/internal/masks", "server/internal/overload", "server/internal/pipeline", "server/internal/scope", "server/internal/upload", "server/internal/workers", "sweep", "tracing"}, "the service speaks to any store through its contract, relays workers, takes the answers that calls were given tokens for, and checks how far workers say they have come"},
	{"server/internal/authn", []string{".", "access", "server/internal/joint", "server/internal/rest", "server/internal/caller"}, "callers are identified by their credentials, before anything of the service is known"},
	{"server/internal/caller", []string{".", "access", "api/fairlead/v1", "internal/message", "server/internal/rest"}, "a caller's permissions are known without a store"},
	{"server/internal/scope", []string{".", "access", "alert", "batch", "bulk", "driver", "hold", "httpcall", "internal/mask", "internal/reserved", "server/internal/rest", "server/internal/tasks", "schedule", "server/internal/caller", "sweep"}, "what callers may see and change is decided between the store and the services, which it does not know"},
	{"server/internal/overload", []string{"access", "internal/receiver", "server/internal/rest", "server/internal/authn", "server/internal/caller"}, "memory and time are limited for all protocols alike; of callers only their names and roles are known"},
	{"server/internal/workers", []string{".", "api/fairlead/v1", "driver", "internal/message", "internal/paged", "internal/reserved", "server/internal/rest", "internal/starts", "internal/sweeping", "internal/verdict", "server/internal/caller", "server/internal/overload", "server/internal/scope", "sweep"}, "remote workers are relayed to any store through its contract; of requests only their callers and their memory are known"},
	{"server/internal/audit", []string{".", "access", "api/fairlead/v1", "server/internal/rest", "internal/wire", "server/internal/authn", "server/internal/caller"}, "changes are recorded for all protocols alike, without knowing the services that make them"},
	{"server/internal/masks", []string{".", "access", "api/fairlead/v1", "httpcall", "internal/mask", "server/internal/rest", "server/internal/audit", "server/internal/caller", "server/internal/scope", "sweep"}, "confidential values are hidden in the messages of all services, without knowing these"},
	{"server/internal/pipeline", []string{".", "access", "api/batch_scheduler/batchschedulerconnect", "api/fairlead/v1/fairleadv1connect", "api/rpc", "server/internal/rest", "internal/wire", "server/internal/audit", "server/internal/authn", "server/internal/caller", "server/internal/overload"}, "requests of all protocols are checked and recorded alike, without knowing the services that handle them"},
	{"server/internal/callbacks", []string{".", "driver", "httpcall", "server/internal/rest", "server/internal/audit", "server/internal/authn", "server/internal/caller", "server/internal/pipeline"}, "targets report results without a token of the API, so nothing of its services is reachable from here"},
	{"server/internal/upload", []string{".", "api/fairlead/v1", "batch", "internal/message", "internal/receiver", "server/internal/rest", "server/internal/overload"}, "tasks are read from a body without knowing which batch they are for"},
	{"console", []string{"access", "api/fairlead/v1", "api/fairlead/v1/fairleadv1connect", "console/internal/shared", "internal/cause", "internal/cron", "internal/receiver", "internal/wire", "schedule"}, "the console is a user of the API: it knows no store and no server; when schedules are due it computes as the server does, as a week of many would be too many calls; access knows what a role may do"},
	{"console/internal/shared", nil, "values are shared without knowing what they are or who asks for them"},
	{"internal/screen", nil, "what people read is written without knowing what it is about"},
	{"internal/top", []string{"api/fairlead/v1", "api/fairlead/v1/fairleadv1connect", "internal/screen"}, "the live view is a user of the API"},
	{"internal/cli", []string{".", "access", "api/fairlead/v1", "api/fairlead/v1/fairleadv1connect", "api/rpc", "internal/cron", "internal/screen", "internal/top", "internal/wire"}, "the command line is a user of the API: it knows no store and no server"},
	{"cmd/fairlead/internal/oidc", []string{"access", "server", "internal/outbound"}, "an identity provider says who callers of the service are"},
	{"cmd/fairlead/internal/otlp", nil, "spans are sent without knowing what they are about"},
	{"internal/patience", nil, "how long tests wait does not depend on what for"},
	{"internal/tier", nil, "a test declares its tier without saying what it tests"},
	{"internal/usercache", nil, "files are kept between runs without knowing their content"},
	{"internal/install", []string{"internal/usercache"}, "packages are installed without knowing what for"},
	{"internal/testdb/...", []string{"internal/install", "internal/patience", "internal/testdb", "internal/usercache"}, "servers for tests know nothing of what is tested"},
	{"internal/mutants", []string{"internal/mutants/active", "internal/sqlstore", "internal/tier"}, "mutants are made of sources and statements, without running either"},
	{"internal/sqlitetest", []string{"sqlite"}, "files are copied from one that the store has made"},
	{"internal/everystore", []string{"internal/patience", "internal/sqlitetest", "internal/testdb", "mysql", "postgres", "sqlite"}, "a test gets a store of each database without saying what it tests"},
	{"internal/testprogram", nil, "the program is built for tests without knowing what it does"},
	{"internal/mutants/active", nil, "what any package may be made to ask knows none of them"},
	{"internal/compat", nil, "APIs are compared by what the compiler and the schema say"},
	{"internal/testrun", []string{"internal/install", "internal/testprogram", "internal/tier"}, "go test is run without knowing what is tested"},
	{"internal/release", nil, "a program is built and listed without knowing what it does"},
	{"internal/transcript", nil, "examples are read and run without knowing whose they are"},
	{"internal/newcomer", []string{"internal/transcript"}, "a newcomer knows nothing but the README"},
	{"cmd/fairlead/internal/demo", []string{".", "batch", "driver", "httpcall", "schedule", "sweep", "sweep/items"}, "the demo is a program of a user, on any store; what a node does with batches it does to remove them"},
	{"internal/bench", []string{".", "batch", "driver", "engine", "schedule", "sweep", "sweep/items", "httpcall"}, "workloads run on any store; calls of sweeps are one of them"},
	{"internal/bench/lists", []string{".", "access", "batch", "bulk", "driver", "internal/mysqlurl", "internal/reads", "internal/sqlstore", "schedule", "sweep"}, "a stock of jobs is written past the store, in its own tables, and read through it"},
	{"internal/bench/pages", []string{".", "console", "engine", "internal/bench/lists", "internal/reads", "server"}, "pages of the console are asked for before a whole service, on what lists are measured with"},
	{"internal/bench/scale", []string{".", "internal/bench", "internal/dispatch", "internal/sqlstore"}, "a cluster is simulated with the code that chooses jobs, and no store"},
	{"examples/...", []string{".", "batch", "engine", "postgres", "schedule", "sqlite", "sweep", "sweep/items"}, "an example is a program of a user"},
	{"interleave/...", []string{".", "access", "batch", "bulk", "driver", "interleave", "internal/patience", "internal/testdb", "internal/tier", "mysql", "postgres", "schedule", "sqlite", "sweep"}, "the actors are operations of the contract on real stores"},
	{"sim/...", []string{".", "batch", "driver", "engine", "schedule", "sweep", "sweep/items", "server", "worker", "postgres", "mysql", "sqlite", "sim", "internal/mysqlurl", "internal/patience", "internal/testdb", "internal/tier"}, "the crash harness runs whole nodes"},
	{"cmd/fairlead", []string{".", "access", "batch", "bulk", "cdc", "console", "driver", "engine", "external", "httpcall", "internal/bench", "internal/bench/lists", "internal/bench/pages", "internal/bench/scale", "internal/cli", "cmd/fairlead/internal/demo", "cmd/fairlead/internal/oidc", "cmd/fairlead/internal/otlp", "internal/outage", "internal/password", "cmd/fairlead/internal/tables", "metrics", "mysql", "postgres", "schedule", "seal", "server", "sqlite", "sweep", "sweep/items", "tracing"}, "the program puts everything together"},
}

func TestPackagesImportOnlyWhatTheyMay(t *testing.T) {
	for _, file := range goFiles(t) {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		pkg := path.Dir(file)
		allowed, why, listed := mayImport(pkg)
		if !listed {
			t.Errorf("package %s is not in the list of imports: add it, with its reason", pkg)
			continue
		}
		for _, imported := range importsOf(t, file) {
			inside, ours := strings.CutPrefix(imported, module)
			switch {
			case ours:
				target := strings.TrimPrefix(inside, "/")
				if target == "" {
					target = "."
				}
				if !slices.Contains(allowed, target) {
					t.Errorf("%s imports %s: %s", file, target, why)
				}
			case pkg == "." && strings.Contains(strings.Split(imported, "/")[0], "."):
				t.Errorf("%s imports %s: %s", file, imported, why)
			case imported == "database/sql" && (pkg == "." || pkg == "engine"):
				t.Errorf("%s imports %s: %s", file, imported, why)
			}
		}
	}
}

func mayImport(pkg string) (allowed []string, why string, listed bool) {
	for _, rule := range imports {
		tree, isTree := strings.CutSuffix(rule.from, "/...")
		if rule.from == pkg || (isTree && (pkg == tree || strings.HasPrefix(pkg, tree+"/"))) {
			return rule.to, rule.why, true
		}
	}
	return nil, "", false
}

func TestEveryPackageSaysWhatItIs(t *testing.T) {
	documented := map[string]bool{}
	for _, file := range goFiles(t) {
		if strings.HasSuffix(file, "_test.go") || generated(file) {
			continue
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.PackageClauseOnly|parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		documented[path.Dir(file)] = documented[path.Dir(file)] || parsed.Doc != nil
	}
	for pkg, ok := range documented {
		if !ok {
			t.Errorf("package %s has no package comment", pkg)
		}
	}
}

func TestFilesFitOnAFewScreens(t *testing.T) {
	const limit = 500
	for _, file := range goFiles(t) {
		if generated(file) {
			continue // it is not read
		}
		if n := lines(t, file); n > limit {
			t.Errorf("%s has %d lines, more than %d: split it by noun or verb", file, n, limit)
		}
	}
}

func generated(file string) bool {
	return strings.HasSuffix(file, ".pb.go") || strings.HasSuffix(file, ".connect.go")
}

// goFiles lists the module's Go files, without those of nested modules.
func goFiles(t *testing.T) []string {
	t.Helper()
	var files []string
	err := filepath.WalkDir(".", func(file string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() && file != "." {
			if _, err := os.Stat(filepath.Join(file, "go.mod")); err == nil || strings.HasPrefix(entry.Name(), ".") {
				return fs.SkipDir
			}
		}
		if strings.HasSuffix(file, ".go") {
			files = append(files, filepath.ToSlash(file))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func importsOf(t *testing.T, file string) []string {
	t.Helper()
	parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
	if err != nil {
		t.Fatal(err)
	}
	var paths []string
	for _, spec := range parsed.Imports {
		imported, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			t.Fatal(err)
		}
		paths = append(paths, imported)
	}
	return paths
}

func lines(t *testing.T, file string) int {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	n := 0
	scanner := bufio.NewScanner(f)
	scanner.Buffer(nil, 1<<20)
	for scanner.Scan() {
		n++
	}
	if err := scanner.Err(); err != nil {
		t.Fatal(err)
	}
	return n
}
