package main

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestANoisyTenantDoesNotHoldUpTheOthers(t *testing.T) {
	stats, err := run(t.Context(), filepath.Join(t.TempDir(), "saas.db"))
	if err != nil {
		t.Fatal(err)
	}
	// While all tenants have jobs, starts are proportional to weights: 1 for noisy, 3 for
	// gold, 2 for acme. A claim fills a few slots at a time, so the shares are approximate.
	noisy, gold, acme := stats.among("noisy", 200), stats.among("gold", 200), stats.among("acme-eu", 200)+stats.among("acme-us", 200)
	if noisy > 60 || gold < 2*noisy || acme < noisy {
		t.Errorf("of the first starts noisy had %d, gold %d and acme %d", noisy, gold, acme)
	}
	if first := slices.Index(stats.starts, "acme-us"); first > 40 {
		t.Errorf("acme-us waited for %d starts of others", first)
	}
	for tenant, limit := range map[string]int{"acme-eu": 4, "acme-us": 4} {
		if stats.most[tenant] > limit {
			t.Errorf("%d jobs of %s ran at once, more than %d", stats.most[tenant], tenant, limit)
		}
	}
	for _, customer := range customers {
		if n := stats.among(customer.Name, len(stats.starts)); n != customer.jobs {
			t.Errorf("%s had %d starts, not %d", customer.Name, n, customer.jobs)
		}
	}
	out := &strings.Builder{}
	stats.print(out)
	if lines := strings.Count(out.String(), "\n"); lines != 6 {
		t.Errorf("the table has %d lines:\n%s", lines, out)
	}
}
