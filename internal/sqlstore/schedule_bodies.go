package sqlstore

import (
	"sync"

	"github.com/fairlead-io/fairlead/schedule"
)

// mostBodies is how many bodies of schedules a process remembers.
const mostBodies = 10_000

// ScheduleBodies remembers what bodies of schedules say, as reading a body costs more than
// all else about a schedule that is due every few seconds. A body is believed only if it
// is the stored one, byte for byte: nothing has to be forgotten when a schedule, or the
// database, is another one. What it returns is shared: it is only read. The zero value
// remembers nothing yet.
type ScheduleBodies struct {
	mu   sync.Mutex
	byID map[int64]rememberedBody
}

type rememberedBody struct {
	text string
	says *schedule.Schedule
}

// read returns what a body says. A nil receiver reads it.
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

// remember keeps a body. If there are too many, it begins anew.
func (b *ScheduleBodies) remember(id int64, body rememberedBody) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.byID == nil || len(b.byID) >= mostBodies {
		b.byID = map[int64]rememberedBody{}
	}
	b.byID[id] = body
}
