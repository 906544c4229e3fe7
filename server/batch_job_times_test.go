package server

import (
	"testing"
	"time"

	"github.com/fairlead-io/fairlead/batch"
)

func TestABatchWasUpdatedWhenTheLastThingHappenedToIt(t *testing.T) {
	at := func(hour int) time.Time { return time.Date(2030, 1, 1, hour, 0, 0, 0, time.UTC) }
	for name, c := range map[string]struct {
		tasks []batch.Task
		ended time.Time
		want  time.Time
	}{
		"when it was made":       {[]batch.Task{{}, {UpdatedAt: at(0)}}, time.Time{}, at(1)},
		"when a task changed":    {[]batch.Task{{UpdatedAt: at(2)}, {UpdatedAt: at(4)}, {UpdatedAt: at(3)}}, time.Time{}, at(4)},
		"when it ended":          {[]batch.Task{{UpdatedAt: at(2)}}, at(5), at(5)},
		"when a task was undone": {[]batch.Task{{UpdatedAt: at(6)}}, at(5), at(6)},
	} {
		out, err := batchJobTo(&batch.Batch{CreatedAt: at(1), Status: batch.Status{EndedAt: c.ended}}, c.tasks, 0)
		if err != nil || !out.GetUpdateTime().AsTime().Equal(c.want) || !out.GetCreateTime().AsTime().Equal(at(1)) {
			t.Errorf("%s: it is %v, %v, want %v", name, out.GetUpdateTime().AsTime(), err, c.want)
		}
	}
}
