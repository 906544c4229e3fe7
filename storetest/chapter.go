package storetest

import (
	"fmt"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/access"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/internal/tier"
)

// chapter contains the clauses on one method. They run one after the other, each with an
// empty database.
type chapter struct {
	t        *testing.T // nil while the clauses are only being listed
	shelf    *shelf
	contract *contract
	title    string
	reason   string // reason for marking the next clause as long, if any
}

// runChapter runs a chapter in parallel with others.
func runChapter(t *testing.T, shelf *shelf, contract *contract, one titled) {
	t.Run(one.title, func(t *testing.T) {
		t.Parallel()
		one.tests(&chapter{t: t, shelf: shelf, contract: contract, title: one.title})
	})
}

// long assigns the next clause to the second tier, as in c.long("waits for a timeout of the
// server").test(…).
func (c *chapter) long(reason string) *chapter {
	marked := *c
	marked.reason = reason
	return &marked
}

// test checks one sentence with an empty database.
func (c *chapter) test(sentence string, check func(f *fixture)) {
	one := clause{c.title, sentence}
	if c.t == nil {
		c.contract.clauses = append(c.contract.clauses, one)
		return
	}
	c.t.Run(sentence, func(t *testing.T) {
		c.contract.meet(one)
		if c.reason != "" {
			tier.Long(t, c.reason)
		}
		f := c.shelf.take().within(t)
		defer func() { // even if the clause does not apply
			if t.Skipped() && !*f.inapplicable {
				t.Error("the clause skipped itself, but the harness lacks nothing that it needs")
			}
			if !t.Failed() && f.empty() == nil {
				c.shelf.putBack(f)
			}
		}()
		check(f)
	})
}

// tooMany is the number of jobs above which removing them one by one is too slow.
const tooMany = 300

// empty removes all data. It fails if there is too much data or a removal fails; the next
// test then gets a new database.
func (f *fixture) empty() error {
	if f.Empty != nil {
		f.Advance(24 * time.Hour) // longer than stores cache anything
		return f.Empty(f.store)
	}
	tally, err := f.store.Tally(f.ctx(), fairlead.Filter{})
	if err != nil {
		return err
	}
	total := int64(0)
	for _, n := range tally {
		total += n
	}
	if total > tooMany {
		return fmt.Errorf("%d jobs are left", total)
	}
	for _, step := range []func() error{f.wantNoLooks, f.forgetSchedules, f.forgetAlerts, f.forgetSweeps, f.unlimitAll, f.resumeAll, f.endNodes, f.deleteAll, f.forgetBatches, f.forgetAccess, f.forgetNodes, f.forgetBulks, f.pruneRest} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// pruneRest removes data that no list shows, such as batches with incomplete tasks:
// otherwise the next test would find it pruned.
func (f *fixture) pruneRest() error {
	f.Advance(24 * time.Hour)
	for {
		removed, err := f.store.Prune(f.ctx(), driver.Retention{}, tooMany)
		if err != nil || removed == 0 {
			return err
		}
	}
}

func (f *fixture) unlimitAll() error {
	tenants, err := f.store.Tenants(f.ctx(), fairlead.TenantFilter{Limit: tooMany})
	if err != nil {
		return err
	}
	for _, children := range []bool{true, false} {
		for _, tenant := range tenants {
			if (tenant.Parent != "") != children {
				continue
			}
			if err := f.store.DeleteTenant(f.ctx(), tenant.Name); err != nil {
				return err
			}
		}
	}
	limits, err := f.store.Limits(f.ctx())
	for _, l := range limits {
		if err == nil {
			err = f.store.SetLimit(f.ctx(), fairlead.Limit{Scope: l.Scope, Name: l.Name})
		}
	}
	return err
}

func (f *fixture) resumeAll() error {
	pauses, err := f.store.Pauses(f.ctx())
	for _, pause := range pauses {
		if err == nil {
			err = f.store.Resume(f.ctx(), pause)
		}
	}
	return err
}

// endNodes takes all jobs away from their nodes. It tolerates no crashes, so reaping also
// ends the jobs.
func (f *fixture) endNodes() error {
	nodes, err := f.store.Nodes(f.ctx())
	if err != nil {
		return err
	}
	for _, node := range nodes {
		if err := f.store.Leave(f.ctx(), node.ID); err != nil {
			return err
		}
	}
	_, err = f.store.Reap(f.ctx(), driver.Reap{MaxCrashes: 0, Limit: 2 * tooMany})
	return err
}

func (f *fixture) deleteAll() error {
	jobs, err := f.store.Find(f.ctx(), fairlead.Filter{Limit: 2 * tooMany})
	if err != nil {
		return err
	}
	for _, job := range jobs {
		if job.State == fairlead.Waiting {
			if err := operations(f.store).Cancel(f.ctx(), job.ID, "cleared"); err != nil {
				return err
			}
		}
		if err := operations(f.store).Delete(f.ctx(), job.ID); err != nil {
			return err
		}
	}
	return nil
}

// forgetAccess removes tokens, the audit log and the list of confidential fields. Secrets
// stay.
func (f *fixture) forgetAccess() error {
	fields, err := f.store.Confidential(f.ctx())
	if err != nil {
		return err
	}
	for kind := range fields {
		if err := f.store.SetConfidential(f.ctx(), kind, nil); err != nil {
			return err
		}
	}
	tokens, err := f.store.Tokens(f.ctx())
	if err != nil {
		return err
	}
	for _, token := range tokens {
		if err := f.store.DeleteToken(f.ctx(), token.ID); err != nil {
			return err
		}
	}
	log, err := f.store.AuditLog(f.ctx(), access.Filter{})
	if len(log) > 0 { // forgetNodes prunes the audit log
		f.Advance(access.Window)
	}
	return err
}

// forgetNodes advances the clock by a day, which also expires the keys of EnqueueOnce.
func (f *fixture) forgetNodes() error {
	f.Advance(24 * time.Hour)
	if _, err := f.store.Prune(f.ctx(), driver.Retention{}, tooMany); err != nil {
		return err
	}
	nodes, err := f.store.Nodes(f.ctx())
	if err == nil && len(nodes) > 0 {
		err = fmt.Errorf("%d nodes are left", len(nodes))
	}
	return err
}
