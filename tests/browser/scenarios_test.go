package browser

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/fairlead-io/fairlead/internal/tier"
)

// scenarios lists the tasks of a person on call. Each task starts at the overview of the
// console. The limits are the current numbers: no change of the console may add a click.
var scenarios = []struct {
	wants          string
	clicks, fields int    // limits
	long           string // reason for the second tier; empty = first tier
	does           func(t *testing.T) *person
}{
	{"learns why a job is stuck", 2, 0, "runs a program", learnsWhyAJobIsStuck},
	{"runs all jobs of the most frequent cause again", 4, 0, "runs a program", runsTheMostFrequentCauseAgain},
	{"pauses a tenant with a reason", 3, 1, "", pausesATenantWithAReason},
	{"raises a cap after a preview", 3, 1, "waits until a cap needs attention", raisesACapAfterAPreview},
	{"sees the effect of a cron expression before saving it", 4, 1, "runs a program", seesTheEffectOfACronExpression},
	{"rolls back a batch after a preview", 3, 0, "runs the demo", rollsBackABatchAfterAPreview},
	{"follows a schedule to its run and the callback", 2, 0, "runs a program", followsAScheduleToItsCallback},
	{"checks the health of a node", 1, 0, "runs a program", checksANode},
	{"tests a URL before scheduling it", 5, 3, "runs a program", testsAURLBeforeSchedulingIt},
	{"learns what happened at 03:00 yesterday", 4, 2, "runs a program twice", learnsWhatHappenedYesterday},
	{"shares a period and its filters", 4, 1, "runs a program", sharesAPeriodAndItsFilters},
	{"undoes a change", 3, 0, "runs a program", undoesAChange},
	{"is told that the server hangs, and that it is back", 0, 0, "waits twelve seconds for a page to miss its server", isToldThatTheServerHangs},
	{"identifies and cancels 60,000 stuck jobs", 3, 0, "stores 60,000 jobs", cancelsStuckJobs},
	{"finds a kind by a part of its name", 2, 1, "", findsAKindByAPartOfItsName},
}

// TestAPersonOnCall carries out each scenario in the real program with the visible controls
// of its pages, and checks the result with the API. It counts clicks and typed fields.
func TestAPersonOnCall(t *testing.T) {
	t.Parallel()
	needBrowser(t)
	var mu sync.Mutex
	lines := make([]string, len(scenarios))
	t.Cleanup(func() { // after all scenarios
		t.Logf("clicks and fields:\n%s", strings.Join(lines, ""))
	})
	for i, s := range scenarios {
		t.Run(s.wants, func(t *testing.T) {
			if s.long != "" {
				tier.Long(t, s.long)
			}
			t.Parallel()
			p := s.does(t)
			p.quiet(s.wants)
			if p.clicks > s.clicks || p.fields > s.fields {
				t.Errorf("%d clicks and %d fields; at most %d and %d are expected", p.clicks, p.fields, s.clicks, s.fields)
			}
			mu.Lock()
			defer mu.Unlock()
			lines[i] = fmt.Sprintf("%2d %-55s %d clicks, %d fields\n", i+1, s.wants, p.clicks, p.fields)
		})
	}
}
