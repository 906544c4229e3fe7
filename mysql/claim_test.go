package mysql

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
)

// A claim takes what others commit while it is under way. It must not say that
// it did so before it was there.
func TestAClaimIsNotOlderThanWhatItTook(t *testing.T) {
	s, node := openWithNode(t, Migrated.MySQL(t))
	job := &fairlead.Job{Kind: "a"}
	claim := driver.Claim{Node: node, Scope: &driver.Scope{Kinds: []string{"a"}}, Max: 1}
	err := s.inTx(t.Context(), "claim", func(ctx context.Context, tx *txn) error {
		own, err := s.ownNode(ctx, node)
		if err != nil {
			return err
		}
		c, err := tx.open(ctx, claim, own)
		if err != nil {
			return err
		}
		if err := fairlead.NewClient(s).Enqueue(ctx, job); err != nil {
			return err
		}
		if err := c.take(ctx); err != nil {
			return err
		}
		jobs, err := c.lease(ctx)
		if err != nil {
			return err
		}
		if len(jobs) != 1 {
			t.Fatalf("claimed %d jobs, want 1", len(jobs))
		}
		if started := jobs[0].StartedAt; started.Before(job.CreatedAt) {
			t.Errorf("created at %v and claimed at %v", job.CreatedAt, started)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// A server may stand still between the statements of a claim.
func TestAClaimThatTakesLongerThanTheLease(t *testing.T) {
	const lease = time.Minute
	for name, c := range map[string]struct {
		beat bool
		want error
	}{
		"is refused":                          {false, fairlead.ErrLeaseLost},
		"goes on if it was renewed meanwhile": {true, nil},
	} {
		t.Run(name, func(t *testing.T) {
			s, advance := openAtStandingClock(t)
			node, err := s.Join(t.Context(), fairlead.Node{}, lease)
			if err != nil {
				t.Fatal(err)
			}
			if err := fairlead.NewClient(s).Enqueue(t.Context(), &fairlead.Job{Kind: "a"}); err != nil {
				t.Fatal(err)
			}
			claim := driver.Claim{Node: node, Scope: &driver.Scope{Kinds: []string{"a"}}, Max: 1}
			err = s.inTx(t.Context(), "claim", func(ctx context.Context, tx *txn) error {
				own, err := s.ownNode(ctx, node)
				if err != nil {
					return err
				}
				claiming, err := tx.open(ctx, claim, own)
				if err != nil {
					return err
				}
				advance(lease / 2)
				if c.beat {
					if _, err := s.Beat(ctx, driver.Beat{Node: node, Lease: lease}); err != nil {
						return err
					}
				}
				advance(lease * 3 / 4)
				if err := claiming.take(ctx); err != nil {
					return err
				}
				jobs, err := claiming.lease(ctx)
				if err == nil && len(jobs) != 1 {
					t.Errorf("claimed %d jobs, want 1", len(jobs))
				}
				return err
			})
			if !errors.Is(err, c.want) {
				t.Errorf("the claim ended with %v, want %v", err, c.want)
			}
		})
	}
}

// openAtStandingClock opens a store whose clock moves only when it is told to.
func openAtStandingClock(t *testing.T) (*Store, func(d time.Duration)) {
	t.Helper()
	address := Migrated.MySQL(t)
	plain, _ := openWithNode(t, address)
	exec := func(statement string) {
		t.Helper()
		if _, err := plain.lifeline.ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	exec("create table test_clock as select " + utcNow + " as us")
	s, err := OpenWith(t.Context(), address, Options{Now: "(select us from " + quote(plain.database) + ".test_clock)"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s, func(d time.Duration) {
		t.Helper()
		exec("update test_clock set us = us + " + decimal(d.Microseconds()))
	}
}

// All claims lock jobs in one order. One that is beaten to a job takes no other in
// its place that comes before what it has: the next claim does.
func TestAClaimDoesNotGoBack(t *testing.T) {
	s, node := openWithNode(t, Migrated.MySQL(t))
	beaten, instead, last := &fairlead.Job{Kind: "a"}, &fairlead.Job{Kind: "a"}, &fairlead.Job{Kind: "b"}
	if err := fairlead.NewClient(s).Enqueue(t.Context(), beaten, instead, last); err != nil {
		t.Fatal(err)
	}
	other, err := s.db.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Rollback() //nolint:errcheck // it only held a lock
	if _, err := other.ExecContext(t.Context(), "update fairlead_ready set attempt = attempt + 1 where id = ?", beaten.ID); err != nil {
		t.Fatal(err)
	}
	for _, want := range []int64{last.ID, instead.ID} {
		jobs, err := s.Claim(t.Context(), driver.Claim{
			Node: node, Scope: &driver.Scope{Kinds: []string{"a", "b"}}, Max: 3, Rooms: map[string]int{"a": 1},
		})
		if err != nil {
			t.Fatal(err)
		}
		if len(jobs) != 1 || jobs[0].ID != want {
			t.Fatalf("claimed %d jobs, want job %d alone", len(jobs), want)
		}
	}
}
