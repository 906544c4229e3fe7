package sqlstore

import (
	"testing"
	"testing/synctest"
	"time"
)

func TestAlarm(t *testing.T) {
	for _, test := range []struct {
		name string
		set  func(*Alarm)
		want []time.Duration // expected times of rings
	}{
		{"rings once when it was set", func(a *Alarm) { a.In(time.Second) }, []time.Duration{time.Second}},
		{"rings at the earliest of several times", func(a *Alarm) {
			a.In(3 * time.Second)
			a.In(time.Second)
			a.In(2 * time.Second)
		}, []time.Duration{time.Second}},
		{"can be set again after it rang", func(a *Alarm) {
			a.In(time.Second)
			time.Sleep(2 * time.Second)
			a.In(time.Second)
		}, []time.Duration{time.Second, 3 * time.Second}},
		{"does not ring once it is stopped", func(a *Alarm) {
			a.In(time.Second)
			a.Stop()
			a.In(2 * time.Second)
		}, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				rings := make(chan time.Duration, 10)
				test.set(NewAlarm(func() { rings <- time.Since(began) }))
				time.Sleep(time.Minute)
				synctest.Wait()
				close(rings)
				var rang []time.Duration
				for at := range rings {
					rang = append(rang, at)
				}
				if len(rang) != len(test.want) {
					t.Fatalf("it rang at %v, want %v", rang, test.want)
				}
				for i := range rang {
					if rang[i] != test.want[i] {
						t.Errorf("it rang at %v, want %v", rang, test.want)
					}
				}
			})
		})
	}
}
