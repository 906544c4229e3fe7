package workers

import (
	"fmt"
	"net/http"
	"slices"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/server/internal/rest"
)

// Limits for the declarations of workers. All servers read what each worker has declared,
// and mask every response accordingly.
const (
	maxJoinNames        = 128 << 10 // total size of a worker's kinds and queues in bytes
	maxJoinConfidential = 1_000     // number of confidential fields in one join
	maxConfidentialAll  = 10_000    // total number of confidential fields, above which joins add no more
	maxOwnerSessions    = 1_000     // number of live workers of one token
)

// checkNames rejects a worker whose names are so long that they would slow down all
// servers.
func checkNames(node *fairlead.Node) error {
	bytes := 0
	for _, name := range slices.Concat(node.Kinds, node.Queues) {
		bytes += len(name)
	}
	if bytes > maxJoinNames {
		return rest.InvalidField("kinds", fmt.Sprintf("has %d bytes in total, including queues; at most %d are allowed: split the worker into several", bytes, maxJoinNames))
	}
	return nil
}

// checkConfidential rejects confidential fields beyond the limits for one join and for the
// total.
func checkConfidential(declared, known fairlead.Confidential) error {
	named, added, all := 0, 0, 0
	for kind, fields := range declared {
		named += len(fields)
		for _, field := range fields {
			if !slices.Contains(known[kind], field) {
				added++
			}
		}
	}
	for _, fields := range known {
		all += len(fields)
	}
	switch {
	case named > maxJoinConfidential:
		return rest.InvalidField("defaults", fmt.Sprintf("lists %d confidential fields; at most %d are allowed: list the enclosing objects instead of single fields", named, maxJoinConfidential))
	case added > 0 && all+added > maxConfidentialAll:
		return rest.InvalidField("defaults", fmt.Sprintf("would bring the total to %d confidential fields; workers cannot add fields beyond %d: ask an admin to remove the fields of kinds that no longer exist", all+added, maxConfidentialAll))
	}
	return nil
}

// errSessions is the error for a token with too many workers.
var errSessions = &rest.Error{
	Status: http.StatusTooManyRequests, Detail: fmt.Sprintf("the token already has %d live workers, the maximum; stop some or use another token", maxOwnerSessions),
}
