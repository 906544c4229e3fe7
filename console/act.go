package console

import (
	"net/url"
	"strings"
)

// act is a button that carries out the remedy of a concern or an obstacle. Without a method
// it is a link to another page.
type act struct {
	Method, Href, Label string
}

// Of is the act as the template "act" takes it.
func (a act) Of() map[string]any {
	return map[string]any{"method": a.Method, "href": a.Href, "label": a.Label}
}

// bulkHref leads to the form that acts upon all jobs that a filter selects, given as
// parameters of the list of jobs.
func (v *visit) bulkHref(action string, filter ...any) string {
	query := url.Values{}
	for i := 0; i+1 < len(filter); i += 2 {
		if value := text(filter[i+1]); value != "" {
			query.Add(filter[i].(string), value)
		}
	}
	return v.Href("/new/bulk/"+action, "filter", query.Encode())
}

// cancelAct cancels all jobs that a filter selects.
func (v *visit) cancelAct(filter ...any) act {
	return act{Method: "CreateBulk", Href: v.bulkHref("cancel", filter...), Label: v.T("Cancel all")}
}

// resumeAct resumes a queue, a kind or a tenant.
func (v *visit) resumeAct(method, list, name string) act {
	return act{Method: method, Href: v.To(list, name) + "/resume", Label: v.T("Resume")}
}

// limitActs edit a limit, if the viewer may see it.
func (v *visit) limitActs(scope, name, label string) []act {
	switch {
	case v.Bound():
		return nil
	case scope == "tenant":
		return []act{{Method: "UpdateTenant", Href: v.To("/tenants", name) + "/edit", Label: label}}
	case scope == "global":
		return []act{{Method: "SetLimit", Href: v.To("/limits", scope) + "/edit", Label: label}}
	}
	return []act{{Method: "SetLimit", Href: v.To("/limits", scope+":"+name) + "/edit", Label: label}}
}

// HoldsOf leads to what kept the jobs of a scope waiting, such as "queue:mail".
func (v *visit) HoldsOf(scope string) string {
	of, name, _ := strings.Cut(scope, ":")
	return v.Href("/holds", of, name) // all jobs have no name
}

// WhatIfOf leads to the form that asks what a change of a scope's limit would do.
func (v *visit) WhatIfOf(scope string) string {
	if tenant, is := strings.CutPrefix(scope, "tenant:"); is {
		return v.To("/tenants", tenant) + "/what-if"
	}
	return v.To("/limits", scope) + "/what-if"
}
