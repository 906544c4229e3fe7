package console

import (
	"net/http"
	"strconv"
	"strings"

	"connectrpc.com/connect"
)

// hit is a search result.
type hit struct {
	Title, What, Href string
}

// Pages returns the navigation entries as search results.
func (v *visit) Pages() (all []hit) {
	for _, group := range v.Navigation() {
		for _, line := range group.Entries {
			all = append(all, hit{Title: v.T(line.Title), What: v.T("page"), Href: v.Href(line.Path)})
		}
	}
	return all
}

// find serves the possible meanings of a search text: pages with such a title, and objects
// with exactly that name. Enter opens the first one.
func (c *Console) find(w http.ResponseWriter, r *http.Request) {
	who, err := c.identify(r)
	v := c.visit(r, who)
	if connect.CodeOf(err) == connect.CodeUnauthenticated && r.Header.Get("HX-Request") != "" {
		// Otherwise the palette of an open page would show the whole sign-in page.
		c.render(w, http.StatusOK, "found", v.show([]hit{{Title: v.T("Sign in"), What: v.T("page"), Href: v.Href("/login")}}))
		return
	}
	if err != nil {
		c.refuse(w, v, err)
		return
	}
	hits := v.hits(v.Get("q"))
	if r.Header.Get("HX-Request") == "" && len(hits) > 0 {
		http.Redirect(w, r, hits[0].Href, http.StatusSeeOther)
		return
	}
	if r.Header.Get("HX-Request") == "" {
		c.render(w, http.StatusNotFound, "error", v.show(failure{Status: http.StatusNotFound, Text: v.T("No results.")}))
		return
	}
	c.render(w, http.StatusOK, "found", v.show(hits))
}

func (v *visit) hits(query string) (all []hit) {
	if query == "" {
		return v.Pages()
	}
	for _, find := range finders {
		all = append(all, find(v, query)...)
	}
	for _, page := range v.Pages() {
		if strings.Contains(strings.ToLower(page.Title), strings.ToLower(query)) {
			all = append(all, page)
		}
	}
	return all
}

// finders search for objects by their exact name or ID.
var finders = []func(v *visit, query string) []hit{
	findJob, findSchedule, findCalendar, findBatches, findSweeps, findTenant, findNode,
}

// number parses an ID.
func number(query string) (int64, bool) {
	id, err := strconv.ParseInt(query, 10, 64)
	return id, err == nil && id > 0
}
