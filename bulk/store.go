package bulk

import (
	"context"
	"fmt"

	"github.com/fairlead-io/fairlead"
)

// A Store stores bulks and carries out their steps.
type Store interface {
	// AddBulk stores a bulk and the job that carries it out in one transaction. The caller
	// must have passed the bulk to Normalize and the job to NormalizeJobs. The bulk gets the
	// ID of the job. Of its Status, only Matched and More are stored. AddBulk returns the bulk
	// as stored.
	//
	// If an earlier call with the same caller and key of once has succeeded, AddBulk stores
	// nothing and returns the current state of that bulk, or ErrNotFound if it has been
	// deleted, or ErrConflict if the key was used for another request. Keys are shared with
	// EnqueueOnce and have the same retention. Without once, each call stores a bulk.
	AddBulk(ctx context.Context, once *fairlead.Once, b Bulk, job *fairlead.Job) (Bulk, error)
	// Bulks returns bulks, newest first. A bulk whose job was cancelled is stopped; a bulk
	// whose job failed, or was deleted before the last step, has failed. A call reads a
	// bounded number of bulks: a page may be short or empty and still have a next page.
	Bulks(ctx context.Context, filter Filter) (Page, error)
	// BulkMisses returns the jobs that a bulk left unchanged, in the order in which the bulk
	// reached them: by ID, largest first. The result is empty for an unknown bulk.
	BulkMisses(ctx context.Context, id int64, filter MissFilter) ([]Miss, error)
	// StopBulk requests that a bulk stop: its next step changes no job and ends the bulk as
	// stopped. Repeated calls are allowed. StopBulk returns ErrNotFound if the bulk does not
	// exist, and ErrConflict if it has ended.
	StopBulk(ctx context.Context, id int64) error
	// DeleteBulk deletes a bulk that has ended, and its misses. It returns ErrNotFound if the
	// bulk does not exist, and ErrConflict if it has not ended.
	DeleteBulk(ctx context.Context, id int64) error
	// StepBulk performs a step of a bulk in one transaction and returns the resulting bulk. It
	// acts on those of the jobs whose state is allowed by both the bulk's filter and the
	// action, in the same way as the methods of Operator. If the bulk has a Cause, it leaves
	// out jobs that have run again since they were found, because they may have failed for
	// another cause. For each changed job it adds an audit log entry with the action, on
	// behalf of the caller who started the bulk. All other jobs, and those that the step gives
	// up, become misses. Next becomes the cursor of the bulk; zero ends the bulk as completed.
	//
	// If the cursor of the bulk differs from the step's Cursor, another step was made, and
	// StepBulk does nothing. So a step that is repeated because its outcome is unknown counts
	// once. StepBulk also does nothing if the bulk was requested to stop or has ended.
	//
	// It returns ErrNotFound if the bulk does not exist, and ErrLeaseLost if the fence does
	// not match the current run of the bulk's job.
	StepBulk(ctx context.Context, step Step) (Bulk, error)
}

// A Filter selects bulks. A bulk must match all fields that are set.
type Filter struct {
	IDs []int64
	// Tenants selects bulks that apply only to jobs of these tenants.
	Tenants []string
	Below   int64 // only bulks with smaller IDs: Next of the previous page
	Limit   int   // maximum number of bulks; zero = 100
}

// A Page is one page of a list of bulks.
type Page struct {
	Bulks []Bulk
	Next  int64 // Below of the next page; zero = last page
}

// A MissFilter selects a bulk's misses.
type MissFilter struct {
	Below int64 // only jobs with smaller IDs: the last ID of the previous page
	Limit int   // maximum number of misses; zero = 100
}

// A Step describes one transaction of a bulk.
type Step struct {
	Bulk   int64
	Fence  int64     // fence of the current run of the bulk's job
	Cursor int64     // expected cursor of the bulk
	Jobs   []Subject // at most MaxStep
	GiveUp []Miss    // jobs that the step leaves unchanged
	Next   int64     // cursor after the step; zero = the last step
}

// MaxStep is the maximum number of jobs in a step.
const MaxStep = 1000

// A Subject is a job that a step acts on.
type Subject struct {
	ID     int64
	Tenant string
	Fence  int64 // fence of the run whose error was compared with the bulk's cause
}

// A Source provides the database operations needed to preview and carry out bulks.
type Source interface {
	Store
	FindPage(ctx context.Context, filter fairlead.Filter) (fairlead.Page, error)
	TallyUpTo(ctx context.Context, filter fairlead.Filter, atMost int64) (fairlead.Count, error)
	Confidential(ctx context.Context) (fairlead.Confidential, error)
}

// NoSuchBulk returns an ErrNotFound for a bulk ID. All stores use it, so their error texts are
// identical.
func NoSuchBulk(id int64) error { return fmt.Errorf("bulk action %d: %w", id, fairlead.ErrNotFound) }
