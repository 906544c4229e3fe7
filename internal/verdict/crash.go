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
	Heard         time.Time // when the node was last heard of; zero: it is not known any more
	Lived         bool      // the node's process lives: it lost its lease only
	Late          bool      // the claim committed after the node was marked dead, so the job did not start
	Wish          *string   // why the job was asked to stop, nil if it was not
	CancelOnCrash bool
	Crashes       int // before this one
}

// Loss is what becomes of an orphan. Its run is recorded in any case; it is no failure.
type Loss struct {
	Next
	RunReason fairlead.Reason
	RunError  string
	Crashes   int  // with this one
	Revocable bool // the crash is taken back if the node says that it lives
}

// TakeBack decides what becomes of an orphan. A wish ends it, and so does its own choice
// to be cancelled by a crash. A job whose crashes reach maxCrashes fails: it may be
// what kills the nodes. A node that lives has not crashed. A job that did not start has
// had no part in any crash, so not even CancelOnCrash ends it.
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

// Count adds the orphan to what a call of Reap has done.
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

// died is how a crash is described. The last beat tells when to look for its cause.
func died(node int64, heard time.Time) string {
	text := fmt.Sprintf("node %d died", node)
	if !heard.IsZero() {
		text += "; it was last heard of " + heard.UTC().Format(time.RFC3339)
	}
	return text
}

// late describes an attempt whose claim committed after its node was marked dead.
func late(node int64) string {
	return fmt.Sprintf("node %d was marked dead before its claim committed; the job did not start", node)
}

// Lived is how an attempt is recorded whose node lost its lease but stayed alive, also when that
// becomes known only after it was recorded as a crash.
func Lived(node int64) (reason fairlead.Reason, text string) {
	return fairlead.ReasonLeaseLost, fmt.Sprintf("node %d lost its lease but stayed alive", node)
}

// Suspect reports whether a ready job has so many crashes that it is claimed alone.
func Suspect(crashes int) bool { return crashes >= driver.SoloAfter }

// Uncrashed is the crashes of a job one of which is taken back. Progress may have made
// the job forget it before.
func Uncrashed(crashes int) int { return max(0, crashes-1) }
