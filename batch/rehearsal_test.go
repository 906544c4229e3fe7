package batch_test

import (
	"testing"

	"github.com/fairlead-io/fairlead/batch"
)

func TestARehearsalGoesOnAfterATaskThatIsRefusedAndStoresNothing(t *testing.T) {
	m := newMoving(t)
	rehearsal, err := m.batches.Rehearse(t.Context(), batch.Batch{Name: "spring", Type: "move"})
	m.ok(err)
	if _, err := rehearsal.Close(t.Context()); !onlyField(err, "tasks") {
		t.Errorf("a batch without tasks: got %v", err)
	}
	m.ok(rehearsal.Add(t.Context(), boxes(3)...))
	unknown := boxes(1)
	unknown[0].Target.Type = "crate"
	if err := rehearsal.Add(t.Context(), unknown...); !onlyField(err, "tasks[3].target.type") {
		t.Errorf("a target that no node handles: got %v", err)
	}
	m.ok(rehearsal.Add(t.Context(), boxes(2500)...))
	total, err := rehearsal.Close(t.Context())
	m.ok(err)
	m.equal("its total", total, 2503)
	listed, err := m.batches.List(t.Context(), batch.Filter{})
	m.ok(err)
	m.equal("batches", len(listed), 0)
	if _, err := m.batches.Rehearse(t.Context(), batch.Batch{Name: "spring", Type: "paint"}); !onlyField(err, "type") {
		t.Errorf("a type that no node handles: got %v", err)
	}
}
