package mysql

import (
	"context"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/internal/patience"
)

func TestAmong(t *testing.T) {
	for _, test := range []struct {
		name string
		ids  []int64
		want string
	}{
		{"one", []int64{7}, "(id in (7))"},
		{"few in a row", []int64{7, 8, 9}, "(id in (7,8,9))"},
		{"many in a row", []int64{7, 8, 9, 10}, "(id between 7 and 9 or id in (10))"},
		{"in any order", []int64{9, 7, 10, 8}, "(id between 7 and 9 or id in (10))"},
		{"with gaps", []int64{1, 3, 4, 5, 6, 8, 20, 21, 22, 23, 24}, "(id between 3 and 5 or id between 20 and 23 or id in (1,6,8,24))"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := among(test.ids); got != test.want {
				t.Errorf("got %s, want %s", got, test.want)
			}
		})
	}
}

// TestNobodyWaitsForTheNextRow claims and settles jobs in a row while others
// have locked those that follow.
func TestNobodyWaitsForTheNextRow(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), patience.Limit)
	defer cancel()
	s, err := Open(ctx, Migrated.MySQL(t))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	jobs := make([]*fairlead.Job, 30)
	for i := range jobs {
		jobs[i] = &fairlead.Job{Kind: "a"}
	}
	if err := fairlead.NewClient(s).Enqueue(ctx, jobs...); err != nil {
		t.Fatal(err)
	}
	node, err := s.Join(ctx, fairlead.Node{Name: "node"}, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	claim := func() []*fairlead.Job {
		t.Helper()
		claimed, err := s.Claim(ctx, driver.Claim{Node: node, Scope: &driver.Scope{Kinds: []string{"a"}}, Max: 10})
		if err != nil || len(claimed) != 10 {
			t.Fatalf("claimed %d jobs: %v", len(claimed), err)
		}
		return claimed
	}
	lock := func(table string, job *fairlead.Job) {
		t.Helper()
		tx, err := s.db.BeginTx(ctx, nil)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = tx.Rollback() })
		var id int64
		statement := "select id from " + s.expand(table) + " where id = ? for update"
		if err := tx.QueryRowContext(ctx, statement, job.ID).Scan(&id); err != nil {
			t.Fatal(err)
		}
	}
	lock("ready", jobs[10])
	first, second := claim(), claim()
	if first[9].ID != jobs[9].ID || second[0].ID != jobs[11].ID {
		t.Fatalf("claimed up to %d and from %d", first[9].ID, second[0].ID)
	}
	lock("running", second[0])
	settlements := make([]fairlead.Settlement, len(first))
	for i, job := range first {
		settlements[i] = fairlead.Settlement{ID: job.ID, Fence: job.Fence, Move: fairlead.Succeed}
	}
	if _, err := s.Settle(ctx, settlements); err != nil {
		t.Fatal(err)
	}
}
