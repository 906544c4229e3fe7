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

// fixture is what a test works on: a database, a store on it, and small verbs
// that fail the test unless they succeed.
type fixture struct {
	rapid.TB // a *testing.T, or a *rapid.T in the model
	*Harness
	outer *testing.T // owns what the test opens
	store Store
	own   bool // stores make the tokens of their nodes, and speak for no others

	partner      *Store // of a second process, once the clause has asked for it
	inapplicable *bool  // set once the clause turns out to need something that the harness lacks
}

// lease is long enough for everything that does not test leases.
const lease = time.Hour

func (f *fixture) within(t *testing.T) *fixture {
	return &fixture{TB: t, Harness: f.Harness, outer: t, store: f.store, own: f.own, partner: new(Store), inapplicable: new(bool)}
}

// elsewhere is the same database as another process sees it.
func (f *fixture) elsewhere() *fixture {
	g := *f
	g.store = f.Open(f.outer)
	return &g
}

// other returns a second process, the same one for the whole clause.
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

// rounds returns how often a clause tries a race.
func (f *fixture) rounds(full int) int {
	f.Helper()
	const few = 4
	return f.size(few, full, "tries the race more often, for the unlucky order of events")
}

// ctx is for calls of the test. Unless it says otherwise every store speaks for every
// node, wherever that joined: most tests are about other things.
func (f *fixture) ctx() context.Context {
	if f.own {
		return f.outer.Context()
	}
	return driver.AsNode(f.outer.Context(), "a node of the test")
}

// ok fails the test if a step did.
func (f *fixture) ok(err error) {
	f.Helper()
	if err != nil {
		f.Fatalf("unexpected error: %v", err)
	}
}

// wantErr expects one of the few errors that callers tell apart.
func (f *fixture) wantErr(err, want error) {
	f.Helper()
	if !errors.Is(err, want) {
		f.Fatalf("got error %v, want %q", err, want)
	}
}

// wantIllegal expects the conflict of a move that the job's state forbids, in
// the words that all stores share.
func (f *fixture) wantIllegal(err error, job *fairlead.Job, state fairlead.State) {
	f.Helper()
	f.wantErr(err, fairlead.ErrConflict)
	words := strings.TrimPrefix(driver.IllegalMove("", job.ID, state).Error(), "cannot ")
	if !strings.Contains(err.Error(), strings.TrimSpace(words)) {
		f.Fatalf("the conflict says %q, want the words of fairlead.IllegalMove: …%s", err, words)
	}
	f.wantState(job, state)
}

// equal compares what a test got with what it wanted.
func (f *fixture) equal(what string, got, want any) {
	f.Helper()
	// What a view has that is not exported follows from its calendar.
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty(), cmpopts.IgnoreUnexported(schedule.View{})); diff != "" {
		f.Fatalf("%s differs (-want +got):\n%s", what, diff)
	}
}

// now is the database's clock.
func (f *fixture) now() time.Time {
	f.Helper()
	now, err := f.store.Now(f.ctx())
	f.ok(err)
	return now
}

// kind is the kind of jobs that do not say otherwise.
const kind = "greet"

// plain is a job of which nothing is special.
func plain() *fairlead.Job { return &fairlead.Job{Kind: kind} }

// with is a plain job changed by the given functions.
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

// keyed gives the job a key, held while it lives.
func keyed(key string) func(*fairlead.Job) { return func(j *fairlead.Job) { j.Key = key } }

// behind gives the job a gate.
func behind(key string) func(*fairlead.Job) { return func(j *fairlead.Job) { j.ConcurrencyKey = key } }

// forever gives the job a key, held until it is removed.
func forever(key string) func(*fairlead.Job) {
	return func(j *fairlead.Job) { j.Key, j.KeyScope = key, fairlead.KeyForever }
}

func onDuplicate(do fairlead.OnDuplicate) func(*fairlead.Job) {
	return func(j *fairlead.Job) { j.OnDuplicate = do }
}

func cancelOnCrash(j *fairlead.Job) { j.OnCrash = fairlead.CancelOnCrash }

// tryEnqueue is Store.Enqueue with its defaults filled in, as the client does it.
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

// many is n jobs alike.
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

// everything is a scope of all queues and the given kinds.
func everything(kinds ...string) *driver.Scope {
	if kinds == nil {
		kinds = []string{kind}
	}
	return &driver.Scope{Kinds: kinds}
}

// claim asks for at most n plain jobs.
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

// claimThe claims one job and expects it to be this one.
func (f *fixture) claimThe(job *fairlead.Job, node fairlead.NodeID) *fairlead.Job {
	f.Helper()
	claimed := f.claimOne(node)
	if claimed.ID != job.ID {
		f.Fatalf("claimed job %d, want job %d", claimed.ID, job.ID)
	}
	return claimed
}

// wantClaim claims all there is and expects these jobs in this order.
func (f *fixture) wantClaim(node fairlead.NodeID, scope *driver.Scope, want ...*fairlead.Job) []*fairlead.Job {
	f.Helper()
	jobs := f.claimAs(driver.Claim{Node: node, Scope: scope, Max: 10_000})
	f.equal("what was claimed", ids(jobs), ids(want))
	return jobs
}

// ids of jobs, in order.
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

// to is the settlement of a claimed job.
func to(move fairlead.Move, job *fairlead.Job) fairlead.Settlement {
	return fairlead.Settlement{ID: job.ID, Fence: job.Fence, Move: move, FreeKey: true}
}

// again is the settlement of a failed attempt.
func again(job *fairlead.Job, after time.Duration) fairlead.Settlement {
	s := to(fairlead.Again, job)
	s.After, s.Reason, s.Error = after, fairlead.ReasonError, "no luck"
	return s
}

// wait is the settlement of a job that awaits its answer for an hour.
func wait(job *fairlead.Job) fairlead.Settlement {
	s := to(fairlead.MoveAwait, job)
	s.After = time.Hour
	return s
}

// settle settles and expects every settlement to be done as asked.
func (f *fixture) settle(settlements ...fairlead.Settlement) {
	f.Helper()
	want := make([]fairlead.Settled, len(settlements))
	f.wantSettled(want, settlements...)
}

// wantSettled settles and expects the given answers.
func (f *fixture) wantSettled(want []fairlead.Settled, settlements ...fairlead.Settlement) {
	f.Helper()
	got, err := settleAll(f.ctx(), f.store, settlements)
	f.ok(err)
	f.equal("the answer of Settle", got, want)
}

// get reads the job as the store has it now.
func (f *fixture) get(job *fairlead.Job) *fairlead.Job {
	f.Helper()
	found, err := f.store.Get(f.ctx(), job.ID)
	f.ok(err)
	return found
}

// wantState reads the job and expects it in a state.
func (f *fixture) wantState(job *fairlead.Job, want fairlead.State) *fairlead.Job {
	f.Helper()
	found := f.get(job)
	if found.State != want {
		f.Fatalf("job %d is %s, want %s", job.ID, found.State, want)
	}
	return found
}

// wantGone expects that nothing is known of the job.
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

// patience is a MaxCrashes that no job reaches, where poison is not the point.
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

// node finds a node in the list.
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

// eventually waits, in real time, for what another process learns by itself.
func (f *fixture) eventually(what string, holds func() bool) {
	f.Helper()
	const pause = 5 * time.Millisecond
	for deadline := time.Now().Add(patient); !holds(); <-time.After(pause) {
		if time.Now().After(deadline) {
			f.Fatalf("%s: not within %v", what, patient)
		}
	}
}

// together runs the functions at once and waits for all of them.
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

// rivals runs a function n times at once, half of them in another process, and
// returns their errors.
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

// wantOneWinner expects that all but one of the rivals got ErrConflict.
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

// share runs a housekeeper several times at once, and once more for what they
// left to one another, and expects that together they did so much.
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

// first is the first error of several.
func first(errs []error) error {
	i := slices.IndexFunc(errs, func(err error) bool { return err != nil })
	if i < 0 {
		return nil
	}
	return errs[i]
}

// named describes a case of a table in a message.
func named(parts ...any) string { return strings.TrimSpace(fmt.Sprintln(parts...)) }

// sorted is a copy in order.
func sorted(list []int64) []int64 {
	list = slices.Clone(list)
	slices.Sort(list)
	return list
}
