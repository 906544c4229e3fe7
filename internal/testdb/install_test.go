package testdb

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestMissingServerSkipsUnlessRequired(t *testing.T) {
	missing := fmt.Errorf("%w: for this test", ErrUnavailable)
	for _, test := range []struct {
		name, require string
		err           error
		want          string
	}{
		{"present", "1", nil, ""},
		{"missing", "", missing, "skipped"},
		{"missing but required", "1", missing, "failed"},
		{"broken", "", errors.New("broken"), "failed"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Setenv(RequireEnv, test.require)
			recorder := &verdictRecorder{TB: t}
			requireServer(recorder, test.err)
			if recorder.verdict != test.want {
				t.Errorf("test was %q, want %q", recorder.verdict, test.want)
			}
		})
	}
}

// A verdictRecorder records how a test would have ended.
type verdictRecorder struct {
	testing.TB
	verdict string
}

func (r *verdictRecorder) Skipf(string, ...any) { r.verdict = "skipped" }
func (r *verdictRecorder) Fatal(...any)         { r.verdict = "failed" }

func TestServerNamedByTheEnvironmentIsUsed(t *testing.T) {
	for value, want := range map[string]error{
		"postgres://admin@db.example/postgres": nil,
		Unavailable:                            ErrUnavailable,
	} {
		t.Run(value, func(t *testing.T) {
			t.Setenv(PostgresEnv, value)
			shared := sharedServer{env: PostgresEnv}
			got, err := shared.findOrStart(t.Context())
			if !errors.Is(err, want) {
				t.Fatalf("error is %v, want %v", err, want)
			}
			if want == nil && got != value {
				t.Errorf("uses %s", got)
			}
		})
	}
}

func TestDatabaseNameFitsEveryServer(t *testing.T) {
	name := databaseName("TestÄ/" + strings.Repeat("long name ", 20))
	if len(name) > 63 || !strings.HasPrefix(name, "t_test") || strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789_") != "" {
		t.Errorf("%q (%d bytes) needs quoting or is too long", name, len(name))
	}
}

func TestPreparedStatementsDependOnTheVersionOfPgBouncer(t *testing.T) {
	for version, want := range map[string]bool{
		"PgBouncer 1.18.0\nlibevent 2.1.12-stable\n": false,
		"PgBouncer 1.21.0\n":                         true,
		"PgBouncer 2.0.1\n":                          true,
		"something else":                             false,
	} {
		if got := hasPreparedStatements(version); got != want {
			t.Errorf("%q: %t", version, got)
		}
	}
}

func TestAnotherPostgresIsTakenFromTheNamedDirectoryOnly(t *testing.T) {
	empty, other := t.TempDir(), t.TempDir()
	if err := os.WriteFile(filepath.Join(other, "initdb"), nil, 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv(PostgresBinEnv, other)
	if found, err := postgresBin(t.Context()); err != nil || found != other {
		t.Errorf("found %s: %v", found, err)
	}
	t.Setenv(PostgresBinEnv, empty)
	if found, err := postgresBin(t.Context()); err == nil {
		t.Errorf("%s has no server, and %s was found", empty, found)
	}
}
