package source

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"
)

// index is the state of Lines: the identity of its content, the progress of counting, and
// samples of line offsets.
type index struct {
	Identity *identity `json:"identity"`
	Lines    int64     `json:"lines"`  // lines that end before Offset
	Offset   int64     `json:"offset"` // offset of the next line
	Complete bool      `json:"complete,omitempty"`
	Every    int64     `json:"every"`   // sample j is line j × Every
	Samples  samples   `json:"samples"` // at most Options.Samples
}

// samples are ascending offsets. Their JSON form contains the differences as varints in
// base64, a few bytes each.
type samples []int64

// MarshalJSON encodes the offsets.
func (s samples) MarshalJSON() ([]byte, error) {
	packed, last := []byte{}, int64(0)
	for _, offset := range s {
		packed = binary.AppendUvarint(packed, uint64(offset-last))
		last = offset
	}
	return json.Marshal(packed)
}

// UnmarshalJSON decodes the offsets. It fails if they do not ascend.
func (s *samples) UnmarshalJSON(text []byte) error {
	var packed []byte
	if err := json.Unmarshal(text, &packed); err != nil {
		return err
	}
	*s = nil
	for last := int64(0); len(packed) > 0; {
		step, size := binary.Uvarint(packed)
		if size <= 0 || step > 1<<62 || last+int64(step) < last {
			return errors.New("the line offset samples are corrupt")
		}
		last += int64(step)
		*s, packed = append(*s, last), packed[size:]
	}
	return nil
}

// before returns the last sample at or before a line.
func (x *index) before(line int64) (sample, offset int64) {
	if len(x.Samples) == 0 {
		return 0, 0
	}
	at := min(line/x.Every, int64(len(x.Samples))-1)
	return at * x.Every, x.Samples[at]
}

// begin records the offset of the next line. When there are too many samples, it drops
// every other one.
func (x *index) begin(offset int64, most int) {
	if x.Lines%x.Every == 0 {
		if len(x.Samples) == most {
			kept := x.Samples[:0]
			for i := 0; i < most; i += 2 {
				kept = append(kept, x.Samples[i])
			}
			x.Samples = kept
			x.Every *= 2
		}
		if x.Lines%x.Every == 0 {
			x.Samples = append(x.Samples, offset)
		}
	}
	x.Lines++
}

// State returns the index of the lines counted so far, as JSON.
func (l *Lines) State() (json.RawMessage, error) {
	if l.index.Identity == nil {
		return nil, nil
	}
	return json.Marshal(l.index)
}

// Restore sets the index from the state of a partial or complete count. Reading detects
// whether the content has changed since then.
func (l *Lines) Restore(state json.RawMessage) error {
	if len(state) == 0 {
		return nil
	}
	var x index
	if err := json.Unmarshal(state, &x); err != nil {
		return fmt.Errorf("restore %s: %w", l.name, err)
	}
	if x.Identity == nil || x.Every < 1 || x.Lines < 0 || x.Offset < 0 ||
		x.Lines > 0 && int64(len(x.Samples)) != (x.Lines-1)/x.Every+1 || x.Lines == 0 && len(x.Samples) > 0 {
		return fmt.Errorf("restore %s: the state is corrupt; delete it to count the lines again", l.name)
	}
	l.index, l.checked = x, false
	return l.Close()
}

// count continues at the end of the index, block by block, and saves the state from time to
// time.
func (l *Lines) count(ctx context.Context) error {
	b := l.open()
	defer b.close()
	b.expect(*l.index.Identity)
	c := counter{index: &l.index, most: l.options.Samples, maxLine: l.options.MaxLine, start: l.index.Offset}
	block := make([]byte, max(b.blockSize(), countBlock))
	saved := time.Now()
	for offset := l.index.Offset; ; {
		n, err := b.readAt(ctx, block, offset)
		offset += int64(n)
		if counted := c.add(block[:n]); counted != nil {
			return fmt.Errorf("read %s: %w", l.name, counted)
		}
		if errors.Is(err, io.EOF) {
			if err := c.end(offset); err != nil {
				return fmt.Errorf("read %s: %w", l.name, err)
			}
			l.index.Complete = true
			l.index.Identity.Size = offset // the server may not have reported it
			return l.save(ctx)
		}
		if err != nil {
			return fmt.Errorf("read %s: %w", l.name, err)
		}
		if time.Since(saved) >= l.options.SaveEvery {
			if err := l.save(ctx); err != nil {
				return err
			}
			saved = time.Now()
		}
	}
}

// countBlock is the size of a read while all lines are counted.
const countBlock = 4 << 20

func (l *Lines) save(ctx context.Context) error {
	if l.options.Save == nil {
		return nil
	}
	state, err := l.State()
	if err != nil {
		return err
	}
	if err := l.options.Save(ctx, state); err != nil {
		return fmt.Errorf("store the state of %s: %w", l.name, err)
	}
	return nil
}

// counter finds the offsets of lines. It records a line when it has seen the line's end, so
// that the index is always at the start of a line.
type counter struct {
	index   *index
	most    int
	maxLine int
	start   int64 // offset of the line whose end was not seen yet
	length  int64 // length of that line so far
}

func (c *counter) add(block []byte) error {
	for {
		at := bytes.IndexByte(block, '\n')
		if at < 0 {
			c.length += int64(len(block))
			return c.bound(c.length, 0)
		}
		length := c.length + int64(at)
		cr := byte(0)
		if at > 0 {
			cr = block[at-1]
		}
		if err := c.bound(length, cr); err != nil {
			return err
		}
		c.index.begin(c.start, c.most)
		c.start += length + 1
		c.index.Offset = c.start
		c.length, block = 0, block[at+1:]
	}
}

// bound returns an error if a line is too long. It allows one extra byte, which may be the
// CR of a line end not seen completely.
func (c *counter) bound(length int64, last byte) error {
	allowed := int64(c.maxLine) + 1
	if last != 0 && last != '\r' {
		allowed--
	}
	if length > allowed {
		return tooLong(c.index.Lines, c.maxLine)
	}
	return nil
}

// end records a last line without a line end.
func (c *counter) end(size int64) error {
	if c.length > 0 {
		if err := c.bound(c.length, 'x'); err != nil {
			return err
		}
		c.index.begin(c.start, c.most)
		c.index.Offset = size
	}
	return nil
}
