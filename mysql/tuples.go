package mysql

import (
	"encoding/hex"
	"iter"
	"slices"
	"strconv"
	"strings"
)

// tuples holds tuples of values as SQL text, for statements about many jobs.
//
// Values are written as numbers and hexadecimal literals. These mean the same in every
// session, whereas the quoting of text depends on sql_mode and character set, and the
// session of a caller's transaction can have any.
type tuples struct {
	json bool     // tuples are JSON arrays, for json_table; bytes are hexadecimal text
	full [][]byte // chunks that are large enough
	text []byte
	open bool // the last tuple has no value yet
}

const (
	// chunkBytes is how long a list grows before the next statement begins: long enough
	// that the statement itself costs little, well below the default of
	// max_allowed_packet.
	chunkBytes = 1 << 20
	// chunkIDs is how many ids one statement names: few enough that the optimizer plans
	// them as ranges of the index.
	chunkIDs = 1000
	// chunkTuples is the same for keys of several columns.
	chunkTuples = 500
)

// add begins a tuple.
func (r *tuples) add() *tuples {
	if len(r.text) >= chunkBytes {
		r.full, r.text = append(r.full, r.text), nil
	}
	if len(r.text) > 0 {
		r.text = append(r.text, ',')
	}
	bracket := byte('(')
	if r.json {
		bracket = '['
	}
	r.text, r.open = append(r.text, bracket), true
	return r
}

// end completes a tuple.
func (r *tuples) end() {
	bracket := byte(')')
	if r.json {
		bracket = ']'
	}
	r.text = append(r.text, bracket)
}

func (r *tuples) comma() {
	if !r.open {
		r.text = append(r.text, ',')
	}
	r.open = false
}

func (r *tuples) int(v int64) *tuples {
	r.comma()
	r.text = strconv.AppendInt(r.text, v, 10)
	return r
}

// orNull adds a number; 0 is null.
func (r *tuples) orNull(v int64) *tuples {
	if v == 0 {
		return r.blob(nil)
	}
	return r.int(v)
}

// bool adds a truth value as a number.
func (r *tuples) bool(v bool) *tuples {
	if v {
		return r.int(1)
	}
	return r.int(0)
}

// ints adds several values at once.
func (r *tuples) ints(values ...int64) *tuples {
	for _, v := range values {
		r.int(v)
	}
	return r
}

// instant adds a time in microseconds; 0 is the clock of a bundle.
func (r *tuples) instant(us int64) *tuples {
	if us != 0 {
		return r.int(us)
	}
	r.comma()
	r.text = append(r.text, bundleClock...)
	return r
}

func (r *tuples) float(v float64) *tuples {
	r.comma()
	r.text = strconv.AppendFloat(r.text, v, 'g', -1, 64)
	return r
}

// blob adds bytes; none are null.
func (r *tuples) blob(v []byte) *tuples {
	r.comma()
	switch {
	case len(v) == 0:
		r.text = append(r.text, "null"...)
	case r.json:
		r.text = append(r.text, '"')
		r.text = hex.AppendEncode(r.text, v)
		r.text = append(r.text, '"')
	default:
		r.text = append(r.text, "x'"...)
		r.text = hex.AppendEncode(r.text, v)
		r.text = append(r.text, '\'')
	}
	return r
}

// str adds a text; an empty one is not null.
func (r *tuples) str(v string) *tuples {
	if v == "" {
		r.comma()
		r.text = append(r.text, "x''"...)
		return r
	}
	return r.blob([]byte(v))
}

// chunks returns the lists that fit into one statement each.
func (r *tuples) chunks() iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, text := range r.full {
			if !yield(string(text)) {
				return
			}
		}
		if len(r.text) > 0 {
			yield(string(r.text))
		}
	}
}

// idChunks returns the lists of ids that fit into one statement each.
func idChunks(ids []int64) iter.Seq[string] {
	return func(yield func(string) bool) {
		for chunk := range slices.Chunk(ids, chunkIDs) {
			if !yield(idList(chunk)) {
				return
			}
		}
	}
}

func idList(ids []int64) string {
	var text []byte
	for i, id := range ids {
		if i > 0 {
			text = append(text, ',')
		}
		text = strconv.AppendInt(text, id, 10)
	}
	return string(text)
}

// fill puts texts into the slots of a statement. slots alternates names and texts.
func fill(statement string, slots ...string) string {
	for i := 0; i < len(slots); i += 2 {
		statement = strings.ReplaceAll(statement, "{{"+slots[i]+"}}", slots[i+1])
	}
	return statement
}

// literal returns a text as a literal that means the same in every session.
func literal(text string) string { return "x'" + hex.EncodeToString([]byte(text)) + "'" }

func decimal[T ~int | ~int32 | ~int64](n T) string { return strconv.FormatInt(int64(n), 10) }
