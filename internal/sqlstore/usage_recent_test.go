package sqlstore

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/fairlead-io/fairlead"
)

func TestManyLiveJobsAreNotCountedEachTime(t *testing.T) {
	for live, pause := range map[int]time.Duration{countedAtOnce - 1: 0, 1_000_000: 10 * time.Second} {
		synctest.Test(t, func(t *testing.T) {
			counted := 0
			var recent recentUsage
			ask := func() {
				t.Helper()
				report, err := recent.Report(t.Context(), func() (fairlead.UsageReport, error) {
					counted++
					return fairlead.UsageReport{All: fairlead.Usage{Ready: live}}, nil
				})
				if err != nil || report.All.Ready != live {
					t.Fatalf("the answer is %+v, %v", report, err)
				}
			}
			ask()
			ask()
			if want := 1; pause > 0 && counted != want || pause == 0 && counted != 2 {
				t.Errorf("%d live jobs were counted %d times at once", live, counted)
			}
			counted = 0
			time.Sleep(pause)
			ask()
			if counted != 1 {
				t.Errorf("%d live jobs were counted %d times after %v", live, counted, pause)
			}
		})
	}
}
