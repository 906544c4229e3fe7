package console

import (
	"fmt"
	"testing"
	"time"
)

func TestWaitsForTheSameCauseAreAddedUpLongestFirst(t *testing.T) {
	at := time.Date(2030, 1, 1, 12, 0, 0, 0, time.UTC)
	line := func(seconds int, causes ...waitCause) waitedLine {
		from := at
		at = at.Add(time.Duration(seconds) * time.Second)
		return waitedLine{From: from, To: at, Causes: causes}
	}
	three, ten, rate := waitCause{"at_cap", "cap of 3"}, waitCause{"at_cap", "cap of 10"}, waitCause{"over_rate", "rate"}
	got := ""
	for _, share := range waitShares([]waitedLine{line(10, rate), line(500, three, rate), line(485, ten), line(4, rate), line(1)}) {
		got += fmt.Sprintf("%s %q %v %d%%; ", share.Code, share.Text, share.Length, share.Percent())
	}
	if want := `at_cap "" 16m25s 99%; over_rate "rate" 14s 1%; in_line "" 1s 1%; `; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	for part, want := range map[time.Duration]int64{time.Millisecond: 1, time.Hour - time.Millisecond: 99, time.Hour: 100} {
		if got := (waitShare{Length: part, whole: time.Hour}).Percent(); got != want {
			t.Errorf("%v of an hour are %d %%, want %d %%", part, got, want)
		}
	}
}
