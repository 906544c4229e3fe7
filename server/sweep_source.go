package server

import (
	"fmt"
	"slices"
	"strings"

	"github.com/fairlead-io/fairlead/sweep"
)

// knowDatabase refuses a sweep over a table of a database that is not known here, if
// its kind is run here. Of other kinds only those know who run them, which may be
// workers with databases of their own. Nodes of one cluster that run the same kinds are
// set up alike: what one knows all know.
func (s *Sweeps) knowDatabase(sw *sweep.Sweep) error {
	table := sw.Source.Table
	if table == nil || s.kinds == nil || s.kinds.Entry(sweep.KindOf(sw.Kind)) == nil || slices.Contains(s.databases, table.Database) {
		return nil
	}
	known := "no database is configured; add one with serve --sweep-database"
	if len(s.databases) > 0 {
		known = "use one of " + strings.Join(s.databases, ", ")
	}
	return refuseField("source.table.database", fmt.Sprintf("is %q, which is not a known database; %s", table.Database, known))
}
