package main

import (
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead/access"
	"github.com/fairlead-io/fairlead/internal/sqlitetest"
	"github.com/fairlead-io/fairlead/server"
)

func TestATokenIsWrittenToTheDatabaseWithoutAServer(t *testing.T) {
	db := sqlitetest.URL(t)
	create := func(want int, args ...string) (stdout, stderr string) {
		t.Helper()
		var out, errs strings.Builder
		if code := run(t.Context(), append([]string{"token", "create", "--db", db}, args...), &out, &errs); code != want {
			t.Fatalf("%v: exit %d, want %d: %s", args, code, want, errs.String())
		}
		return out.String(), errs.String()
	}
	stdout, stderr := create(exitOK, "--role", "submitter", "--name", "shop", "--tenant", "a", "--tenant", "b", "--expires", "90d")
	secret := strings.TrimSuffix(stdout, "\n")
	if !strings.HasPrefix(secret, "fl_") || strings.ContainsAny(secret, " \n") || strings.Contains(stderr, secret) {
		t.Errorf("stdout %q, stderr %q", stdout, stderr)
	}
	if stdout, _ := create(exitOK, "--role", "admin", "--name", "me", "-o", "json"); !strings.HasPrefix(stdout, `{"token":{"id":"2","name":"me","role":"admin"`) {
		t.Errorf("as JSON it is %s", stdout)
	}
	create(4, "--role", "admin", "--name", "me")
	for _, tenant := range []string{"", ",", "a,"} { // as from a variable that is not set: it must not be bound to all
		create(exitUsage, "--role", "viewer", "--name", "x", "--tenant", tenant)
	}
	if _, stderr := create(exitUsage, "--role", "boss", "--name", "x"); !strings.HasPrefix(stderr, `fairlead: --role: is "boss"`) {
		t.Errorf("the error is %s", stderr)
	}

	store, err := openStore(t.Context(), db)
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	token, err := store.FindToken(t.Context(), server.HashSecret(secret))
	if err != nil || token.Name != "shop" || token.Role != access.RoleSubmitter || strings.Join(token.Tenants, " ") != "a b" {
		t.Fatalf("%v, %+v", err, token)
	}
	if left := time.Until(token.ExpiresAt); (left - 90*24*time.Hour).Abs() > time.Hour {
		t.Errorf("it expires in %s", left)
	}
	entries, err := store.AuditLog(t.Context(), access.Filter{Action: "CreateToken"})
	if err != nil || len(entries) != 2 || entries[1].Subject != "token:shop" || entries[1].Actor != "local" || strings.Contains(string(entries[1].After), secret) {
		t.Errorf("%v, %+v", err, entries)
	}
}

// The way of a new cluster: a first token, a server that wants it, others made by
// it.
func TestTokensOpenAServer(t *testing.T) {
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	db := sqlitetest.URL(t)
	typed := func(want int, args ...string) (stdout, stderr string) {
		t.Helper()
		var out, errs strings.Builder
		if code := run(t.Context(), args, &out, &errs); code != want {
			t.Fatalf("%v: exit %d, want %d: %s", args, code, want, errs.String())
		}
		return out.String(), errs.String()
	}
	admin, _ := typed(exitOK, "token", "create", "--db", db, "--role", "admin", "--name", "me")
	node := startServe(t, "--db", db)
	t.Setenv("FAIRLEAD_SERVER", node.url)
	if _, stderr := typed(5, "job", "list"); !strings.Contains(stderr, "FAIRLEAD_TOKEN") {
		t.Errorf("without a token: %s", stderr)
	}
	typed(5, "job", "list", "--token", "fl_wrong")
	typed(5, "job", "watch", "1", "--token", "fl_wrong")
	typed(5, "top", "--once", "--token", "fl_wrong")
	t.Setenv("FAIRLEAD_TOKEN", strings.TrimSpace(admin))
	typed(exitOK, "job", "enqueue", "noop", "--wait")
	viewer, _ := typed(exitOK, "token", "create", "--role", "viewer", "--name", "eyes")
	viewer = strings.TrimSpace(viewer)
	typed(exitOK, "top", "--once", "--token", viewer)
	typed(5, "queue", "pause", "mail", "--token", viewer)
	typed(exitOK, "queue", "pause", "mail")
	if list, _ := typed(exitOK, "token", "list"); !strings.Contains(list, "eyes") || strings.Contains(list, viewer) {
		t.Errorf("the tokens are\n%s", list)
	}
	if log, _ := typed(exitOK, "audit", "list", "--action", "PauseQueue"); !strings.Contains(log, "queue:mail") || !strings.Contains(log, "me") {
		t.Errorf("the audit log is\n%s", log)
	}
	typed(exitOK, "token", "delete", "2")
	typed(3, "token", "delete", "2")
}

// What serve proposes to those whom it refuses is done by copying it.
func TestTheCommandForTheFirstTokenWorksAsItStands(t *testing.T) {
	for name, file := range map[string]string{"plain": "jobs.db", "with a space": "my jobs.db"} {
		t.Run(name, func(t *testing.T) {
			t.Chdir(t.TempDir())
			args := []string{"serve", "--addr", "0.0.0.0:0", "--db", "sqlite://" + file}
			_, stderr := typed(t, exitUsage, args...)
			command := regexp.MustCompile(`"(fairlead token create [^"]*)"`).FindStringSubmatch(stderr)
			if command == nil {
				t.Fatalf("no command in %s", stderr)
			}
			shell := exec.CommandContext(t.Context(), "sh", "-c", command[1])
			shell.Env = append(os.Environ(), "PATH="+programs(t)+string(os.PathListSeparator)+os.Getenv("PATH"), asProgram+"=1")
			if out, err := shell.CombinedOutput(); err != nil {
				t.Fatalf("%s: %v: %s", command[1], err, out)
			}
			store, err := openStore(t.Context(), "sqlite://"+file)
			if err != nil {
				t.Fatal(err)
			}
			defer store.Close()
			if tokens, err := store.Tokens(t.Context()); err != nil || len(tokens) != 1 || tokens[0].Role != access.RoleAdmin {
				t.Errorf("%v, %+v", err, tokens)
			}
		})
	}
}

func TestTheCommandForTheFirstTokenShowsNoPassword(t *testing.T) {
	t.Setenv("FAIRLEAD_DB", "mysql://env:s3cret@h/y")
	for db, want := range map[string]string{
		"postgres://ada:s3cret@db:5432/x":        "--db postgres://ada@db:5432/x --role admin --name me\" (add the password",
		"postgres://ada@db/x?password=s3cret":    "--db postgres://ada@db/x --role admin --name me\" (add the password",
		"postgres://ada@db/x":                    "--db postgres://ada@db/x --role admin --name me\" or",
		"host=h password=s3cret":                 "--db URL",
		"mysql://env:s3cret@h/y":                 `"fairlead token create --role admin --name me" or`,
		"sqlite://:memory:":                      "set --token-file",
		"sqlite:///var/lib/fairlead/it's one.db": `--db 'sqlite:///var/lib/fairlead/it'\''s one.db' --role`,
	} {
		if got := wayToFirstToken(db); !strings.Contains(got, want) || strings.Contains(got, "s3cret") {
			t.Errorf("%s: %s, want %s", db, got, want)
		}
	}
}
