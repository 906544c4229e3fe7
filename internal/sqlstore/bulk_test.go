package sqlstore

import (
	"testing"

	"github.com/fairlead-io/fairlead/bulk"
	"github.com/fairlead-io/fairlead/internal/verdict"
)

func TestWhatABulkAllowsTheStatesOfJobsPermit(t *testing.T) {
	for _, action := range bulk.Actions() {
		b := bulk.Bulk{Action: action}
		for _, state := range action.States() {
			if err := operationOf(&b).Permit(1, state); err != nil {
				t.Errorf("%s is refused to jobs that are %s: %v", action, state, err)
			}
			if verdict.Moot(operationOf(&b).Op, state) {
				t.Errorf("%s changes nothing of jobs that are %s", action, state)
			}
		}
	}
}
