package postgres

import (
	"slices"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/internal/patience"
)

// A clock and claims as marks see them.
type markTest struct {
	*testing.T
	marks *laneCursors
	now   time.Time
}

var testLane = cursorLane{lane: 1}

func newMarkTest(t *testing.T) *markTest {
	m := newLaneCursors()
	m.after = 10
	return &markTest{T: t, marks: m, now: time.Now()}
}

func (m *markTest) begin() claimStart { return m.marks.begin(testLane, m.now) }

// claim notes that ten jobs up to one were claimed, as many as were asked for.
func (m *markTest) claim(o claimStart, last position) {
	m.marks.note(o, laneTake{last: map[int16]position{last.turn: last}, count: map[int16]int{last.turn: 10}, reached: last, cost: time.Millisecond}, m.now)
}

func (m *markTest) wantMarks(want ...position) {
	m.Helper()
	if got := m.begin().cursors; !slices.Equal(got, want) {
		m.Fatalf("claims begin at %v, want %v", got, want)
	}
}

func TestMarksTrailWhatWasClaimed(t *testing.T) {
	m := newMarkTest(t)
	m.claim(m.begin(), position{0, 100, 1})
	m.wantMarks()
	m.now = m.now.Add(m.marks.trail)
	m.claim(m.begin(), position{0, 200, 2})
	m.wantMarks(position{0, 100, 1})
	m.now = m.now.Add(m.marks.trail / 2)
	m.claim(m.begin(), position{0, 300, 3})
	m.wantMarks(position{0, 100, 1})
	m.now = m.now.Add(m.marks.trail)
	m.claim(m.begin(), position{0, 400, 4})
	m.wantMarks(position{0, 200, 2})
}

func TestMarksAreForgottenNowAndThen(t *testing.T) {
	m := newMarkTest(t)
	for i := range int64(3) {
		m.claim(m.begin(), position{0, i, i})
		m.now = m.now.Add(m.marks.trail)
	}
	m.wantMarks(position{0, 1, 1})
	m.now = m.now.Add(m.marks.look)
	m.wantMarks()
}

func TestARewindIsSeenByTheNextClaimAndNotByOneUnderWay(t *testing.T) {
	m := newMarkTest(t)
	for i := range int64(3) {
		m.claim(m.begin(), position{0, i, i})
		m.now = m.now.Add(m.marks.trail)
	}
	m.marks.rewind(testLane.lane)
	m.wantMarks()
	underWay := m.begin()
	m.marks.rewind(testLane.lane)
	m.claim(underWay, position{0, 9, 9})
	m.now = m.now.Add(m.marks.trail)
	m.wantMarks() // the second rewind came too late for it
	m.claim(m.begin(), position{0, 10, 10})
	if m.begin().whole() {
		t.Fatal("nothing new stands behind the mark")
	}
}

func TestALookThatDidNotGetAsFarAsTheMarkIsContinued(t *testing.T) {
	m := newMarkTest(t)
	for i := range int64(4) {
		m.claim(m.begin(), position{0, 100 + i, i})
		m.now = m.now.Add(m.marks.trail)
	}
	m.marks.rewind(testLane.lane)
	m.claim(m.begin(), position{0, 50, 50}) // behind the mark, and there may be more
	m.now = m.now.Add(m.marks.trail)
	m.wantMarks()
}

func TestMarksOfSeveralPriorities(t *testing.T) {
	m := newMarkTest(t)
	for i := range int64(3) {
		m.claim(m.begin(), position{-5, i, i})
		m.claim(m.begin(), position{3, i, i})
		m.now = m.now.Add(m.marks.trail)
	}
	o := m.begin()
	want := []laneSpan{
		{from: front, lastTurn: -6},
		{from: position{-5, 1, 1}, lastTurn: -5},
		{from: position{-4, front.startBy, front.id}, lastTurn: 2},
		{from: position{3, 1, 1}, lastTurn: 3},
		{from: position{4, front.startBy, front.id}, lastTurn: 32767},
	}
	if got := o.spans(); !slices.Equal(got, want) {
		t.Fatalf("the spans are %v, want %v", got, want)
	}
}

// Trap 18: a job that no wake reported is found by looking at the whole lane.
func TestALateCommitNobodyWasToldOfIsFoundInTime(t *testing.T) {
	at := migrated.Postgres(t)
	store := open(t, at, Options{})
	store.laneCursors.after, store.laneCursors.trail, store.laneCursors.look = 10, time.Millisecond, 50*time.Millisecond
	node, err := store.Join(t.Context(), fairlead.Node{}, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	claim := func(n int) []*fairlead.Job {
		jobs, err := store.Claim(t.Context(), driver.Claim{Node: node, Scope: &driver.Scope{Kinds: []string{"test"}}, Max: n})
		if err != nil {
			t.Fatal(err)
		}
		return jobs
	}
	late := beginPgx(t, at, store)
	job := newJob(t)
	if err := late.Tx.Enqueue(t.Context(), []*fairlead.Job{job}); err != nil {
		t.Fatal(err)
	}
	for range 20 {
		batch := make([]*fairlead.Job, 50)
		for i := range batch {
			batch[i] = newJob(t)
		}
		if err := store.Enqueue(t.Context(), batch); err != nil {
			t.Fatal(err)
		}
		claim(20)
	}
	if err := late.Commit(); err != nil {
		t.Fatal(err)
	}
	for begun := time.Now(); time.Since(begun) < patience.Limit; time.Sleep(5 * time.Millisecond) {
		if jobs := claim(1); len(jobs) == 1 && jobs[0].ID == job.ID {
			return
		}
	}
	t.Fatal("it was not found")
}

// A claim that uses outdated limits gets nothing, and has not looked.
func TestAClaimUnderOldLimitsHasNotLookedAtTheLane(t *testing.T) {
	at := migrated.Postgres(t)
	store, other := open(t, at, Options{}), open(t, at, Options{})
	store.laneCursors.after, store.laneCursors.trail, store.laneCursors.look, store.laneCursors.dear = 0, 0, time.Hour, time.Hour
	node, err := store.Join(t.Context(), fairlead.Node{}, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	enqueueAndClaim := func(startBy time.Time) {
		t.Helper()
		job := &fairlead.Job{Kind: "a", StartBy: startBy}
		if err := fairlead.NewClient(store).Enqueue(t.Context(), job); err != nil {
			t.Fatal(err)
		}
		if got := claimOf(t, store, node, 1); len(got) != 1 || got[0].ID != job.ID {
			t.Fatalf("claimed %v, want job %d", got, job.ID)
		}
	}
	enqueueAndClaim(time.Time{})
	enqueueAndClaim(time.Time{})
	if err := other.Pause(t.Context(), fairlead.Pause{Scope: fairlead.PauseQueue, Name: "another"}); err != nil {
		t.Fatal(err)
	}
	enqueueAndClaim(time.Now().Add(-time.Hour)) // stands behind the mark
}
