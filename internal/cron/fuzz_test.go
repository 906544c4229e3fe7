package cron_test

import (
	"errors"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead/internal/cron"
)

var seeds = []string{
	"* * * * *", "*/15 9-17 * * MON-FRI", "0 0 29 2 *", "0 0 L-3,15W,LW * 5L,5#3", "1-59/2 0/6 ? JAN-MAR 7", "30 2 * * *",
	"@every 90s", "@hourly", "0 0 31 4 *", "03:00,15:30", "*/0 * * * *", "1,,2 \xff * * *", "TZ=UTC * * * * *",
}

func FuzzParse(f *testing.F) {
	for _, seed := range seeds {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if d, err := cron.ParseDaily(text); err == nil {
			again, err := cron.ParseDaily(d.String())
			if err != nil || again.String() != d.String() || d.Describe() == "" {
				t.Errorf("%q is %q, and that %q: %v", text, d, again, err)
			}
		}
		e, err := cron.Parse(text)
		if err != nil {
			var wrong *cron.SyntaxError
			if !errors.As(err, &wrong) || wrong.Problem == "" || wrong.Column < 1 || wrong.Column > len(text)+1 ||
				!strings.HasPrefix(text[wrong.Column-1:], wrong.Part) {
				t.Errorf("%q is refused with %+v", text, err)
			}
			return
		}
		if again, err := cron.Parse(e.String()); err != nil || again != e {
			t.Errorf("%q is %q, which is something else: %v", text, e, err)
		}
		if e.Describe() == "" {
			t.Errorf("%q is not described", text)
		}
	})
}

func FuzzNext(f *testing.F) {
	for i, seed := range seeds {
		f.Add(seed, int64(i)*31_556_952, int64(i), uint16(i*37))
	}
	var zones []*time.Location
	for name := range strings.FieldsSeq(zoneNames) {
		zones = append(zones, load(f, name))
	}
	f.Fuzz(func(t *testing.T, text string, second, nano int64, number uint16) {
		e, err := cron.Parse(text)
		if err != nil {
			// Most texts are wrong. They stand for one that is made up instead.
			text = randomExpr(rand.New(rand.NewPCG(uint64(second), uint64(nano))).IntN, true)
			if e, err = cron.Parse(text); err != nil {
				return
			}
		}
		zone, at := zones[int(number)%len(zones)], time.Unix(second, nano)
		next, prev := e.Next(at, zone), e.Prev(at, zone)
		if !next.IsZero() && (!next.After(at) || !e.Prev(next.Add(1), zone).Equal(next) || e.Prev(next, zone).After(at)) {
			t.Errorf("%q in %v after %v: %v", text, zone, at, next)
		}
		if !prev.IsZero() && (!prev.Before(at) || !e.Next(prev.Add(-1), zone).Equal(prev) || e.Next(prev, zone).Before(at)) {
			t.Errorf("%q in %v before %v: %v", text, zone, at, prev)
		}
		if y := at.UTC().Year(); y > 20 && y < 9980 && (next.IsZero() || prev.IsZero()) {
			t.Errorf("%q in %v at %v: silent for eight years", text, zone, at)
		}
	})
}
