package deploy

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/fairlead-io/fairlead/internal/testprogram"
)

// root is the directory of the whole repository.
var root = filepath.Join("..", "..")

func TestMain(m *testing.M) {
	defer testprogram.Remove()
	m.Run()
}

// flagsOf returns the flags of a command from its help.
func flagsOf(t *testing.T, command ...string) map[string]bool {
	t.Helper()
	path := testprogram.Path(t)
	help, err := exec.CommandContext(t.Context(), path, append(command, "--help")...).Output()
	if err != nil {
		t.Fatalf("fairlead %s --help: %v", strings.Join(command, " "), err)
	}
	flags := map[string]bool{}
	for _, match := range regexp.MustCompile(`(?m)^ +(?:-\w, )?--([a-z-]+)`).FindAllStringSubmatch(string(help), -1) {
		flags[match[1]] = true
	}
	if len(flags) < 2 {
		t.Fatalf("fairlead %s --help lists only %v", strings.Join(command, " "), flags)
	}
	return flags
}

// checkCommand fails the test unless the program supports the command line and the
// environment. It returns the command without its flags.
func checkCommand(t *testing.T, where string, args []string, variables map[string]string) (command []string) {
	t.Helper()
	for len(args) > len(command) && !strings.HasPrefix(args[len(command)], "-") {
		command = append(command, args[len(command)])
	}
	flags := flagsOf(t, command...)
	for _, arg := range args[len(command):] {
		if name, isFlag := strings.CutPrefix(arg, "--"); isFlag {
			name, _, _ = strings.Cut(name, "=")
			if !flags[name] {
				t.Errorf("%s: fairlead %s has no flag --%s", where, strings.Join(command, " "), name)
			}
		}
	}
	for variable := range variables {
		name, ours := strings.CutPrefix(variable, "FAIRLEAD_")
		if ours && !flags[strings.ReplaceAll(strings.ToLower(name), "_", "-")] {
			t.Errorf("%s: fairlead %s takes no variable %s", where, strings.Join(command, " "), variable)
		}
	}
	return command
}

// read returns the content of a file in the repository.
func read(t *testing.T, path ...string) []byte {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(append([]string{root}, path...)...))
	if err != nil {
		t.Fatal(err)
	}
	return raw
}
