package engine

import (
	"testing"
	"testing/synctest"
	"time"
)

func TestANodeDeclaresOthersDeadOnlyAfterALeaseOfBeatsOfItsOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const length = 10 * time.Second
		l := &life{options: Options{Lease: length}, lease: newLease(length, time.Now())}
		want := func(trusted bool, when string) {
			t.Helper()
			if l.trusted() != trusted {
				t.Errorf("trusted is %v %s", !trusted, when)
			}
		}
		want(false, "before the first beat")
		since := time.Now()
		l.steadySince.Store(&since)
		for range 3 {
			want(false, "before a lease has passed")
			time.Sleep(length / 3)
			l.lease.extend(time.Now())
		}
		time.Sleep(length / 3)
		want(true, "after it")
		time.Sleep(time.Minute)
		want(false, "after the process stood still for a minute: no beat failed, but none was sent")
		l.lease.extend(time.Now())
		l.steadySince.Store(nil)
		want(false, "after a beat that failed")
	})
}
