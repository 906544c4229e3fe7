package sqlstore

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

func TestCalendarsAreAskedOnceUntilAMinuteHasPassed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var rounds CalendarRounds
		look := func(wantAfter int64, found ...int64) {
			t.Helper()
			l := rounds.Begin()
			if l.After != wantAfter {
				t.Fatalf("calendars are asked behind version %d, want %d", l.After, wantAfter)
			}
			l.Saw(9, 99)
			l.Restart() // earlier results are discarded
			l.Saw(3, 0)
			for _, id := range found {
				l.Saw(5, id)
			}
			l.Saw(5, 0)
			l.Also(found)
			if ids := rounds.End(l); !slices.Equal(ids, found) {
				t.Fatalf("%v were found, want %v", ids, found)
			}
		}
		look(0, 7, 8) // while schedules are found
		look(0)
		look(5)
		time.Sleep(time.Minute)
		look(5)
		time.Sleep(time.Millisecond)
		look(0) // a slow transaction's change may have a smaller version
		look(5)
		slow := rounds.Begin()
		slow.After = 2 // it began before the others advanced
		rounds.End(slow)
		look(5)
	})
}
