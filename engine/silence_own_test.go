package engine

import (
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"
)

func TestALostLeaseSaysWhoseSilenceItWas(t *testing.T) {
	for whose, happens := range map[string]func(s *silence){
		"this process did not run":    func(s *silence) { s.stoodStill(9 * time.Second); s.fails = 1 },
		"the database did not answer": func(s *silence) { s.stoodStill(stillness); s.fails = 3 },
		"the lease had been ended":    func(*silence) {},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := newSilence(time.Now())
			s.stoodStill(time.Hour)
			s.fails = 5
			s.end(time.Now()) // what was before a beat that succeeded does not count
			time.Sleep(10 * time.Second)
			happens(s)
			if got, want := fmt.Sprint(silenceOf(s.lost(7, false))), fmt.Sprint([]any{"node", 7, "silence", 10 * time.Second, "of", whose}); got != want {
				t.Errorf("got %s, want %s", got, want)
			}
		})
	}
	var lost *lostLease
	if !errors.As((&silence{since: time.Now(), fails: 1}).lost(7, true), &lost) {
		t.Fatal("it says nothing of a lost lease")
	}
	if got := fmt.Sprint(lost.whose); got != "the service did not answer" {
		t.Errorf("of a remote node: %s", got)
	}
}
