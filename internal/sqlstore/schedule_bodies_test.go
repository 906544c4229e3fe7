package sqlstore

import (
	"testing"

	"github.com/fairlead-io/fairlead/schedule"
)

func TestABodyIsRememberedOnlyAsItIsStored(t *testing.T) {
	var bodies ScheduleBodies
	for _, cron := range []string{"@daily", "@daily", "@hourly", "@daily"} {
		body, err := EncodeSchedule(&schedule.Schedule{Cron: cron})
		if err != nil {
			t.Fatal(err)
		}
		if says, err := bodies.read(1, body); err != nil || says.Cron != cron {
			t.Errorf("%s is read as %q: %v", body, says.Cron, err)
		}
	}
	if _, err := bodies.read(1, []byte("{")); err == nil {
		t.Error("a body that cannot be read has no error")
	}
}

func TestBodiesThatAreRememberedAreBounded(t *testing.T) {
	var bodies ScheduleBodies
	body, err := EncodeSchedule(&schedule.Schedule{Cron: "@daily"})
	if err != nil {
		t.Fatal(err)
	}
	for id := range int64(mostBodies + 2) {
		if _, err := bodies.read(id, body); err != nil {
			t.Fatal(err)
		}
		if n := len(bodies.byID); n > mostBodies {
			t.Fatalf("%d bodies are remembered", n)
		}
	}
}
