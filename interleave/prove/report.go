package main

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/fairlead-io/fairlead/interleave"
)

// page is the report. The text before the marker is written by hand.
const (
	page   = "docs/proof.md"
	marker = "<!-- Everything below is written by make prove. -->\n"
)

// report replaces the generated part of the page.
func report(results map[string]*resultFile) error {
	content, err := os.ReadFile(page)
	if err != nil {
		return err
	}
	head, _, found := strings.Cut(string(content), marker)
	if !found {
		return fmt.Errorf("%s lacks the line %q", page, strings.TrimSpace(marker))
	}
	var b strings.Builder
	b.WriteString(head + marker)
	counts(&b, results)
	excepted(&b, results)
	actors(&b)
	subjects(&b)
	return os.WriteFile(page, []byte(b.String()), 0o644)
}

// titles are the names of the databases for people.
var titles = map[string]string{"postgres": "PostgreSQL", "mysql": "MariaDB", "sqlite": "SQLite"}

// counts writes how much was played on each database.
func counts(b *strings.Builder, results map[string]*resultFile) {
	all := len(interleave.Pairs())
	fmt.Fprintf(b, "\n## Results\n\nThere are %d pairs.\n\n| Database | Pairs played | Pairs of bystanders | Pairs left | Orders | Blocked | In one transaction | Explained by an exception | Unexplained |\n|---|---|---|---|---|---|---|---|---|\n", all)
	for _, database := range []string{"postgres", "mysql", "sqlite"} {
		l := results[database]
		if l == nil {
			continue
		}
		var sum entry
		excepted, findings, bystanders := 0, 0, 0
		for _, e := range l.entries {
			if e.Bystanders {
				bystanders++
			}
			sum.Orders += e.Orders
			sum.Blocked += e.Blocked
			sum.Grouped += e.Grouped
			findings += len(e.Findings)
			for _, n := range e.Excepted {
				excepted += n
			}
		}
		fmt.Fprintf(b, "| %s | %d | %d | %d | %d | %d | %d | %d | %d |\n",
			titles[database], len(l.entries)-bystanders, bystanders, all-len(l.entries), sum.Orders, sum.Blocked, sum.Grouped, excepted, findings)
	}
}

// excepted lists the exceptions with their reasons.
func excepted(b *strings.Builder, results map[string]*resultFile) {
	b.WriteString("\n## Exceptions\n\n| Exception | Reason | Orders |\n|---|---|---|\n")
	for _, e := range interleave.Exceptions() {
		n := 0
		for _, l := range results {
			for _, entry := range l.entries {
				n += entry.Excepted[e.Name]
			}
		}
		fmt.Fprintf(b, "| %s | %s | %d |\n", e.Name, e.Why, n)
	}
}

// actors lists the operations and the subjects on which they act.
func actors(b *strings.Builder) {
	all := interleave.Actors()
	fmt.Fprintf(b, "\n## Actors\n\n%d operations. An actor acts on the subjects that have all of its traits.\n\n| Actor | Traits |\n|---|---|\n", len(all))
	for _, a := range all {
		fmt.Fprintf(b, "| %s | %s |\n", a.Name, traits(a.On))
	}
}

// subjects lists the subjects.
func subjects(b *strings.Builder) {
	pairs := map[string]int{}
	for _, p := range interleave.Pairs() {
		pairs[p.Subject.Name]++
	}
	all := interleave.Subjects()
	fmt.Fprintf(b, "\n## Subjects\n\n%d states in which two actors meet.\n\n| Subject | Traits | Pairs |\n|---|---|---|\n", len(all))
	for _, s := range all {
		fmt.Fprintf(b, "| %s | %s | %d |\n", s.Name, traits(s.Traits), pairs[s.Name])
	}
}

func traits(list []interleave.Trait) string {
	names := make([]string, len(list))
	for i, t := range list {
		names[i] = string(t)
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}
