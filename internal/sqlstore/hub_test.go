package sqlstore

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fairlead-io/fairlead/driver"
)

func TestAListenerHearsOfWhatItServes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hub := NewHub()
		defer hub.Close()
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		var heard []driver.Wake
		go hub.Listen(ctx, &driver.Scope{Kinds: []string{"mail"}}, func() {}, func(wake driver.Wake) { heard = append(heard, wake) })
		synctest.Wait()
		for name, c := range map[string]struct {
			tell func()
			want []driver.Wake
		}{
			"work of its lane":                 {func() { hub.Work([]LaneKey{sms.LaneKey, mail.LaneKey, mail.LaneKey}) }, []driver.Wake{driver.WakeWork}},
			"work of another lane":             {func() { hub.Work([]LaneKey{sms.LaneKey}) }, nil},
			"work of no lane":                  {func() { hub.Work([]LaneKey{}) }, nil},
			"work of unknown lanes":            {func() { hub.Work(nil) }, []driver.Wake{driver.WakeWork}},
			"jobs that are scheduled":          {hub.Later, []driver.Wake{driver.WakeLater}},
			"room":                             {hub.Room, []driver.Wake{driver.WakeRoom}},
			"room elsewhere, once for several": {func() { hub.RoomElsewhere(); hub.RoomElsewhere() }, []driver.Wake{driver.WakeRoom}},
			"a wish to cancel":                 {hub.Cancel, []driver.Wake{driver.WakeCancel}},
		} {
			heard = nil
			c.tell()
			time.Sleep(time.Second)
			synctest.Wait()
			if !slices.Equal(heard, c.want) {
				t.Errorf("%s: heard %v, want %v", name, heard, c.want)
			}
		}
		heard = nil
		hub.RoomElsewhere()
		synctest.Wait()
		if len(heard) > 0 {
			t.Error("room that another process made is told of before that one could use it")
		}
		hub.Close()
		time.Sleep(time.Second)
		cancel()
		synctest.Wait()
		hub.Later()
		if len(heard) > 0 {
			t.Errorf("%v was heard after the end", heard)
		}
	})
}
