package interleave

import (
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/bulk"
	"github.com/fairlead-io/fairlead/driver"
)

// jobSubjects returns jobs in each state.
func jobSubjects() []Subject {
	return []Subject{
		{"scheduled", []Trait{hasJob}, func(s *scene) error { return s.stored(notBefore(s.now().Add(time.Minute))) }},
		{"due", []Trait{hasJob}, func(s *scene) error {
			return s.run(func() error { return s.stored(notBefore(s.now().Add(time.Second))) }, func() error { return s.later(2 * time.Second) })
		}},
		{"ready", []Trait{hasPlain, hasJob}, func(s *scene) error { return s.stored() }},
		{"ready with a key", []Trait{hasJob, hasKey}, func(s *scene) error { return s.stored(keyed("k")) }},
		{"ready at a cap", []Trait{hasPlain, hasJob, hasLimit}, func(s *scene) error {
			return s.run(s.capped, func() error { return s.leased(forTenant("acme")) }, func() error {
				s.other = s.job
				return s.stored2(forTenant("acme"))
			})
		}},
		{"two ready at a cap", []Trait{hasJob, hasLimit, hasSpare}, func(s *scene) error {
			return s.run(s.capped, func() error { return s.stored(forTenant("acme")) }, func() error { return s.next(forTenant("acme"), spare) })
		}},
		{"parked", []Trait{hasJob, hasGate}, func(s *scene) error {
			return s.run(func() error { return s.leased(behind("g")) }, func() error {
				s.other = s.job
				return s.stored2(behind("g"))
			})
		}},
		{"running", []Trait{hasPlain, hasJob, hasRun}, func(s *scene) error { return s.leased() }},
		{"running with a key", []Trait{hasJob, hasRun, hasKey}, func(s *scene) error { return s.leased(keyed("k")) }},
		{"running at a gate", []Trait{hasJob, hasRun, hasGate}, func(s *scene) error {
			return s.run(func() error { return s.leased(behind("g")) }, func() error { return s.next(behind("g")) })
		}},
		{"running at a cap", []Trait{hasPlain, hasJob, hasRun, hasLimit}, func(s *scene) error {
			return s.run(s.capped, func() error { return s.leased(forTenant("acme")) }, func() error { return s.next(forTenant("acme")) })
		}},
		{"stopping", []Trait{hasJob, hasRun}, func(s *scene) error {
			return s.run(func() error { return s.leased() }, func() error {
				return s.store.Operate(s.ctx, s.job.ID, fairlead.Operation{Op: fairlead.OpCancel, Reason: "enough"})
			})
		}},
		{"orphaned", []Trait{hasPlain, hasJob, hasRun, hasDead}, func(s *scene) error {
			return s.run(func() error { return s.leased(keyed("k")) }, func() error { return s.later(2 * lease) }, s.joinFree)
		}},
		{"waiting", []Trait{hasJob, hasRun, hasWait}, func(s *scene) error { return s.awaiting(time.Hour) }},
		{"waiting at a cap", []Trait{hasJob, hasRun, hasWait, hasLimit}, func(s *scene) error {
			return s.run(s.capped, func() error { return s.awaiting(time.Hour, forTenant("acme")) }, func() error { return s.next(forTenant("acme")) })
		}},
		{"overdue", []Trait{hasJob, hasRun, hasWait}, func(s *scene) error {
			return s.run(func() error { return s.awaiting(time.Second, keyed("k"), behind("g")) }, func() error { return s.next(behind("g")) },
				func() error { return s.later(2 * time.Second) })
		}},
		{"backing off", []Trait{hasJob, hasRun, hasKey}, func(s *scene) error {
			return s.run(func() error { return s.leased(keyed("k")) }, func() error {
				return s.settled(fairlead.Settlement{Move: fairlead.Again, After: time.Minute, Reason: fairlead.ReasonError, Error: "no luck"})
			})
		}},
		{"succeeded", []Trait{hasJob, hasRun, hasEnded}, func(s *scene) error {
			return s.run(func() error { return s.leased() }, func() error { return s.settled(fairlead.Settlement{Move: fairlead.Succeed}) }, s.aged)
		}},
		{"failed", []Trait{hasJob, hasRun, hasKey, hasEnded}, func(s *scene) error {
			return s.run(func() error { return s.leased(keyed("k"), behind("g")) }, func() error {
				return s.settled(fairlead.Settlement{Move: fairlead.Fail, Reason: fairlead.ReasonError, Error: "no luck"})
			}, s.aged)
		}},
		{"ready in a paused queue", []Trait{hasPlain, hasJob, hasPause}, func(s *scene) error {
			return s.run(func() error { return s.stored() }, s.paused)
		}},
		{"ready in a fair queue", []Trait{hasJob}, func(s *scene) error {
			return s.run(s.fair, func() error { return s.next(forTenant("acme")) }, func() error { return s.stored(forTenant("globex")) })
		}},
		{"running next to another", []Trait{hasJob, hasRun, hasTwo}, func(s *scene) error {
			return s.run(func() error { return s.leased(keyed("k")) }, func() error {
				first := s.job
				defer func() { s.job, s.other = first, s.job }()
				return s.run(func() error { return s.next() }, func() (err error) {
					s.job, err = s.claim(everything())
					return err
				})
			})
		}},
		{"in a bulk", []Trait{hasJob, hasBulk}, func(s *scene) error {
			return s.run(func() error { return s.stored(keyed("k")) }, s.bulked(bulk.Cancel))
		}},
		{"failed, in a bulk that retries", []Trait{hasJob, hasKey, hasEnded, hasBulk}, func(s *scene) error {
			return s.run(func() error { return s.leased(keyed("k")) }, func() error {
				return s.settled(fairlead.Settlement{Move: fairlead.Fail, Reason: fairlead.ReasonError, Error: "no luck"})
			}, s.bulked(bulk.Retry), s.aged)
		}},
	}
}

// stored enqueues the subject.
func (s *scene) stored(changes ...func(*fairlead.Job)) (err error) {
	s.job, err = s.enqueue("the job", changes...)
	return err
}

// stored2 enqueues the subject after another job.
func (s *scene) stored2(changes ...func(*fairlead.Job)) error {
	s.label("the holder's job", s.other.ID)
	s.label("fence of the holder's job", s.other.Fence)
	return s.stored(changes...)
}

// next enqueues a job behind the subject.
func (s *scene) next(changes ...func(*fairlead.Job)) (err error) {
	s.other, err = s.enqueue("the next job", changes...)
	return err
}

// leased enqueues the subject and lets the holder claim it.
func (s *scene) leased(changes ...func(*fairlead.Job)) error {
	return s.run(func() error { return s.stored(changes...) }, func() (err error) {
		s.job, err = s.claim(everything())
		return err
	})
}

// awaiting lets the subject wait for an answer.
func (s *scene) awaiting(deadline time.Duration, changes ...func(*fairlead.Job)) error {
	return s.run(func() error { return s.leased(changes...) }, func() error {
		return s.settled(fairlead.Settlement{Move: fairlead.MoveAwait, After: deadline})
	})
}

// settled settles the subject.
func (s *scene) settled(settlement fairlead.Settlement) error {
	settlement.ID, settlement.Fence, settlement.FreeKey = s.job.ID, s.job.Fence, true
	_, err := s.store.Settle(s.ctx, []fairlead.Settlement{settlement})
	return err
}

// capped lets the tenant acme run one job at a time.
func (s *scene) capped() error {
	tenant := fairlead.Tenant{Name: "acme", MaxRunning: 1}
	if err := fairlead.NormalizeTenant(&tenant); err != nil {
		return err
	}
	_, err := s.store.PutTenant(s.ctx, tenant)
	return err
}

// paused pauses the queue of all jobs.
func (s *scene) paused() error {
	return s.store.Pause(s.ctx, fairlead.Pause{Scope: fairlead.PauseQueue, Name: fairlead.DefaultQueue})
}

// fair lets the tenants of the queue share its starts.
func (s *scene) fair() error {
	return s.store.SetLimit(s.ctx, fairlead.Limit{Scope: fairlead.LimitQueue, Name: fairlead.DefaultQueue, Order: fairlead.OrderFair})
}

// bulked starts a bulk that acts on all jobs, and lets the holder run it.
func (s *scene) bulked(action bulk.Action) func() error {
	return func() error {
		if err := s.later(time.Second); err != nil { // jobs created until now are older than the bulk
			return err
		}
		b, err := bulk.NewClient(s.store).Start(s.ctx, bulk.Bulk{Action: action, Reason: "enough", Filter: fairlead.Filter{Kinds: []string{kind}}})
		if err != nil {
			return err
		}
		s.bulk = b.ID
		s.label("the bulk", b.ID)
		s.other, err = s.claim(&driver.Scope{Kinds: []string{bulk.Kind}})
		return err
	}
}

// stepBulk carries out the bulk for the subject.
func stepBulk(c *cue) string {
	_, err := c.store.StepBulk(c.ctx, bulk.Step{Bulk: c.bulk, Fence: c.other.Fence, Jobs: []bulk.Subject{{ID: c.job.ID, Tenant: c.job.Tenant}}})
	return verdict(err)
}

// aged lets the subject become old enough to be pruned.
func (s *scene) aged() error { return s.later(retention + time.Second) }

// retention is how long ended jobs are kept.
const retention = time.Minute

// joinFree replaces the free node, whose lease has expired too.
func (s *scene) joinFree() (err error) {
	s.free, err = s.join("the new node", lease)
	return err
}
