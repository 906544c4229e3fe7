package sqlstore

import (
	"context"
	"fmt"

	"github.com/fairlead-io/fairlead"
)

// explainStore explains why jobs do not run.
type explainStore struct {
	db    Database
	of    explainSource
	clock *ClockStatements
	usage *UsageStatements
}

// explainSource is the part of a store that explainStore uses: the same data that claims
// read.
type explainSource interface {
	Get(ctx context.Context, id int64) (*fairlead.Job, error)
	Nodes(ctx context.Context) ([]fairlead.Node, error)
	Limits(ctx context.Context) ([]fairlead.LimitUse, error)
	// Fair returns the record of what nodes have started where tenants share starts.
	Fair() *Fair
	// LimitConfig returns the current pauses and limits.
	LimitConfig(ctx context.Context) (*LimitConfig, error)
	// Ahead counts the ready jobs ahead of a job. It may stop a little above MaxAhead.
	Ahead(ctx context.Context, facts *Facts) (JobsAhead, error)
	// NameLane returns the key of the lane of jobs that were just read.
	NameLane(ctx context.Context, db DB, id int32) (LaneKey, error)
	// GateOf returns the state of a parked job's gate.
	GateOf(ctx context.Context, facts *Facts) (Gate, error)
}

// Explain returns why a job does not run.
func (s *explainStore) Explain(ctx context.Context, id int64) (fairlead.Explanation, error) {
	job, err := s.of.Get(ctx, id)
	if err != nil {
		return fairlead.Explanation{}, err
	}
	facts := Facts{Job: job}
	if err := s.collect(ctx, &facts); err != nil {
		return fairlead.Explanation{}, fmt.Errorf("explain: %w", err)
	}
	return Explain(facts), nil
}

// collect reads the data that a claim would read. Each part is read at its own time.
func (s *explainStore) collect(ctx context.Context, facts *Facts) (err error) {
	if facts.LimitConfig, err = s.of.LimitConfig(ctx); err != nil {
		return err
	}
	limits, err := s.of.Limits(ctx)
	if err != nil {
		return err
	}
	facts.Limits = facts.LimitConfig.usage(limits)
	if facts.Nodes, err = s.of.Nodes(ctx); err != nil {
		return err
	}
	if err := s.readStarts(ctx, facts); err != nil {
		return err
	}
	if party, fair := facts.LimitConfig.Party(KeyOf(facts.Job)); fair {
		if facts.Shared, err = s.of.Fair().recent(ctx, party.Scope, Micros(facts.Now)); err != nil {
			return err
		}
	}
	if state := facts.Job.State; (state == fairlead.Scheduled || state == fairlead.Ready || state == fairlead.Parked) && facts.busy() {
		if facts.Held, err = s.readHeld(ctx); err != nil {
			return err
		}
	}
	switch facts.Job.State {
	case fairlead.Ready:
		if facts.Ahead, err = s.of.Ahead(ctx, facts); err != nil {
			return err
		}
		err = s.readOvertakers(ctx, facts)
	case fairlead.Parked:
		facts.Gate, err = s.of.GateOf(ctx, facts)
	}
	return err
}

// mostNewer limits the number of jobs that are searched for overtakers.
const mostNewer = 5000

// readOvertakers reads how many jobs arrived in the last UsageWindow and start before the
// job, although they are newer. Some of them have already started.
func (s *explainStore) readOvertakers(ctx context.Context, facts *Facts) error {
	job, since := facts.Job, facts.Now.Add(-fairlead.UsageWindow)
	type laneJobs struct {
		lane int32
		jobs int
	}
	return s.db.ReadAll(ctx, "count newer jobs", func(ctx context.Context, db DB) error {
		counts, err := list(ctx, db, func(row Scanner) (n laneJobs, err error) {
			err = row.Scan(&n.lane, &n.jobs)
			return n, err
		}, s.usage.Overtakers, job.ID, mostNewer, Micros(since), Micros(facts.Now), -job.Priority, Micros(job.StartBy))
		if err != nil {
			return err
		}
		facts.Newer = JobsAhead{}
		for _, n := range counts {
			key, err := s.of.NameLane(ctx, db, n.lane)
			if err != nil {
				return err
			}
			if len(facts.Rivals([]Lane{{n.lane, key}})) > 0 {
				facts.Newer[key] = n.jobs
			}
		}
		return nil
	})
}

// readHeld reads how many jobs of each kind the nodes hold.
func (s *explainStore) readHeld(ctx context.Context) ([]HeldKind, error) {
	return readList(ctx, s.db.ReadAll, "read what nodes hold", func(row Scanner) (h HeldKind, err error) {
		err = row.Scan(&h.Node, &h.Kind, &h.Jobs)
		return h, err
	}, s.usage.HeldKinds)
}

// readStarts reads the clock and the recent starts.
func (s *explainStore) readStarts(ctx context.Context, facts *Facts) error {
	var read Facts
	err := s.db.ReadAll(ctx, "read starts", func(ctx context.Context, db DB) error {
		now, err := s.clock.Clock(ctx, db)
		if err != nil {
			return err
		}
		read.Now = Time(now)
		read.Starts, err = s.usage.readStarts(ctx, db, now)
		return err
	})
	if err == nil {
		facts.Now, facts.Starts = read.Now, read.Starts
	}
	return err
}
