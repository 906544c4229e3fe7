package alert

import (
	"context"
	"time"

	"github.com/fairlead-io/fairlead"
)

// Store keeps rules, and what was reported by them.
type Store interface {
	// SetAlert creates the rule of a name, or replaces what is declared of it: CreatedAt and
	// what was counted for it stay, and UpdatedAt grows. The rule has been through Normalize. It returns the rule
	// as stored. It fails with ErrConflict if the one of that name has another scope.
	SetAlert(ctx context.Context, rule Rule) (Rule, error)
	// SetAlertSeen is SetAlert for callers that have read the rule and must not undo what has
	// become of it since: it conflicts unless the rule still has the UpdatedAt of seen, or
	// does not exist if that is zero.
	SetAlertSeen(ctx context.Context, rule, seen Rule) (Rule, error)
	// RemoveAlert removes a rule and what was counted for it. It fails with ErrNotFound.
	RemoveAlert(ctx context.Context, name string) error
	// Alerts lists all rules by name.
	Alerts(ctx context.Context) ([]Rule, error)

	// TakeLook lets one caller at a time look for what is new: it returns false if a look
	// was taken, by any process, less than every ago, or if the last one asked for a longer
	// rest. A look that is not ended counts as one that found nothing. A clock that was set
	// back keeps no caller from looking for longer than a minute. While there is no rule,
	// there is no look, and only what is too old is removed.
	TakeLook(ctx context.Context, every time.Duration) (Turn, bool, error)
	// AlertCounts counts what ended or started in the buckets from a time, inclusive, to
	// another: jobs that failed, by lane, reason and bucket, and those that were reported as
	// started too late. Both times are multiples of Bucket.
	AlertCounts(ctx context.Context, from, to time.Time) ([]Count, error)
	// EndLook stores what a look found, and the jobs that bring its messages, all or
	// nothing. It returns false, and stores nothing, if another look was taken or ended
	// since the one of that version.
	EndLook(ctx context.Context, found Found) (bool, error)
}

// Bucket is the time whose events are counted together.
const Bucket = 10 * time.Second

// MissedWindow is how long late starts are kept to be counted.
const MissedWindow = time.Hour

// Turn is a look that was taken.
type Turn struct {
	Version int64     // of the look
	Now     time.Time // the database's clock
	Seen    time.Time // all that came before is counted; zero: nothing is
	Rules   []Watched // by name
}

// Watched is a rule and what is known of it.
type Watched struct {
	Rule
	Standing Standing
}

// Count is how many jobs of a lane had the same event in one bucket.
type Count struct {
	Event  Event // Failed or Missed
	At     time.Time
	Queue  string
	Tenant string
	Kind   string
	Reason fairlead.Reason // why they failed
	Jobs   int64
}

// Found is what a look has found.
type Found struct {
	Version   int64         // of the look
	Seen      time.Time     // all that came before is counted
	Rest      time.Duration // how much longer the next look waits; at most a minute
	Standings []Watched     // those that have changed; of a rule that is gone nothing is kept
	Messages  []*fairlead.Job
}
