package cron_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/fairlead-io/fairlead/internal/cron"
	"github.com/fairlead-io/fairlead/internal/tier"
)

func TestNextAndPrevInUTC(t *testing.T) {
	for _, test := range []struct{ text, prev, at, next string }{
		{"* * * * * *", "2024-12-31T23:59:58Z", "2024-12-31T23:59:59Z", "2025-01-01T00:00:00Z"},
		{"* * * * * *", "2024-12-31T23:59:59Z", "2024-12-31T23:59:59.5Z", "2025-01-01T00:00:00Z"},
		{"0 3 * * *", "2025-01-01T03:00:00Z", "2025-01-02T03:00:00Z", "2025-01-03T03:00:00Z"},
		{"0 3 * * *", "2025-01-02T03:00:00Z", "2025-01-02T03:00:00.000000001Z", "2025-01-03T03:00:00Z"},
		{"0 0 13 * 5", "2025-06-06T00:00:00Z", "2025-06-10T00:00:00Z", "2025-06-13T00:00:00Z"},
		{"0 0 13 * 5", "2025-06-27T00:00:00Z", "2025-07-01T00:00:00Z", "2025-07-04T00:00:00Z"},
		{"0 0 13 * *", "2025-06-13T00:00:00Z", "2025-07-01T00:00:00Z", "2025-07-13T00:00:00Z"},
		{"0 0 1-31 * MON", "2025-06-10T00:00:00Z", "2025-06-10T12:00:00Z", "2025-06-11T00:00:00Z"},
		{"0 0 L * *", "2024-01-31T00:00:00Z", "2024-02-10T00:00:00Z", "2024-02-29T00:00:00Z"},
		{"0 0 L-3 * *", "2025-01-28T00:00:00Z", "2025-02-10T00:00:00Z", "2025-02-25T00:00:00Z"},
		{"0 0 L-30 * *", "2025-03-01T00:00:00Z", "2025-04-10T00:00:00Z", "2025-05-01T00:00:00Z"},
		{"0 0 15W * *", "2025-02-14T00:00:00Z", "2025-03-01T00:00:00Z", "2025-03-14T00:00:00Z"},  // a Saturday
		{"0 0 15W * *", "2025-05-15T00:00:00Z", "2025-06-01T00:00:00Z", "2025-06-16T00:00:00Z"},  // a Sunday
		{"0 0 1W * *", "2025-01-01T00:00:00Z", "2025-02-01T00:00:00Z", "2025-02-03T00:00:00Z"},   // not in January
		{"0 0 31W * *", "2025-07-31T00:00:00Z", "2025-08-01T00:00:00Z", "2025-08-29T00:00:00Z"},  // not in September
		{"0 0 L-3W * *", "2025-08-28T00:00:00Z", "2025-09-01T00:00:00Z", "2025-09-26T00:00:00Z"}, // the 27th is a Saturday
		{"0 0 LW * *", "2025-07-31T00:00:00Z", "2025-08-01T00:00:00Z", "2025-08-29T00:00:00Z"},
		{"0 18 * * 5L", "2025-05-30T18:00:00Z", "2025-06-01T00:00:00Z", "2025-06-27T18:00:00Z"},
		{"0 18 * * 5#3", "2025-05-16T18:00:00Z", "2025-06-01T00:00:00Z", "2025-06-20T18:00:00Z"},
		{"0 18 * * 5#5", "2025-01-31T18:00:00Z", "2025-03-01T00:00:00Z", "2025-05-30T18:00:00Z"},
		{"0 0 29 2 *", "2096-02-29T00:00:00Z", "2100-01-01T00:00:00Z", "2104-02-29T00:00:00Z"},
		{"0 0 29 2 *", "1896-02-29T00:00:00Z", "1896-02-29T00:00:01Z", "1904-02-29T00:00:00Z"},
		{"* * 29 2 *", "1896-02-29T23:59:00Z", "1904-02-29T00:00:00Z", "1904-02-29T00:01:00Z"},
		{"@every 90s", "2025-01-01T00:00:00Z", "2025-01-01T00:01:30Z", "2025-01-01T00:03:00Z"},
		{"@every 168h", "2025-06-09T00:00:00Z", "2025-06-10T00:00:00Z", "2025-06-16T00:00:00Z"}, // Mondays
		{"0 0 1 1 *", "9999-01-01T00:00:00Z", "9999-06-01T00:00:00Z", ""},
		{"0 0 * * *", "", "0001-01-01T12:00:00Z", "0001-01-02T00:00:00Z"}, // the zero time is none
	} {
		e, at := parse(t, test.text), instant(t, test.at)
		if got := text(e.Next(at, time.UTC)); got != test.next {
			t.Errorf("%q after %s: %s, want %s", test.text, test.at, got, test.next)
		}
		if got := text(e.Prev(at, time.UTC)); got != test.prev {
			t.Errorf("%q before %s: %s, want %s", test.text, test.at, got, test.prev)
		}
	}
}

func text(at time.Time) string {
	if at.IsZero() {
		return ""
	}
	return at.Format(time.RFC3339Nano)
}

func TestTheZeroExpressionIsNeverDue(t *testing.T) {
	var e cron.Expr
	now := instant(t, "2025-01-01T00:00:00Z")
	for _, at := range []time.Time{
		e.Next(now, time.UTC), e.Prev(now, time.UTC), e.NextEvery(now, now), e.PrevEvery(now, now),
		parse(t, "* * * * *").NextEvery(now, now), parse(t, "* * * * *").PrevEvery(now, now),
	} {
		if !at.IsZero() {
			t.Errorf("due at %v", at)
		}
	}
	if e.String() != "" {
		t.Errorf("its text is %q", e)
	}
}

func TestBetweenIncludesTheBeginningAndNotTheEnd(t *testing.T) {
	e := parse(t, "0 * * * *")
	from, to := instant(t, "2025-01-01T00:00:00Z"), instant(t, "2025-01-01T03:00:00Z")
	for limit, want := range map[int]string{
		-1:  "",
		0:   "",
		2:   "01-01T00:00+00 01-01T01:00+00",
		100: "01-01T00:00+00 01-01T01:00+00 01-01T02:00+00",
	} {
		if got := localTimes(e.Between(from, to, time.UTC, limit)); got != want {
			t.Errorf("at most %d: %s, want %s", limit, got, want)
		}
	}
	if got := e.Between(to, from, time.UTC, 10); got != nil {
		t.Errorf("backwards: %v", got)
	}
}

func TestNextAndPrevAreInverse(t *testing.T) {
	names := []string{
		"UTC", "Europe/Paris", "America/New_York", "Australia/Lord_Howe", "Asia/Beirut", "Antarctica/Troll",
		"Africa/Casablanca", "Pacific/Apia", "America/Nuuk", "America/Sao_Paulo", "America/St_Johns", "Asia/Pyongyang",
	}
	t.Attr(tier.LongAttr, "rapid draws five times as many cases")
	rapid.Check(t, func(r *rapid.T) {
		draw := func(n int) int { return rapid.IntRange(0, n-1).Draw(r, "lot") }
		zone := load(t, rapid.SampledFrom(names).Draw(r, "zone"))
		text := randomExpr(draw, true)
		e, err := cron.Parse(text)
		if err != nil {
			r.Skip(err)
		}
		at := randomInstant(draw)
		next, prev := e.Next(at, zone), e.Prev(at, zone)
		switch {
		case next.IsZero() || prev.IsZero():
			r.Fatalf("%q at %v: silent for eight years", text, at)
		case !next.After(at) || !prev.Before(at):
			r.Fatalf("%q at %v: next %v, previous %v", text, at, next, prev)
		case !e.Next(next.Add(-1), zone).Equal(next) || !e.Prev(next.Add(1), zone).Equal(next):
			r.Fatalf("%q: %v is not found again", text, next)
		case !e.Next(prev.Add(-1), zone).Equal(prev) || !e.Prev(prev.Add(1), zone).Equal(prev):
			r.Fatalf("%q: %v is not found again", text, prev)
		case e.Prev(next, zone).After(at) || e.Next(prev, zone).Before(at):
			r.Fatalf("%q at %v: there is one between %v and %v", text, at, prev, next)
		}
	})
}
