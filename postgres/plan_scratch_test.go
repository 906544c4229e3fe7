package postgres

import (
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead"
)

func TestScratchPlan(t *testing.T) {
	url := os.Getenv("SCRATCH")
	if url == "" {
		t.Skip()
	}
	lanes := 100
	s := open(t, url, Options{})
	conn := connect(t, url)
	b := &bench{B: &testing.B{}, store: s}
	n, _ := s.Tally(t.Context(), fairlead.Filter{})
	if n[fairlead.Ready] < 100000 {
		for range 200 {
			jobs := b.jobs(1000, lanes)
			if err := s.Enqueue(t.Context(), jobs); err != nil {
				t.Fatal(err)
			}
		}
	}
	node, _ := s.Join(t.Context(), fairlead.Node{}, time.Hour)
	scope := &fairlead.Scope{Kinds: []string{"bench"}}
	s.refreshLanes(t.Context(), 0)
	c := claiming{Store: s, claim: fairlead.Claim{Node: node, Scope: scope, Max: 500}, lanes: s.lanes.Served(scope), left: 500}
	paused := c.pauses.load()
	open := c.openLanes(paused)
	spans, _, _ := c.spans(open, 500)
	args := append(append(c.commonArgs(paused, c.left), spanArgs(spans)...), 12, 500)
	for range 3 {
		tx, _ := conn.Begin(t.Context())
		tx.Exec(t.Context(), s.sql.Pin)
		rows, err := tx.Query(t.Context(), "explain (analyze, buffers) "+s.merges.plain, args...)
		if err != nil {
			t.Fatal(err)
		}
		for rows.Next() {
			var l string
			rows.Scan(&l)
			if os.Getenv("V") != "" {
				fmt.Println(l)
			}
			if len(l) > 9 && (l[:9] == "Execution" || l[:9] == "Planning ") {
				fmt.Println(l)
			}
		}
		tx.Rollback(t.Context())
	}
}
