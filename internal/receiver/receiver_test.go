package receiver

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

func TestWhatIsDoneAfterATimeIsNotDoneOnceItWasCalledOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		expired := 0
		done := UnlessDone(time.Second, func() { expired++ })
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if done(); expired != 1 {
			t.Errorf("it was done %d times, want once", expired)
		}
		done = UnlessDone(time.Second, func() { expired++ })
		done()
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if expired != 1 {
			t.Error("it was done though it was called off")
		}
	})
}

// The time may elapse at the moment of the cancellation.
func TestNothingIsDoneAfterItWasCalledOffInTheLastMoment(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for range 1000 {
			var off atomic.Bool
			done := UnlessDone(time.Second, func() {
				if off.Load() {
					t.Error("it is done after it was called off")
				}
			})
			time.Sleep(time.Second) // both wake up at the same moment on the bubble's clock
			done()
			off.Store(true)
			synctest.Wait()
		}
	})
}
