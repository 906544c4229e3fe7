package fairlead

import "time"

// UsageReport contains the load of all jobs at one moment, in total and by tenant, queue and
// kind.
type UsageReport struct {
	All     Usage   // load of all jobs together
	Tenants []Usage // tenants that are declared, have live jobs or have recently started some; sorted by name
	Queues  []Usage // queues that have live jobs; sorted by name
	Kinds   []Usage // kinds that have live jobs; sorted by name

	// Lanes are the combinations of queue, tenant and kind that have live jobs, sorted. Callers
	// share the slice and must not change it.
	Lanes []LaneUsage
}

// LaneUsage is the number of live jobs of one queue, tenant and kind.
type LaneUsage struct {
	Queue, Tenant, Kind string

	Scheduled int
	Parked    int
	Ready     int
	Running   int
	Waiting   int // jobs that await an answer
}

// Usage is the load of one tenant, queue or kind, or of all jobs together. For queues and
// kinds, it does not include limits and recent starts.
type Usage struct {
	Name string // name of the tenant, queue or kind; empty for all jobs together

	Scheduled int
	Parked    int
	Ready     int
	Running   int
	Waiting   int // jobs that await an answer

	MaxRunning int     // cap; zero = unlimited
	MinRunning int     // guaranteed minimum
	Rate       float64 // allowed starts per second; zero = unlimited

	Started    float64       // starts per second in the last UsageWindow
	Missed     int           // jobs that started after their StartBy in the last UsageWindow
	OldestWait time.Duration // time since the earliest acceptable start of all ready jobs; zero if it is in the future

	Family *FamilyUsage // for a tenant that is the parent of others; otherwise nil
}

// FamilyUsage is the combined load of a parent tenant and its children. The parent's cap and
// rate apply to all of them.
type FamilyUsage struct {
	Children []string // names of the children, sorted

	Scheduled int
	Parked    int
	Ready     int
	Running   int
	Waiting   int

	Started    float64
	Missed     int
	OldestWait time.Duration
}

// UsageWindow is the length of the period in which recent starts are counted.
const UsageWindow = time.Minute
