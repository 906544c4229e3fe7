package cli

import (
	"errors"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
)

func TestASweepIsCreatedAndAwaited(t *testing.T) {
	r := newRig(t)
	r.says([]string{"sweep all is created"}, "sweep", "create", "all", "--kind", "count", "--to", "1000", "--args", `{"n":1}`,
		"--rate", "50", "--error-budget", "7,2.5%,9/m", "--item-timeout", "5s", "--backoff", "1s", "--queue", "default")
	sweep := r.document("sweep", "get", "all")
	if sweep["rate"] != 50.0 || sweep["timeout"] != "5s" || sweep["backoff"] != "1s" || sweep["error_budget"].(map[string]any)["percent"] != 2.5 || sweep["error_budget"].(map[string]any)["per_minute"] != "9" {
		t.Errorf("it is %v", sweep)
	}
	r.says([]string{"sweep all  finished  999 of 1000 done  5 errors  1 failed"}, "sweep", "start", "all", "--wait=20s")
	r.says([]string{"all", "finished", "count", "999", "1000"}, "sweep", "list", "--state", "finished")
	r.says([]string{"finished  999 of 1000 done"}, "sweep", "watch", "all")
	r.says([]string{"INDEX", "it is odd"}, "sweep", "failed", "all")
	r.says([]string{"warn", "odd"}, "sweep", "logs", "all", "--level", "warn", "--index", "0")
	r.says([]string{"finish", "start", "create", "local"}, "sweep", "history", "all")
	r.says([]string{"MARK", "1000"}, "sweep", "shards", "all")
	r.fails(ExitConflict, "finished", "sweep", "start", "all")
	r.says([]string{"sweep all  finished  999 of 1000 done"}, "sweep", "start", "all", "--again", "--wait=20s")
	r.fails(ExitUsage, "[7]", "sweep", "retry", "all", "--index", "0", "--index", "7")
	r.says([]string{"sweep all  finished  1000 of 1000 done"}, "sweep", "retry", "all", "--index", "0", "--wait=20s")
	r.fails(ExitConflict, "none of its items failed", "sweep", "retry", "all")
	r.says([]string{"retry", "1 item"}, "sweep", "history", "all")
	r.says([]string{"sweep all deleted"}, "sweep", "delete", "all")
	r.fails(ExitNotFound, "all", "sweep", "get", "all")
	r.says([]string{"sweep more  finished"}, "sweep", "create", "more", "--kind", "count", "--to", "10", "--wait=20s")
}

func TestASweepThatDoesNotGoOnIsExplained(t *testing.T) {
	r := newRig(t)
	r.says([]string{"sweep odd is running"}, "sweep", "create", "odd", "--kind", "cuont", "--to", "10", "--start")
	r.says([]string{"odd", `no live node handles items of kind "cuont"`}, "sweep", "list")
	r.says([]string{"sweep odd: running\n", `no live node handles items of kind "cuont" in queue "default"; live nodes handle count`, "is ready and cannot start yet:"}, "sweep", "explain", "odd")
	r.fails(ExitNotFound, "none", "sweep", "explain", "none")
}

func TestASweepIsSteeredFromTheCommandLine(t *testing.T) {
	r := newRig(t)
	r.says([]string{"sweep gated is waiting"}, "sweep", "create", "gated", "--kind", "count", "--to", "1000", "--before-run", "http://127.0.0.1:1/", "--start")
	r.fails(ExitFailure, "did not end within", "sweep", "create", "other", "--kind", "count", "--to", "1", "--before-run", "http://127.0.0.1:1/", "--wait=1s")
	r.says([]string{"sweep other is stopped (enough)"}, "sweep", "stop", "other", "--reason", "enough", "--wait")
	r.fails(ExitJobFailed, "enough", "sweep", "watch", "other")
	set := r.document("sweep", "set", "gated", "--rate", "7.5", "--in-flight", "3", "--args", `{"n":2}`, "--gate-timeout", "1h")
	gate := set["gate"].(map[string]any)
	if set["rate"] != 7.5 || set["in_flight"] != 3.0 || set["args"].(map[string]any)["n"] != 2.0 || gate["before_run"] != "http://127.0.0.1:1/" || gate["timeout"] != "3600s" {
		t.Errorf("it is %v", set)
	}
	if set = r.document("sweep", "set", "gated", "--args", `{"n":3}`); set["args"].(map[string]any)["n"] != 3.0 {
		t.Errorf("it is %v", set)
	}
	if set = r.document("sweep", "set", "gated", "--clear", "rate"); set["rate"] != 0.0 {
		t.Errorf("it is %v", set)
	}
	r.says([]string{"sweep gated is "}, "sweep", "open", "gated")
	r.fails(ExitConflict, "gated", "sweep", "open", "gated")
	r.says([]string{"finished"}, "sweep", "watch", "gated")

	r.fails(ExitUsage, "to", "sweep", "create", "x", "--kind", "count")
	r.fails(ExitUsage, "--error-budget", "sweep", "create", "x", "--kind", "count", "--to", "1", "--error-budget", "many")
	r.fails(ExitUsage, "DATABASE/TABLE/KEY", "sweep", "create", "x", "--kind", "count", "--source-table", "users")
	r.fails(ExitUsage, "set rate or another field to change", "sweep", "set", "gated")
	r.fails(ExitUsage, "NAME", "sweep", "start")
	r.fails(ExitNotFound, "none", "sweep", "watch", "none")
}

func TestABarShowsWhatIsDoneInTheWindowAndToDo(t *testing.T) {
	for _, c := range []struct {
		over, begun, whole int64
		want               string
	}{
		{0, 0, 0, "··········"},
		{0, 0, 100, "░░░░░░░░░░"},
		{50, 20, 100, "█████▓▓░░░"},
		{1, 1, 10_000_000_000, "█▓░░░░░░░░"},
		{9_999_999_999, 0, 10_000_000_000, "█████████░"},
		{9_999_999_990, 5, 10_000_000_000, "█████████▓"},
		{100, 0, 100, "██████████"},
	} {
		if got := threeBar(c.over, c.begun, c.whole, 10); got != c.want {
			t.Errorf("%d and %d of %d is %s, want %s", c.over, c.begun, c.whole, got, c.want)
		}
	}
	sweep := &fairleadv1.Sweep{Name: proto.String("all"), State: "running", Progress: &fairleadv1.SweepProgress{
		Total: proto.Int64(1000), Done: proto.Int64(600), Abandoned: proto.Int64(2), Errors: proto.Int64(9), Marked: proto.Int64(500), InWindow: proto.Int64(102),
		Rate: proto.Float64(12.5), Eta: timestamppb.New(noon.Add(30 * time.Second)),
	}}
	want := "all ███████████████▓▓▓░░░░░░░░░░░░ 60.2% running  600 of 1000 done  102 in window  398 remaining  12.5/s  9 errors  2 failed  30s left"
	if got := sweepBar(sweep, noon); got != want {
		t.Errorf("it is %s", got)
	}
	sweep.Progress.Again, sweep.Progress.Eta = 2, nil
	want = "all ███████████████▓▓▓░░░░░░░░░░░░ 60.0% running  600 of 1000 done  102 in window  398 remaining  2 to retry  12.5/s  9 errors  2 failed"
	if got := sweepBar(sweep, noon); got != want {
		t.Errorf("while items are retried it is %s", got)
	}
	printer, out := atTerminal("table")
	c := &call{printer: printer, errors: printer.Screen}
	wanted := errors.New("over")
	_, err := drawWhile(c, func(s *fairleadv1.Sweep) string { return sweepBar(s, noon) }, func(see func(*fairleadv1.Sweep) error) (*fairleadv1.Sweep, error) {
		return sweep, errors.Join(see(sweep), wanted)
	})
	if !errors.Is(err, wanted) || !strings.HasSuffix(out.String(), "\r\x1b[K") {
		t.Errorf("it ended with %v and %q", err, out)
	}
}
