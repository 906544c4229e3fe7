package mysql_test

import (
	"testing"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/mysql"
)

// A clock that is set back, or that of a standby that took over and is behind, is no lost
// commit: a node that beats keeps its lease.
func TestANodeKeepsItsLeaseWhenTheClockIsSetBack(t *testing.T) {
	h := newHarness(t, mysql.Migrated.MySQL(t), mysql.Options{}, nil)
	s := h.Open(t)
	node, err := s.Join(t.Context(), fairlead.Node{Name: "a"}, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	beat := func() {
		t.Helper()
		if _, err := s.Beat(t.Context(), driver.Beat{Node: node, Lease: time.Minute}); err != nil {
			t.Error(err)
		}
	}
	beat()
	h.Advance(-10 * time.Second)
	for range 3 {
		beat()
		h.Advance(2 * time.Second)
	}
	if _, err := s.Claim(t.Context(), driver.Claim{Node: node, Scope: &driver.Scope{Kinds: []string{"k"}}, Max: 1}); err != nil {
		t.Error(err)
	}
}
