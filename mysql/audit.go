package mysql

import (
	"strings"

	"github.com/fairlead-io/fairlead/access"
)

// auditIndexes are those that find the entries of a filter. Left to itself, the server
// would walk through all newer entries of an actor to reach those below an id.
func auditIndexes(filter access.Filter) string {
	var indexes []string
	for index, value := range map[string]string{"actor": filter.Actor, "action": filter.Action, "subject": filter.Subject} {
		if value != "" {
			indexes = append(indexes, index)
		}
	}
	if len(indexes) == 0 {
		indexes = []string{"primary"}
	}
	return "force index (" + strings.Join(indexes, ", ") + ")"
}
