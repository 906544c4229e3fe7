package alert

import (
	"context"
	"time"

	"github.com/fairlead-io/fairlead"
)

// A Store stores alert rules and their standing.
type Store interface {
	// SetAlert creates the rule with the given name, or replaces its declared fields:
	// CreatedAt and the event counts stay, and UpdatedAt grows. The caller must have passed
	// the rule to Normalize. SetAlert returns the rule as stored. It returns ErrConflict if
	// the stored rule has a different scope.
	SetAlert(ctx context.Context, rule Rule) (Rule, error)
	// SetAlertSeen is SetAlert for callers that have read the rule and must not overwrite a
	// later change. It returns ErrConflict unless the UpdatedAt of the stored rule equals that
	// of seen, or the rule does not exist and the UpdatedAt of seen is zero.
	SetAlertSeen(ctx context.Context, rule, seen Rule) (Rule, error)
	// RemoveAlert deletes a rule and its event counts. It returns ErrNotFound if the rule does
	// not exist.
	RemoveAlert(ctx context.Context, name string) error
	// Alerts returns all rules, ordered by name.
	Alerts(ctx context.Context) ([]Rule, error)

	// TakeLook gives one caller at a time the right to check for new events. It returns false
	// if any process has started a check less than every ago, or if the last check requested a
	// longer pause. A check without an EndLook counts as one that found nothing. A clock that
	// moves backwards delays checks by at most a minute. While there are no rules, TakeLook
	// returns false and only removes old data.
	TakeLook(ctx context.Context, every time.Duration) (Turn, bool, error)
	// AlertCounts counts the events in the buckets from a time, inclusive, to another time,
	// exclusive: failed jobs by lane, reason and bucket, and jobs that were reported as
	// started too late. Both times must be multiples of Bucket.
	AlertCounts(ctx context.Context, from, to time.Time) ([]Count, error)
	// EndLook stores the results of a check and the jobs that deliver its messages in one
	// transaction. It returns false and stores nothing if another check was started or ended
	// since the one of that version.
	EndLook(ctx context.Context, found Found) (bool, error)
}

// Bucket is the length of the intervals in which events are counted.
const Bucket = 10 * time.Second

// MissedWindow is the time for which late starts are retained until a check counts them.
const MissedWindow = time.Hour

// A Turn is the right to perform one check. TakeLook grants it.
type Turn struct {
	Version int64     // version of the check
	Now     time.Time // the database's clock
	Seen    time.Time // all earlier events are counted; zero = no events are counted
	Rules   []Watched // ordered by name
}

// Watched is a rule with its standing.
type Watched struct {
	Rule
	Standing Standing
}

// A Count is the number of jobs in one lane that had the same event in one bucket.
type Count struct {
	Event  Event // Failed or Missed
	At     time.Time
	Queue  string
	Tenant string
	Kind   string
	Reason fairlead.Reason // reason for the failures
	Jobs   int64
}

// Found contains the result of a check.
type Found struct {
	Version   int64         // version of the check
	Seen      time.Time     // all earlier events are counted
	Rest      time.Duration // additional delay before the next check; at most one minute
	Standings []Watched     // rules with a changed standing; removed rules are ignored
	Messages  []*fairlead.Job
}
