package console

import (
	"testing"
	"time"
)

func TestGroupsOfErrorsAreLargestFirstAndShowTheNewest(t *testing.T) {
	at := func(minute int) time.Time { return time.Date(2026, 1, 31, 12, minute, 0, 0, time.UTC) }
	groups := groupErrors([]failed{
		{Error: "gone", At: at(9), Name: "a"},
		{Error: "wet: wall 1", At: at(1), Name: "b"},
		{Error: "wet: wall 2", At: at(3), Name: "c"},
		{Error: "wet: wall 3", At: at(2), Name: "d"},
	})
	if len(groups) != 2 || groups[0].Like != "wet: wall N" || groups[0].Count.N != 3 || groups[0].Newest.Name != "c" || groups[1].Count.N != 1 {
		t.Errorf("groups are %+v", groups)
	}
}
