package fairlead

// LimitScope tells whose jobs a limit counts.
type LimitScope string

// The scopes of limits.
const (
	LimitGlobal LimitScope = "global" // all jobs
	LimitQueue  LimitScope = "queue"
	LimitKind   LimitScope = "kind"
	LimitTenant LimitScope = "tenant" // and those of its children; set as part of Tenant
)

// Order tells which ready jobs of the same priority start first.
type Order string

// The orders. A queue without one follows the cluster, which goes by deadline unless it
// says otherwise.
const (
	OrderDeadline Order = "deadline" // the earliest acceptable start, across tenants
	OrderFair     Order = "fair"     // tenants share starts by Tenant.Weight, over a minute
)

// Limit bounds the jobs of one scope together, on all nodes, and says in which order they
// start.
type Limit struct {
	Scope      LimitScope
	Name       string  // of the queue, kind or tenant; empty if global
	MaxRunning int     // jobs that run or await a callback at once; zero: no cap
	Rate       float64 // starts per second; zero: no limit
	Burst      int     // starts that may come at once after a pause; zero: those of a tenth of a second, at least one
	PerKey     int     // of a kind: jobs of one tenant with the same ConcurrencyKey that are admitted at once; zero: one
	Order      Order   // of a queue or the cluster; empty: a queue follows the cluster, the cluster OrderDeadline
}

// subject names the limit as addresses of the API do: "global", "queue:mail".
func (l *Limit) subject() string {
	if l.Scope == LimitGlobal {
		return string(l.Scope)
	}
	return string(l.Scope) + ":" + l.Name
}

// LimitUse is a limit and what is used of it.
type LimitUse struct {
	Limit
	MinRunning int     // of a tenant
	Running    int     // jobs that count now
	Tokens     float64 // starts saved up now, if there is a rate
}

// NormalizeLimit fills in the defaults of a limit about to be set, and returns
// an *InvalidError that names every field that cannot be accepted.
func NormalizeLimit(l *Limit) error {
	var c complaints
	switch l.Scope {
	case LimitGlobal:
		if l.Name != "" {
			c.Refuse("name", "is %q; leave it out: the global limit has no name", l.Name)
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
		c.Refuse("per_key", "applies only to the scope %s, not %s; leave it out", LimitKind, l.Scope)
	}
	switch l.Order {
	case "":
	case OrderDeadline, OrderFair:
		if l.Scope == LimitKind {
			c.Refuse("order", "applies only to the scopes %s and %s, not %s; leave it out", LimitGlobal, LimitQueue, l.Scope)
		}
	default:
		c.Refuse("order", "is %q; it must be %s or %s, or empty", l.Order, OrderDeadline, OrderFair)
	}
	c.Rate(l.Rate, MaxRate, &l.Burst, MaxCap)
	return Invalid(c.Found...)
}
