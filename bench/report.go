package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/fairlead-io/fairlead/internal/bench"
)

// columns returns the columns of a contest's table.
func (o *outcome) columns() []string {
	switch {
	case o.isLatency():
		return []string{"p50 ms", "p99 ms", "client µs/job", "server µs/job"}
	case o.isLongTx():
		return []string{"jobs/s", "first third", "last third", "client µs/job", "server µs/job", "WAL B/job"}
	default:
		return []string{"jobs/s", "client µs/job", "server µs/job", "WAL B/job"}
	}
}

func (o *outcome) cells(e *entrant) []string {
	if e.failed() {
		return slices.Repeat([]string{"failed"}, len(o.columns()))
	}
	micros := []string{fmt.Sprintf("%.1f", e.median(client)), fmt.Sprintf("%.1f", e.median(server))}
	log := "–"
	if bytes := e.median(wal); bytes > 0 {
		log = bench.Grouped(bytes)
	}
	speed := bench.Grouped(e.median(rate))
	switch {
	case o.isLatency():
		return append([]string{fmt.Sprintf("%.2f", e.median(p50)), fmt.Sprintf("%.2f", e.median(p99))}, micros...)
	case o.isLongTx():
		return append(append([]string{speed, bench.Grouped(e.median(firstThird)), bench.Grouped(e.median(lastThird))}, micros...), log)
	default:
		return append(append([]string{speed}, micros...), log)
	}
}

func (o *outcome) sentence(c comparison) string {
	if o.isLatency() {
		return fmt.Sprintf("%s : %s = %.1f× by p50, %.1f× by p99", c.ours, c.theirs, c.byP50, c.byP99)
	}
	return fmt.Sprintf("%s : %s = %.2f× by rate, %.2f× by CPU", c.ours, c.theirs, c.byRate, c.byCPU)
}

// writeText writes a report for terminals.
func writeText(w io.Writer, outcomes []*outcome) error {
	const narrowest = len("1,234,567")
	for _, o := range outcomes {
		fmt.Fprintf(w, "\n%s\n", o.Title)
		columns, names := o.columns(), 0
		for _, e := range o.Entries {
			names = max(names, utf8.RuneCountInString(e.Label))
		}
		line := func(name string, cells []string) {
			fmt.Fprintf(w, "  %-*s", names, name)
			for i, cell := range cells {
				fmt.Fprintf(w, "  %*s", max(narrowest, utf8.RuneCountInString(columns[i])), cell)
			}
			fmt.Fprintln(w)
		}
		line("", columns)
		for _, e := range o.Entries {
			line(e.Label, o.cells(e))
		}
		for _, c := range o.comparisons() {
			if _, err := fmt.Fprintf(w, "  %s\n", o.sentence(c)); err != nil {
				return err
			}
		}
	}
	return nil
}

// writeMarkdown writes a report for the documentation.
func writeMarkdown(w io.Writer, outcomes []*outcome) error {
	for _, o := range outcomes {
		columns := o.columns()
		fmt.Fprintf(w, "\n### %s\n\n| | %s |\n|---|%s\n", o.Title, strings.Join(columns, " | "), strings.Repeat("---:|", len(columns)))
		for _, e := range o.Entries {
			fmt.Fprintf(w, "| %s | %s |\n", e.Label, strings.Join(o.cells(e), " | "))
		}
		fmt.Fprintln(w)
		for _, c := range o.comparisons() {
			if _, err := fmt.Fprintf(w, "- %s\n", o.sentence(c)); err != nil {
				return err
			}
		}
	}
	return nil
}
