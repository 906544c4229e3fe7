package server

import (
	"testing"
	"time"
)

func TestADayOnWhichClocksChangeIsNamed(t *testing.T) {
	for _, c := range []struct{ zone, day, want string }{
		{"Europe/Paris", "2026-03-29", "clocks go forward by 1h at 02:00 on this day"},
		{"Europe/Paris", "2026-10-25", "clocks go back by 1h at 03:00 on this day"},
		{"Europe/Paris", "2026-10-24", ""},
		{"Australia/Lord_Howe", "2026-10-04", "clocks go forward by 30m at 02:00 on this day"},
		{"Pacific/Apia", "2011-12-31", "clocks go forward by 24h at 00:00 on this day"},
		{"Asia/Kathmandu", "1986-01-01", "clocks go forward by 15m at 00:00 on this day"},
		{"America/Caracas", "2007-12-09", "clocks go back by 30m at 03:00 on this day"},
		{"Europe/London", "1968-10-27", ""}, // summer time became the time of the whole year
		{"UTC", "2026-03-29", ""},
	} {
		zone, err := time.LoadLocation(c.zone)
		if err != nil {
			t.Fatal(err)
		}
		noon, err := time.ParseInLocation("2006-01-02 15:04", c.day+" 12:00", zone)
		if err != nil {
			t.Fatal(err)
		}
		if got := clockChange(noon); got != c.want {
			t.Errorf("%s in %s: %q, want %q", c.day, c.zone, got, c.want)
		}
	}
	for span, want := range map[time.Duration]string{time.Hour: "1h", 45 * time.Minute: "45m", 90 * time.Minute: "1h30m", 24 * time.Hour: "24h"} {
		if got := shortSpan(span); got != want {
			t.Errorf("%v is written as %s", span, got)
		}
	}
}
