package password_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fairlead-io/fairlead/internal/password"
)

func TestAPasswordIsReadAnewEachTime(t *testing.T) {
	file := filepath.Join(t.TempDir(), "password")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, of := range map[string][2]string{"a file": {file, ""}, "a command": {"", "head -n 1 " + file}} {
		t.Run(name, func(t *testing.T) {
			source, err := password.From("", of[0], of[1])
			if err != nil {
				t.Fatal(err)
			}
			for text, want := range map[string]string{"first\n": "first", " with spaces \r\nmore\n": " with spaces ", "third": "third"} {
				write(text)
				if got, err := source(t.Context()); err != nil || got != want {
					t.Errorf("read %q, %v, want %q", got, err, want)
				}
			}
			write("\n")
			if _, err := source(t.Context()); err == nil || !strings.Contains(err.Error(), "first line is empty") {
				t.Errorf("an empty one is read with the error %v", err)
			}
		})
	}
}

func TestWhatIsWrongWithAPasswordIsSaidWithoutIt(t *testing.T) {
	for _, c := range []struct{ known, file, command, want string }{
		{"p", "f", "", "specifies the password more than once"},
		{"p", "", "c", "specifies the password more than once"},
		{"", "f", "c", "specifies the password more than once"},
		{"", "", " ", "password_command is empty"},
	} {
		if _, err := password.From(c.known, c.file, c.command); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q, %q and %q are refused with %v", c.known, c.file, c.command, err)
		}
	}
	if source, err := password.From("p", "", ""); source != nil || err != nil {
		t.Errorf("a URL with a password has a source too, or an error: %v", err)
	}
	for command, want := range map[string]string{
		"/does/not/exist":                    "password_command /does/not/exist",
		"ls /does/not/exist":                 "/does/not/exist",
		"sh -c exit${IFS}3":                  "exit status 3",
		"sh -c echo${IFS}SECRET;exit${IFS}1": "exit status 1",
	} {
		source, err := password.From("", "", command)
		if err != nil {
			t.Fatal(err)
		}
		_, err = source(t.Context())
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "SECRET") {
			t.Errorf("%s: %v, want %q", command, err, want)
		}
	}
}
