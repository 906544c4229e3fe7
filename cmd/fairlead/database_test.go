package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// typed runs the program and wants an exit code.
func typed(t *testing.T, want int, args ...string) (stdout, stderr string) {
	t.Helper()
	var out, errs strings.Builder
	if code := run(t.Context(), args, &out, &errs); code != want {
		t.Fatalf("%v: exit %d, want %d: %s", args, code, want, errs.String())
	}
	return out.String(), errs.String()
}

func TestTheEnvironmentNamesTheDatabaseOfEveryCommand(t *testing.T) {
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	for name, args := range map[string][]string{
		"migrate": {"migrate", "up"},
		"bench":   {"bench", "enqueue", "--jobs", "1"},
		"token":   {"token", "create", "--name", "me", "--role", "admin"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			t.Chdir(dir)
			t.Setenv("FAIRLEAD_DB", "sqlite://environment.db")
			typed(t, exitOK, args...)
			typed(t, exitOK, append(args, "--db", "sqlite://flag.db")...)
			for file, want := range map[string]bool{"environment.db": true, "flag.db": true, "fairlead.db": false} {
				if _, err := fs.Stat(os.DirFS(dir), file); (err == nil) != want {
					t.Errorf("%s: %v", file, err)
				}
			}
		})
	}
}

func TestATokenComesFromTheServerThatIsNamed(t *testing.T) {
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	dir := t.TempDir()
	t.Setenv("FAIRLEAD_DB", "sqlite://"+filepath.Join(dir, "jobs.db"))
	typed(t, 6, "token", "create", "--name", "me", "--role", "admin", "--server", "http://127.0.0.1:1")
	if files, err := os.ReadDir(dir); err != nil || len(files) > 0 {
		t.Errorf("%v, %v", err, files)
	}
}

func TestADatabaseThatCannotBeOpenedIsNamedOnceAndWithItsCause(t *testing.T) {
	dir := "sqlite://" + t.TempDir()
	for db, want := range map[string]string{
		dir:                        "fairlead: open " + dir + ": the path is a directory; name a file in it: unable to open",
		dir + "/none/x.db":         "does not exist; create it first",
		"POSTGRES://u:s3cret@h/x":  "write postgres:// in lower case",
		"mariadb://u:s3cret@h/x":   "for MariaDB, use mysql://",
		"oracle://u:s3cret@h/x":    "must begin with sqlite://, postgres:// or mysql://\n",
		"s3cret":                   "must begin with sqlite://, postgres:// or mysql://\n",
		"postgres://u:s3cret@h:x/": "fairlead: open ",
	} {
		var out, errs strings.Builder
		code := run(t.Context(), []string{"migrate", "status", "--db", db}, &out, &errs)
		if code == exitOK || !strings.Contains(errs.String(), want) || strings.Contains(errs.String(), "s3cret") || strings.Count(errs.String(), "open sqlite://") > 1 {
			t.Errorf("%s: exit %d, %s", db, code, errs.String())
		}
	}
}
