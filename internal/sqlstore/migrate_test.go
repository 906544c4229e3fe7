package sqlstore

import (
	"strings"
	"testing"
)

func TestASchemaThatIsTooNewIsRefusedByItsNewestVersion(t *testing.T) {
	applied := map[int]int{}
	for version := 1; version <= 40; version++ {
		applied[version] = 1
	}
	known := []Migration{{Version: 1, Name: "core", Steps: []string{""}}, {Version: 2, Name: "more", Steps: []string{""}}}
	for range 20 { // map iteration order differs each time
		_, err := Status(applied, known)
		if err == nil {
			t.Fatal("it was accepted")
		}
		for _, part := range []string{"schema version 40", "up to 2", "newer version of fairlead"} {
			if !strings.Contains(err.Error(), part) {
				t.Fatalf("%q does not say %q", err, part)
			}
		}
	}
}
