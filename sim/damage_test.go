package sim_test

import (
	"cmp"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/tier"
	"github.com/fairlead-io/fairlead/sim"
)

// damage is something that must not happen, done to a history in which it did not.
type damage struct {
	name  string
	fault sim.Fault   // by which the checker must report it
	also  []sim.Fault // what may follow from it and be reported as well
	do    func(v *victim) bool
}

// victim is a history that is to be damaged, at a place drawn by lot. A damage returns
// false if the history has no place for it.
type victim struct {
	sim.Record
	random *rand.Rand
	job    int64 // of which the checker must complain; zero: of none
}

// damages returns all damages.
func damages() []damage {
	return slices.Concat(endDamages, leaseDamages, lateDamages, timeDamages, besideDamages, callerDamages)
}

// Real histories pass the check. If the same histories are damaged in one place each, the
// check reports the rule of that damage and no other.
func TestDamagedHistoriesAreToldFromCleanOnes(t *testing.T) {
	t.Parallel()
	all := histories(t)
	stored := !recordingAnew()
	if stored && len(all) < 50 {
		t.Fatalf("there are %d histories", len(all))
	}
	for _, h := range all {
		for _, violation := range sim.Check(h.record).Violations {
			t.Errorf("%s is clean, and the checker reports %v", h.name, violation)
		}
	}
	seed := tier.Seed(t, seedEnv)
	t.Logf("%d clean histories, %d damages", len(all), len(damages()))
	for i, damage := range damages() {
		t.Run(damage.name, func(t *testing.T) {
			const few, enough = 3, 8
			random, tried := rand.New(rand.NewPCG(seed, uint64(i))), 0
			for _, at := range random.Perm(len(all)) {
				if tried == enough {
					break
				}
				if damage.inflict(t, all[at], random) {
					tried++
				}
			}
			if stored && tried < few {
				t.Errorf("only %d histories have a place for it: record others", tried)
			}
			t.Logf("tried on %d histories", tried)
		})
	}
}

// inflict damages a copy of a history, if there is a place for it, and requires that the
// checker reports just that.
func (d *damage) inflict(t *testing.T, h history, random *rand.Rand) bool {
	t.Helper()
	v := &victim{Record: clone(h.record), random: random}
	if !d.do(v) {
		return false
	}
	for i := range v.Events { // damages move answers
		if e := &v.Events[i]; e.Sent > e.At {
			e.Sent = e.At
		}
	}
	slices.SortStableFunc(v.Events, func(a, b sim.Event) int { return cmp.Compare(a.At, b.At) })
	found := false
	for _, violation := range sim.Check(v.Record).Violations {
		switch {
		case violation.Fault == d.fault:
			found = found || v.job == 0 || violation.Job == v.job
		case !slices.Contains(d.also, violation.Fault):
			t.Errorf("%s: it is taken for another fault: %v\n%s", h.name, violation, sim.Tale(v.Events, violation.Job))
		}
	}
	if !found {
		t.Errorf("%s: %q is not reported of job %d\n%s", h.name, d.fault, v.job, sim.Tale(v.Events, v.job))
	}
	return true
}

// A fault without a damage may be one that the checker cannot find.
func TestEveryFaultIsProvokedByADamage(t *testing.T) {
	t.Parallel()
	provoked, names := map[sim.Fault]bool{}, map[string]bool{}
	for _, damage := range damages() {
		if names[damage.name] {
			t.Errorf("two damages are called %q", damage.name)
		}
		provoked[damage.fault], names[damage.name] = true, true
	}
	declared := map[sim.Fault]bool{}
	for _, fault := range sim.Faults() {
		if declared[fault] {
			t.Errorf("two faults are called %q", fault)
		}
		declared[fault] = true
		if !provoked[fault] {
			t.Errorf("no damage provokes %q", fault)
		}
	}
}

// clone copies what damages change.
func clone(r sim.Record) sim.Record {
	r.Expected, r.Due, r.Tenants = maps.Clone(r.Expected), maps.Clone(r.Due), maps.Clone(r.Tenants)
	r.Events, r.Final, r.Fires = slices.Clone(r.Events), slices.Clone(r.Final), slices.Clone(r.Fires)
	r.Samples, r.Batches = slices.Clone(r.Samples), slices.Clone(r.Batches)
	for i := range r.Samples {
		r.Samples[i].Running = maps.Clone(r.Samples[i].Running)
	}
	for i := range r.Batches {
		r.Batches[i].Targets = maps.Clone(r.Batches[i].Targets)
	}
	if r.Swept != nil {
		swept := *r.Swept
		swept.Notes, swept.Seen, swept.Failed = slices.Clone(swept.Notes), slices.Clone(swept.Seen), slices.Clone(swept.Failed)
		r.Swept = &swept
	}
	return r
}

// draw returns one of some elements that fit, drawn by lot; nil if none does.
func draw[E any](v *victim, among []E, fits func(*E) bool) *E {
	for _, i := range v.random.Perm(len(among)) {
		if fits(&among[i]) {
			return &among[i]
		}
	}
	return nil
}

// event draws an event.
func (v *victim) event(what sim.What, fits func(*sim.Event) bool) *sim.Event {
	return draw(v, v.Events, func(e *sim.Event) bool { return e.What == what && fits(e) })
}

// final draws a job that has a plan, by how it ended.
func (v *victim) final(fits func(*sim.Final) bool) *sim.Final {
	return draw(v, v.Final, func(f *sim.Final) bool { return !f.Other && fits(f) })
}

// finalOf returns the end of a job.
func (v *victim) finalOf(job int64) *sim.Final {
	return &v.Final[slices.IndexFunc(v.Final, func(f sim.Final) bool { return f.Job == job })]
}

// the finds the first event of a run; nil if there is none.
func (v *victim) the(what sim.What, job, fence int64) *sim.Event {
	for i := range v.Events {
		if e := &v.Events[i]; e.What == what && e.Job == job && e.Fence == fence {
			return e
		}
	}
	return nil
}

// claims returns the claims of a job, by fence.
func (v *victim) claims(job int64) []*sim.Event {
	var claims []*sim.Event
	for i := range v.Events {
		if e := &v.Events[i]; e.What == sim.Claimed && e.Job == job {
			claims = append(claims, e)
		}
	}
	slices.SortFunc(claims, func(a, b *sim.Event) int { return cmp.Compare(a.Fence, b.Fence) })
	return claims
}

// accepted returns the event at which a run was known to be settled, or nil if there is
// none.
func (v *victim) accepted(job, fence int64) *sim.Event {
	settled := v.the(sim.Settled, job, fence)
	if settled == nil || settled.Result != sim.OK {
		return nil
	}
	return settled
}

// add writes events into the history.
func (v *victim) add(events ...sim.Event) bool {
	v.Events = append(v.Events, events...)
	return true
}

// unlimited reports whether any number of jobs may run at once.
func (v *victim) unlimited() bool { return v.Caps.Global == 0 && len(v.Caps.Tenants) == 0 }

// claimAgain makes a live node claim a job again, with some fence, after the job has ended.
func (v *victim) claimAgain(fence func(first, last int64) int64) bool {
	if !v.unlimited() {
		return false
	}
	var living *sim.Event
	f := v.final(func(f *sim.Final) bool {
		settled := v.accepted(f.Job, f.Fence)
		if settled == nil {
			return false
		}
		living = v.event(sim.Granted, func(e *sim.Event) bool { return e.At > settled.At && e.DB > f.Finished })
		return living != nil
	})
	if f == nil {
		return false
	}
	v.job = f.Job
	claims := v.claims(f.Job)
	return v.add(sim.Event{
		At: living.At + 1, What: sim.Claimed, Process: living.Process, Node: living.Node, Job: f.Job,
		Fence: fence(claims[0].Fence, f.Fence), Attempt: f.Attempt + 1, DB: living.DB + 1,
	})
}

// copyJob gives another job the same story and returns its number.
func (v *victim) copyJob(job int64) int64 {
	made := int64(0)
	for _, f := range v.Final {
		made = max(made, f.Job+1)
	}
	for _, e := range v.Events {
		if e.Job == job {
			e.Job = made
			v.Events = append(v.Events, e)
		}
	}
	f := *v.finalOf(job)
	f.Job = made
	v.Final = append(v.Final, f)
	v.Expected[made] = v.Expected[job]
	return made
}

// fails reports whether the handler of a run failed and the job was to be retried.
func (v *victim) fails(job, fence int64) bool {
	settled := v.accepted(job, fence)
	return settled != nil && settled.Move == fairlead.Again
}
