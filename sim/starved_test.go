package sim_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/internal/testdb"
	"github.com/fairlead-io/fairlead/internal/tier"
	"github.com/fairlead-io/fairlead/sim"
)

// What a starved machine does to a worker, named in the URL of its store.
const (
	lagging   = "lagging"   // answers to beats are lost for a while, and that to a claim comes long after
	faltering = "faltering" // the process gets no time for more than a lease, again and again
)

// starvedDir holds histories of starved workers. The rules reported each of them once,
// and no guarantee was broken.
const starvedDir = "testdata/histories-starved"

// starvations are the ways to starve workers, and how often a rule of before reported a
// run.
var starvations = map[string]func(sim.Record) int{
	lagging:   sim.OldDeadClaims,
	faltering: sim.OldReapsOnArrival,
}

// The histories of starved workers are clean, though rules of before reported them. Each
// damage that they have a place for is found in them too.
func TestHistoriesOfStarvedWorkersAreClean(t *testing.T) {
	t.Parallel()
	all, shown := storedHistories(t, starvedDir), map[string]int{}
	for _, h := range all {
		for how, before := range starvations {
			if before(h.record) > 0 {
				shown[how]++
			}
		}
		for _, violation := range sim.Check(h.record).Violations {
			t.Errorf("%s is clean, and the checker reports %v", h.name, violation)
		}
	}
	for how := range starvations {
		if shown[how] == 0 {
			t.Errorf("the rules of before report no history of %s workers", how)
		}
	}
	for _, h := range all { // what is not known excuses nothing
		r := clone(h.record)
		for i := range r.Events {
			if e := &r.Events[i]; e.What == sim.Claimed {
				e.Sent = 0
			}
		}
		found := slices.ContainsFunc(sim.Check(r).Violations, func(v sim.Violation) bool { return v.Fault == sim.DeadClaimed })
		if want := sim.OldDeadClaims(r) > 0; found != want {
			t.Errorf("%s, without the times at which claims were sent, is reported: %v, want %v", h.name, found, want)
		}
	}
	seed := tier.Seed(t, seedEnv)
	for i, damage := range damages() {
		t.Run(damage.name, func(t *testing.T) {
			random := rand.New(rand.NewPCG(seed, uint64(i)))
			for _, h := range all {
				damage.inflict(t, h, random)
			}
		})
	}
}

// Starved workers break no rule. With FAIRLEAD_SIM_RECORD=1 the first runs that a rule of
// before reports are stored in testdata.
func TestStarvedWorkersBreakNoRule(t *testing.T) {
	tier.Long(t, "stops processes for longer than their leases")
	t.Parallel()
	for how, before := range starvations {
		for name, url := range map[string]func(t *testing.T) string{
			"sqlite":   func(t *testing.T) string { return "sqlite://" + filepath.Join(t.TempDir(), "jobs.db") },
			"postgres": func(t *testing.T) string { return testdb.Postgres(t) },
			"mariadb":  func(t *testing.T) string { return testdb.MySQL(t) },
		} {
			t.Run(how+" on "+name, func(t *testing.T) {
				const most = 8 // runs to record one
				for try := 1; !t.Failed(); try++ {
					s := eventfulJobs(60)
					s.URL, s.Disturb, s.Every = how+"+"+url(t), sim.Replace, quickNodeLease
					if how == faltering { // the only one that is left has to take back from the dead
						s.Disturb = sim.KillTwo
					}
					record, _ := play(t, s)
					t.Logf("the rule of before reports it %d times", before(record))
					switch {
					case os.Getenv(keepEnv) == "" || t.Failed():
						return
					case before(record) > 0:
						keepStarved(t, name+"-"+how, &record)
						return
					case try == most:
						t.Fatalf("in %d runs no worker was starved at the moment that matters", most)
					}
				}
			})
		}
	}
}

func keepStarved(t *testing.T, name string, record *sim.Record) {
	t.Helper()
	err := os.MkdirAll(starvedDir, 0o700)
	if err == nil {
		err = writeRecord(filepath.Join(starvedDir, name+recordSuffix), record)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// laggingStore loses the answers to the beats of a worker, once, until its lease has ended
// as far as the worker knows. A claim of that time is made when the last known lease has
// ended, under one that a lost answer granted, and is answered more than a lease later.
type laggingStore struct {
	driver.Store

	mu     sync.Mutex
	joined time.Time
	heard  time.Time // when the last answer to a beat was not lost
	lost   time.Time // when the last one was
	done   bool
}

// Join notes when the worker came.
func (s *laggingStore) Join(ctx context.Context, node fairlead.Node, lease time.Duration) (fairlead.NodeID, error) {
	id, err := s.Store.Join(ctx, node, lease)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.done = s.done || !s.lost.IsZero(); s.joined.IsZero() {
		s.joined = time.Now()
	}
	return id, err
}

// Beat counts; its answer may be lost.
func (s *laggingStore) Beat(ctx context.Context, beat driver.Beat) (driver.BeatAnswer, error) {
	answer, err := s.Store.Beat(context.WithoutCancel(ctx), beat)
	s.mu.Lock()
	lose := err == nil && !s.done && time.Since(s.joined) > 2*quickNodeLease
	if err == nil && !lose {
		s.heard = time.Now()
	}
	s.mu.Unlock()
	if !lose {
		return answer, err
	}
	<-ctx.Done()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lost = time.Now()
	return driver.BeatAnswer{}, ctx.Err()
}

// Claim delays claims while responses are lost.
func (s *laggingStore) Claim(ctx context.Context, claim driver.Claim) ([]*fairlead.Job, error) {
	const late = quickNodeLease * 6 / 5
	s.mu.Lock()
	lag, from := !s.lost.IsZero() && !s.done, s.heard
	s.mu.Unlock()
	if !lag {
		return s.Store.Claim(ctx, claim)
	}
	ctx = context.WithoutCancel(ctx)
	<-time.After(time.Until(from.Add(late)))
	jobs, err := s.Store.Claim(ctx, claim)
	s.mu.Lock()
	from = s.lost
	s.mu.Unlock()
	<-time.After(time.Until(from.Add(late)))
	return jobs, err
}

// falteringStore stops its process for more than a lease whenever it has been a node for a
// little more than one, and is slow to list nodes. So the node looks rarely whether it may
// take jobs back, and is not trusted at any look though its beats succeed for a lease.
type falteringStore struct {
	driver.Store

	mu     sync.Mutex
	joined time.Time
	falls  int
}

// Join notes when the worker came.
func (s *falteringStore) Join(ctx context.Context, node fairlead.Node, lease time.Duration) (fairlead.NodeID, error) {
	id, err := s.Store.Join(ctx, node, lease)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.joined = time.Now()
	return id, err
}

// Nodes takes its time.
func (s *falteringStore) Nodes(ctx context.Context) ([]fairlead.Node, error) {
	<-time.After(quickNodeLease * 2 / 5)
	return s.Store.Nodes(ctx)
}

// Beat stops the process when it is time.
func (s *falteringStore) Beat(ctx context.Context, beat driver.Beat) (driver.BeatAnswer, error) {
	const most = 3
	s.mu.Lock()
	fall := s.falls < most && time.Since(s.joined) > quickNodeLease*21/20
	if fall {
		s.falls++
		s.joined = time.Now()
	}
	s.mu.Unlock()
	if fall {
		if err := standStill(quickNodeLease * 6 / 5); err != nil {
			return driver.BeatAnswer{}, err
		}
	}
	return s.Store.Beat(ctx, beat)
}

// standStill stops this process for a time.
func standStill(d time.Duration) error {
	pid := os.Getpid()
	wake := exec.Command("sh", "-c", fmt.Sprintf("sleep %s; kill -CONT %d", strconv.FormatFloat(d.Seconds(), 'f', 3, 64), pid))
	if err := wake.Start(); err != nil {
		return err
	}
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
		return err
	}
	return wake.Wait()
}
