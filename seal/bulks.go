package seal

import (
	"context"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/bulk"
)

// AddBulk implements bulk.Store. A bulk's reason stays sealed wherever it is copied to: in
// the errors of jobs that the bulk cancels, and in the audit log.
func (s *Store) AddBulk(ctx context.Context, once *fairlead.Once, b bulk.Bulk, job *fairlead.Job) (bulk.Bulk, error) {
	if err := s.closeText(&b.Reason, forReasons); err != nil {
		return bulk.Bulk{}, err
	}
	jobs, err := s.sealJobs([]*fairlead.Job{job})
	if err != nil {
		return bulk.Bulk{}, err
	}
	stored, err := s.Store.AddBulk(ctx, once, b, jobs[0])
	s.openBulk(&stored)
	return stored, err
}

// Bulks implements bulk.Store. Values that cannot be opened stay sealed.
func (s *Store) Bulks(ctx context.Context, filter bulk.Filter) (bulk.Page, error) {
	page, err := s.Store.Bulks(ctx, filter)
	for i := range page.Bulks {
		s.openBulk(&page.Bulks[i])
	}
	return page, err
}

// StepBulk implements bulk.Store. A program can carry out the bulk without the key for the
// bulk's reason, because the reason is stored in its sealed form.
func (s *Store) StepBulk(ctx context.Context, step bulk.Step) (bulk.Bulk, error) {
	after, err := s.Store.StepBulk(ctx, step)
	s.openBulk(&after)
	return after, err
}

// openBulk opens the strings of a bulk as far as possible. No decision depends on them.
func (s *Store) openBulk(b *bulk.Bulk) {
	_ = s.openText(&b.Reason, forReasons)
	_ = s.openText(&b.Error, forReasons) // its own job may have been cancelled by a bulk
}
