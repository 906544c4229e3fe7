package postgres

import (
	"context"
	"errors"
	"net/url"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/internal/patience"
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
			if _, err := s.Beat(t.Context(), driver.Beat{Node: nodes[s], Lease: time.Minute}); err != nil {
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

// Others than the first process that counts a server have got fences, too, and the clock of
// the server may be behind those.
func TestFencesGoOnAboveThoseOfAServerWhoseClockWasAhead(t *testing.T) {
	at := testdb.Postgres(t)
	stores := []*Store{open(t, at, Options{}), open(t, at, Options{})}
	nodes, last := map[*Store]fairlead.NodeID{}, map[*Store]int64{}
	for _, s := range stores {
		nodes[s] = joinOne(t, s)
	}
	exec(t, at, "select setval('fairlead_fence', last_value + 3600000000) from fairlead_fence")
	for _, s := range stores {
		last[s] = claimNext(t, s, nodes[s])
	}
	exec(t, at, "select setval('fairlead_fence', 1)")
	exec(t, at, "update fairlead_server set number = number + 1, name = 'x since y'")
	for range 2 {
		for _, s := range stores {
			if _, err := s.Beat(t.Context(), driver.Beat{Node: nodes[s], Lease: time.Minute}); err != nil {
				t.Fatal(err)
			}
			fence := claimNext(t, s, nodes[s])
			if fence <= last[s] {
				t.Errorf("the fence %d follows %d", fence, last[s])
			}
			last[s] = fence
		}
	}
}

func TestANodeWhoseLastBeatIsForgottenHasLostItsLease(t *testing.T) {
	at := testdb.Postgres(t)
	s := open(t, at, Options{})
	node := joinOne(t, s)
	before := s.server.Load().number
	exec(t, at, "update fairlead_node set last_beat = last_beat - 1")
	if _, err := s.Beat(t.Context(), driver.Beat{Node: node, Lease: time.Minute}); !errors.Is(err, fairlead.ErrLeaseLost) {
		t.Errorf("the beat ended with %v", err)
	}
	if s.server.Load().number == before {
		t.Error("the other processes are not told")
	}
}

func TestAUserWhoMayOnlyReadOpensTheStoreAfterARestart(t *testing.T) {
	at := testdb.Postgres(t)
	enqueueAndSucceed(t, open(t, at, Options{}))
	exec(t, at, "update fairlead_server set name = 'x since y'")
	reader := open(t, asUser(t, at, "fairlead_reader", "select"), Options{NoMigrate: true})
	if tally, err := reader.Tally(t.Context(), fairlead.Filter{}); err != nil || tally[fairlead.Succeeded] != 1 {
		t.Errorf("it reads %v, %v", tally, err)
	}
	if err := fairlead.NewClient(reader).Enqueue(t.Context(), &fairlead.Job{Kind: "k"}); err == nil {
		t.Error("it stores jobs")
	}
}

// A standby may be read by a process that was not there when it was promoted.
func TestAStandbyCanBeReadUntilItIsPromoted(t *testing.T) {
	at := testdb.Postgres(t)
	job := &fairlead.Job{Kind: "k"}
	if err := fairlead.NewClient(open(t, at, Options{})).Enqueue(t.Context(), job); err != nil {
		t.Fatal(err)
	}
	exec(t, at, "update fairlead_server set name = 'x since y'")
	alterDatabase(t, at, "default_transaction_read_only = on")
	s := open(t, at, Options{})
	if _, err := s.Get(t.Context(), job.ID); err != nil {
		t.Fatal(err)
	}
	if err := fairlead.NewClient(s).Enqueue(t.Context(), &fairlead.Job{Kind: "k"}); !errors.Is(err, fairlead.ErrUnavailable) {
		t.Errorf("it stores jobs: %v", err)
	}
	conn := connect(t, at)
	for _, sql := range []string{
		"set default_transaction_read_only = off",
		"alter database " + conn.Config().Database + " reset default_transaction_read_only",
	} {
		if _, err := conn.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	s.pool.Reset()
	next := &fairlead.Job{Kind: "k"}
	if err := fairlead.NewClient(s).Enqueue(t.Context(), next); err != nil || next.ID < job.ID+1e8 {
		t.Errorf("job %d follows %d, which another server may have given out too: %v", next.ID, job.ID, err)
	}
}

func joinOne(t *testing.T, s *Store) fairlead.NodeID {
	t.Helper()
	node, err := s.Join(t.Context(), fairlead.Node{Name: "n"}, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	return node
}

// claimNext stores a job and claims it. It returns the fence.
func claimNext(t *testing.T, s *Store, node fairlead.NodeID) int64 {
	t.Helper()
	if err := persist(t, func(ctx context.Context) error { return fairlead.NewClient(s).Enqueue(ctx, &fairlead.Job{Kind: "k"}) }); err != nil {
		t.Fatal(err)
	}
	var jobs []*fairlead.Job
	err := persist(t, func(ctx context.Context) (err error) {
		jobs, err = s.Claim(ctx, driver.Claim{Node: node, Scope: &driver.Scope{Kinds: []string{"k"}}, Max: 1})
		return err
	})
	if err != nil || len(jobs) != 1 {
		t.Fatalf("claimed %v, %v", jobs, err)
	}
	return jobs[0].Fence
}

// persist repeats a call until the database is there.
func persist(t *testing.T, f func(ctx context.Context) error) error {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience.Limit)
	defer cancel()
	for {
		err := f(ctx)
		if !errors.Is(err, fairlead.ErrUnavailable) {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(50 * time.Millisecond):
		}
	}
}
