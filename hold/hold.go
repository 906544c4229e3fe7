package hold

import (
	"time"

	"github.com/fairlead-io/fairlead"
)

// Unrecorded is the code for a period without records, because no node looked.
const Unrecorded fairlead.ObstacleCode = "unrecorded"

// A Cause is a condition that keeps ready jobs from starting. It applies to the lanes that
// match all of its names. An empty name matches every lane.
type Cause struct {
	Code   fairlead.ObstacleCode // IsPaused, AtCap, OverRate, NoNode, NoSlot, AtGate or Unrecorded
	Scope  fairlead.LimitScope   // for a pause, cap or rate, the scope it is defined for; LimitKind for a gate; otherwise empty
	Queue  string
	Tenant string // tenant, or the parent of a tenant
	Kind   string
	Gate   string // concurrency key of the jobs that wait at a gate
}

// Name returns the name of the queue, tenant, kind or gate that the cause belongs to, in the
// same form as fairlead.Obstacle.
func (c Cause) Name() string {
	switch {
	case c.Gate != "":
		return c.Gate
	case c.Scope == fairlead.LimitQueue:
		return c.Queue
	case c.Scope == fairlead.LimitTenant:
		return c.Tenant
	case c.Scope == fairlead.LimitKind:
		return c.Kind
	}
	return ""
}

// A Hold is a period in which a cause kept jobs waiting.
type Hold struct {
	Cause
	ID    int64
	From  time.Time
	Until time.Time // zero = ongoing
	Used  int       // for a cap or gate, the number of slots in use when the hold began
	Cap   int       // for a cap or gate, the total number of slots when the hold began
}

// A Filter selects holds. A hold must match all fields that are set. An empty field matches
// every hold.
type Filter struct {
	Queue  string    // holds that apply to the queue: its own holds, and holds that name no queue
	Tenant string    // like Queue; includes holds of the tenant's parent
	Kind   string    // like Queue
	From   time.Time // holds that ended after this time or are ongoing
	To     time.Time // holds that began before this time
	Below  int64     // only holds with smaller IDs: Page.Next of the previous page
	Limit  int       // maximum number of holds; zero = 100
}

// A Page is one page of the holds that match a filter, newest first.
type Page struct {
	Holds []Hold
	Next  int64     // Below of the next page; zero = last page
	At    time.Time // the database's clock
	Since time.Time // earliest time with complete records; zero = nothing is recorded
}
