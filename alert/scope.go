package alert

import (
	"strings"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/reserved"
)

// A Scope selects the jobs that a rule covers: "global", "kind:NAME", "queue:NAME" or
// "tenant:NAME".
type Scope string

// Global is the scope that covers all jobs.
const Global Scope = "global"

// Prefixes of scopes.
const (
	ofKind   = "kind"
	ofQueue  = "queue"
	ofTenant = "tenant"
)

func (s Scope) cut() (of, name string) {
	of, name, _ = strings.Cut(string(s), ":")
	return of, name
}

// Tenant returns the tenant that the scope names. It returns an empty string if the scope
// names no tenant.
func (s Scope) Tenant() string {
	if of, name := s.cut(); of == ofTenant {
		return name
	}
	return ""
}

// check rejects an invalid scope.
func (s Scope) check(c *complaints) {
	switch of, name := s.cut(); {
	case s == Global:
	case of == ofKind, of == ofQueue, of == ofTenant:
		c.Name("scope", name, fairlead.MaxName)
	default:
		c.Refuse("scope", "is %q; use %s, %s:NAME, %s:NAME or %s:NAME", s, Global, ofKind, ofQueue, ofTenant)
	}
}

// has reports whether jobs of a lane belong to the scope. Jobs that deliver messages belong
// to no scope: otherwise a receiver that does not answer would be sent more and more of
// them.
func (s Scope) has(queue, tenant, kind string) bool {
	if tenant == reserved.NoticeTenant && kind == messageKind {
		return false
	}
	switch of, name := s.cut(); of {
	case ofKind:
		return kind == name
	case ofQueue:
		return queue == name
	case ofTenant:
		return tenant == name
	}
	return s == Global
}

// filter returns a filter that selects the jobs of the scope.
func (s Scope) filter() (filter fairlead.Filter) {
	switch of, name := s.cut(); of {
	case ofKind:
		filter.Kinds = []string{name}
	case ofQueue:
		filter.Queues = []string{name}
	case ofTenant:
		filter.Tenants = []string{name}
	}
	return filter
}

// usage returns the usage of the jobs in the scope, or zero if none of them is live.
func (s Scope) usage(report fairlead.UsageReport) fairlead.Usage {
	var among []fairlead.Usage
	of, name := s.cut()
	switch of {
	case ofKind:
		among = report.Kinds
	case ofQueue:
		among = report.Queues
	case ofTenant:
		among = report.Tenants
	default:
		return report.All
	}
	for _, usage := range among {
		if usage.Name == name {
			return usage
		}
	}
	return fairlead.Usage{Name: name}
}
