package console

import (
	"net/url"
	"strings"
)

// act is a button that carries out the remedy of a concern or an obstacle, or a link to
// another page if it has no method.
type act struct {
	Method, Href, Label string
}

// Of returns the data of the act for the template "act".
func (a act) Of() map[string]any {
	return map[string]any{"method": a.Method, "href": a.Href, "label": a.Label}
}

// bulkHref returns the link to the form of a bulk action on all jobs that a filter selects.
// The filter consists of parameters of the list of jobs.
func (v *visit) bulkHref(action string, filter ...any) string {
	query := url.Values{}
	for i := 0; i+1 < len(filter); i += 2 {
		if value := text(filter[i+1]); value != "" {
			query.Add(filter[i].(string), value)
		}
	}
	return v.Href("/new/bulk/"+action, "filter", query.Encode())
}

// cancelAct returns the button that cancels all jobs that a filter selects.
func (v *visit) cancelAct(filter ...any) act {
	return act{Method: "CreateBulk", Href: v.bulkHref("cancel", filter...), Label: v.T("Cancel all")}
}

// resumeAct returns the button that resumes a queue, a kind or a tenant.
func (v *visit) resumeAct(method, list, name string) act {
	return act{Method: method, Href: v.To(list, name) + "/resume", Label: v.T("Resume")}
}

// limitActs returns the button that edits a limit, or nothing if the viewer may not see it.
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

// HoldsOf returns the link to the wait reasons of a scope, such as "queue:mail".
func (v *visit) HoldsOf(scope string) string {
	of, name, _ := strings.Cut(scope, ":")
	return v.Href("/holds", of, name) // without a name for all jobs
}

// WhatIfOf returns the link to the form that forecasts a change of a scope's limit.
func (v *visit) WhatIfOf(scope string) string {
	if tenant, is := strings.CutPrefix(scope, "tenant:"); is {
		return v.To("/tenants", tenant) + "/what-if"
	}
	return v.To("/limits", scope) + "/what-if"
}
