package testdb

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestAptForbidsServicesAndRestoresThePolicy(t *testing.T) {
	const owners = "#!/bin/sh\nexit 0\n"
	for name, before := range map[string]string{
		"no policy before":                      "",
		"the owner's policy before":             owners,
		"left behind by an interrupted attempt": forbidServices,
	} {
		t.Run(name, func(t *testing.T) {
			apt, log := fakeApt(t, "exit 0")
			after := before
			if before == forbidServices {
				after = ""
			}
			if before != "" {
				write(t, apt.policy, before)
			}
			if err := apt.install(t.Context(), "postgresql"); err != nil {
				t.Fatal(err)
			}
			if got := readIfExists(t, apt.policy); got != after {
				t.Errorf("policy is %q afterwards, want %q", got, after)
			}
			if got := readIfExists(t, log); !strings.Contains(got, "install -y --no-install-recommends postgresql") ||
				!strings.Contains(got, "policy says 101") {
				t.Errorf("apt-get was called with: %s", got)
			}
		})
	}
}

func TestAptRecoversThePolicyOfAnInterruptedInstallation(t *testing.T) {
	const owners = "#!/bin/sh\nexit 0\n"
	apt, _ := fakeApt(t, "exit 0")
	write(t, apt.policy, owners)
	if _, err := apt.forbidServices(); err != nil { // and never restored
		t.Fatal(err)
	}
	if err := apt.install(t.Context(), "postgresql"); err != nil {
		t.Fatal(err)
	}
	if got := readIfExists(t, apt.policy); got != owners {
		t.Errorf("policy is %q afterwards, want the owner's", got)
	}
}

func TestAptRefreshesListsOnlyWhenInstallingFails(t *testing.T) {
	apt, log := fakeApt(t, `case "$*" in *update*) touch "$0.updated";; *) [ -e "$0.updated" ];; esac`)
	if err := apt.install(t.Context(), "postgresql"); err != nil {
		t.Fatal(err)
	}
	if got := strings.Count(readIfExists(t, log), "apt-get"); got != 3 {
		t.Errorf("apt-get ran %d times, want install, update, install", got)
	}
}

func TestAptFailureShowsItsOutput(t *testing.T) {
	apt, _ := fakeApt(t, "echo no such package; exit 100")
	err := apt.install(t.Context(), "postgresql")
	if err == nil || !strings.Contains(err.Error(), "no such package") {
		t.Errorf("error is %v", err)
	}
}

// fakeApt returns an apt whose apt-get logs its call and what the policy would
// answer, and then runs script.
func fakeApt(t *testing.T, script string) (fake apt, log string) {
	t.Helper()
	dir := t.TempDir()
	log = filepath.Join(dir, "log")
	fake = apt{
		program: filepath.Join(dir, "apt-get"),
		lock:    filepath.Join(dir, "lock"),
		policy:  filepath.Join(dir, "policy-rc.d"),
	}
	write(t, fake.program, fmt.Sprintf("#!/bin/sh\n%s; echo apt-get \"$@\", policy says $? >>%s\n%s\n", fake.policy, log, script))
	return fake, log
}

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

// A verdictRecorder notes how a test would have ended.
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

func write(t *testing.T, path, content string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o755); err != nil {
		t.Fatal(err)
	}
}

func readIfExists(t *testing.T, path string) string {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return string(content)
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
