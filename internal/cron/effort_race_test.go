//go:build race

package cron_test

// effort is how much of their work the long comparisons do, in tenths. The race
// detector makes them ten times slower and has nothing to find in them.
const effort = 1
