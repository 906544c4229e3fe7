package fairlead

import "time"

// UsageReport is the load of all jobs at one moment.
type UsageReport struct {
	All     Usage   // load of all jobs together
	Tenants []Usage // tenants that are declared, have live jobs or have recently started some; sorted by name
	Queues  []Usage // queues that have live jobs; sorted by name
	Kinds   []Usage // kinds that have live jobs; sorted by name
}

// Usage is the load of one tenant, queue or kind, or of all jobs together. Limits and
// recent starts are not available for queues and kinds.
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

// FamilyUsage is the combined load of a parent and its children: the parent's cap and
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

// UsageWindow is the period over which recent starts are counted.
const UsageWindow = time.Minute
