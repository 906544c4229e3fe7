package mysql

import (
	"slices"

	"github.com/fairlead-io/fairlead/internal/sqlstore"
)

// endRanges is the maximum number of ID ranges in one statement.
const endRanges = 500

// QueueEnds implements sqlstore.ConductDialect. It reads only ends that are news, as most
// tasks of a chunk may have ended long ago.
func (d database) QueueEnds(db sqlstore.DB, of []sqlstore.TaskSpan, into *sqlstore.EndRows) {
	var ranges []idRange
	var out []int64
	for _, span := range of {
		if span.Out == nil {
			ranges = append(ranges, idRange{span.First, span.Last})
		}
		out = append(out, span.Out...)
	}
	slices.Sort(out)
	ranges = slices.AppendSeq(ranges, spans(out))
	for chunk := range slices.Chunk(ranges, endRanges) {
		among := within(chunk)
		db.QueueEach(into.AddEnd, fill(d.Store.sql.Ends, "among", among))
		db.QueueEach(into.AddMemo, fill(d.Store.sql.Memos, "among", among))
	}
}
