//go:build !unix

package bench

import "time"

// ProcessTime returns zero, because the CPU time is unknown on this system.
func ProcessTime() time.Duration { return 0 }
