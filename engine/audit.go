package engine

import (
	"context"
	"time"

	"github.com/fairlead-io/fairlead"
)

// keepAuditing releases jobs that are leased to this node without its
// knowledge: those of a claim whose answer was lost. No node would ever reap
// them, because this one lives. It looks once per lease, and after every claim
// that failed.
func (l *life) keepAuditing(ctx context.Context) {
	l.audits.run(ctx, func(ctx context.Context) (time.Duration, error) { return 0, l.releaseStrays(ctx) })
}

// releaseStraysOnce is for a node that ends. It does not wait long for the
// answer: when the node has left, others take the jobs back.
func (l *life) releaseStraysOnce(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, l.options.Beat)
	defer cancel()
	if err := l.releaseStrays(ctx); err != nil {
		l.log.Warn("audit of leases failed", "error", err)
	}
}

func (l *life) releaseStrays(ctx context.Context) error {
	strays, err := l.strays(ctx)
	if err != nil || len(strays) == 0 {
		return err
	}
	l.log.Warn("releasing jobs of a claim whose answer was lost", "jobs", len(strays))
	_, err = l.store.Settle(ctx, strays)
	return err
}

// strays are the unknown leases. While it looks no claim is under way, so that
// every lease it sees was known before it looked, or is stray. What is known
// only needs to be asked before: a run that is settled while it looks is
// forgotten at once, and the store may still have shown its lease.
func (l *life) strays(ctx context.Context) ([]fairlead.Settlement, error) {
	defer l.claiming.exclude()()
	known := l.registry.known()
	held, err := l.store.Held(ctx, l.id)
	if err != nil {
		return nil, err
	}
	var strays []fairlead.Settlement
	for _, h := range held {
		if !known[h] {
			strays = append(strays, fairlead.Settlement{ID: h.ID, Fence: h.Fence, Move: fairlead.MoveRelease, Unstarted: true})
		}
	}
	return strays, nil
}

// keepYielding ends runs whose lease was taken away, as by a run that replaces
// them: their end would be refused, so that they need not go on. It looks once per
// lease, and when a caller asks for a job to stop.
func (l *life) keepYielding(ctx context.Context) {
	l.yields.run(ctx, func(ctx context.Context) (time.Duration, error) {
		known := l.registry.known()
		if len(known) == 0 {
			return 0, nil
		}
		held, err := l.store.Held(ctx, l.id)
		if err != nil {
			return 0, err
		}
		for _, h := range held {
			delete(known, h)
		}
		for h := range known { // or it was settled meanwhile: then it has ended
			l.registry.end(h, errFenced)
		}
		return 0, nil
	})
}
