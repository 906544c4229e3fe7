package httpcall

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestBreakersAreListedWhileTheyAreNotClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		handler := New(Options{MaxFailures: 2})
		b := handler.breakers
		wants := func(when string, want ...Breaker) {
			t.Helper()
			if diff := cmp.Diff(want, handler.Breakers()); diff != "" {
				t.Errorf("%s (-want +got):\n%s", when, diff)
			}
		}
		b.try("b:80", unhealthy)
		b.try("a:80", unhealthy)
		wants("after one failure each")
		time.Sleep(time.Millisecond)
		since := time.Now()
		b.try("b:80", unhealthy)
		b.try("a:80", unhealthy)
		until := since.Add(breakerFirst)
		wants("when both are open",
			Breaker{Address: "a:80", Failures: 2, Since: since, Until: until}, Breaker{Address: "b:80", Failures: 2, Since: since, Until: until})
		time.Sleep(breakerFirst)
		probe, _ := b.enter("a:80")
		b.try("b:80", answered)
		wants("while one is probed and the other has answered", Breaker{Address: "a:80", HalfOpen: true, Failures: 2, Since: since, Until: until})
		b.leave(probe, unhealthy)
		until = time.Now().Add(2 * breakerFirst)
		wants("after a probe has failed", Breaker{Address: "a:80", Failures: 3, Since: since, Until: until})
		time.Sleep(idleTarget)
		wants("when the next call may probe", Breaker{Address: "a:80", HalfOpen: true, Failures: 3, Since: since, Until: until})
		time.Sleep(time.Millisecond)
		wants("when it has not been called for long")
	})
}
