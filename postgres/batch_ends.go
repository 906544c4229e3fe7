package postgres

import "github.com/fairlead-io/fairlead/internal/sqlstore"

// QueueEnds implements sqlstore.ConductDialect. If most tasks of a chunk have not been counted,
// it reads all ends of the chunk's range. Otherwise, it looks up the other tasks one by one.
func (d database) QueueEnds(db sqlstore.DB, spans []sqlstore.TaskSpan, into *sqlstore.EndRows) {
	sql := &d.Store.sql
	var firsts, lasts, ids sqlstore.List[int64]
	for _, span := range spans {
		if span.Out == nil || 2*int64(len(span.Out)) > span.Last-span.First {
			firsts, lasts = append(firsts, span.First), append(lasts, span.Last)
		} else {
			ids = append(ids, span.Out...)
		}
	}
	if len(firsts) > 0 {
		db.QueueEach(into.AddEnd, sql.EndsBetween, firsts, lasts)
		db.QueueEach(into.AddMemo, sql.MemosBetween, firsts, lasts)
	}
	if len(ids) > 0 {
		db.QueueEach(into.AddEnd, sql.EndsOf, ids)
		db.QueueEach(into.AddMemo, sql.MemosOf, ids)
	}
}
