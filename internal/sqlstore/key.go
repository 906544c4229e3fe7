package sqlstore

import (
	"bytes"
	"fmt"
	"strconv"

	"github.com/fairlead-io/fairlead/internal/dispatch"
)

// ParseKey parses a ready job's key from a text column, which contains turn, start_by and id,
// separated by spaces.
func ParseKey(text []byte) (dispatch.Key, error) {
	turn, rest, _ := bytes.Cut(text, []byte{' '})
	startBy, id, _ := bytes.Cut(rest, []byte{' '})
	var numbers [3]int64
	for i, digits := range [...][]byte{turn, startBy, id} {
		n, err := strconv.ParseInt(string(digits), 10, 64)
		if err != nil {
			return dispatch.Key{}, fmt.Errorf("read key %q of a ready job: %w", text, err)
		}
		numbers[i] = n
	}
	return dispatch.Key{Turn: int16(numbers[0]), StartBy: numbers[1], ID: numbers[2]}, nil
}
