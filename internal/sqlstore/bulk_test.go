package sqlstore

import (
	"testing"

	"github.com/fairlead-io/fairlead/bulk"
)

func TestWhatABulkAllowsTheStatesOfJobsPermit(t *testing.T) {
	for _, action := range bulk.Actions() {
		b := bulk.Bulk{Action: action}
		for _, state := range action.States() {
			if err := deedOf(&b).Permit(1, state); err != nil {
				t.Errorf("%s is refused to jobs that are %s: %v", action, state, err)
			}
			if deedOf(&b).Action.Moot(state) {
				t.Errorf("%s changes nothing of jobs that are %s", action, state)
			}
		}
	}
}
