package cron_test

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead/internal/cron"
)

// TestEverySecondOfDaysWithChanges compares the results with a search of every second of
// three days.
func TestEverySecondOfDaysWithChanges(t *testing.T) {
	for _, window := range []struct{ zone, day string }{
		{"UTC", "2024-02-28"},
		{"Europe/Paris", "2024-03-31"},
		{"Europe/Paris", "2024-10-27"},
		{"America/New_York", "2024-12-31"},
		{"Australia/Lord_Howe", "2024-10-06"},
		{"Australia/Lord_Howe", "2024-04-07"},
		{"Asia/Beirut", "2025-03-30"},
		{"Asia/Beirut", "2025-10-26"},
		{"Africa/Cairo", "2025-04-25"},
		{"America/Sao_Paulo", "2018-02-18"},
		{"America/Havana", "2024-11-03"},
		{"America/Nuuk", "2025-03-30"},
		{"America/St_Johns", "2006-04-02"},
		{"America/St_Johns", "2006-10-29"},
		{"Antarctica/Troll", "2025-03-30"},
		{"Antarctica/Troll", "2025-10-26"},
		{"Africa/Casablanca", "2025-04-06"},
		{"Asia/Pyongyang", "2018-05-05"},
		{"Asia/Kathmandu", "1986-01-01"},
		{"Pacific/Apia", "2011-12-30"},
		{"Pacific/Kwajalein", "1993-08-21"},
	} {
		t.Run(window.zone+" "+window.day, func(t *testing.T) {
			t.Parallel()
			zone := load(t, window.zone)
			day, err := time.Parse(time.DateOnly, window.day)
			if err != nil {
				t.Fatal(err)
			}
			compareEverySecond(t, zone, day.AddDate(0, 0, -1), day.AddDate(0, 0, 2))
		})
	}
}

func compareEverySecond(t *testing.T, zone *time.Location, from, to time.Time) {
	walls := make([]int64, to.Unix()-from.Unix())
	exists := map[int64]bool{}
	for i := range walls {
		at := from.Unix() + int64(i)
		_, offset := time.Unix(at, 0).In(zone).Zone()
		walls[i] = at + int64(offset)
		if i == 0 || walls[i]/86400 != walls[i-1]/86400 {
			exists[walls[i]/86400] = true
		}
	}
	random := rand.New(rand.NewPCG(uint64(from.Unix()), 1))
	for range effort * 5 / 2 {
		text := randomExpr(random.IntN, true)
		e, err := cron.Parse(text)
		if err != nil {
			continue // silent for too long
		}
		want := everySecond(newNaive(text), walls, exists)
		if len(want) > 5000 {
			want = want[:5000]
		}
		got := e.Between(from.Add(time.Second), to, zone, 5000)
		if !slices.EqualFunc(got, want, func(at time.Time, i int64) bool { return at.Unix() == from.Unix()+i }) {
			t.Fatalf("%q fires at\n%v, want seconds\n%v after %v", text, got, want, from)
		}
		// Backwards from every hour.
		for i := int64(3600); i < int64(len(walls)); i += 1800 {
			n, found := slices.BinarySearch(want, i)
			if (n == len(want) && n == 5000) || n == 0 {
				continue
			}
			prev := e.Prev(from.Add(time.Duration(i)*time.Second), zone)
			if prev.Unix() != from.Unix()+want[n-1] {
				t.Fatalf("%q: before %d seconds (fires then: %v) is %v, want %d", text, i, found, prev, want[n-1])
			}
		}
	}
}

// everySecond lists the seconds after the first at which a schedule is due.
func everySecond(n *naive, walls []int64, exists map[int64]bool) []int64 {
	var due []int64
	shown := walls[0]
	for i, wall := range walls[1:] {
		fires := n.always && n.matches(wall)
		for ; shown < wall; shown++ {
			// The clocks show this time or a later one for the first time.
			if missed := shown + 1; !n.always && n.matches(missed) && exists[missed/86400] {
				fires = true
			}
		}
		if fires {
			due = append(due, int64(i)+1)
		}
	}
	return due
}
