package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/pflag"
)

// inFile creates a file with a text that only its owner can read.
func inFile(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestAFileNamesTheDatabaseOfEveryCommand(t *testing.T) {
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	for name, args := range map[string][]string{
		"migrate": {"migrate", "up"},
		"bench":   {"bench", "enqueue", "--jobs", "1"},
		"token":   {"token", "create", "--name", "me", "--role", "admin"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			t.Chdir(dir)
			typed(t, exitOK, append(args, "--db-file", inFile(t, "sqlite://flag.db\n# and what follows\n"))...)
			t.Setenv("FAIRLEAD_DB_FILE", inFile(t, "sqlite://variable.db"))
			typed(t, exitOK, args...)
			typed(t, exitOK, append(args, "--db", "sqlite://instead.db")...)
			for file, want := range map[string]bool{"flag.db": true, "variable.db": true, "instead.db": true, "fairlead.db": false} {
				if _, err := fs.Stat(os.DirFS(dir), file); (err == nil) != want {
					t.Errorf("%s: %v", file, err)
				}
			}
		})
	}
}

func TestTheDatabaseIsNamedOnce(t *testing.T) {
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	t.Chdir(t.TempDir())
	file := inFile(t, "postgres://u:s3cret@127.0.0.1:1/x")
	for name, args := range map[string][]string{
		"both flags":   {"migrate", "status", "--db", "sqlite://x.db", "--db-file", file},
		"a token":      {"token", "create", "--name", "me", "--role", "admin", "--db", "sqlite://x.db", "--db-file", file},
		"a service":    {"serve", "--db", "sqlite://x.db", "--db-file", file},
		"no file":      {"migrate", "status", "--db-file", file + "x"},
		"an empty one": {"migrate", "status", "--db-file", inFile(t, "\nsqlite://x.db")},
	} {
		t.Run(name, func(t *testing.T) {
			if _, errs := typed(t, exitUsage, args...); !strings.Contains(errs, "db-file") || strings.Contains(errs, "s3cret") {
				t.Error(errs)
			}
		})
	}
	t.Setenv("FAIRLEAD_DB", "sqlite://x.db")
	t.Setenv("FAIRLEAD_DB_FILE", file)
	typed(t, exitUsage, "migrate", "status")
	if _, errs := typed(t, 6, "migrate", "status", "--db-file", file); strings.Contains(errs, "s3cret") {
		t.Error(errs)
	}
}

func TestAFileThatEverybodyCanReadIsWarnedOf(t *testing.T) {
	t.Chdir(t.TempDir())
	file := inFile(t, "sqlite://x.db")
	if _, errs := typed(t, exitOK, "migrate", "up", "--db-file", file); errs != "" {
		t.Errorf("it is warned of: %s", errs)
	}
	if err := os.Chmod(file, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, errs := typed(t, exitOK, "migrate", "up", "--db-file", file); !strings.Contains(errs, "chmod 600") {
		t.Errorf("it is not warned of: %s", errs)
	}
}

// What names the database closer to the command line counts.
func TestTheClosestNameOfTheDatabaseCounts(t *testing.T) {
	settings := filepath.Join(t.TempDir(), "settings.yaml")
	if err := os.WriteFile(settings, []byte("db-file: "+inFile(t, "sqlite://yaml.db")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for want, given := range map[string]struct{ flag, variable string }{
		"sqlite://yaml.db":     {},
		"sqlite://variable.db": {variable: "sqlite://variable.db"},
		"sqlite://flag.db":     {variable: "sqlite://variable.db", flag: inFile(t, "sqlite://flag.db")},
	} {
		var db string
		flags := pflag.NewFlagSet("serve", pflag.ContinueOnError)
		databaseFlags(flags, &db, defaultDatabase)
		if given.flag != "" {
			if err := flags.Set(dbFileFlag, given.flag); err != nil {
				t.Fatal(err)
			}
		}
		err := configure(flags, settings, func(name string) (string, bool) {
			return given.variable, name == "FAIRLEAD_DB" && given.variable != ""
		})
		if err == nil {
			err = readDatabaseFile(flags, os.Stderr)
		}
		if err != nil || db != want {
			t.Errorf("it is %s, want %s: %v", db, want, err)
		}
	}
}
