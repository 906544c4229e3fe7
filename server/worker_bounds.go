package server

import (
	"fmt"
	"net/http"
	"slices"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/rest"
)

// Bounds of what workers may declare. All servers read what each worker has declared, and
// every answer is masked by what all of them have.
const (
	maxJoinNames        = 128 << 10 // bytes of the kinds and queues of a worker
	maxJoinConfidential = 1_000     // confidential fields that one join names
	maxConfidentialAll  = 10_000    // confidential fields in all, from which on joins add none
	maxOwnerSessions    = 1_000     // live workers of one token
)

// checkNames refuses a worker with so many long names that all servers would be slowed.
func checkNames(node *fairlead.Node) error {
	bytes := 0
	for _, name := range slices.Concat(node.Kinds, node.Queues) {
		bytes += len(name)
	}
	if bytes > maxJoinNames {
		return refuseField("kinds", fmt.Sprintf("have %d bytes together with the queues; at most %d are accepted: split the worker", bytes, maxJoinNames))
	}
	return nil
}

// checkConfidential refuses more confidential fields than a join may name, or may add to the
// known ones.
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
		return refuseField("defaults", fmt.Sprintf("name %d confidential fields; at most %d are accepted: name the objects that contain them", named, maxJoinConfidential))
	case added > 0 && all+added > maxConfidentialAll:
		return refuseField("defaults", fmt.Sprintf("would make %d fields confidential in total; workers can add at most %d: an admin can remove the fields of kinds that no longer exist", all+added, maxConfidentialAll))
	}
	return nil
}

// errSessions is the answer to a token with too many workers.
var errSessions = &rest.Error{
	Status: http.StatusTooManyRequests, Detail: fmt.Sprintf("the token already has %d live workers, the maximum; stop some or use another token", maxOwnerSessions),
}
