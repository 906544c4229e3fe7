package postgres

import (
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
)

// neighbours is what a claim has to know of other nodes: to jobs that only they
// can run it leaves what limits entitle these to.
type neighbours struct {
	nodes []fairlead.Node
	now   time.Time
}

func (n *neighbours) calls(sql *statements) []call {
	var micros int64
	return []call{
		nodesCall(sql, &n.nodes),
		{sql: sql.Now, each: func(row sqlstore.Scanner) error {
			err := row.Scan(&micros)
			n.now = sqlstore.Time(micros)
			return err
		}},
	}
}

// befriend leaves out those of the strange lanes whose jobs nobody can run now.
func (l *limitedClaim) befriend(n *neighbours) {
	strangers := sqlstore.NewStrangers(l.claim.Node, l.claim.Scope, n.nodes, n.now)
	kept := l.line[:0]
	for _, c := range l.line {
		if c.open.strange {
			key, _ := l.Store.lanes.Key(c.open.id)
			if c.others = strangers.Of(key); c.others == nil {
				continue
			}
		}
		kept = append(kept, c)
	}
	l.line = kept
}
