package cli

import (
	"fmt"
	"strings"
	"testing"
)

func TestErasingIsCountedAskedBackAndReported(t *testing.T) {
	r := newRig(t)
	const ended = "1"
	r.fails(ExitJobFailed, "job "+ended, "job", "enqueue", "broken", "--tenant", "acme", "--key", "ada", "--wait")
	live := r.id("job", "enqueue", "noop", "--tenant", "acme", "--not-before", "1h")
	r.fails(ExitUsage, "--tenant, --key or both", "erase")
	r.fails(ExitUsage, "add --yes to erase the jobs, or --dry-run", "erase", "--tenant", "acme")
	r.says([]string{"jobs", "to be removed", "of kind broken", "attempts"}, "erase", "--tenant", "acme", "--dry-run")
	report := r.document("erase", "--tenant", "acme", "--key", "ada", "--yes")
	if report["jobs"] != "1" || report["attempts"] != "1" {
		t.Errorf("the report is %v", report)
	}
	r.fails(ExitNotFound, ended, "job", "get", ended)
	report = r.document("erase", "--tenant", "acme", "--yes")
	if left := fmt.Sprint(report["left"]); !strings.Contains(left, "id:"+live) || report["jobs"] != nil {
		t.Errorf("the second report is %v", report)
	}
	r.says([]string{"job " + live, "kept: it has not ended", "audit entries"}, "erase", "--tenant", "acme", "--yes")
}
