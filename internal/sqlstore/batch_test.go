package sqlstore_test

import (
	"encoding/json"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead/batch"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
)

// Nodes of earlier versions read and write the status of a batch under these keys, in one
// object.
func TestTheStatusOfABatchKeepsItsKeys(t *testing.T) {
	record := batch.Record{Batch: batch.Batch{Status: batch.Status{Awaiting: true, Doubtful: 1}}, Ledger: batch.Ledger{Seen: batch.Seen{At: time.Unix(1, 0)}}}
	raw, err := sqlstore.EncodeBatchStatus(&record)
	if err != nil {
		t.Fatal(err)
	}
	var stored map[string]json.RawMessage
	if err := json.Unmarshal(raw, &stored); err != nil {
		t.Fatal(err)
	}
	want := []string{
		"Ahead", "Approved", "Cancelled", "Completions", "Doubtful", "EndedAt", "Forgiven", "Held", "HeldRetry", "HeldUndo", "LossDoubtful",
		"Opened", "Out", "OutAt", "OutUndo", "Passes", "Paused", "PreparedAt", "Reason", "Saved", "Seen", "SoughtAt",
		"StartedAt", "Tally", "Total", "Tries", "Undo", "Undoing", "Wanted", "Wants",
	}
	if keys := slices.Sorted(maps.Keys(stored)); !slices.Equal(keys, want) {
		t.Errorf("the keys are %q and should be %q", keys, want)
	}
}
