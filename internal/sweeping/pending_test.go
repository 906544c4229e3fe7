package sweeping_test

import (
	"context"
	"encoding/json"
	"slices"
	"testing"

	"github.com/fairlead-io/fairlead/internal/source"
	"github.com/fairlead-io/fairlead/internal/sweeping"
)

func TestPendingIsReadAsItWasWritten(t *testing.T) {
	aside := []sweeping.Aside{{Index: -7, Tries: 1}, {Index: 0}, {Index: 1 << 60, Tries: 4}}
	stored, err := sweeping.EncodePending(aside)
	if err != nil {
		t.Fatal(err)
	}
	if read, err := sweeping.DecodePending(stored); err != nil || !slices.Equal(read, aside) {
		t.Errorf("%v is read as %v: %v", aside, read, err)
	}
	for _, none := range [][]sweeping.Aside{nil, {}} {
		if stored, err := sweeping.EncodePending(none); err != nil || stored != nil {
			t.Errorf("nothing is stored as %s: %v", stored, err)
		}
	}
	for _, bad := range []string{`7`, `{"aside":7}`, `{"aside":"//8="}`, `{"aside":"gA=="}`} {
		if read, err := sweeping.DecodePending(json.RawMessage(bad)); err == nil {
			t.Errorf("%s is read as %v", bad, read)
		}
	}
}

// A run can resume from anything that Verify accepts, whatever a worker has sent.
func FuzzVerify(f *testing.F) {
	f.Add(int64(0), int64(100), int64(7), []byte{3}, `{"aside":"DAE="}`)
	f.Add(int64(-5), int64(0), int64(7), []byte{0, 0}, `null`)
	f.Add(int64(5), int64(9), int64(9), []byte{255, 255}, ``)
	f.Add(int64(0), int64(1)<<62, int64(1)<<62, []byte{}, `{}`)
	f.Fuzz(func(t *testing.T, from, to, mark int64, bitmap []byte, stored string) {
		aside, err := sweeping.DecodePending(json.RawMessage(stored))
		if err != nil || sweeping.Verify(from, to, mark, bitmap, aside) != nil || to == 0 {
			return
		}
		shard := sweeping.Shard{
			Source: source.Indexes{From: from, To: to}, From: from, To: to,
			Handle: func(context.Context, sweeping.Item) sweeping.Outcome { return sweeping.Outcome{} },
			Save:   func(context.Context, sweeping.Checkpoint) (sweeping.Orders, error) { return sweeping.Orders{}, nil },
			Record: func(context.Context, []sweeping.Record) error { return nil },
		}
		if _, err := sweeping.New(shard); err != nil {
			return // no such range exists
		}
		shard.Resume = &sweeping.Checkpoint{Mark: mark, Window: bitmap, Aside: aside}
		if _, err := sweeping.New(shard); err != nil {
			t.Errorf("%d to %d from %d, %x, %v: %v", from, to, mark, bitmap, aside, err)
		}
	})
}

// Source 002, sliding window: all items before its beginning are done.
func TestHowFarTheFirstItemThatWaitsIsBehindTheMark(t *testing.T) {
	for _, c := range []struct {
		aside []sweeping.Aside
		want  int64
	}{
		{nil, 0},
		{[]sweeping.Aside{{Index: 7}, {Index: 9}}, 3},
		{[]sweeping.Aside{{Index: 10}}, 0},
		{[]sweeping.Aside{{Index: 12}}, 0},
	} {
		if got := sweeping.Behind(10, c.aside); got != c.want {
			t.Errorf("with %v it is %d behind, want %d", c.aside, got, c.want)
		}
	}
}
