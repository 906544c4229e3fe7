package engine

import (
	"testing"
	"testing/synctest"
	"time"
)

func TestLeaseCountsFromBeforeTheBeatWasSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sent := time.Now()
		time.Sleep(3 * time.Second) // the answer travels
		l := newLease(10*time.Second, sent)
		if left := l.left(); left != 7*time.Second {
			t.Errorf("after a travel of 3s of 10s, %v are left, want 7s", left)
		}
		time.Sleep(7 * time.Second)
		if l.valid() {
			t.Error("the lease is still valid at its end")
		}
		l.extend(time.Now())
		if !l.valid() {
			t.Error("an acknowledged beat did not extend the lease")
		}
		l.end()
		if l.valid() {
			t.Error("an ended lease is valid")
		}
	})
}
