package fairlead

// LimitScope selects which jobs a limit counts.
type LimitScope string

// The scopes of limits.
const (
	LimitGlobal LimitScope = "global" // all jobs
	LimitQueue  LimitScope = "queue"  // jobs of one queue
	LimitKind   LimitScope = "kind"   // jobs of one kind
	LimitTenant LimitScope = "tenant" // jobs of one tenant and its children; set as part of Tenant
)

// Order selects which ready jobs of equal priority start first.
type Order string

// The orders. A queue without an order uses the cluster's, which is OrderDeadline by
// default.
const (
	OrderDeadline Order = "deadline" // the job with the earliest acceptable start goes first, regardless of its tenant
	OrderFair     Order = "fair"     // tenants share starts by Tenant.Weight, measured over a minute
)

// Limit limits the number of jobs of one scope that run or start on all nodes together, and
// selects the order in which they start.
type Limit struct {
	Scope      LimitScope // jobs that the limit counts
	Name       string     // name of the queue, kind or tenant; empty for the global limit
	MaxRunning int        // maximum number of jobs that run or await a callback at once; zero = unlimited
	Rate       float64    // starts per second; zero = unlimited
	Burst      int        // starts allowed at once after a pause; default: a tenth of a second's worth, at least one
	PerKey     int        // for a kind: jobs of one tenant with the same ConcurrencyKey that are admitted at once; default one
	Order      Order      // for a queue or the cluster; if empty, a queue uses the cluster's order and the cluster OrderDeadline
}

// subject names the limit as addresses of the API do: "global", "queue:mail".
func (l *Limit) subject() string {
	if l.Scope == LimitGlobal {
		return string(l.Scope)
	}
	return string(l.Scope) + ":" + l.Name
}

// LimitUse is a limit with its current use.
type LimitUse struct {
	Limit
	MinRunning int     // minimum guaranteed to a tenant
	Running    int     // jobs that count against the limit now
	Tokens     float64 // starts saved up now, if the limit has a rate
}

// NormalizeLimit fills in the defaults of a limit that is about to be set. It returns an
// *InvalidError that names every invalid field.
func NormalizeLimit(l *Limit) error {
	var c complaints
	switch l.Scope {
	case LimitGlobal:
		if l.Name != "" {
			c.Refuse("name", "is %q; omit it: the global limit has no name", l.Name)
		}
	case LimitQueue, LimitKind:
		c.Name("name", l.Name, MaxName)
	case LimitTenant:
		c.Refuse("scope", "is tenant; set max_running and rate on the tenant itself")
	default:
		c.Refuse("scope", "is %q; it must be one of %s, %s, %s", l.Scope, LimitGlobal, LimitQueue, LimitKind)
	}
	c.Count("max_running", l.MaxRunning, MaxCap)
	c.Count("per_key", l.PerKey, MaxCap)
	if l.PerKey != 0 && l.Scope != LimitKind {
		c.Refuse("per_key", "applies only to the scope %s, not %s; omit it", LimitKind, l.Scope)
	}
	switch l.Order {
	case "":
	case OrderDeadline, OrderFair:
		if l.Scope == LimitKind {
			c.Refuse("order", "applies only to the scopes %s and %s, not %s; omit it", LimitGlobal, LimitQueue, l.Scope)
		}
	default:
		c.Refuse("order", "is %q; it must be %s or %s, or empty", l.Order, OrderDeadline, OrderFair)
	}
	c.Rate(l.Rate, MaxRate, &l.Burst, MaxCap)
	return Invalid(c.Found...)
}
