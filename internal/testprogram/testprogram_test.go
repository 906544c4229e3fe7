package testprogram_test

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/fairlead-io/fairlead/internal/testprogram"
)

func TestMain(m *testing.M) {
	defer testprogram.Remove()
	m.Run()
}

func TestTheProgramOfTheEnvironmentIsUsed(t *testing.T) {
	t.Setenv(testprogram.Env, "/somewhere/fairlead")
	if path := testprogram.Path(t); path != "/somewhere/fairlead" {
		t.Errorf("got %s", path)
	}
}

func TestThePathIsThatOfAProgramThatRuns(t *testing.T) {
	path := testprogram.Path(t)
	if again := testprogram.Path(t); again != path {
		t.Errorf("got %s, then %s", path, again)
	}
	if out, err := exec.CommandContext(t.Context(), path, "version").CombinedOutput(); err != nil || !strings.Contains(string(out), "fairlead") {
		t.Errorf("%v: %s", err, out)
	}
}
