package schedule

import (
	"testing"
	"time"
)

func TestWhenAScheduleIsDueIsSaidInPlainEnglish(t *testing.T) {
	for want, s := range map[string]Schedule{
		"every minute (UTC)":                {Cron: "0 * * * * *"},
		"every 1h30m0s":                     {Every: 90 * time.Minute},
		"1m0s after the end of each run":    {Delay: time.Minute},
		"at 03:00 every day (Europe/Paris)": {Daily: "03:00", Zone: "Europe/Paris"},
		"once, at 2026-11-16 21:00:00 JST":  {At: november, Zone: "Asia/Tokyo"},
	} {
		if got := timingOf(t, s, nil).Words(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestAScheduleIsDueFromItsStartUpToItsEnd(t *testing.T) {
	hours := func(n int) time.Time { return november.Add(time.Duration(n) * time.Hour) }
	s := Schedule{Cron: "0 * * * *", StartsAt: hours(2), EndsAt: hours(4)}
	timing := timingOf(t, s, nil)
	for _, c := range []struct{ from, next, prev time.Time }{
		{hours(0), hours(2), time.Time{}},
		{hours(1), hours(2), time.Time{}},
		{hours(2), hours(3), time.Time{}},
		{hours(3), time.Time{}, hours(2)},
		{hours(4), time.Time{}, hours(3)},
		{hours(9), time.Time{}, hours(3)},
	} {
		if next, prev := timing.Next(c.from), timing.Prev(c.from); !next.Equal(c.next) || !prev.Equal(c.prev) {
			t.Errorf("around %v it is due at %v and %v, want %v and %v", c.from, prev, next, c.prev, c.next)
		}
	}
}
