package cron_test

import (
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/fairlead-io/fairlead/internal/cron"
	"github.com/fairlead-io/fairlead/internal/tier"
)

func TestIntervalsCountFromTheirAnchor(t *testing.T) {
	e := parse(t, "@every 90s")
	for _, test := range []struct{ prev, at, next string }{
		{"", "2025-01-01T00:00:00Z", "2025-01-01T00:00:10.25Z"}, // the anchor is the first
		{"", "2025-01-01T00:00:10.25Z", "2025-01-01T00:01:40.25Z"},
		{"2025-01-01T00:00:10.25Z", "2025-01-01T00:01:40.249999999Z", "2025-01-01T00:01:40.25Z"},
		{"2025-01-01T00:00:10.25Z", "2025-01-01T00:01:40.25Z", "2025-01-01T00:03:10.25Z"},
		{"2025-01-01T00:01:40.25Z", "2025-01-01T00:01:40.250000001Z", "2025-01-01T00:03:10.25Z"},
		{"9999-12-31T23:58:40.25Z", "9999-12-31T23:59:59Z", ""},
	} {
		anchor, at := instant(t, "2025-01-01T00:00:10.25Z"), instant(t, test.at)
		if got := text(e.NextEvery(anchor, at)); got != test.next {
			t.Errorf("after %s: %s, want %s", test.at, got, test.next)
		}
		if got := text(e.PrevEvery(anchor, at)); got != test.prev {
			t.Errorf("before %s: %s, want %s", test.at, got, test.prev)
		}
	}
}

func TestIntervalsIgnoreZones(t *testing.T) {
	e, zone := parse(t, "@every 24h"), load(t, "Europe/Paris")
	timer := e.Timer(zone, time.Date(2025, 3, 29, 12, 0, 0, 0, zone))
	got := localTimes(cron.Between(timer, time.Date(2025, 3, 29, 0, 0, 0, 0, zone), time.Date(2025, 4, 1, 0, 0, 0, 0, zone), 10))
	if want := "03-29T12:00+01 03-30T13:00+02 03-31T13:00+02"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestIntervalsAreExactOverCenturies(t *testing.T) {
	t.Attr(tier.LongAttr, "rapid draws five times as many cases")
	rapid.Check(t, func(r *rapid.T) {
		interval := time.Duration(rapid.Int64Range(1000, 70272*3600*1000).Draw(r, "interval")) * time.Millisecond
		e, err := cron.Every(interval)
		if err != nil {
			r.Fatal(err)
		}
		anchor := time.Unix(rapid.Int64Range(-60e9, 200e9).Draw(r, "anchor"), rapid.Int64Range(0, 1e9-1).Draw(r, "fine")).UTC()
		at := time.Unix(rapid.Int64Range(-60e9, 200e9).Draw(r, "at"), rapid.Int64Range(0, 1e9-1).Draw(r, "fine")).UTC()
		next, prev := e.NextEvery(anchor, at), e.PrevEvery(anchor, at)
		switch {
		case at.Before(anchor):
			if !next.Equal(anchor) || !prev.IsZero() {
				r.Fatalf("before the anchor: next %v, previous %v", next, prev)
			}
		case !next.After(at) || next.Add(-interval).After(at):
			r.Fatalf("%v after %v is %v", interval, at, next)
		case at.Equal(anchor):
		case !prev.Before(at) || prev.Add(interval).Before(at):
			r.Fatalf("%v before %v is %v", interval, at, prev)
		case !e.PrevEvery(anchor, next.Add(1)).Equal(next) || !e.NextEvery(anchor, prev.Add(-1)).Equal(prev):
			r.Fatalf("%v: %v or %v is not found again", interval, prev, next)
		}
	})
}

func TestIntervalsKnowTheirLength(t *testing.T) {
	if got := parse(t, "@every 90s").Interval(); got != 90*time.Second {
		t.Errorf("%v", got)
	}
	if got := parse(t, "* * * * *").Interval(); got != 0 {
		t.Errorf("%v", got)
	}
	for _, wrong := range []time.Duration{0, -1, time.Second - 1, time.Second + 1, math.MaxInt64} {
		if _, err := cron.Every(wrong); err == nil {
			t.Errorf("%v is accepted", wrong)
		}
	}
}
