package mysql_test

import (
	"context"
	"crypto/rand"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/internal/patience"
	"github.com/fairlead-io/fairlead/internal/testdb"
	"github.com/fairlead-io/fairlead/mysql"
)

// The rights that the documentation speaks of.
const (
	rightsToUse    = "select, insert, update, delete"
	rightsToChange = rightsToUse + ", create, alter, drop, create view"
)

func TestTheDocumentedRightsAreThoseThatAreTested(t *testing.T) {
	page, err := os.ReadFile("../docs/security.md")
	if err != nil {
		t.Fatal(err)
	}
	for account, rights := range map[string]string{"fairlead_owner": rightsToChange, "fairlead_app": rightsToUse} {
		if want := "grant " + rights + " on jobs.* to '" + account + "'@'%';"; !strings.Contains(string(page), want) {
			t.Errorf("docs/security.md has no line %q", want)
		}
	}
}

// userWith makes a user with some rights on a database, and returns its URL.
func userWith(t *testing.T, address, rights string) string {
	t.Helper()
	parsed, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	admin := rawDB(t, address, nil)
	name, password := "u_"+strings.ToLower(rand.Text()[:16]), rand.Text()
	account := "'" + name + "'@'%'"
	for _, statement := range []string{
		"create user " + account + " identified by '" + password + "'",
		"grant " + rights + " on " + strings.TrimPrefix(parsed.Path, "/") + ".* to " + account,
	} {
		if _, err := admin.ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() {
		if _, err := admin.ExecContext(context.Background(), "drop user "+account); err != nil {
			t.Error(err)
		}
	})
	parsed.User = url.UserPassword(name, password)
	return parsed.String()
}

func TestACurrentSchemaNeedsNoRightToChangeIt(t *testing.T) {
	ctx, address := t.Context(), testdb.MySQL(t)
	openStore(t, address, mysql.Options{})
	store := openStore(t, userWith(t, address, rightsToUse), mysql.Options{})
	if schema, err := store.Migrate(ctx); err != nil || len(schema.Pending) > 0 {
		t.Errorf("a migration that had nothing to do ended with %+v, %v", schema, err)
	}
	job := claimNew(t, store, &fairlead.Job{Kind: "a"})
	settle(t, store, fairlead.Settlement{ID: job.ID, Fence: job.Fence, Move: fairlead.Succeed})
	if _, err := store.Promote(ctx, 100); err != nil {
		t.Error(err)
	}
	if _, err := store.Reap(ctx, driver.Reap{Limit: 100}); err != nil {
		t.Error(err)
	}
	if _, err := store.Prune(ctx, driver.Retention{}, 100); err != nil {
		t.Error(err)
	}
}

func TestAMissingRightIsNamed(t *testing.T) {
	address := testdb.MySQL(t)
	user := userWith(t, address, rightsToUse)
	check := func(what, right string) {
		t.Helper()
		_, err := mysql.Open(t.Context(), user)
		if err == nil || !strings.Contains(err.Error(), right+" command denied") || !strings.Contains(err.Error(), "run fairlead migrate up as a user who has them") {
			t.Errorf("%s is answered with %v", what, err)
		}
	}
	check("an empty database", "CREATE")
	openStore(t, address, mysql.Options{})
	if _, err := rawDB(t, address, nil).ExecContext(t.Context(), "delete from fairlead_migration where version = 11"); err != nil {
		t.Fatal(err)
	}
	check("a schema that is behind", "ALTER")
}

func TestTheRightsToChangeTheSchema(t *testing.T) {
	store := openStore(t, userWith(t, testdb.MySQL(t), rightsToChange), mysql.Options{})
	claimNew(t, store, &fairlead.Job{Kind: "a"})
}

// A password that was rotated counts for the next connection of a store that is open.
func TestThePasswordIsReadAnewForEachConnection(t *testing.T) {
	ctx, address := t.Context(), testdb.MySQL(t)
	openStore(t, address, mysql.Options{})
	user, err := url.Parse(userWith(t, address, rightsToUse))
	if err != nil {
		t.Fatal(err)
	}
	name := user.User.Username()
	first, _ := user.User.Password()
	file := filepath.Join(t.TempDir(), "password")
	write := func(password string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(password+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(first)
	user.User = url.User(name)
	query := user.Query()
	query.Set("password_file", file)
	user.RawQuery = query.Encode()
	store := openStore(t, user.String(), mysql.Options{})
	node, err := store.Join(ctx, fairlead.Node{Name: "n"}, time.Minute)
	if err != nil {
		t.Fatal(err)
	}

	admin := rawDB(t, address, nil)
	mustExec(t, admin, "alter user '"+name+"'@'%' identified by 'second'")
	write("second")
	var ids []int64
	rows, err := admin.QueryContext(ctx, "select id from information_schema.processlist where user = ?", name)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var id int64
		if err := rows.Scan(&id); err != nil {
			t.Fatal(err)
		}
		ids = append(ids, id)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	for _, id := range ids {
		mustExec(t, admin, fmt.Sprintf("kill %d", id))
	}
	deadline := time.Now().Add(patience.Limit)
	for {
		if _, err = store.Beat(ctx, driver.Beat{Node: node, Lease: time.Minute}); err == nil || time.Now().After(deadline) {
			break // a connection that was killed is noticed by the first call that uses it
		}
	}
	if err != nil {
		t.Errorf("with the new password: %v", err)
	}
}
