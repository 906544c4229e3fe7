package items_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/schedule"
	"github.com/fairlead-io/fairlead/sweep"
)

// A sweep that is started again and again goes over all items each time.
func TestAScheduleStartsASweep(t *testing.T) {
	inBubble(t, func(w *world) {
		defer w.node(done)()
		const items = 100
		if _, err := w.sweeps.Put(w.t.Context(), sweep.Sweep{Name: "regular", Kind: "k", To: items}); err != nil {
			w.t.Fatal(err)
		}
		_, err := w.schedules.Put(w.t.Context(), schedule.Schedule{
			Name: "often", Every: time.Minute, Job: fairlead.Job{Kind: sweep.StartKind, Args: json.RawMessage(`{"sweep":"regular","again":true}`)},
		})
		if err != nil {
			w.t.Fatal(err)
		}
		time.Sleep(3*time.Minute + 30*time.Second)
		regular, err := w.sweeps.Get(w.t.Context(), "regular")
		if err != nil || regular.State != sweep.Finished || regular.Run < 3 || regular.Done != items {
			w.t.Fatalf("it stands as %+v, %v", regular.Status, err)
		}
		w.each(0, items, regular.Run)
	})
}
