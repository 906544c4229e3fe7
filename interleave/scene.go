package interleave

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/internal/patience"
	"github.com/fairlead-io/fairlead/schedule"
	"github.com/fairlead-io/fairlead/sweep"
)

// A scene is the state of a database in which two actors act: a subject, such as one job in
// one state, and whatever the subject needs.
type scene struct {
	*database
	ctx   context.Context
	store Store // the process that sets the scene, and afterwards does what nodes repeat
	begun int64 // time at which the scene began, in microseconds

	job      *fairlead.Job     // the subject, or a job that belongs to it
	seen     *fairlead.Job     // the job as the actors have seen it
	tenant   fairlead.Tenant   // the tenant acme as the actors have seen it
	planned  schedule.Schedule // the schedule as the actors have seen it
	walked   sweep.Sweep       // the sweep as the actors have seen it
	holder   fairlead.NodeID
	free     fairlead.NodeID // a live node with free slots
	other    *fairlead.Job   // another job of the scene
	batch    int64
	schedule int64
	sweep    int64
	bulk     int64

	mu           sync.Mutex
	labels       map[int64]string
	fences       map[int64]int64 // job → the largest fence under which it was claimed
	acknowledged []int64         // jobs whose Enqueue has succeeded
	answers      []driver.Held   // runs whose answer was acknowledged
	problems     []string        // contradictions that an actor itself has observed
}

// acknowledge records a job whose Enqueue has succeeded.
func (s *scene) acknowledge(id int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.acknowledged = append(s.acknowledged, id)
}

// leases records a claim: its fence must be larger than all earlier ones of the job.
func (s *scene) leases(job *fairlead.Job) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if job.Fence <= s.fences[job.ID] {
		s.problems = append(s.problems, fmt.Sprintf("job %s was claimed under fence %d after %d", s.labels[job.ID], job.Fence, s.fences[job.ID]))
	}
	s.fences[job.ID] = job.Fence
}

// asNode lets every store act for every node.
func asNode(ctx context.Context) context.Context { return driver.AsNode(ctx, "a node of a scene") }

// label names an id in results and states.
func (s *scene) label(name string, id int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if id != 0 && s.labels[id] == "" {
		s.labels[id] = name
	}
}

// labelOf returns the label of an id, or an empty text.
func (s *scene) labelOf(id int64) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.labels[id]
}

// kind is the kind of the jobs of a scene, and lease is the length of all leases.
const (
	kind  = "greet"
	lease = time.Hour
)

// scope returns a scope with all queues.
func everything() *driver.Scope { return &driver.Scope{Kinds: kinds()} }

// kinds returns the kinds that the nodes of a scene handle.
func kinds() []string { return []string{kind, taskKind, sweep.KindOf(itemKind)} }

// plain returns a job changed by the given functions.
func plain(changes ...func(*fairlead.Job)) *fairlead.Job {
	job := &fairlead.Job{Kind: kind}
	for _, change := range changes {
		change(job)
	}
	return job
}

func keyed(key string) func(*fairlead.Job)       { return func(j *fairlead.Job) { j.Key = key } }
func behind(key string) func(*fairlead.Job)      { return func(j *fairlead.Job) { j.ConcurrencyKey = key } }
func forTenant(name string) func(*fairlead.Job)  { return func(j *fairlead.Job) { j.Tenant = name } }
func notBefore(at time.Time) func(*fairlead.Job) { return func(j *fairlead.Job) { j.NotBefore = at } }

func onDuplicate(do fairlead.OnDuplicate) func(*fairlead.Job) {
	return func(j *fairlead.Job) { j.OnDuplicate = do }
}

// enqueue stores a job under a label.
func (s *scene) enqueue(name string, changes ...func(*fairlead.Job)) (*fairlead.Job, error) {
	job := plain(changes...)
	if err := enqueueIn(s.ctx, s.store, job); err != nil {
		return nil, err
	}
	s.label(name, job.ID)
	return job, nil
}

// enqueueIn normalizes and stores jobs, like a client.
func enqueueIn(ctx context.Context, store interface {
	Enqueue(ctx context.Context, jobs []*fairlead.Job) error
}, jobs ...*fairlead.Job) error {
	if err := fairlead.NormalizeJobs(jobs); err != nil {
		return err
	}
	return store.Enqueue(ctx, jobs)
}

// join adds a live node with the given lease.
func (s *scene) join(name string, lease time.Duration) (fairlead.NodeID, error) {
	id, err := s.store.Join(s.ctx, fairlead.Node{Name: name, Kinds: kinds(), Slots: 10}, lease)
	s.label(name, int64(id))
	return id, err
}

// claim lets the holder claim one job, and labels its fence.
func (s *scene) claim(scope *driver.Scope) (*fairlead.Job, error) {
	var jobs []*fairlead.Job
	for begin := time.Now(); len(jobs) == 0; { // a loop of a store may hold the job for a moment
		var err error
		if jobs, err = s.store.Claim(s.ctx, driver.Claim{Node: s.holder, Scope: scope, Max: 1}); err != nil {
			return nil, err
		}
		if time.Since(begin) > patience.Limit {
			return nil, errors.New("there is no job to claim")
		}
	}
	s.label("fence of "+s.labelOf(jobs[0].ID), jobs[0].Fence)
	s.leases(jobs[0])
	return jobs[0], nil
}

// now returns the time by the database's clock.
func (s *scene) now() time.Time { return time.UnixMicro(s.begun).UTC() }

// later moves the clock within the scene.
func (s *scene) later(d time.Duration) error {
	s.begun += d.Microseconds()
	return s.advance(s.ctx, d)
}

// run performs the setup steps in order, until one fails.
func (s *scene) run(steps ...func() error) error {
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// verdicts are the errors that callers distinguish, as results of an actor. A busy actor is
// told to try again.
var verdicts = []struct {
	err  error
	text string
}{
	{fairlead.ErrNotFound, "not found"},
	{fairlead.ErrConflict, "conflict"},
	{fairlead.ErrLeaseLost, "lease lost"},
	{fairlead.ErrLimit, "limit"},
	{fairlead.ErrExpired, "expired"},
	{fairlead.ErrUnavailable, busy},
	{fairlead.ErrInvalid, "invalid"},
	{context.Canceled, died},
	{sql.ErrTxDone, died},
}

// died is the result of an actor whose process has died.
const died = "died"

// busy is the result of an actor that was told to try again.
const busy = "busy"

// verdict returns the result of a call without an answer. The text of an error follows on a
// line of its own: it belongs into scripts, but results are compared without it.
func verdict(err error) string {
	if err == nil {
		return "ok"
	}
	for _, v := range verdicts {
		if errors.Is(err, v.err) {
			return v.text + "\n" + err.Error()
		}
	}
	return "error: " + err.Error()
}

// bare returns a result without the text of its error.
func bare(result string) string {
	result, _, _ = strings.Cut(result, "\n")
	return result
}

// told returns a result in one line.
func told(result string) string { return strings.ReplaceAll(result, "\n", ": ") }

// answered returns the result of a call with an answer.
func answered(err error, answer string) string {
	if err != nil {
		return verdict(err)
	}
	return answer
}

// names returns the labels of ids, in order.
func (s *scene) names(ids ...int64) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	names := make([]string, len(ids))
	for i, id := range ids {
		if names[i] = s.labels[id]; names[i] == "" {
			names[i] = "?"
		}
	}
	slices.Sort(names)
	return strings.Join(names, " ")
}
