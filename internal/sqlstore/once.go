package sqlstore

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/fairlead-io/fairlead"
)

// Answered is what is remembered of a request that counts once.
type Answered struct {
	Request []byte // its hash
	IDs     []byte // of its jobs, as JSON
}

// JobIDs are the jobs of the same request, sent again. It fails with ErrConflict
// if that is another request.
func (a Answered) JobIDs(once fairlead.Once, jobs int) ([]int64, error) {
	if !bytes.Equal(a.Request, once.Request[:]) {
		return nil, onceTaken(once)
	}
	var ids []int64
	if err := json.Unmarshal(a.IDs, &ids); err != nil {
		return nil, fmt.Errorf("jobs of the request %q: %w", once.Key, err)
	}
	if len(ids) != jobs {
		return nil, onceTaken(once)
	}
	return ids, nil
}

func onceTaken(once fairlead.Once) error {
	return fmt.Errorf("the idempotency key %q was used for another request; choose a new one: %w", once.Key, fairlead.ErrConflict)
}

// EncodeIDs is ids as JSON.
func EncodeIDs(ids []int64) []byte {
	text, err := json.Marshal(ids)
	if err != nil {
		panic(err) // numbers always encode
	}
	return text
}
