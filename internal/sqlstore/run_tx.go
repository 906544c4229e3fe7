package sqlstore

import (
	"context"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/schedule"
)

// Scheduling runs the transactions that act on schedules.
type Scheduling interface {
	Database
	// WithTimeout bounds a call by the store's timeout.
	WithTimeout(ctx context.Context) (context.Context, context.CancelFunc)
	// ActOnSchedules runs turn.Do in one transaction at READ COMMITTED and, after the commit,
	// wakes nodes that may run, promote or stop jobs. It reads what would need a second
	// connection before the transaction. If the turn is brief and the transaction has waited
	// too long for a lock, it fails with turn.Locked and does not run again. On SQLite, a
	// Refusal leaves the transaction that several calls share usable.
	ActOnSchedules(ctx context.Context, verb string, turn *ScheduleTurn) error
	// LookAtOpenRuns queues a statement that looks for open runs that have ended. Once it has
	// run, ended returns the schedules of such runs: limit of them and one more if there are
	// more.
	LookAtOpenRuns(db DB, limit int) (ended func(ctx context.Context) ([]int64, error))
}

// RunTx is a JobTx that can also create and end the jobs of runs. Apart from Enqueue, its
// methods are called while no statement is queued, or queue their own.
type RunTx interface {
	JobTx
	// WaitBriefly bounds the waits for locks from here on. The schedules are locked.
	WaitBriefly(ctx context.Context) error
	// Reserve announces that about n jobs will be numbered. A store that takes IDs from the
	// database queues that.
	Reserve(n int)
	// Number implements schedule.Tx.
	Number(ctx context.Context, jobs []*fairlead.Job) error
	// Pending returns a tenant's limit of pending jobs, or 0 if it has none, and its number
	// of pending jobs.
	Pending(ctx context.Context, tenant string) (bound, pending int, err error)
	// EnqueueRuns stores the jobs under their IDs, except those at the positions in refused.
	// If the key of a job is taken, EnqueueRuns adds the job's position to refused.
	EnqueueRuns(ctx context.Context, jobs []*fairlead.Job, refused map[int]error) error
	// CancelRuns implements Cancel of schedule.Tx.
	CancelRuns(ctx context.Context, jobs []int64, because string) (map[int64]time.Time, error)
	// AdmitRuns implements Admit of schedule.Tx.
	AdmitRuns(ctx context.Context, runs []schedule.Fire) error
	// RecordRuns implements Record of schedule.Tx.
	RecordRuns(ctx context.Context, ended []schedule.EndedJob) error
	// Must queues a statement that hits the given number of rows, because they are locked or
	// new. A database that runs one statement at a time checks that.
	Must(rows int, statement string, args ...any)
}

// SplitKeyed returns the positions of jobs without and with a key, except refused jobs.
func SplitKeyed(jobs []*fairlead.Job, refused map[int]error) (free, keyed []int) {
	for i, job := range jobs {
		switch {
		case refused[i] != nil:
		case job.Key != "":
			keyed = append(keyed, i)
		default:
			free = append(free, i)
		}
	}
	return free, keyed
}
