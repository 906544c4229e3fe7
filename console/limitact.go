package console

import (
	"cmp"
	"strings"

	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
)

var limitActions = []action{
	{name: "limit-edit", path: "/limits/{scope}/edit", Title: "Edit limit", Button: "Save", Nav: "tenants", method: "SetLimit", load: loadLimitAct, do: saveLimit, whatIf: limitWhatIf},
	{name: "limit-new", path: "/new/limit", Title: "New limit", Button: "Save", Nav: "tenants", method: "SetLimit", load: loadLimitAct, do: saveLimit, whatIf: limitWhatIf},
	{name: "limit-edit", path: "/limits/{scope}/what-if", Title: "What if", Button: "Preview", Nav: "tenants", method: "WhatIf", Ask: "SetLimit", load: loadLimitAct, do: saveLimit, whatIf: limitWhatIf},
	{name: "limit-remove", path: "/limits/{scope}/remove", Title: "Remove limit", Nav: "tenants", method: "SetLimit", Grave: true, load: loadLimitAct, do: removeLimit, whatIf: noLimitWhatIf},
}

// loadLimitAct loads the limit to edit, or an empty one.
func loadLimitAct(v *visit) (any, error) {
	if v.Value("scope") == "" && v.posted == nil {
		return &fairleadv1.Limit{}, nil // the scope is not chosen yet
	}
	return v.limit(limitScope(v))
}

// limitScope returns the scope of the form: from its path, or from the input.
func limitScope(v *visit) string {
	if scope := v.Value("scope"); scope != "" {
		return scope
	}
	of, name := v.posted.Get("of"), strings.TrimSpace(v.posted.Get("name"))
	if of == "" || of == "global" {
		return "global"
	}
	return of + ":" + name
}

// limit returns the limit of a scope.
func (v *visit) limit(scope string) (*fairleadv1.Limit, error) {
	limits, err := v.limits.ListLimits(v.ctx, &fairleadv1.ListLimitsRequest{})
	for _, limit := range limits.GetItems() {
		if limit.GetScope() == scope {
			return limit, err
		}
	}
	return &fairleadv1.Limit{Scope: scope}, err
}

// limitFields returns the fields of a limit, by their names in the form.
func limitFields(l *fairleadv1.Limit) map[string]any {
	return map[string]any{"max_running": orEmpty(l.GetMaxRunning()), "rate": orEmpty(l.GetRate()), "burst": orEmpty(l.GetBurst()), "per_key": orEmpty(l.GetPerKey()), "order": l.GetOrder()}
}

// orEmpty returns a number for display in a field: empty for zero, which means no limit.
func orEmpty[N cmp.Ordered](n N) any {
	if zero := *new(N); n == zero {
		return ""
	}
	return n
}

// LimitFields returns the values of a limit for its form.
func (v *visit) LimitFields(l *fairleadv1.Limit) map[string]any { return limitFields(l) }

// limitWhatIf returns the change that would be saved.
func limitWhatIf(v *visit) (*fairleadv1.WhatIfChange, error) {
	limit, err := v.typedLimit()
	return &fairleadv1.WhatIfChange{Limit: limit}, err
}

// noLimitWhatIf returns the change that removes the limit.
func noLimitWhatIf(v *visit) (*fairleadv1.WhatIfChange, error) {
	return &fairleadv1.WhatIfChange{Limit: &fairleadv1.Limit{Scope: limitScope(v)}}, nil
}

// typedLimit returns the limit in the form.
func (v *visit) typedLimit() (*fairleadv1.Limit, error) {
	f := v.fields()
	limit := &fairleadv1.Limit{
		Scope: limitScope(v), MaxRunning: f.integer("max_running"), Rate: f.decimal("rate"), Burst: f.integer("burst"), PerKey: f.integer("per_key"), Order: f.text("order"),
	}
	now, err := v.limit(limit.GetScope())
	if err != nil {
		return nil, err
	}
	v.unchanged(f, limitFields(now))
	return limit, f.err()
}

func saveLimit(v *visit) (done, error) {
	limit, err := v.typedLimit()
	if err != nil {
		return done{}, err
	}
	_, err = v.limits.SetLimit(v.ctx, limit)
	return done{Notice: v.T("The limit of %s was saved.", limit.GetScope()), To: "/tenants"}, err
}

func removeLimit(v *visit) (done, error) {
	scope, f := limitScope(v), v.fields()
	now, err := v.limit(scope)
	if err != nil {
		return done{}, err
	}
	v.unchanged(f, limitFields(now))
	if err := f.err(); err != nil {
		return done{}, err
	}
	_, err = v.limits.SetLimit(v.ctx, &fairleadv1.Limit{Scope: scope})
	return done{Notice: v.T("The limit of %s was removed.", scope), To: "/tenants"}, err
}

// LimitScopes returns the scopes that a limit can have.
func (v *visit) LimitScopes() []option {
	return []option{{"kind", v.T("kind")}, {"queue", v.T("queue")}, {"global", v.T("all jobs")}}
}

// LimitOrders returns the orders in which jobs can start.
func (v *visit) LimitOrders() []option {
	return []option{{"", v.T("same as all jobs; all jobs default to deadline")}, {"deadline", v.T("deadline: earliest start-by time first")}, {"fair", v.T("fair: tenants share starts by weight")}}
}
