package verdict

import (
	"fmt"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
)

// Orphan is a running job whose node is dead or unknown.
type Orphan struct {
	Node          int64
	Heard         time.Time // last sign of life of the node; zero if the node is unknown
	Lived         bool      // the node's process is alive: it only lost its lease
	Late          bool      // the claim committed after the node was marked dead, so the job did not start
	Wish          *string   // reason of a request to stop the job, or nil
	CancelOnCrash bool
	Crashes       int // before this one
}

// Loss is the decision about an orphan. The orphan's run is always recorded and never counts
// as a failure.
type Loss struct {
	Next
	RunReason fairlead.Reason
	RunError  string
	Crashes   int  // including this one
	Revocable bool // the crash is taken back if the node reports that it is alive
}

// TakeBack decides what happens to an orphaned job. A stop request ends it, and so does
// CancelOnCrash. A job that reaches maxCrashes fails, because it may be crashing its nodes.
// The loss does not count as a crash if the node is alive. A job that never started cannot
// have caused a crash, so not even CancelOnCrash ends it.
func TakeBack(o Orphan, maxCrashes int) Loss {
	loss := Loss{Next: Next{State: fairlead.Ready}, Crashes: o.Crashes}
	crashed := !o.Lived && !o.Late
	switch {
	case o.Late:
		loss.RunReason, loss.RunError = fairlead.ReasonLeaseLost, late(o.Node)
	case o.Lived:
		loss.RunReason, loss.RunError = Lived(o.Node)
	default:
		loss.Crashes++
		loss.RunReason, loss.RunError = fairlead.ReasonCrash, died(o.Node, o.Heard)
	}
	switch {
	case o.Wish != nil:
		loss.Next = Cancel(*o.Wish)
	case o.CancelOnCrash && !o.Late:
		loss.Next = Cancel(loss.RunError)
		loss.Reason = fairlead.ReasonCrash
	case loss.Crashes >= maxCrashes && crashed:
		loss.Next = Next{
			State: fairlead.Failed, Reason: fairlead.ReasonPoison, FreeKey: true,
			Error: fmt.Sprintf("it was running during %d crashes without progress", loss.Crashes),
		}
	default:
		loss.Revocable = crashed
	}
	return loss
}

// Count adds the orphan to the counts that Reap returns.
func (l *Loss) Count(reaped *driver.Reaped) {
	switch l.State {
	case fairlead.Cancelled:
		reaped.Cancelled++
	case fairlead.Failed:
		reaped.Poisoned++
	default:
		reaped.Jobs++
	}
}

// died returns the description of a crash. It includes the time of the last beat, which
// helps to find the cause.
func died(node int64, heard time.Time) string {
	text := fmt.Sprintf("node %d died", node)
	if !heard.IsZero() {
		text += "; it was last heard of " + heard.UTC().Format(time.RFC3339)
	}
	return text
}

// late returns the description of an attempt whose claim committed after its node was
// marked dead.
func late(node int64) string {
	return fmt.Sprintf("node %d was marked dead before its claim committed; the job did not start", node)
}

// Lived returns the reason and text to record for an attempt whose node lost its lease but
// stayed alive. They also replace the record of a crash if the node turns out to be alive
// later.
func Lived(node int64) (reason fairlead.Reason, text string) {
	return fairlead.ReasonLeaseLost, fmt.Sprintf("node %d lost its lease but stayed alive", node)
}

// Suspect reports whether a ready job has crashed so often that a node claims it alone.
func Suspect(crashes int) bool { return crashes >= driver.SoloAfter }

// Uncrashed returns a job's crash count after one crash is taken back. The count may already
// be 0, because progress resets it.
func Uncrashed(crashes int) int { return max(0, crashes-1) }
