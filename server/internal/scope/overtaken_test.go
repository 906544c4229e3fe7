package scope

import (
	"strings"
	"testing"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/access"
	"github.com/fairlead-io/fairlead/server/internal/caller"
)

func TestACallerWhoIsBoundDoesNotLearnHowManyJobsOvertake(t *testing.T) {
	why := fairlead.Explanation{NoEstimate: &fairlead.NoEstimate{Reason: fairlead.Overtaken, Newer: 71, Started: 83, Text: "71 and 83"}}
	hideOthers(caller.Identity{Name: "acme's", Role: access.RoleViewer, Tenants: []string{"acme"}}, &why)
	if none := why.NoEstimate; none.Reason != fairlead.Overtaken || none.Newer+none.Started != 0 || none.Text == "" || strings.ContainsAny(none.Text, "0123456789") {
		t.Errorf("the caller sees %+v", none)
	}
}
