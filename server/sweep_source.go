package server

import (
	"fmt"
	"slices"
	"strings"

	"github.com/fairlead-io/fairlead/server/internal/rest"
	"github.com/fairlead-io/fairlead/sweep"
)

// knowDatabase rejects a sweep over a table of an unknown database if this process runs the
// sweep's kind. Other kinds may run on workers with databases of their own. All nodes of a
// cluster that run the same kinds must have the same configuration: a database known to one
// is known to all.
func (s *Sweeps) knowDatabase(sw *sweep.Sweep) error {
	table := sw.Source.Table
	if table == nil || s.kinds == nil || s.kinds.Entry(sweep.KindOf(sw.Kind)) == nil || slices.Contains(s.databases, table.Database) {
		return nil
	}
	known := "no database is configured; add one with serve --sweep-database"
	if len(s.databases) > 0 {
		known = "use one of " + strings.Join(s.databases, ", ")
	}
	return rest.InvalidField("source.table.database", fmt.Sprintf("is %q, which is not a known database; %s", table.Database, known))
}
