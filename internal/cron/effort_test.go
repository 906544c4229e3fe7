//go:build !race

package cron_test

// effort is how much of their work the long comparisons do, in tenths.
const effort = 10
