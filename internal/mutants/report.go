package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
)

// report prints the results for the selected mutants.
func report(out io.Writer, seed string, verdicts []verdict, cpu float64) {
	const secondTier = "by the second tier alone"
	counts, all, byFirst := map[string]map[string]int{}, 0, 0
	for _, v := range verdicts {
		if counts[v.Area] == nil {
			counts[v.Area] = map[string]int{}
		}
		counts[v.Area][v.Verdict]++
		if v.Verdict == killed {
			all++
		}
		if v.Verdict == killed && v.Second {
			counts[v.Area][secondTier]++
		} else if v.Verdict == killed {
			byFirst++
		}
	}
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(out, "\nseed %s, %.0f s of CPU in tests\n\n", seed, cpu)
	columns := []string{killed, secondTier, equivalent, survived, unreached, invalid}
	fmt.Fprintf(table, "area\t%s\t\n", strings.Join(columns, "\t"))
	for _, a := range areas {
		if counts[a.name] == nil {
			continue
		}
		fmt.Fprint(table, a.name)
		for _, column := range columns {
			fmt.Fprintf(table, "\t%d", counts[a.name][column])
		}
		fmt.Fprint(table, "\t\n")
	}
	_ = table.Flush() // an error cannot be reported if printing fails
	if all > 0 {
		fmt.Fprintf(out, "\nThe first tier alone kills %d, both tiers kill %d: %.3f\n", byFirst, all, float64(byFirst)/float64(all))
	}

	slices.SortFunc(verdicts, func(a, b verdict) int { return cmp.Compare(a.Place, b.Place) })
	for _, column := range []string{survived, unreached, equivalent} {
		title := false
		for _, v := range verdicts {
			if v.Verdict != column {
				continue
			}
			if !title {
				fmt.Fprintf(out, "\n%s:\n", column)
				title = true
			}
			fmt.Fprintf(out, "\t%s\n", v.Place)
			if v.By != "" {
				fmt.Fprintf(out, "\t\t%s\n", v.By)
			}
		}
	}
}
