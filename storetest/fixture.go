package storetest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/internal/tier"
	"github.com/fairlead-io/fairlead/schedule"
)

// fixture is the environment of a test: a database, a store on it, and helper methods that
// fail the test unless they succeed.
type fixture struct {
	rapid.TB // a *testing.T, or a *rapid.T in the model
	*Harness
	outer *testing.T // owns the resources that the test opens
	store Store
	own   bool // whether stores create the tokens of their nodes and only act for these nodes

	partner      *Store // second process, once the clause has requested it
	inapplicable *bool  // set if the clause requires something that the harness lacks
}

// lease is long enough for all tests except those of leases.
const lease = time.Hour

func (f *fixture) within(t *testing.T) *fixture {
	return &fixture{TB: t, Harness: f.Harness, outer: t, store: f.store, own: f.own, partner: new(Store), inapplicable: new(bool)}
}

// elsewhere opens the same database like another process.
func (f *fixture) elsewhere() *fixture {
	g := *f
	g.store = f.Open(f.outer)
	return &g
}

// other returns a second process, which is the same for the whole clause.
func (f *fixture) other() *fixture {
	if *f.partner == nil {
		*f.partner = f.Open(f.outer)
	}
	g := *f
	g.store = *f.partner
	return &g
}

// size returns quick in the first tier and full in the second.
func (f *fixture) size(quick, full int, reason string) int {
	f.Helper()
	return tier.Size(f.outer, quick, full, reason)
}

// rounds returns the number of attempts that a clause makes at a race.
func (f *fixture) rounds(full int) int {
	f.Helper()
	const few = 4
	return f.size(few, full, "tries the race more often, for the unlucky order of events")
}

// ctx returns the context for calls of the test. By default every store acts for every
// node, wherever it joined, because most tests are not about tokens.
func (f *fixture) ctx() context.Context {
	if f.own {
		return f.outer.Context()
	}
	return driver.AsNode(f.outer.Context(), "a node of the test")
}

// ok fails the test if err is not nil.
func (f *fixture) ok(err error) {
	f.Helper()
	if err != nil {
		f.Fatalf("unexpected error: %v", err)
	}
}

// wantErr checks for one of the errors that callers can distinguish.
func (f *fixture) wantErr(err, want error) {
	f.Helper()
	if !errors.Is(err, want) {
		f.Fatalf("got error %v, want %q", err, want)
	}
}

// wantIllegal checks for the conflict of a move that the job's state forbids, with the
// error text shared by all stores.
func (f *fixture) wantIllegal(err error, job *fairlead.Job, state fairlead.State) {
	f.Helper()
	f.wantErr(err, fairlead.ErrConflict)
	words := strings.TrimPrefix(driver.IllegalMove("", job.ID, state).Error(), "cannot ")
	if !strings.Contains(err.Error(), strings.TrimSpace(words)) {
		f.Fatalf("the conflict says %q, want the words of fairlead.IllegalMove: …%s", err, words)
	}
	f.wantState(job, state)
}

// equal compares an actual value with the expected one.
func (f *fixture) equal(what string, got, want any) {
	f.Helper()
	// What a view has that is not exported follows from its calendar.
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty(), cmpopts.IgnoreUnexported(schedule.View{})); diff != "" {
		f.Fatalf("%s differs (-want +got):\n%s", what, diff)
	}
}

// now returns the time of the database's clock.
func (f *fixture) now() time.Time {
	f.Helper()
	now, err := f.store.Now(f.ctx())
	f.ok(err)
	return now
}

// kind is the default kind of jobs.
const kind = "greet"

// plain returns a job without special properties.
func plain() *fairlead.Job { return &fairlead.Job{Kind: kind} }

// with returns a plain job changed by the given functions.
func with(changes ...func(*fairlead.Job)) *fairlead.Job {
	job := plain()
	for _, change := range changes {
		change(job)
	}
	return job
}

func ofKind(name string) func(*fairlead.Job)     { return func(j *fairlead.Job) { j.Kind = name } }
func inQueue(name string) func(*fairlead.Job)    { return func(j *fairlead.Job) { j.Queue = name } }
func forTenant(name string) func(*fairlead.Job)  { return func(j *fairlead.Job) { j.Tenant = name } }
func priority(p int) func(*fairlead.Job)         { return func(j *fairlead.Job) { j.Priority = p } }
func notBefore(at time.Time) func(*fairlead.Job) { return func(j *fairlead.Job) { j.NotBefore = at } }
func startBy(at time.Time) func(*fairlead.Job)   { return func(j *fairlead.Job) { j.StartBy = at } }

// keyed gives the job a key that is held while the job is live.
func keyed(key string) func(*fairlead.Job) { return func(j *fairlead.Job) { j.Key = key } }

// behind puts the job behind a gate.
func behind(key string) func(*fairlead.Job) { return func(j *fairlead.Job) { j.ConcurrencyKey = key } }

// forever gives the job a key that is held until the job is removed.
func forever(key string) func(*fairlead.Job) {
	return func(j *fairlead.Job) { j.Key, j.KeyScope = key, fairlead.KeyForever }
}

func onDuplicate(do fairlead.OnDuplicate) func(*fairlead.Job) {
	return func(j *fairlead.Job) { j.OnDuplicate = do }
}

func cancelOnCrash(j *fairlead.Job) { j.OnCrash = fairlead.CancelOnCrash }

// tryEnqueue calls Store.Enqueue with the defaults filled in, like the client.
func (f *fixture) tryEnqueue(jobs ...*fairlead.Job) error {
	f.Helper()
	f.ok(fairlead.NormalizeJobs(jobs))
	return f.store.Enqueue(f.ctx(), jobs)
}

// enqueue stores jobs and returns the first.
func (f *fixture) enqueue(jobs ...*fairlead.Job) *fairlead.Job {
	f.Helper()
	f.ok(f.tryEnqueue(jobs...))
	return jobs[0]
}

// many returns n equal jobs.
func many(n int, changes ...func(*fairlead.Job)) []*fairlead.Job {
	jobs := make([]*fairlead.Job, n)
	for i := range jobs {
		jobs[i] = with(changes...)
	}
	return jobs
}

// join registers a node with a long lease.
func (f *fixture) join() fairlead.NodeID {
	f.Helper()
	return f.joinFor(lease)
}

func (f *fixture) joinFor(lease time.Duration) fairlead.NodeID {
	f.Helper()
	id, err := f.store.Join(f.ctx(), fairlead.Node{Name: "node", Kinds: []string{kind}, Slots: 10}, lease)
	f.ok(err)
	return id
}

// everything returns a scope with all queues and the given kinds.
func everything(kinds ...string) *driver.Scope {
	if kinds == nil {
		kinds = []string{kind}
	}
	return &driver.Scope{Kinds: kinds}
}

// claim claims at most n plain jobs.
func (f *fixture) claim(node fairlead.NodeID, n int) []*fairlead.Job {
	f.Helper()
	return f.claimAs(driver.Claim{Node: node, Scope: everything(), Max: n})
}

func (f *fixture) claimAs(claim driver.Claim) []*fairlead.Job {
	f.Helper()
	jobs, err := f.store.Claim(f.ctx(), claim)
	f.ok(err)
	if len(jobs) > claim.Max {
		f.Fatalf("claimed %d jobs, asked for at most %d", len(jobs), claim.Max)
	}
	return jobs
}

// claimOne claims the next plain job.
func (f *fixture) claimOne(node fairlead.NodeID) *fairlead.Job {
	f.Helper()
	jobs := f.claim(node, 1)
	if len(jobs) != 1 {
		f.Fatal("there is nothing to claim")
	}
	return jobs[0]
}

// claimThe claims one job and checks that it is the given one.
func (f *fixture) claimThe(job *fairlead.Job, node fairlead.NodeID) *fairlead.Job {
	f.Helper()
	claimed := f.claimOne(node)
	if claimed.ID != job.ID {
		f.Fatalf("claimed job %d, want job %d", claimed.ID, job.ID)
	}
	return claimed
}

// wantClaim claims all jobs and checks that it gets these jobs in this order.
func (f *fixture) wantClaim(node fairlead.NodeID, scope *driver.Scope, want ...*fairlead.Job) []*fairlead.Job {
	f.Helper()
	jobs := f.claimAs(driver.Claim{Node: node, Scope: scope, Max: 10_000})
	f.equal("what was claimed", ids(jobs), ids(want))
	return jobs
}

// ids returns the IDs of jobs, in order.
func ids(jobs []*fairlead.Job) []int64 {
	list := make([]int64, len(jobs))
	for i, job := range jobs {
		list[i] = job.ID
	}
	return list
}

// running enqueues a job and claims it for a new node.
func (f *fixture) running(changes ...func(*fairlead.Job)) *fairlead.Job {
	f.Helper()
	job := f.enqueue(with(changes...))
	scope := &driver.Scope{Queues: []string{job.Queue}, Kinds: []string{job.Kind}}
	claimed := f.claimAs(driver.Claim{Node: f.join(), Scope: scope, Max: 1})
	f.equal("what was claimed", ids(claimed), []int64{job.ID})
	return claimed[0]
}

// to returns the settlement of a claimed job.
func to(move fairlead.Move, job *fairlead.Job) fairlead.Settlement {
	return fairlead.Settlement{ID: job.ID, Fence: job.Fence, Move: move, FreeKey: true}
}

// again returns the settlement of a failed attempt.
func again(job *fairlead.Job, after time.Duration) fairlead.Settlement {
	s := to(fairlead.Again, job)
	s.After, s.Reason, s.Error = after, fairlead.ReasonError, "no luck"
	return s
}

// wait returns the settlement of a job that waits for an answer for an hour.
func wait(job *fairlead.Job) fairlead.Settlement {
	s := to(fairlead.MoveAwait, job)
	s.After = time.Hour
	return s
}

// settle settles, and checks that every settlement is carried out as asked.
func (f *fixture) settle(settlements ...fairlead.Settlement) {
	f.Helper()
	want := make([]fairlead.Settled, len(settlements))
	f.wantSettled(want, settlements...)
}

// wantSettled settles, and checks the answers.
func (f *fixture) wantSettled(want []fairlead.Settled, settlements ...fairlead.Settlement) {
	f.Helper()
	got, err := SettleAll(f.ctx(), f.store, settlements)
	f.ok(err)
	f.equal("the answer of Settle", got, want)
}

// get reads the current state of the job.
func (f *fixture) get(job *fairlead.Job) *fairlead.Job {
	f.Helper()
	found, err := f.store.Get(f.ctx(), job.ID)
	f.ok(err)
	return found
}

// wantState reads the job and checks its state.
func (f *fixture) wantState(job *fairlead.Job, want fairlead.State) *fairlead.Job {
	f.Helper()
	found := f.get(job)
	if found.State != want {
		f.Fatalf("job %d is %s, want %s", job.ID, found.State, want)
	}
	return found
}

// wantGone checks that the job does not exist.
func (f *fixture) wantGone(job *fairlead.Job) {
	f.Helper()
	_, err := f.store.Get(f.ctx(), job.ID)
	f.wantErr(err, fairlead.ErrNotFound)
	f.equal("its attempts", f.attempts(job), []fairlead.Attempt(nil))
}

func (f *fixture) attempts(job *fairlead.Job) []fairlead.Attempt {
	f.Helper()
	list, err := f.store.Attempts(f.ctx(), job.ID)
	f.ok(err)
	return list
}

func (f *fixture) find(filter fairlead.Filter) []*fairlead.Job {
	f.Helper()
	jobs, err := f.store.Find(f.ctx(), filter)
	f.ok(err)
	return jobs
}

func (f *fixture) tally(filter fairlead.Filter) map[fairlead.State]int64 {
	f.Helper()
	tally, err := f.store.Tally(f.ctx(), filter)
	f.ok(err)
	return tally
}

func (f *fixture) promote() driver.Promotion {
	f.Helper()
	promotion, err := f.store.Promote(f.ctx(), 10_000)
	f.ok(err)
	return promotion
}

// patience is a MaxCrashes that no job reaches, for tests that are not about poison.
const patience = 100

func (f *fixture) reap() driver.Reaped {
	f.Helper()
	reaped, err := f.store.Reap(f.ctx(), driver.Reap{MaxCrashes: patience, Limit: 10_000})
	f.ok(err)
	return reaped
}

// crash ends the node that runs the job and takes the job back.
func (f *fixture) crash(job *fairlead.Job) {
	f.Helper()
	f.ok(f.store.Leave(f.ctx(), job.Node))
	f.reap()
}

// node returns a node from the list.
func (f *fixture) node(id fairlead.NodeID) (fairlead.Node, bool) {
	f.Helper()
	nodes, err := f.store.Nodes(f.ctx())
	f.ok(err)
	for _, node := range nodes {
		if node.ID == id {
			return node, true
		}
	}
	return fairlead.Node{}, false
}

// eventually waits, in real time, for a change that another process notices on its own.
func (f *fixture) eventually(what string, holds func() bool) {
	f.Helper()
	const pause = 5 * time.Millisecond
	for deadline := time.Now().Add(patient); !holds(); <-time.After(pause) {
		if time.Now().After(deadline) {
			f.Fatalf("%s: not within %v", what, patient)
		}
	}
}

// together runs the functions concurrently and waits for all of them.
func together(functions ...func()) {
	start, done := make(chan struct{}), make(chan struct{})
	for _, function := range functions {
		go func() {
			defer func() { done <- struct{}{} }()
			<-start
			function()
		}()
	}
	close(start)
	for range functions {
		<-done
	}
}

// rivals runs a function n times concurrently, half of them in another process, and returns
// the errors.
func (f *fixture) rivals(n int, do func(i int, store Store) error) []error {
	f.Helper()
	stores := []Store{f.store, f.other().store}
	errs, functions := make([]error, n), make([]func(), n)
	for i := range functions {
		functions[i] = func() { errs[i] = do(i, stores[i%2]) }
	}
	together(functions...)
	return errs
}

// wantOneWinner checks that all but one of the rivals got ErrConflict.
func (f *fixture) wantOneWinner(errs []error) {
	f.Helper()
	won := 0
	for _, err := range errs {
		if err == nil {
			won++
		} else {
			f.wantErr(err, fairlead.ErrConflict)
		}
	}
	f.equal("the number of winners", won, 1)
}

// share runs a housekeeping function several times concurrently, and then again for the
// work that the calls left to each other. It checks the total amount of work done.
func (f *fixture) share(want int, do func(store Store) (int, error)) {
	f.Helper()
	done := make([]int, 4)
	errs := f.rivals(len(done), func(i int, store Store) (err error) {
		done[i], err = do(store)
		return err
	})
	f.ok(first(errs))
	rest, err := do(f.store)
	f.ok(err)
	for _, n := range done {
		rest += n
	}
	f.equal("how much was done in all", rest, want)
}

// first returns the first error of several.
func first(errs []error) error {
	i := slices.IndexFunc(errs, func(err error) bool { return err != nil })
	if i < 0 {
		return nil
	}
	return errs[i]
}

// named describes a case of a table in a message.
func named(parts ...any) string { return strings.TrimSpace(fmt.Sprintln(parts...)) }

// sorted returns a sorted copy.
func sorted(list []int64) []int64 {
	list = slices.Clone(list)
	slices.Sort(list)
	return list
}
