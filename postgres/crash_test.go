package postgres

import (
	"context"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/patience"
	"github.com/fairlead-io/fairlead/internal/testdb"
	"github.com/fairlead-io/fairlead/internal/tier"
)

// A backend that is killed, as by the kernel for want of memory, makes the server throw
// its memory away, with commits that are not on disk if synchronous_commit is off. The
// time at which the server was started stays, so the store cannot know it before version
// 15: see sinceCrash.
func TestFencesGoOnAfterABackendWasKilled(t *testing.T) {
	tier.Long(t, "kills a server")
	t.Parallel()
	server := keep(t, func(ctx context.Context) (*testdb.Server, error) { return testdb.StartPostgres(ctx, testdb.Options{}) })
	found, err := describe(t.Context(), connect(t, server.URL()))
	if err != nil {
		t.Fatal(err)
	}
	if found.version < cheapStats {
		t.Skipf("version %d does not show it", found.version)
	}
	exec(t, server.URL(), "alter database postgres set synchronous_commit = off")
	a, b := open(t, server.URL(), Options{}), open(t, server.URL(), Options{})
	nodeA, nodeB := joinOne(t, a), joinOne(t, b)
	claimNext(t, a, nodeA)
	claimNext(t, b, nodeB)
	last, lost := int64(0), false
	for try := 0; !lost; try++ {
		if try == 5 {
			t.Fatal("the server kept every commit")
		}
		last, lost = loseCommits(t, server.URL(), func() int64 { return claimNext(t, a, nodeA) })
	}
	if fence := claimNext(t, b, nodeB); fence <= last {
		t.Errorf("the fence %d follows %d", fence, last)
	}
	job := &fairlead.Job{Kind: "k"}
	if err := persist(t, func(ctx context.Context) error { return fairlead.NewClient(a).Enqueue(ctx, job) }); err != nil || job.ID < 1e8 {
		t.Errorf("job %d may be one that was forgotten: %v", job.ID, err)
	}
}

// loseCommits claims jobs whose commits are in memory alone, and kills a backend. It tells
// the last fence, and whether commits were lost: the server may have had other reasons to
// write its log.
func loseCommits(t *testing.T, url string, claim func() int64) (last int64, lost bool) {
	t.Helper()
	exec(t, url, "checkpoint")
	victim, witness := connect(t, url), connect(t, url)
	var pid, walWriter, before, after int
	err := victim.QueryRow(t.Context(), "select pg_backend_pid(), (select pid from pg_stat_activity where backend_type = 'walwriter')").Scan(&pid, &walWriter)
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(walWriter, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	for range 60 {
		last = claim()
	}
	if err := victim.QueryRow(t.Context(), "select count(*) from fairlead_job").Scan(&before); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	// Until the server has noticed it goes on as if nothing had happened.
	if _, err := witness.Exec(t.Context(), "select pg_sleep($1)", patience.Limit.Seconds()); err == nil {
		t.Fatal("the server did not notice that a backend was killed")
	}
	err = persist(t, func(ctx context.Context) error { // until it has recovered
		conn, err := pgx.Connect(ctx, url)
		if err != nil {
			return unavailable(ctx, err)
		}
		defer conn.Close(ctx)
		if err := conn.QueryRow(ctx, "select count(*) from fairlead_job").Scan(&after); err != nil {
			return unavailable(ctx, err)
		}
		_, err = conn.Exec(ctx, "delete from fairlead_ready") // what is left of them
		return unavailable(ctx, err)
	})
	if err != nil {
		t.Fatal(err)
	}
	return last, after < before
}
