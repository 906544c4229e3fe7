package postgres

import (
	"net/url"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/testdb"
)

// asUser is the address of a database for another user, who may read and write all
// tables but must not ask for the history of the server.
func asUser(t *testing.T, at, user string, rights string) string {
	t.Helper()
	exec(t, at, `do $$ begin
		if not exists (select from pg_roles where rolname = '`+user+`') then create role `+user+` login; end if;
	end $$;
	revoke execute on function pg_control_system() from public;
	grant usage on schema public to `+user+`;
	grant `+rights+` on all tables in schema public to `+user+`;
	grant `+rights+` on all sequences in schema public to `+user)
	u, err := url.Parse(at)
	if err != nil {
		t.Fatal(err)
	}
	u.User = url.User(user)
	return u.String()
}

func TestUsersWithDifferentRightsAgreeOnTheServer(t *testing.T) {
	at := testdb.Postgres(t)
	stores := []*Store{open(t, at, Options{})}
	stores = append(stores, open(t, asUser(t, at, "fairlead_plain_user", "all"), Options{NoMigrate: true}))
	nodes := map[*Store]fairlead.NodeID{}
	for _, s := range stores {
		node, err := s.Join(t.Context(), fairlead.Node{Name: "n"}, time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		nodes[s] = node
	}
	conn, numbers := connect(t, at), map[int64]bool{}
	for range 5 {
		for _, s := range stores {
			if _, err := s.Beat(t.Context(), fairlead.Beat{Node: nodes[s], Lease: time.Minute}); err != nil {
				t.Error(err)
			}
			var number int64
			if err := conn.QueryRow(t.Context(), "select number from fairlead_server").Scan(&number); err != nil {
				t.Fatal(err)
			}
			numbers[number] = true
		}
	}
	if len(numbers) != 1 {
		t.Errorf("%d servers were counted while there was one", len(numbers))
	}
}
