package seal

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/internal/verdict"
)

// A Store is a driver.Store that seals the documents that it stores.
type Store struct {
	driver.Store
	coder
}

var _ driver.Store = (*Store)(nil)

// Wrap returns a store that seals the documents that it receives and opens the documents
// that it returns. Use Within for the caller's own transactions.
func Wrap(store driver.Store, codec Codec) *Store { return &Store{store, coder{codec}} }

// sealJobs returns copies of jobs with sealed args.
func (c coder) sealJobs(jobs []*fairlead.Job) ([]*fairlead.Job, error) {
	sealed := make([]*fairlead.Job, len(jobs))
	for i, job := range jobs {
		copied := *job
		if err := c.closeAll(&copied.Args); err != nil {
			return nil, err
		}
		sealed[i] = &copied
	}
	return sealed, nil
}

// adopt copies the fields that a store has set in the sealed copies back to the jobs.
func adopt(jobs, sealed []*fairlead.Job) {
	for i, job := range jobs {
		args := job.Args
		*job = *sealed[i]
		job.Args = args
	}
}

// openJob opens the documents of a job. An error text sealed by a bulk does not prevent the
// job from running if it cannot be opened.
func (c coder) openJob(job *fairlead.Job) error {
	_ = c.openText(&job.Error, forReasons)
	return c.openAll(&job.Args, &job.Output, &job.Progress, &job.Told, &job.Memo)
}

// sealSettlements returns sealed copies of settlements.
func (c coder) sealSettlements(settlements []fairlead.Settlement) ([]fairlead.Settlement, error) {
	sealed := slices.Clone(settlements)
	for i := range sealed {
		s := &sealed[i]
		if err := c.closeAll(&s.Output, &s.Memo, &s.Progress); err != nil {
			return nil, err
		}
		if s.Replace == nil {
			continue
		}
		if verdict.Replaces(s) { // the store sees only sealed values, and cannot check their size
			if refusal := fairlead.NormalizeJobs([]*fairlead.Job{s.Replace}); refusal != nil {
				*s = verdict.Refused(s, refusal)
				continue
			}
		}
		replacement, err := c.sealJobs([]*fairlead.Job{s.Replace})
		if err != nil {
			return nil, err
		}
		s.Replace = replacement[0]
	}
	return sealed, nil
}

// adoptReplacements copies the fields that a store has set in the sealed copies back to the
// replacement jobs.
func adoptReplacements(settlements, sealed []fairlead.Settlement) {
	for i := range settlements {
		if sealed[i].Replace != nil {
			adopt([]*fairlead.Job{settlements[i].Replace}, []*fairlead.Job{sealed[i].Replace})
		}
	}
}

// Enqueue implements fairlead.Store.
func (s *Store) Enqueue(ctx context.Context, jobs []*fairlead.Job) error {
	sealed, err := s.sealJobs(jobs)
	if err != nil {
		return err
	}
	if err := s.Store.Enqueue(ctx, sealed); err != nil {
		return err
	}
	adopt(jobs, sealed)
	return nil
}

// EnqueueOnce implements fairlead.Store.
func (s *Store) EnqueueOnce(ctx context.Context, once fairlead.Once, jobs []*fairlead.Job) (repeated bool, err error) {
	sealed, err := s.sealJobs(jobs)
	if err != nil {
		return false, err
	}
	if repeated, err = s.Store.EnqueueOnce(ctx, once, sealed); err != nil {
		return repeated, err
	}
	adopt(jobs, sealed)
	return repeated, nil
}

// Get implements fairlead.Store. Values that cannot be opened stay sealed.
func (s *Store) Get(ctx context.Context, id int64) (*fairlead.Job, error) {
	job, err := s.Store.Get(ctx, id)
	if err == nil {
		_ = s.openJob(job) // shown sealed if it cannot be opened
	}
	return job, err
}

// Find implements fairlead.Store. Values that cannot be opened stay sealed.
func (s *Store) Find(ctx context.Context, filter fairlead.Filter) ([]*fairlead.Job, error) {
	jobs, err := s.Store.Find(ctx, filter)
	s.openJobs(jobs)
	return jobs, err
}

// FindPage implements fairlead.Store. Values that cannot be opened stay sealed.
func (s *Store) FindPage(ctx context.Context, filter fairlead.Filter) (fairlead.Page, error) {
	page, err := s.Store.FindPage(ctx, filter)
	s.openJobs(page.Jobs)
	return page, err
}

func (s *Store) openJobs(jobs []*fairlead.Job) {
	for _, job := range jobs {
		_ = s.openJob(job) // shown sealed if it cannot be opened
	}
}

// unopenedPause is the delay before a job that could not be opened is retried, on another
// node or once this node has the key.
const unopenedPause = time.Minute

// Claim implements driver.Store. It does not return a job that cannot be opened, because a
// handler would process the sealed text as its input. Instead, the job is retried later, and
// its attempts record the reason. The same applies to a job that processes a sweep's shard
// if the sweep's data cannot be opened.
func (s *Store) Claim(ctx context.Context, claim driver.Claim) ([]*fairlead.Job, error) {
	jobs, err := s.Store.Claim(ctx, claim)
	problems := map[int64]error{}
	for _, job := range jobs {
		if job.Bare {
			continue // it has no documents, and is released
		}
		if problem := s.openJob(job); problem != nil {
			problems[job.ID] = problem
		}
	}
	unopened, unread := s.unopenedSweeps(ctx, jobs)
	var back []fairlead.Settlement
	jobs = slices.DeleteFunc(jobs, func(job *fairlead.Job) bool {
		problem := problems[job.ID]
		if id := sweepOf(job); id != 0 {
			problem = errors.Join(problem, unread, unopened[id])
		}
		if problem != nil {
			back = append(back, fairlead.Settlement{
				ID: job.ID, Fence: job.Fence, Move: fairlead.Again, After: unopenedPause, Reason: fairlead.ReasonError, Error: problem.Error(),
			})
		}
		return problem != nil
	})
	if len(back) > 0 {
		if _, giving := s.Store.Settle(ctx, back); err == nil && giving != nil {
			err = fmt.Errorf("release jobs that cannot be opened: %w", giving)
		}
	}
	return jobs, err
}

// Settle implements driver.Store.
func (s *Store) Settle(ctx context.Context, settlements []fairlead.Settlement) ([]fairlead.Settled, error) {
	sealed, err := s.sealSettlements(settlements)
	if err != nil {
		return nil, err
	}
	settled, err := s.Store.Settle(ctx, sealed)
	adoptReplacements(settlements, sealed)
	return settled, err
}

// Save implements driver.Store.
func (s *Store) Save(ctx context.Context, save fairlead.Save) error {
	if err := s.closeAll(&save.Progress, &save.Memo); err != nil {
		return err
	}
	return s.Store.Save(ctx, save)
}

// Resolve implements fairlead.Store. Equal answers have equal sealed texts. Repeating the
// same answer is therefore not a conflict.
func (s *Store) Resolve(ctx context.Context, answer fairlead.Settlement) (err error) {
	label := fmt.Sprintf("answer %d %d", answer.ID, answer.Fence)
	for _, document := range []*json.RawMessage{&answer.Output, &answer.Memo, &answer.Progress} {
		if *document, err = s.closeAs(label, *document); err != nil {
			return err
		}
	}
	return s.Store.Resolve(ctx, answer)
}

// Extend implements fairlead.Store.
func (s *Store) Extend(ctx context.Context, extension fairlead.Extension) (time.Time, error) {
	if err := s.closeAll(&extension.Told); err != nil {
		return time.Time{}, err
	}
	return s.Store.Extend(ctx, extension)
}
