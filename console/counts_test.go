package console

import (
	"html"
	"regexp"
	"strconv"
	"strings"
)

var (
	countLink = regexp.MustCompile(`<a class="count[^"]*" href="([^"]*)" data-count="(\d+)"`)
	nextLink  = regexp.MustCompile(`<a href="([^"]*)" rel="next"`)
)

// countLinks returns the links of a page that count rows, with the numbers.
func (r *rig) countLinks(page string) map[string]int {
	all := map[string]int{}
	for _, found := range countLink.FindAllStringSubmatch(page, -1) {
		n, err := strconv.Atoi(found[2])
		if err != nil {
			r.Fatal(err)
		}
		all[html.UnescapeString(found[1])] = n
	}
	return all
}

// rowsOf returns the number of rows of a list, over all its pages.
func (r *rig) rowsOf(path string) (n int) {
	r.Helper()
	for path != "" {
		page := r.page(200, path)
		n += strings.Count(page, "<tr data-row")
		next := nextLink.FindStringSubmatch(page)
		if path = ""; next != nil {
			path = html.UnescapeString(next[1])
		}
	}
	return n
}
