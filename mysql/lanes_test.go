package mysql_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/internal/patience"
	"github.com/fairlead-io/fairlead/mysql"
)

// InnoDB gives out the ids of a large insert at once, and other processes can
// commit larger ones before it commits.
func TestLanesThatWereCommittedLateAreFound(t *testing.T) {
	url := mysql.Migrated.MySQL(t)
	worker, other := openFor(t, url), openFor(t, url)
	slow, err := rawDB(t, url, nil).BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var values []string
	for i := range 3000 {
		values = append(values, fmt.Sprintf("('default', 't%d', 'k')", i))
	}
	if _, err := slow.ExecContext(t.Context(), "insert into fairlead_lane (queue, tenant, kind) values "+strings.Join(values, ",")); err != nil {
		t.Fatal(err)
	}
	client := fairlead.NewClient(other)
	if err := client.Enqueue(t.Context(), &fairlead.Job{Kind: "k", Tenant: "quick"}); err != nil {
		t.Fatal(err)
	}
	node, err := worker.Join(t.Context(), fairlead.Node{}, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	claim := driver.Claim{Node: node, Scope: &driver.Scope{Kinds: []string{"k"}}, Max: 10}
	if _, err := worker.Claim(t.Context(), claim); err != nil { // sees the larger id
		t.Fatal(err)
	}
	if err := slow.Commit(); err != nil {
		t.Fatal(err)
	}
	late := &fairlead.Job{Kind: "k", Tenant: "t5"}
	if err := client.Enqueue(t.Context(), late); err != nil {
		t.Fatal(err)
	}
	if got, err := worker.Get(t.Context(), late.ID); err != nil || got.Tenant != "t5" {
		t.Errorf("the job in the late lane: %+v, %v", got, err)
	}
	for begin := time.Now(); time.Since(begin) < patience.Limit; {
		jobs, err := worker.Claim(t.Context(), claim)
		if err != nil {
			t.Fatal(err)
		}
		if len(jobs) == 1 && jobs[0].ID == late.ID {
			return
		}
	}
	t.Error("the job in the late lane was not claimed")
}
