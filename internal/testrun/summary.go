package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// secondTier is the prefix of reasons for which internal/tier skips a test.
const secondTier = "second tier: "

// summarize prints the result of the whole run and reports success.
func (s *session) summarize(ctx context.Context) bool {
	r := s.report
	fmt.Fprintf(s.out, "\n== Summary after %v\n", r.now().Sub(r.begun).Round(time.Second))
	skipped, later := 0, 0
	for _, why := range slices.Sorted(maps.Keys(r.skipped)) {
		n := r.skipped[why]
		if strings.HasPrefix(why, secondTier) {
			later += n
			continue
		}
		skipped += n
		fmt.Fprintf(s.out, "skipped %d: %s\n", n, why)
	}
	if later > 0 && !slices.Contains(s.plan.tiers, second) {
		fmt.Fprintf(s.out, "left to the second tier (make test-all): %d\n", later)
	}
	for _, f := range s.flakes {
		fmt.Fprintf(s.out, "WARNING: failed once and passed when it was repeated:\n")
		f.print(s.out)
	}
	for _, f := range r.failures {
		f.print(s.out)
	}
	ok := len(r.failures) == 0
	if ctx.Err() != nil {
		fmt.Fprintln(s.out, "interrupted: not all tests have run")
		ok = false
	}
	fmt.Fprintf(s.out, "%d passed, %d failed, %d skipped\n", r.passed, len(r.failures), skipped)
	return ok
}
