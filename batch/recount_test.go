package batch_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fairlead-io/fairlead/batch"
)

func TestEachCountThatIsWrongIsMendedAndNamed(t *testing.T) {
	chunk := func(pass int, kind batch.PassKind, marks string) batch.Chunk {
		return batch.Chunk{Pass: pass, Kind: kind, Marks: batch.Marks{States: []batch.Mark(marks)}}
	}
	chunks := []batch.Chunk{
		chunk(1, batch.PassForward, "hhhhoosssssfdddx"),
		chunk(1, batch.PassThen, "hhh"),  // no tasks
		chunk(2, batch.PassRetry, "hhh"), // of a try that was broken off
		chunk(3, batch.PassRetry, "hhoosdd"),
		chunk(4, batch.PassUndo, "hhhooosd"),
	}
	b := batch.Record{Batch: batch.Batch{Status: batch.Status{Passes: []batch.Pass{{Number: 1}, {Number: 3}, {Number: 4}}}}}
	b.Tally.Running = 9
	want := []batch.Miscount{
		{What: "pending", Found: 6},
		{What: "running", Counted: 9},
		{What: "success", Found: 6},
		{What: "fail", Found: 6},
		{What: "retry_pending", Found: 4},
		{What: "rollback_pending", Found: 6},
		{What: "rollback_success", Found: 1},
		{What: "rollback_fail", Found: 1},
		{What: "held", Found: 4},
		{What: "held to retry", Found: 2},
		{What: "held to roll back", Found: 3},
		{What: "out", Found: 7},
		{What: "out to roll back", Found: 3},
		{What: "unclear", Found: 5},
	}
	if diff := cmp.Diff(want, b.Mend(chunks)); diff != "" {
		t.Errorf("what was wrong differs (-want +got):\n%s", diff)
	}
	if again := b.Mend(chunks); len(again) > 0 {
		t.Errorf("it is still wrong: %v", again)
	}
}
