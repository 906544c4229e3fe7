package hold

import (
	"time"

	"github.com/fairlead-io/fairlead"
)

// Unrecorded is the code of a time of which nothing is known: no node looked.
const Unrecorded fairlead.ObstacleCode = "unrecorded"

// Cause is one thing that keeps ready jobs from starting. A cause concerns the lanes that
// have all of its names; an empty name is that of any.
type Cause struct {
	Code   fairlead.ObstacleCode // IsPaused, AtCap, OverRate, NoNode, NoSlot, AtGate or Unrecorded
	Scope  fairlead.LimitScope   // of a pause, cap or rate: whose it is; at a gate LimitKind, else empty
	Queue  string
	Tenant string // or the parent of a tenant
	Kind   string
	Gate   string // the concurrency key of the jobs that wait at a gate
}

// Name is the name of what the cause belongs to, as in fairlead.Obstacle.
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

// Hold is a time in which a cause kept jobs waiting.
type Hold struct {
	Cause
	ID    int64
	From  time.Time
	Until time.Time // zero: it still does
	Used  int       // at a cap or a gate, when it began: what was taken
	Cap   int       // at a cap or a gate, when it began: what there was
}

// Filter chooses holds. Empty fields choose all; of several fields all must match.
type Filter struct {
	Queue  string    // holds that concern it: its own, and those that are of no other queue
	Tenant string    // as Queue; holds of its parent concern it as well
	Kind   string    // as Queue
	From   time.Time // holds that lasted then or began later
	To     time.Time // holds that began earlier
	Below  int64     // only IDs smaller than this: Page.Next of the page before
	Limit  int       // zero means 100
}

// Page is what a filter chooses, newest first.
type Page struct {
	Holds []Hold
	Next  int64     // Below of the next page; zero: there is none
	At    time.Time // the database's clock
	Since time.Time // what was before is not recorded, or not kept; zero: nothing is
}
