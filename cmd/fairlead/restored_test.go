package main

import (
	"path/filepath"
	"regexp"
	"testing"
)

// What the command prints grows each time: nothing is given out twice.
func TestRestoredSaysFromWhereNumbersContinue(t *testing.T) {
	db := "sqlite://" + filepath.Join(t.TempDir(), "jobs.db")
	said := regexp.MustCompile(`^fences continue above \d{16}, job IDs above (\d+), node IDs above (\d+)\n$`)
	jobs := []string{"100000000", "200000000"}
	for i, nodes := range []string{"1000", "2000"} {
		out, _ := typed(t, exitOK, "restored", "--db", db)
		if parts := said.FindStringSubmatch(out); parts == nil || parts[1] != jobs[i] || parts[2] != nodes {
			t.Errorf("it says %q", out)
		}
	}
}
