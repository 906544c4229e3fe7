package main

import (
	"fmt"
	"os"
	"strings"
)

// The table of planted bugs stands between these lines of the page.
const (
	plantedBegin = "<!-- planted: begin -->\n"
	plantedEnd   = "<!-- planted: end -->"
)

// writePlanted writes which method has found which bug into the page.
func writePlanted(t *trials) error {
	content, err := os.ReadFile(page)
	if err != nil {
		return err
	}
	head, rest, found := strings.Cut(string(content), plantedBegin)
	_, tail, ended := strings.Cut(rest, plantedEnd)
	if !found || !ended {
		return fmt.Errorf("%s lacks the lines %q and %q", page, strings.TrimSpace(plantedBegin), plantedEnd)
	}
	table, err := plantedTable(t)
	if err != nil {
		return err
	}
	return os.WriteFile(page, []byte(head+plantedBegin+table+plantedEnd+tail), 0o644)
}

// plantedTable returns a row for each bug, and how many each method has found.
func plantedTable(t *trials) (string, error) {
	var b strings.Builder
	b.WriteString("\n| Bug | Guarantee that it breaks | Database | Pairs | Contract tests | Simulation |\n|---|---|---|---|---|---|\n")
	all := bugs()
	count, alone := map[string]int{}, map[string]int{}
	for i := range all {
		bug := &all[i]
		state, err := bug.state()
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&b, "| %s | %s | %s |", bug.Name, bug.Breaks, titles[bug.Database])
		var finders []string
		complete := true
		for _, m := range methods() {
			found, tried := t.of(bug, state, m.name)
			switch {
			case found != "":
				finders = append(finders, m.name)
				count[m.name]++
			case !tried && m.tries(bug):
				complete = false
			}
			fmt.Fprintf(&b, " %s |", cell(m.name, found, tried))
		}
		if len(finders) == 1 && complete {
			alone[finders[0]]++
		}
		b.WriteString("\n")
	}
	fmt.Fprintf(&b, "\nOf %d bugs, the pairs found %d, the contract tests %d and the simulation %d. %d were found by the pairs alone, %d by the contract tests alone.\n",
		len(all), count["pairs"], count["contract"], count["simulation"], alone["pairs"], alone["contract"])
	return b.String(), nil
}

// cell returns the first finding of a method in a few words.
func cell(method, found string, tried bool) string {
	switch {
	case !tried:
		return ""
	case found == "":
		return "–"
	case method == "pairs":
		// "postgres, pair, order A1 B* A*: what differs"
		_, text, _ := strings.Cut(found, ", ")
		pair, order, _ := strings.Cut(text, ", order ")
		if order, _, _ = strings.Cut(order, ": "); order == "" { // the actors got stuck
			return pair
		}
		return fmt.Sprintf("%s (%s)", pair, strings.ReplaceAll(order, "*", `\*`))
	case method == "contract":
		parts := strings.Split(found, "/")
		return strings.ReplaceAll(parts[len(parts)-1], "_", " ")
	}
	return found
}
