package mysql

import (
	"context"
	"testing"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/testdb"
)

// A claim takes what others commit while it is under way. It must not say that
// it did so before it was there.
func TestAClaimIsNotOlderThanWhatItTook(t *testing.T) {
	s, node := openWithNode(t, testdb.MySQL(t))
	job := &fairlead.Job{Kind: "a"}
	claim := fairlead.Claim{Node: node, Scope: &fairlead.Scope{Kinds: []string{"a"}}, Max: 1}
	err := s.atomically(t.Context(), "claim", func(ctx context.Context, tx *txn) error {
		rules, err := tx.open(ctx, node)
		if err != nil {
			return err
		}
		if err := fairlead.NewClient(s).Enqueue(ctx, job); err != nil {
			return err
		}
		c := &claiming{txn: tx, Claim: claim, rules: rules, rooms: newRooms(claim)}
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
