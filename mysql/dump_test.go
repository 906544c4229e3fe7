package mysql_test

import (
	"net/url"
	"os/exec"
	"strings"
	"testing"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/internal/testdb"
	"github.com/fairlead-io/fairlead/mysql"
)

// asUser runs a client program of the server as the user of a URL, with its database as the
// last argument.
func asUser(t *testing.T, address, input, program string, args ...string) (string, error) {
	t.Helper()
	path := testdb.Program(t, program)
	parsed, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	password, _ := parsed.User.Password()
	arguments := []string{"--no-defaults", "-h", parsed.Hostname(), "-P", parsed.Port(), "-u", parsed.User.Username(), "--password=" + password}
	command := exec.CommandContext(t.Context(), path, append(append(arguments, args...), strings.TrimPrefix(parsed.Path, "/"))...)
	command.Stdin = strings.NewReader(input)
	var errs strings.Builder
	command.Stderr = &errs
	out, err := command.Output()
	if err != nil {
		t.Logf("%s: %s", program, errs.String())
	}
	return string(out), err
}

// A dump names no user, so another user can restore it who may not act for others, and the
// user who made the tables need not exist.
func TestADumpIsRestoredUnderAnotherOwner(t *testing.T) {
	from, to := testdb.MySQL(t), testdb.MySQL(t)
	before := userWith(t, from, rightsToChange+", show view, lock tables")
	store := openStore(t, before, mysql.Options{})
	job := &fairlead.Job{Kind: "a"}
	enqueue(t, store, job)
	dump, err := asUser(t, before, "", "mariadb-dump", "--single-transaction")
	if err != nil {
		t.Fatal(err)
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	renamed, err := url.Parse(before)
	if err != nil {
		t.Fatal(err)
	}
	// The user is gone until the test ends: it has another name.
	admin, user := rawDB(t, from, nil), "'"+renamed.User.Username()+"'@'%'"
	mustExec(t, admin, "rename user "+user+" to 'gone_"+renamed.User.Username()+"'@'%'")
	defer mustExec(t, admin, "rename user 'gone_"+renamed.User.Username()+"'@'%' to "+user)

	after := userWith(t, to, rightsToChange+", lock tables, show view")
	if _, err := asUser(t, after, dump, "mariadb"); err != nil {
		t.Fatal(err)
	}
	restored := openStore(t, after, mysql.Options{})
	jobs, err := restored.Claim(t.Context(), driver.Claim{Node: join(t, restored), Scope: &driver.Scope{Kinds: []string{"a"}}, Max: 1})
	if err != nil || len(jobs) != 1 || jobs[0].ID != job.ID {
		t.Fatalf("claimed %v, %v", jobs, err)
	}
	settle(t, restored, fairlead.Settlement{ID: job.ID, Fence: jobs[0].Fence, Move: fairlead.Succeed})
	if again, err := asUser(t, after, "", "mariadb-dump", "--single-transaction"); err != nil || !strings.Contains(again, "fairlead_job") {
		t.Errorf("it cannot be dumped again: %v", err)
	}
}
