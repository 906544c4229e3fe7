package console

import (
	"testing"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
)

func TestTheBudgetOfALaterRunCountsOnlyWhatFailedInIt(t *testing.T) {
	start := time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)
	at := func(minutes int) *timestamppb.Timestamp {
		return timestamppb.New(start.Add(time.Duration(minutes) * time.Minute))
	}
	sweep := func(run int32) *fairleadv1.Sweep {
		return &fairleadv1.Sweep{Run: run, ErrorBudget: &fairleadv1.ErrorBudget{Items: 10}, Progress: &fairleadv1.SweepProgress{Abandoned: proto.Int64(4)}}
	}
	items := []*fairleadv1.FailedItem{{At: at(-5)}, {At: at(-4)}, {At: at(1)}, {At: at(-3), Again: true}}
	events := []*fairleadv1.SweepEvent{{Action: "set", At: at(3)}, {Action: "retry", At: at(0)}, {Action: "start", At: at(-60)}}
	for _, test := range []struct {
		name  string
		run   int32
		all   bool
		left  int64
		known bool
	}{
		{"a first run needs no list", 1, false, 6, true},
		{"a later run counts what failed since it was started", 2, true, 9, true},
		{"a later run with more failed items than were read is not known", 2, false, 0, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			left, known := budgetLeft(sweep(test.run), items, test.all, lastStart(events))
			if left != test.left || known != test.known {
				t.Errorf("got %d, %v", left, known)
			}
		})
	}
	if _, known := budgetLeft(&fairleadv1.Sweep{ErrorBudget: &fairleadv1.ErrorBudget{Percent: 2}}, nil, true, start); known {
		t.Error("a budget without a number of items has so many left")
	}
}
