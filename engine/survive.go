package engine

import (
	"context"
	"sync"
	"time"

	"github.com/fairlead-io/fairlead"
)

// survivalMemory is for how long a process says of a life that it outlived it: as long as
// the store knows what was taken back from it.
const survivalMemory = time.Hour

// survivals are lives that ended with a lost lease, while their process lived, and of
// which the store does not know it yet.
type survivals struct {
	mu   sync.Mutex
	lost map[fairlead.NodeID]time.Time
}

func (s *survivals) add(node fairlead.NodeID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.lost == nil {
		s.lost = map[fairlead.NodeID]time.Time{}
	}
	s.lost[node] = time.Now()
}

// pending lists the lives that the store does not know of yet.
func (s *survivals) pending() []fairlead.NodeID {
	s.mu.Lock()
	defer s.mu.Unlock()
	var nodes []fairlead.NodeID
	for node, since := range s.lost {
		if time.Since(since) > survivalMemory {
			delete(s.lost, node)
			continue
		}
		nodes = append(nodes, node)
	}
	return nodes
}

func (s *survivals) told(node fairlead.NodeID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.lost, node)
}

// keepTelling says of lives that ended with a lost lease that it was no crash: of this
// one as soon as it has, so that those who take its jobs back know it, and of earlier
// ones of which it could not be said. Without a keeper, the server that relays the
// node's leave says so.
func (l *life) keepTelling(ctx context.Context) {
	if l.keeper == nil {
		return
	}
	l.telling.run(ctx, func(ctx context.Context) (time.Duration, error) {
		for _, node := range l.engine.survivals.pending() {
			if err := l.tellSurvival(ctx, node); err != nil {
				return 0, err
			}
		}
		return 0, nil
	})
}

func (l *life) tellSurvival(ctx context.Context, node fairlead.NodeID) error {
	ctx, cancel := context.WithTimeout(ctx, l.options.Lease)
	defer cancel()
	if err := l.keeper.Lived(ctx, node); err != nil {
		return err
	}
	l.engine.survivals.told(node)
	return nil
}

// survived notes that the life has lost its lease, but not its process.
func (l *life) survived() {
	l.engine.survivals.add(l.id)
	l.telling.poke()
}
