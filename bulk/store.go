package bulk

import (
	"context"
	"fmt"

	"github.com/fairlead-io/fairlead"
)

// Store keeps bulks, and acts upon jobs for them.
type Store interface {
	// AddBulk stores a bulk and the job that carries it out, all or nothing. The bulk has been
	// through Normalize, the job through NormalizeJobs; the bulk gets the ID of the job. Of its
	// Status only Matched and More are kept. It returns the bulk as stored.
	// If AddBulk has succeeded with the same caller and key of once before, it stores nothing
	// and returns that bulk as it is now, or ErrNotFound if that is gone; with ErrConflict it
	// fails if that was another request. Keys are those of EnqueueOnce, and forgotten as they
	// are. Without once each call stores a bulk.
	AddBulk(ctx context.Context, once *fairlead.Once, b Bulk, job *fairlead.Job) (Bulk, error)
	// Bulks lists bulks, newest first. One whose job was cancelled is stopped, one whose job
	// has failed or is gone before the last step has failed. It looks at a bounded number of
	// bulks: a page may be short, or empty, and still have a next one.
	Bulks(ctx context.Context, filter Filter) (Page, error)
	// BulkMisses lists what a bulk has left as it was, in the order in which it met the jobs:
	// by ID, largest first. It is empty for an unknown bulk.
	BulkMisses(ctx context.Context, id int64, filter MissFilter) ([]Miss, error)
	// StopBulk asks a bulk to stop: its next step acts upon no job and ends it as stopped.
	// Asking twice is fine. It fails with ErrNotFound, and with ErrConflict if the bulk has
	// ended.
	StopBulk(ctx context.Context, id int64) error
	// DeleteBulk removes a bulk that has ended, with its misses. It fails with ErrNotFound, and
	// with ErrConflict if the bulk has not ended.
	DeleteBulk(ctx context.Context, id int64) error
	// StepBulk makes a step of a bulk, in one transaction, and returns the bulk as it is then.
	// It acts upon those of the jobs that are in a state that the bulk's filter names and that
	// the action allows, as the methods of Operator do. If the bulk has a Cause, it leaves jobs
	// that have run again since they were found: they may have failed for another cause. It adds one entry to the audit log for
	// each: the action, in the name of those who asked for the bulk. All others of the jobs,
	// and those that the step gives up, become misses. Next becomes the cursor of the bulk;
	// zero ends it as completed.
	// If the cursor of the bulk is not the one from which the step goes, nothing is done:
	// another step was made. So a step that is repeated because its outcome is unknown counts
	// once. Of a bulk that was asked to stop, or has ended, nothing is done either.
	// It fails with ErrNotFound, and with ErrLeaseLost if the fence is not that of the run of
	// the bulk's job.
	StepBulk(ctx context.Context, step Step) (Bulk, error)
}

// Filter chooses bulks. Empty fields choose all; of several fields all must match.
type Filter struct {
	IDs []int64
	// Tenants chooses bulks that are about jobs of these tenants, and of no others.
	Tenants []string
	Below   int64 // only IDs smaller than this: Next of the page before
	Limit   int   // zero means 100
}

// Page is a part of a list of bulks.
type Page struct {
	Bulks []Bulk
	Next  int64 // Below of the next page; zero: there is none
}

// MissFilter chooses misses of a bulk.
type MissFilter struct {
	Below int64 // only jobs with smaller IDs than this: the last of the page before
	Limit int   // zero means 100
}

// Step is a part of a bulk that happens as a whole or not at all.
type Step struct {
	Bulk   int64
	Fence  int64     // of the run of its job
	Cursor int64     // from which it goes
	Jobs   []Subject // at most MaxStep
	GiveUp []Miss    // jobs that it leaves as they are
	Next   int64     // the cursor afterwards; zero: there is nothing more
}

// MaxStep is how many jobs a step acts upon at most.
const MaxStep = 1000

// Subject is a job that a step acts upon.
type Subject struct {
	ID     int64
	Tenant string
	Fence  int64 // of the run whose error was compared with the cause of the bulk
}

// Source is what a bulk asks of a database.
type Source interface {
	Store
	FindPage(ctx context.Context, filter fairlead.Filter) (fairlead.Page, error)
	TallyUpTo(ctx context.Context, filter fairlead.Filter, atMost int64) (fairlead.Count, error)
	Confidential(ctx context.Context) (fairlead.Confidential, error)
}

// NoSuchBulk returns the ErrNotFound of a bulk's ID, with the same text in all stores.
func NoSuchBulk(id int64) error { return fmt.Errorf("bulk action %d: %w", id, fairlead.ErrNotFound) }
