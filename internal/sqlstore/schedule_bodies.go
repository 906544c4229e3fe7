package sqlstore

import (
	"sync"

	"github.com/fairlead-io/fairlead/schedule"
)

// mostBodies is the maximum number of cached schedule bodies.
const mostBodies = 10_000

// ScheduleBodies caches decoded schedule bodies. For a schedule that is due every few seconds,
// decoding the body costs more than all other work. A cached body is used only if it equals
// the stored one byte for byte, so replacing a schedule or the database needs no invalidation.
// The returned schedules are shared and must not be modified. The zero value is an empty
// cache.
type ScheduleBodies struct {
	mu   sync.Mutex
	byID map[int64]rememberedBody
}

type rememberedBody struct {
	text string
	says *schedule.Schedule
}

// read decodes a body, from the cache if possible. A nil receiver always decodes.
func (b *ScheduleBodies) read(id int64, body []byte) (schedule.Schedule, error) {
	if b != nil {
		b.mu.Lock()
		known := b.byID[id]
		b.mu.Unlock()
		if known.says != nil && known.text == string(body) {
			return *known.says, nil
		}
	}
	var says schedule.Schedule
	if err := decodeSchedule(body, &says); err != nil || b == nil {
		return says, err
	}
	b.remember(id, rememberedBody{string(body), &says})
	return says, nil
}

// remember caches a body. If the cache is full, it is emptied first.
func (b *ScheduleBodies) remember(id int64, body rememberedBody) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.byID == nil || len(b.byID) >= mostBodies {
		b.byID = map[int64]rememberedBody{}
	}
	b.byID[id] = body
}
