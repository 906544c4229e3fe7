package lists

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/fairlead-io/fairlead"
)

const (
	fewTenants = 200 // tenants with jobs of all kinds; all others have jobs of two
	kinds      = 20
	queues     = 4
	days       = 30

	commonTenant, rareTenant = "tenant-1", "tenant-rare"
	commonKind, rareKind     = "kind-1", "kind-rare"
	hotKey, onceKey          = "hot", "key-7"

	blockHeld = time.Minute   // maximum time between reserving and using an ID
	taskHeld  = 6 * time.Hour // the same for IDs of tasks
)

// made is a job of the mix, with the properties that filters compare.
type made struct {
	id                int64
	lane              int
	state             fairlead.State
	created, finished time.Time
	key               string
	batch             int64 // zero = not a task
}

// mix generates jobs deterministically.
type mix struct {
	jobs    int
	tenants int
	began   time.Time
	lanes   []lane                   // the last two have few jobs
	first   map[fairlead.State]int64 // an ID for each state
}

type lane struct{ queue, tenant, kind string }

// newMix returns a mix of jobs created in the days before now.
func newMix(jobs int, now time.Time) *mix {
	m := &mix{jobs: jobs, tenants: max(fewTenants, jobs/1000), began: now.Add(-days * 24 * time.Hour), first: map[fairlead.State]int64{}}
	for t := range m.tenants {
		for k := range kinds {
			if t >= fewTenants && k != t%kinds && k != (t+1)%kinds {
				continue
			}
			m.lanes = append(m.lanes, lane{fmt.Sprint("queue-", k%queues), fmt.Sprint("tenant-", t), fmt.Sprint("kind-", k)})
		}
	}
	m.lanes = append(m.lanes, lane{"queue-1", rareTenant, commonKind}, lane{"queue-1", commonTenant, rareKind})
	return m
}

// states contains the number of jobs in each state, out of ten thousand.
var states = []struct {
	state fairlead.State
	share int
}{
	{fairlead.Failed, 200},
	{fairlead.Cancelled, 80},
	{fairlead.Skipped, 20},
	{fairlead.Scheduled, 80},
	{fairlead.Ready, 80},
	{fairlead.Parked, 20},
	{fairlead.Running, 4},
	{fairlead.Waiting, 16},
	{fairlead.Succeeded, 9500},
}

// job returns the i-th job of the mix, in the order in which IDs were reserved.
func (m *mix) job(i int) made {
	random := rand.New(rand.NewPCG(uint64(i), 18))
	setAside := m.setAside(i)
	j := made{id: int64(i) + 1, lane: m.laneOf(random, i)}
	held := blockHeld
	if random.IntN(50) == 0 {
		held, j.batch = taskHeld, m.batchAt(setAside)
	}
	j.created = setAside.Add(time.Duration(random.Int64N(int64(held)/1000)) * 1000)
	for at, s := random.IntN(10_000), 0; ; s++ {
		if at -= states[s].share; at < 0 {
			j.state = states[s].state
			break
		}
	}
	if j.state.Final() {
		j.finished = j.created.Add(time.Duration(random.Int64N(int64(time.Hour)/1000)) * 1000)
		switch i % 20 {
		case 0:
			j.key = hotKey
		case 1:
			j.key = fmt.Sprint("key-", random.IntN(m.jobs/20+10))
		}
	}
	return j
}

// setAside returns the time when the ID of the i-th job was reserved.
func (m *mix) setAside(i int) time.Time {
	return m.began.Add(time.Duration(float64(i) / float64(m.jobs) * days * 24 * float64(time.Hour))).Truncate(time.Microsecond)
}

// laneOf assigns a third of the jobs to one tenant, and a handful to the rare ones.
func (m *mix) laneOf(random *rand.Rand, i int) int {
	switch spacing := max(1, m.jobs/10); {
	case i%spacing == spacing/2:
		return len(m.lanes) - 2
	case i%spacing == spacing/3:
		return len(m.lanes) - 1
	case random.IntN(3) == 0:
		return kinds + random.IntN(kinds) // lane of the common tenant
	}
	return random.IntN(len(m.lanes) - 2)
}

// batchAt returns the batch whose tasks get their IDs at a time: one per day.
func (m *mix) batchAt(t time.Time) int64 { return int64(t.Sub(m.began)/(24*time.Hour)) + 1 }

// matches reports whether a filter selects a job of the mix.
func (m *mix) matches(f fairlead.Filter, j made) bool {
	l := m.lanes[j.lane]
	return among(f.IDs, j.id) && among(f.States, j.state) && among(f.Kinds, l.kind) && among(f.Queues, l.queue) && among(f.Tenants, l.tenant) &&
		(f.Key == "" || f.Key == j.key) && (f.Below == 0 || j.id < f.Below) &&
		(f.From.IsZero() || !j.created.Before(f.From)) && (f.To.IsZero() || j.created.Before(f.To)) &&
		(f.FinishedFrom.IsZero() || j.state.Final() && !j.finished.Before(f.FinishedFrom))
}

func among[T comparable](values []T, value T) bool {
	for _, v := range values {
		if v == value {
			return true
		}
	}
	return len(values) == 0
}
