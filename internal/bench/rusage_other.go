//go:build !unix

package bench

import "time"

// ProcessTime is not known here.
func ProcessTime() time.Duration { return 0 }
