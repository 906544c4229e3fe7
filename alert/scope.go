package alert

import (
	"strings"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/reserved"
)

// Scope is whose jobs a rule is about: "global", or "kind:NAME", "queue:NAME" or
// "tenant:NAME".
type Scope string

// Global is the scope of all jobs.
const Global Scope = "global"

// What a scope may name.
const (
	ofKind   = "kind"
	ofQueue  = "queue"
	ofTenant = "tenant"
)

func (s Scope) cut() (of, name string) {
	of, name, _ = strings.Cut(string(s), ":")
	return of, name
}

// Tenant is the tenant that the scope names; empty: it names none.
func (s Scope) Tenant() string {
	if of, name := s.cut(); of == ofTenant {
		return name
	}
	return ""
}

// check refuses what is no scope.
func (s Scope) check(c *complaints) {
	switch of, name := s.cut(); {
	case s == Global:
	case of == ofKind, of == ofQueue, of == ofTenant:
		c.Name("scope", name, fairlead.MaxName)
	default:
		c.Refuse("scope", "is %q; use %s, %s:NAME, %s:NAME or %s:NAME", s, Global, ofKind, ofQueue, ofTenant)
	}
}

// has reports whether jobs of a lane belong to the scope. The jobs that bring messages
// belong to none: a receiver that does not answer would be sent ever more of them.
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

// filter chooses the jobs of the scope.
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

// usage returns what the jobs of the scope have; nothing if they have no live job.
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
