package cron_test

import (
	"testing"
	"time"

	"github.com/fairlead-io/fairlead/internal/cron"
)

func BenchmarkNext(b *testing.B) {
	for _, bench := range []struct{ name, text, zone, after string }{
		{"minutes/UTC", "*/5 * * * *", "UTC", "2025-06-11T10:02:03Z"},
		{"hourly/Paris", "0 * * * *", "Europe/Paris", "2025-06-11T10:02:03Z"},
		{"daily/UTC", "0 3 * * *", "UTC", "2025-06-11T10:02:03Z"},
		{"daily/Paris", "0 3 * * *", "Europe/Paris", "2025-06-11T10:02:03Z"},
		{"weekdays/Paris", "30 9 * * 1-5", "Europe/Paris", "2025-06-13T10:02:03Z"},
		{"gap/Paris", "30 2 * * *", "Europe/Paris", "2025-03-29T10:02:03Z"},
		{"yearly/Paris", "0 0 1 1 *", "Europe/Paris", "2025-06-11T10:02:03Z"},
		{"leap/Paris", "0 0 29 2 *", "Europe/Paris", "2096-03-01T00:00:00Z"},
		{"leap-real-time/Paris", "* * 29 2 *", "Europe/Paris", "2096-03-01T00:00:00Z"},
		{"fifth/Paris", "0 * * 4 5#5", "Europe/Paris", "2027-05-01T00:00:00Z"},
	} {
		e, zone, after := parse(b, bench.text), load(b, bench.zone), instant(b, bench.after)
		b.Run(bench.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if e.Next(after, zone).IsZero() {
					b.Fatal("is not due")
				}
			}
		})
	}
}

func BenchmarkPrev(b *testing.B) {
	for _, bench := range []struct{ name, text, before string }{
		{"daily", "0 3 * * *", "2025-06-11T10:02:03Z"},
		{"hourly", "0 * * * *", "2025-06-11T10:02:03Z"},
		{"leap", "0 0 29 2 *", "2104-02-28T00:00:00Z"},
		{"leap-real-time", "* * 29 2 *", "2104-02-28T00:00:00Z"},
	} {
		e, zone, before := parse(b, bench.text), load(b, "Europe/Paris"), instant(b, bench.before)
		b.Run(bench.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if e.Prev(before, zone).IsZero() {
					b.Fatal("is not due")
				}
			}
		})
	}
}

func BenchmarkDailyNext(b *testing.B) {
	d, err := cron.ParseDaily("03:00,15:30")
	if err != nil {
		b.Fatal(err)
	}
	zone, after := load(b, "Europe/Paris"), instant(b, "2025-06-11T10:02:03Z")
	b.ReportAllocs()
	for b.Loop() {
		d.Next(after, zone)
	}
}

func BenchmarkParse(b *testing.B) {
	for _, text := range []string{"*/5 * * * *", "30 9 1,15,L * MON-FRI", "0 0 29 2 *", "@every 90s"} {
		b.Run(text, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := cron.Parse(text); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func parse(t testing.TB, text string) cron.Expr {
	t.Helper()
	e, err := cron.Parse(text)
	if err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	return e
}

func load(t testing.TB, name string) *time.Location {
	t.Helper()
	zone, err := time.LoadLocation(name)
	if err != nil {
		t.Fatal(err)
	}
	return zone
}

func instant(t testing.TB, text string) time.Time {
	t.Helper()
	at, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		t.Fatal(err)
	}
	return at
}
