package pages

import (
	"context"
	"errors"
	"fmt"
	"html"
	"regexp"
	"strconv"
	"time"

	"github.com/fairlead-io/fairlead/internal/bench/lists"
	"github.com/fairlead-io/fairlead/internal/reads"
)

// numbered are the screens whose numbers Follow follows.
var numbered = []string{"/", "/queues", "/tenants", "/tenants?page=tenant-5", "/failures"}

// number is a count of jobs on a page.
var number = regexp.MustCompile(`<a class="count[^"]*" href="(/jobs\?[^"]*)" data-count="(\d+)"`)

// onlyState matches a list of all jobs in a state, and ofState any list of one state.
var onlyState, ofState = regexp.MustCompile(`^/jobs\?state=(\w+)$`), regexp.MustCompile(`[?&]state=(\w+)`)

// Followed is the first page of a list that a number leads to.
type Followed struct {
	lists.Figure
	On    string // page that has the number
	Count int
}

// Follow measures the first page of every list that a number of the overview, the queues, the
// tenants or the failures leads to. A list of live jobs may read all jobs of its state three times:
// PostgreSQL scans their table to find those of many lanes.
func (p Pages) Follow(ctx context.Context) ([]Followed, error) {
	service, err := newService(p.Store)
	if err != nil {
		return nil, err
	}
	var all []Followed
	seen, live := map[string]bool{}, map[string]int{}
	for _, on := range numbered {
		body, err := service.get(ctx, on)
		if err != nil {
			return all, err
		}
		for _, found := range number.FindAllSubmatch(body, -1) {
			path := html.UnescapeString(string(found[1]))
			if seen[path] {
				continue
			}
			seen[path] = true
			count, err := strconv.Atoi(string(found[2]))
			if err != nil {
				return all, err
			}
			state := onlyState.FindStringSubmatch(path)
			if on == "/" && state != nil {
				live[state[1]] = count
			}
			besides := constant
			if in := ofState.FindStringSubmatch(path); in != nil {
				besides += 3 * live[in[1]]
			}
			measured, meter := reads.With(ctx)
			began := time.Now()
			rows, err := service.rows(measured, path)
			if err != nil {
				return all, err
			}
			figure := lists.NewFigure(path, rows, failedOr(listed, path), besides, meter.Read(), time.Since(began))
			all = append(all, Followed{figure, on, count})
		}
	}
	return all, nil
}

// failedOr returns how many rows a list looks through: those of failures look for a cause.
func failedOr(rows int, path string) int {
	if regexp.MustCompile(`[?&]like=`).MatchString(path) {
		return failed
	}
	return rows
}

// Judge returns an error for each list that does not show the rows that its number counts, or reads
// more than it may.
func Judge(followed []Followed) error {
	var all []error
	if len(followed) < 100 {
		all = append(all, fmt.Errorf("only %d numbers lead to lists", len(followed)))
	}
	for _, f := range followed {
		switch {
		case f.Count > 0 && f.Rows == 0:
			all = append(all, fmt.Errorf("%s says %d, and the first page of %s has no rows", f.On, f.Count, f.Name))
		case f.Count == 0 && f.Rows > 0:
			all = append(all, fmt.Errorf("%s says 0, and %s has %d rows", f.On, f.Name, f.Rows))
		case f.Above:
			all = append(all, fmt.Errorf("%s: the first page of %s, which counts %d, reads %d", f.On, f.Name, f.Count, f.Read))
		}
	}
	return errors.Join(all...)
}
