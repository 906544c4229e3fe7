// Package tier divides the tests into two tiers.
//
// The first tier is what "make test" runs. It proves a checkout in minutes and does not
// depend on the speed of the machine. It is go test with -short.
//
// The second tier is what "make test-all" adds: tests that are slow, that race processes
// or leases against the clock, or that repeat a first-tier test on a variant or at full
// size. Each of them says so itself, with the reason:
//
//	tier.Long(t, "kills processes and waits for their leases to end")
//	jobs := tier.Size(t, 500, 20_000, "a claim of many pages")
//
// Both report the reason as the attribute "long" of the test, which internal/testrun
// collects: the second tier runs exactly the tests that have it.
package tier

import (
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
)

// Attributes of tests. See [testing.TB.Attr].
const (
	// LongAttr holds the reason why a test, or its full size, belongs to the second tier.
	LongAttr = "long"
	// SeedAttr holds the assignment of an environment variable that makes the test draw
	// the same again.
	SeedAttr = "seed"
)

// Long skips the test in the first tier. Call it before the test does anything.
func Long(t testing.TB, reason string) {
	t.Helper()
	t.Attr(LongAttr, reason)
	if testing.Short() {
		t.Skipf("second tier: %s", reason)
	}
}

// Size returns quick in the first tier and full in the second, where the test runs once
// more.
func Size[N any](t testing.TB, quick, full N, reason string) N {
	t.Helper()
	t.Attr(LongAttr, reason)
	if testing.Short() {
		return quick
	}
	return full
}

// Seed returns the number in the environment variable. Without the variable it returns 1 in
// the first tier, which must not fail by chance, and a random number in the second. If the
// test fails, the report names the seed.
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
