package postgres

import (
	"context"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/access"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/internal/testdb"
	"github.com/fairlead-io/fairlead/schedule"
)

// documentedRights are the statements of docs/security.md, for other names.
func documentedRights(t *testing.T, owner, user, database string) []string {
	t.Helper()
	page, err := os.ReadFile("../docs/security.md")
	if err != nil {
		t.Fatal(err)
	}
	_, after, _ := strings.Cut(string(page), "```sql\n")
	block, _, found := strings.Cut(after, ";\n```")
	if !found {
		t.Fatal("docs/security.md has no statements for rights")
	}
	named := strings.NewReplacer("fairlead_owner", owner, "fairlead_app", user, "database jobs", "database "+database).Replace(block)
	return strings.Split(named, ";\n")
}

// ownerAndUser are the addresses of a database for its owner and for a user with the
// rights that docs/security.md names, before there are any tables.
func ownerAndUser(t *testing.T) (owner, user string) {
	t.Helper()
	at := testdb.Postgres(t)
	u, err := url.Parse(at)
	if err != nil {
		t.Fatal(err)
	}
	database := strings.TrimPrefix(u.Path, "/")
	as := func(role string) string {
		copied := *u
		copied.User = url.User(role)
		return copied.String()
	}
	ownerRole, userRole := database+"_owner", database+"_app"
	for _, statement := range append([]string{
		"create role " + ownerRole + " login", "create role " + userRole + " login",
		"revoke create on schema public from public",
	}, documentedRights(t, ownerRole, userRole, database)...) {
		exec(t, at, statement)
	}
	t.Cleanup(func() {
		ctx := context.Background()
		conn, err := pgx.Connect(ctx, at)
		if err != nil {
			t.Error(err)
			return
		}
		defer func() { _ = conn.Close(ctx) }()
		for _, role := range []string{userRole, ownerRole} {
			for _, statement := range []string{"drop owned by " + role + " cascade", "drop role " + role} {
				if _, err := conn.Exec(ctx, statement); err != nil {
					t.Error(err)
				}
			}
		}
	})
	return as(ownerRole), as(userRole)
}

func TestACurrentSchemaNeedsNoRightToChangeIt(t *testing.T) {
	owner, user := ownerAndUser(t)
	if _, err := Open(t.Context(), user); err == nil || !strings.Contains(err.Error(), "permission denied") {
		t.Errorf("tables that are not there are created by a user who may not, or it is answered with %v", err)
	}
	open(t, owner, Options{})
	s := open(t, user, Options{})
	ctx := t.Context()
	node := joinOne(t, s)
	claimNext(t, s, node)
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Error(err)
		}
	}
	_, err := s.Beat(ctx, driver.Beat{Node: node, Lease: time.Minute})
	must(err)
	_, err = s.Promote(ctx, 100)
	must(err)
	_, err = s.Reap(ctx, driver.Reap{Limit: 100})
	must(err)
	_, err = s.Prune(ctx, driver.Retention{}, 100)
	must(err)
	_, err = s.Verify(ctx)
	must(err)
	must(s.SetLimit(ctx, fairlead.Limit{Scope: fairlead.LimitGlobal, MaxRunning: 3}))
	must(s.Pause(ctx, fairlead.Pause{Scope: fairlead.PauseKind, Name: "a"}))
	_, err = schedule.NewClient(s).Put(ctx, schedule.Schedule{Name: "s", Cron: "* * * * *", Job: fairlead.Job{Kind: "a"}})
	must(err)
	_, err = s.AddToken(ctx, access.Token{Name: "n", Role: access.RoleViewer, Hash: [32]byte{1}})
	must(err)
}

// A password that was rotated counts for the next connection.
func TestThePasswordIsReadAnewForEachConnection(t *testing.T) {
	at := testdb.Postgres(t)
	file := filepath.Join(t.TempDir(), "password")
	if err := os.WriteFile(file, []byte("first\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, address := range []string{withParams(t, at, "password_file", file), strings.ReplaceAll(withParams(t, at, "password_command", "cat "+file), "+", "%20")} {
		config, err := parseURL(address)
		if err != nil {
			t.Fatal(err)
		}
		for _, password := range []string{"second", "third"} {
			if err := os.WriteFile(file, []byte(password+"\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			conn, err := connectAs(t.Context(), config)
			if err != nil {
				t.Fatal(err)
			}
			if got := conn.Config().Password; got != password {
				t.Errorf("it connects with %q, want %q", got, password)
			}
			_ = conn.Close(t.Context())
		}
		s := open(t, address, Options{})
		claimNext(t, s, joinOne(t, s))
	}
	if _, err := Open(t.Context(), strings.Replace(withParams(t, at, "password_file", file), "fairlead@", "fairlead:secret@", 1)); err == nil || strings.Contains(err.Error(), "secret") {
		t.Errorf("a URL with two passwords is answered with %v", err)
	}
	if _, err := Open(t.Context(), withParams(t, at, "password_file", "/does/not/exist")); err == nil || !strings.Contains(err.Error(), "password_file") {
		t.Errorf("a file that is not there is answered with %v", err)
	}
}
