package sqlite_test

import (
	"bufio"
	"context"
	"database/sql"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/internal/tier"
	"github.com/fairlead-io/fairlead/sqlite"
)

// childFile makes this binary a child process that works on the file until it
// is killed.
const childFile = "FAIRLEAD_TEST_CHILD_FILE"

func TestMain(m *testing.M) {
	if file := os.Getenv(childFile); file != "" {
		if err := workUntilKilled(file); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	goleak.VerifyTestMain(m)
}

// workUntilKilled enqueues, claims and settles from many goroutines. It says
// which jobs are acknowledged.
func workUntilKilled(file string) error {
	ctx := context.Background()
	s, err := sqlite.Open(ctx, file)
	if err != nil {
		return err
	}
	node, err := s.Join(ctx, fairlead.Node{Name: "child"}, time.Hour)
	if err != nil {
		return err
	}
	failed := make(chan error)
	var out sync.Mutex
	for i := range 4 {
		go func() {
			for {
				job := &fairlead.Job{Kind: "k", Key: fmt.Sprintf("%d-%d", i, time.Now().UnixNano())}
				gated := &fairlead.Job{Kind: "k", Tenant: fmt.Sprint("t", i), ConcurrencyKey: "g"}
				if err := fairlead.NewClient(s).Enqueue(ctx, &fairlead.Job{Kind: "k", Tenant: fmt.Sprint("t", i)}, job, gated); err != nil {
					failed <- err
				}
				out.Lock()
				fmt.Println(job.ID)
				out.Unlock()
			}
		}()
	}
	go func() {
		for scope := (&driver.Scope{Kinds: []string{"k"}}); ; {
			jobs, err := s.Claim(ctx, driver.Claim{Node: node, Scope: scope, Max: 10})
			if err != nil {
				failed <- err
			}
			var settlements []fairlead.Settlement
			for i, job := range jobs {
				move := []fairlead.Move{fairlead.Succeed, fairlead.Again, fairlead.Fail}[i%3]
				settlements = append(settlements, fairlead.Settlement{ID: job.ID, Fence: job.Fence, Move: move, FreeKey: true})
			}
			if _, err := s.Settle(ctx, settlements[:len(settlements)/2]); err != nil {
				failed <- err
			}
		}
	}()
	return <-failed
}

// TestAKilledProcessLeavesAConsistentFile: what was acknowledged is there, and
// every job is in one place.
func TestAKilledProcessLeavesAConsistentFile(t *testing.T) {
	tier.Long(t, "kills processes")
	file := filepath.Join(t.TempDir(), "jobs.db")
	open(t, file, sqlite.Options{}) // another process has the file open all the time
	for range 3 {
		acknowledged := killAfter(t, file, 150*time.Millisecond)
		s, err := sqlite.Open(t.Context(), file)
		must(t, err)
		for _, id := range acknowledged {
			if _, err := s.Get(t.Context(), id); err != nil {
				t.Errorf("an acknowledged job: %v", err)
			}
		}
		checkFile(t, s.DB())
		must(t, checkGates(t.Context(), s.DB(), 1))
		_, err = s.Reap(t.Context(), driver.Reap{MaxCrashes: 100, Limit: 10})
		must(t, err)
		must(t, s.Close())
	}
}

// killAfter runs a child for a while, and returns the jobs that it was told
// are stored.
func killAfter(t *testing.T, file string, while time.Duration) []int64 {
	t.Helper()
	child := exec.CommandContext(t.Context(), os.Args[0])
	child.Env, child.Stderr = append(os.Environ(), childFile+"="+file), os.Stderr
	output, err := child.StdoutPipe()
	must(t, err)
	must(t, child.Start())
	var acknowledged []int64
	lines := bufio.NewScanner(output)
	for lines.Scan() {
		if len(acknowledged) == 0 {
			time.AfterFunc(while, func() { _ = child.Process.Kill() })
		}
		var id int64
		if _, err := fmt.Sscan(lines.Text(), &id); err == nil {
			acknowledged = append(acknowledged, id)
		}
	}
	if err := child.Wait(); err == nil || len(acknowledged) == 0 {
		t.Fatalf("the child ended with %v after %d jobs", err, len(acknowledged))
	}
	return acknowledged
}

// checkFile checks the invariants of the tables.
func checkFile(t *testing.T, db *sql.DB) {
	t.Helper()
	for what, query := range map[string]string{
		"the file is damaged":             "select count(*) from pragma_integrity_check where integrity_check <> 'ok'",
		"there are jobs in no one place":  "select count(*) from fairlead_job where (select count(*) from (" + places + ") p where p.id = fairlead_job.id) <> 1",
		"there are places without job":    "select count(*) from (" + places + ") p where p.id not in (select id from fairlead_job)",
		"there are ids that were not yet": "select count(*) from fairlead_job where id > (select value from fairlead_counter where name = 'job')",
		"ready differs from job":          "select count(*) from fairlead_ready r join fairlead_job j on j.id = r.id where (r.lane, r.turn, r.start_by) <> (j.lane, j.turn, j.start_by)",
		"live keys are held by the dead":  "select count(*) from fairlead_jobkey k join fairlead_done d on d.id = k.id",
		"live jobs have lost their key":   "select count(*) from fairlead_job j where job_key is not null and id not in (select id from fairlead_done) and id not in (select id from fairlead_jobkey)",
	} {
		var n int
		must(t, db.QueryRowContext(t.Context(), query).Scan(&n))
		if n > 0 {
			t.Errorf("%s: %d", what, n)
		}
	}
}

const places = "select id from fairlead_later union all select id from fairlead_ready union all select id from fairlead_running" +
	" union all select id from fairlead_parked union all select id from fairlead_waiting union all select id from fairlead_done"

// TestProcessesTakeTurns: a busy process does not lock out another.
func TestProcessesTakeTurns(t *testing.T) {
	file := filepath.Join(t.TempDir(), "jobs.db")
	busy, other := open(t, file, sqlite.Options{}), open(t, file, sqlite.Options{})
	node, err := other.Join(t.Context(), fairlead.Node{}, time.Hour)
	must(t, err)
	ctx, stop := context.WithCancel(t.Context())
	var all sync.WaitGroup
	var turns atomic.Int64 // of the busy process
	for range 4 {
		all.Go(func() {
			for jobs := benchJobs(200); ctx.Err() == nil; turns.Add(1) {
				if err := busy.Enqueue(ctx, jobs); err != nil && ctx.Err() == nil {
					t.Error(err)
				}
			}
		})
	}
	longest := int64(0)
	for range 50 {
		before := turns.Load()
		_, err := other.Beat(t.Context(), driver.Beat{Node: node, Lease: time.Hour})
		must(t, err)
		longest = max(longest, turns.Load()-before)
	}
	stop()
	all.Wait()
	t.Logf("the longest of 50 beats beside a busy process waited for %d of its turns", longest)
	if longest > 500 {
		t.Errorf("a beat waited for %d turns of another process", longest)
	}
}
