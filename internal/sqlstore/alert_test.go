package sqlstore

import (
	"testing"
	"time"

	"github.com/fairlead-io/fairlead/schedule"
)

func TestWhatAScheduleRemembersOfItsRunsComesBack(t *testing.T) {
	at := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, s := range []schedule.Standing{{}, {Failures: 1}, {Told: true}, {FailedAt: at}, {MissedAt: at}, {Failures: 3, Told: true, FailedAt: at, MissedAt: at.Add(1000)}} {
		if got := decodePlanState([]byte(EncodePlanState(s))); got != s {
			t.Errorf("%+v came back as %+v", s, got)
		}
	}
	if EncodePlanState(schedule.Standing{}) != "" {
		t.Error("nothing is remembered in so many words")
	}
	if got := decodePlanState([]byte("{")); got != (schedule.Standing{}) {
		t.Errorf("what cannot be read is %+v", got)
	}
}
