// Package tier divides the tests into two tiers.
//
// The first tier runs in "make test". It checks a source tree in minutes and does not
// depend on the speed of the machine. It is go test with -short.
//
// "make test-all" adds the second tier: tests that are slow, that depend on the timing of
// processes or leases, or that repeat a first-tier test on a variant or at full size. Each
// of these tests declares itself, with the reason:
//
//	tier.Long(t, "kills processes and waits for their leases to end")
//	jobs := tier.Size(t, 500, 20_000, "a claim of many pages")
//
// Both report the reason as the attribute "long" of the test, which internal/testrun
// collects: the second tier consists of exactly the tests with this attribute.
package tier

import (
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
)

// Attributes of tests. See [testing.TB.Attr].
const (
	// LongAttr is the reason why a test, or its full size, belongs to the second tier.
	LongAttr = "long"
	// SeedAttr is the assignment of an environment variable that makes the test repeat its
	// random choices.
	SeedAttr = "seed"
)

// Long skips the test in the first tier. Call it at the beginning of the test.
func Long(t testing.TB, reason string) {
	t.Helper()
	t.Attr(LongAttr, reason)
	if testing.Short() {
		t.Skipf("second tier: %s", reason)
	}
}

// Size returns quick in the first tier and full in the second tier, where the test runs
// again.
func Size[N any](t testing.TB, quick, full N, reason string) N {
	t.Helper()
	t.Attr(LongAttr, reason)
	if testing.Short() {
		return quick
	}
	return full
}

// Seed returns the number in an environment variable. If the variable is not set, Seed
// returns 1 in the first tier, because that tier must not fail by chance, and a random
// number in the second tier. If the test fails, its report contains the seed.
func Seed(t testing.TB, variable string) uint64 {
	t.Helper()
	seed := uint64(1)
	if !testing.Short() {
		seed = rand.Uint64N(1_000_000)
	}
	if text, ok := os.LookupEnv(variable); ok {
		var err error
		if seed, err = strconv.ParseUint(text, 10, 64); err != nil {
			t.Fatalf("%s must be a whole number: %v", variable, err)
		}
	}
	t.Attr(SeedAttr, variable+"="+strconv.FormatUint(seed, 10))
	return seed
}
