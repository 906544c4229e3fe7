package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestANeedIsMetByAProgramAFileOrAVariable(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "server"), nil, 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir)
	t.Setenv("FAIRLEAD_TEST_NEED", "")
	for name, c := range map[string]struct {
		need need
		want bool
	}{
		"on the path":     {need{programs: []string{"missing", "server"}}, true},
		"a pattern":       {need{programs: []string{dir + "/s*"}}, true},
		"nowhere":         {need{programs: []string{"missing", dir + "/m*"}, env: []string{"FAIRLEAD_TEST_NEED"}}, false},
		"in the variable": {need{env: []string{"PATH"}}, true},
	} {
		if got := c.need.met(); got != c.want {
			t.Errorf("%s: met is %v", name, got)
		}
	}
}

func TestWhatIsMissingIsSaidInOneLineWithTheRemedy(t *testing.T) {
	got := refusal([]string{"PostgreSQL", "MariaDB"}, []string{"postgresql", "mariadb-server"}, errors.New("this is not a container"))
	for _, part := range []string{"PostgreSQL, MariaDB", "this is not a container", "skipped", "apt-get install postgresql mariadb-server", "INSTALL_DEPS=1 make test"} {
		if !strings.Contains(got, part) {
			t.Errorf("%q does not mention %q", got, part)
		}
	}
	if strings.Contains(got, "\n") {
		t.Error("it is more than one line")
	}
}
