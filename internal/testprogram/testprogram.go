// Package testprogram provides the program ./cmd/fairlead to tests that run it as a
// process.
package testprogram

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// Env is the name of the environment variable that holds the absolute path of a prebuilt
// program. If it is not set, each test binary builds the program itself.
const Env = "FAIRLEAD_TEST_PROGRAM"

const module = "github.com/fairlead-io/fairlead"

// built is the program built by this test binary, if any.
var built struct {
	sync.Mutex
	dir, path string
	err       error
}

// Path returns the program's path. The first call builds the program unless the environment
// variable [Env] is set.
func Path(tb testing.TB) string {
	tb.Helper()
	if given := os.Getenv(Env); filepath.IsAbs(given) {
		return given
	} else if given != "" {
		tb.Fatalf("%s must be an absolute path, because tests run in several directories: %s", Env, given)
	}
	built.Lock()
	defer built.Unlock()
	if built.path == "" && built.err == nil {
		built.dir, built.path, built.err = build()
	}
	if built.err != nil {
		tb.Fatal(built.err)
	}
	return built.path
}

// Remove deletes the program that Path has built. Call it in TestMain, after the tests.
func Remove() {
	built.Lock()
	defer built.Unlock()
	if built.dir != "" {
		_ = os.RemoveAll(built.dir) // it is in a temporary directory
	}
}

// build builds the program in its own module, because modules of tests do not require all
// its dependencies.
func build() (dir, path string, err error) {
	root, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", module).Output()
	if err != nil {
		return "", "", fmt.Errorf("find %s: %w", module, err)
	}
	if dir, err = os.MkdirTemp("", "fairlead-program-"); err != nil {
		return "", "", err
	}
	path = filepath.Join(dir, "fairlead")
	command := exec.Command("go", "build", "-o", path, "./cmd/fairlead")
	command.Dir = strings.TrimSpace(string(root))
	if out, err := command.CombinedOutput(); err != nil {
		return dir, "", fmt.Errorf("%w: %s", err, out)
	}
	return dir, path, nil
}
