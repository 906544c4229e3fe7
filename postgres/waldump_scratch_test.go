package postgres

import (
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead"
)

func TestScratchWAL(t *testing.T) {
	url := os.Getenv("SCRATCH")
	if url == "" {
		t.Skip()
	}
	s := open(t, url, Options{})
	conn := connect(t, url)
	b := &bench{B: &testing.B{}, store: s, conn: conn, scope: &fairlead.Scope{Kinds: []string{"bench"}}}
	b.node, _ = s.Join(t.Context(), fairlead.Node{}, time.Hour)
	lsn := func() (l string) {
		conn.QueryRow(t.Context(), "select pg_current_wal_insert_lsn()::text").Scan(&l)
		return
	}
	conn.Exec(t.Context(), "checkpoint")
	a := lsn()
	for range 1000 {
		if err := s.Enqueue(t.Context(), b.jobs(100, 1)); err != nil {
			t.Fatal(err)
		}
	}
	m := lsn()
	n := 0
	for {
		jobs, err := s.Claim(t.Context(), fairlead.Claim{Node: b.node, Scope: b.scope, Max: 500})
		if err != nil {
			t.Fatal(err)
		}
		n += len(jobs)
		if len(jobs) == 0 {
			break
		}
		st := make([]fairlead.Settlement, len(jobs))
		for i, job := range jobs {
			st[i] = fairlead.Settlement{ID: job.ID, Fence: job.Fence, Move: fairlead.Succeed}
		}
		if _, err := s.Settle(t.Context(), st); err != nil {
			t.Fatal(err)
		}
	}
	fmt.Println("LSN", a, m, lsn(), n)
}
