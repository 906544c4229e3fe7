//go:build linux

package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

// action is a step of go build in the output of -debug-actiongraph.
type action struct {
	Package         string
	CmdUser, CmdSys time.Duration
}

// reportBuild prints the modules that used the most CPU time of the build.
func (v *visit) reportBuild(ctx context.Context) error {
	raw, err := os.ReadFile(v.graph)
	if err != nil {
		return err
	}
	var actions []action
	if err := json.Unmarshal(raw, &actions); err != nil {
		return fmt.Errorf("%s: %w", v.graph, err)
	}
	list, err := v.command(ctx, "go", "list", "-m", "all").Output()
	if err != nil {
		return fmt.Errorf("go list -m all: %w%s", err, stderrOf(err))
	}
	var modules []string
	for line := range strings.Lines(string(list)) {
		modules = append(modules, strings.Fields(line)[0])
	}
	shares := sharesOf(actions, modules)
	table := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(table, "CPU s\tshare\tmodule\t")
	const shown = 12
	rest := share{module: fmt.Sprintf("%d others", max(0, len(shares)-shown))}
	var all time.Duration
	for _, s := range shares {
		all += s.cpu
	}
	for i, s := range shares {
		if i >= shown {
			rest.cpu += s.cpu
			continue
		}
		fmt.Fprintf(table, "%.1f\t%.0f %%\t%s\t\n", s.cpu.Seconds(), 100*float64(s.cpu)/float64(all), s.module)
	}
	if rest.cpu > 0 {
		fmt.Fprintf(table, "%.1f\t%.0f %%\t%s\t\n", rest.cpu.Seconds(), 100*float64(rest.cpu)/float64(all), rest.module)
	}
	return table.Flush()
}

// share is the CPU time used by the packages of a module.
type share struct {
	module string
	cpu    time.Duration
}

// standard stands for the packages of the Go distribution.
const standard = "(standard library)"

// sharesOf sums actions by module, the largest first.
func sharesOf(actions []action, modules []string) (shares []share) {
	sums := map[string]time.Duration{}
	for _, a := range actions {
		sums[moduleOf(a.Package, modules)] += a.CmdUser + a.CmdSys
	}
	for module, cpu := range sums {
		if cpu > 0 {
			shares = append(shares, share{module, cpu})
		}
	}
	slices.SortFunc(shares, func(a, b share) int {
		return cmp.Or(cmp.Compare(b.cpu, a.cpu), cmp.Compare(a.module, b.module))
	})
	return shares
}

// moduleOf returns the module of a package: the longest module path that is a prefix of its
// path.
func moduleOf(pkg string, modules []string) string {
	found := standard
	for _, module := range modules {
		if (pkg == module || strings.HasPrefix(pkg, module+"/")) && (found == standard || len(module) > len(found)) {
			found = module
		}
	}
	return found
}
