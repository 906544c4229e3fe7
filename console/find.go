package console

import (
	"net/http"
	"strconv"

	"connectrpc.com/connect"
)

// hit is a search result.
type hit struct {
	Title, What, Href string
	rank              rank
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

// findPage is the search page.
type findPage struct {
	Query string
	Hits  []hit
}

// find serves the results of a search: the list in the palette, or the search page. An exact
// match of the page opens immediately. The palette opens the best match.
func (c *Console) find(w http.ResponseWriter, r *http.Request) {
	who, err := c.identify(r)
	v := c.visit(r, who)
	inPalette := r.Header.Get("HX-Request") != ""
	if connect.CodeOf(err) == connect.CodeUnauthenticated && inPalette {
		// Otherwise the palette of an open page would show the whole sign-in page.
		c.render(w, http.StatusOK, "found", v.show([]hit{{Title: v.T("Sign in"), What: v.T("page"), Href: v.Href("/login")}}))
		return
	}
	var hits []hit
	query := v.Get("q")
	if err == nil {
		hits, err = v.search(query)
	}
	switch {
	case err != nil:
		c.refuse(w, v, err)
	case inPalette:
		c.render(w, http.StatusOK, "found", v.show(hits))
	case len(hits) == 0:
		c.render(w, http.StatusNotFound, "find", v.show(findPage{Query: query}))
	case query != "" && (hits[0].rank == rankExact || v.Get("open") == "first"):
		http.Redirect(w, r, hits[0].Href, http.StatusSeeOther)
	default:
		c.render(w, http.StatusOK, "find", v.show(findPage{query, hits}))
	}
}

// number parses an ID.
func number(query string) (int64, bool) {
	id, err := strconv.ParseInt(query, 10, 64)
	return id, err == nil && id > 0
}
