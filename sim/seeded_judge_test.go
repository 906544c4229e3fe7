package sim

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/batch"
	"github.com/fairlead-io/fairlead/bulk"
	"github.com/fairlead-io/fairlead/schedule"
	"github.com/fairlead-io/fairlead/sweep"
)

// open describes the remaining work. The answer to the caller who has made a sweep may have
// been lost: then the sweep is never started.
func (w *world) open() string {
	ctx := context.Background()
	var open []string
	for what, query := range map[string]string{
		"jobs":    `select j.id || ' ' || l.kind from fairlead_job j join fairlead_lane l on l.id = j.lane where j.id not in (select id from fairlead_done) limit 10`,
		"batches": `select id from fairlead_batch where open = 1 limit 10`,
		"sweeps":  `select id || ' ' || state from fairlead_sweep where state not in ('created', 'finished') limit 10`,
	} {
		if found := w.strings(ctx, query); len(found) > 0 {
			open = append(open, what+" "+strings.Join(found, ", "))
		}
	}
	return strings.Join(open, "; ")
}

// restore ends what callers have paused, stopped or drained, if they could not.
func (w *world) restore() {
	w.quiet()
	ctx := context.Background()
	client, batches, sweeps := fairlead.NewClient(w.store), batch.NewClient(w.store), sweep.NewClient(w.store)
	must := func(err error) {
		w.t.Helper()
		if err != nil {
			w.t.Fatal(err)
		}
	}
	pauses, err := client.Pauses(ctx)
	must(err)
	for _, pause := range pauses {
		must(w.store.Resume(ctx, pause))
		delete(w.paused, fairlead.Pause{Scope: pause.Scope, Name: pause.Name})
	}
	nodes, err := client.Nodes(ctx)
	must(err)
	for i := range nodes {
		if nodes[i].Draining && !nodes[i].Died() {
			_ = client.Drain(ctx, nodes[i].ID, false) // the store may declare the node dead first
		}
	}
	open, err := batches.List(ctx, batch.Filter{Open: true, Limit: 1000})
	must(err)
	for i := range open {
		_, _ = batches.Resume(ctx, open[i].ID) // most are not paused
	}
	w.pass(2 * seededLease) // sweeps that stop have stopped then
	w.quiet()
	for _, id := range w.book.sweeps {
		s, err := sweeps.ByID(ctx, id)
		must(err)
		if s.State == sweep.Created || s.State == sweep.Stopped {
			_, err := sweeps.Start(ctx, id, "the end")
			must(err)
		}
	}
}

// undo rolls half of the completed batches back.
func (w *world) undo() {
	w.quiet()
	ctx := context.Background()
	batches := batch.NewClient(w.store)
	all, err := batches.List(ctx, batch.Filter{Limit: 1000})
	if err != nil {
		w.t.Fatal(err)
	}
	for i := range all {
		if w.random.IntN(2) == 0 {
			if _, err := batches.RollBack(ctx, all[i].ID, batch.RollBack{Serial: w.random.IntN(2) == 0}); err == nil {
				w.counts.add(batchRolledBack)
			}
		}
	}
}

// judge checks everything after all has ended.
func (w *world) judge() {
	w.quiet()
	ctx := context.Background()
	w.audit(ctx)
	w.judgeJobs(ctx)
	w.judgeLeases()
	w.judgeSchedules(ctx)
	w.judgeBatches(ctx)
	w.judgeSweeps(ctx)
	bulks := bulk.NewClient(w.store)
	for _, id := range w.book.bulks {
		if b, err := bulks.Get(ctx, id); err != nil || b.FinishedAt.IsZero() {
			w.violated("bulk %d has not ended: %v", id, err)
		}
	}
}

// judgeJobs checks that nothing is lost, nothing happened twice, and everything ended for a
// reason.
func (w *world) judgeJobs(ctx context.Context) {
	found, errands := map[int64]*fairlead.Job{}, map[uint64]int64{}
	for filter := (fairlead.Filter{Limit: 500}); ; {
		page, err := w.store.FindPage(ctx, filter)
		if err != nil {
			w.t.Fatal(err)
		}
		for _, job := range page.Jobs {
			found[job.ID] = job
			n := errandIn(job)
			if twin := errands[n]; twin != 0 && n >= ownErrands {
				w.violated("jobs %d and %d are the same errand %d", twin, job.ID, n)
			}
			errands[n] = job.ID
			if n == cancellingErrand {
				w.book.replaceable[job.ID] = true
			}
		}
		if filter.Below = page.Next; page.Next == 0 {
			break
		}
	}
	b := &w.book
	for id, promise := range b.acknowledged {
		job := found[id]
		switch {
		case job == nil:
			if !b.mayVanish[id] && promise.kind != fleeting.Name() {
				w.violated("job %d was acknowledged and is lost", id)
			}
		case job.State == fairlead.Cancelled && !b.touched[id] && job.Reason != fairlead.ReasonReplaced && !(b.anyCancelled && job.Tenant == bounded):
			w.violated("job %d is cancelled (%s) without a request", id, job.Error)
		}
	}
	for id, job := range found {
		fences := w.successes[id]
		if succeeded := job.State == fairlead.Succeeded; succeeded != (len(fences) == 1) || succeeded && !fences[job.Fence] {
			w.violated("job %d of kind %s is %s under fence %d, and was settled as succeeded under %v", id, job.Kind, job.State, job.Fence, fences)
		}
	}
	for n := range b.undone {
		if id := errands[n]; id != 0 {
			w.violated("job %d exists, and its transaction was rolled back", id)
		}
	}
	for n, id := range b.kept {
		if errands[n] == 0 && !b.mayVanish[id] {
			w.violated("job %d is lost, and its transaction was committed", id)
		}
	}
}

// ownErrands is the first number of an errand that only one job has.
const ownErrands = 100

// judgeLeases checks the rules about leases and fences that crash tests also check.
func (w *world) judgeLeases() {
	c := &check{Record: Record{Lease: seededLease, Beat: seededBeat, Due: map[int64]Instant{}, Events: w.events}, stories: map[int64]*story{}, replaced: map[int64]bool{}}
	c.leases = leasesOf(c.Record)
	for _, e := range w.events {
		c.tell(e)
	}
	for id := range w.book.completed {
		c.replaced[id] = true // their handlers may report another end
	}
	for id := range w.book.replaceable {
		c.replaced[id] = true // their schedule ends them while they run
	}
	for _, s := range c.stories {
		s.order()
	}
	for _, job := range c.jobs() {
		s := c.stories[job]
		c.fencesGrow(job, s)
		c.startsClaimed(job, s)
		c.oneLiveLease(job, s)
		c.zombiesRefused(job, s)
		c.livingBelieved(job, s)
	}
	c.neverEarly()
	for _, v := range c.violations {
		if w.book.replaceable[v.Job] && (v.Fault == TwoLiveLeases || v.Fault == ProgressRefused) {
			continue // the schedule had ended the run
		}
		w.violated("%v\n%s", v, Tale(w.events, v.Job))
	}
}

// judgeSchedules checks that each due instant had exactly one run or skip.
func (w *world) judgeSchedules(ctx context.Context) {
	for _, s := range w.book.schedules {
		runs := map[time.Time]int{}
		for filter := (schedule.FireFilter{Schedule: s.ID, Limit: 500}); ; {
			fires, err := w.store.Fires(ctx, filter)
			if err != nil {
				w.t.Fatal(err)
			}
			for _, f := range fires {
				if f.Trigger.Shared() {
					runs[f.Due.UTC()]++
				}
				w.counts.add(fired)
				if f.Skip != "" {
					w.counts.add(firedSkip)
				}
				if f.Trigger == schedule.TriggerCatchUp {
					w.counts.add(caughtUp)
				}
			}
			if len(fires) < filter.Limit {
				break
			}
			filter.Below = fires[len(fires)-1].Job
		}
		for at := s.StartsAt.UTC(); at.Before(s.EndsAt); at = at.Add(time.Second) {
			want := 0
			if isDue(&s, at) {
				want = 1
			}
			if runs[at] != want {
				w.violated("schedule %s has %d runs of %v, want %d", s.Name, runs[at], at, want)
			}
			delete(runs, at)
		}
		if len(runs) > 0 {
			w.violated("schedule %s has runs of instants at which it was not due: %v", s.Name, runs)
		}
	}
}

// isDue reports whether a schedule is due at a full second.
func isDue(s *schedule.Schedule, at time.Time) bool {
	if s.Every > 0 {
		return at.Sub(s.StartsAt)%s.Every == 0
	}
	var step int
	if _, err := fmt.Sscanf(s.Cron, "*/%d", &step); err != nil {
		panic(err)
	}
	return at.Second()%step == 0
}

// judgeBatches checks that the tallies and the targets of batches agree with their tasks.
func (w *world) judgeBatches(ctx context.Context) {
	c := &Cluster{batches: batch.NewClient(w.store)}
	all, err := c.batches.List(ctx, batch.Filter{Limit: 1000})
	if err != nil {
		w.t.Fatal(err)
	}
	for i := range all {
		b := &all[i]
		listed, _, err := c.listTasks(ctx, b.ID)
		if err != nil {
			w.t.Fatal(err)
		}
		if listed != b.Tally {
			w.violated("batch %d counts %+v, and its tasks are %+v", b.ID, b.Tally, listed)
		}
		tasks, err := c.batches.Tasks(ctx, batch.TaskFilter{Batch: b.ID, Limit: 1000})
		if err != nil {
			w.t.Fatal(err)
		}
		for _, task := range tasks {
			is := w.target(task.Target.ID)
			switch {
			case task.State == batch.TaskSuccess && is != string(task.After):
			case task.State == batch.TaskRollbackSuccess && is != untouchedTarget && is != string(task.Before):
			default:
				continue
			}
			w.violated("task %d of batch %d is %s, and its target is %s", task.ID, b.ID, task.State, is)
		}
	}
}

// judgeSweeps checks that every item was handled.
func (w *world) judgeSweeps(ctx context.Context) {
	for _, id := range w.book.sweeps {
		s, err := sweep.NewClient(w.store).ByID(ctx, id)
		if err != nil {
			w.t.Fatal(err)
		}
		hopeless := int64(0)
		for i := s.From; i < s.To; i++ {
			if doomed(id, i) {
				hopeless++
			} else if !w.handled[id][i] {
				w.violated("sweep %d has not handled item %d", id, i)
			}
		}
		if s.State != sweep.Finished || s.Done+s.Abandoned != s.To-s.From || s.Abandoned != hopeless {
			w.violated("sweep %d of %d items is %s with %d done and %d abandoned, want %d abandoned", id, s.To-s.From, s.State, s.Done, s.Abandoned, hopeless)
		}
	}
}
