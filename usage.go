package fairlead

import "time"

// UsageReport is what jobs have and do as of one moment.
type UsageReport struct {
	All     Usage
	Tenants []Usage // those that are declared, have live jobs or have just started some; by name
	Queues  []Usage // those that have live jobs; by name
	Kinds   []Usage // as Queues
}

// Usage is what the jobs of a tenant, of a queue, of a kind, or of all together have
// and do. What limits say, and what was started, is not known of queues and kinds.
type Usage struct {
	Name string // of the tenant, queue or kind; empty: all

	Scheduled int
	Parked    int
	Ready     int
	Running   int
	Waiting   int // for an answer

	MaxRunning int     // its cap; zero: none
	MinRunning int     // what it is guaranteed
	Rate       float64 // starts per second that it may make; zero: no limit

	Started    float64       // starts per second, in the last UsageWindow
	Missed     int           // jobs that started later than their StartBy, in the last UsageWindow
	OldestWait time.Duration // how long ago the first acceptable start of all ready jobs was; zero if none has come

	Family *FamilyUsage // of a tenant that others name as their parent; else nil
}

// FamilyUsage is what the jobs of a parent and of its children have and do together: the
// parent's cap and rate hold for all of them.
type FamilyUsage struct {
	Children []string // by name

	Scheduled int
	Parked    int
	Ready     int
	Running   int
	Waiting   int

	Started    float64
	Missed     int
	OldestWait time.Duration
}

// UsageWindow is how far back starts are counted.
const UsageWindow = time.Minute
