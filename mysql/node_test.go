package mysql

import (
	"testing"
	"time"

	"github.com/fairlead-io/fairlead/driver"
)

// A beat takes two statements. Between them a server may stand still for longer
// than a lease: the clock of the second says nothing about the lease.
func TestABeatTellsFromWhenTheLeaseCounts(t *testing.T) {
	s, id := openWithNode(t, Migrated.MySQL(t))
	answer, err := s.Beat(t.Context(), driver.Beat{Node: id, Lease: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	nodes, err := s.Nodes(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if node := nodes[0]; !answer.Now.Equal(node.LastBeat) {
		t.Errorf("the answer tells %v, but the node beat at %v", answer.Now, node.LastBeat)
	}
}
