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

// index is the state of Lines: what it was made of, how far it has come, and
// samples of where lines begin.
type index struct {
	Identity *identity `json:"identity"`
	Lines    int64     `json:"lines"`  // whose ends are before Offset
	Offset   int64     `json:"offset"` // where the next line begins
	Complete bool      `json:"complete,omitempty"`
	Every    int64     `json:"every"`   // sample j is the line j × Every
	Samples  samples   `json:"samples"` // never more than Options.Samples
}

// samples are offsets that grow. As JSON they are the differences, as varints in
// base64: a few bytes each.
type samples []int64

// MarshalJSON packs the offsets.
func (s samples) MarshalJSON() ([]byte, error) {
	packed, last := []byte{}, int64(0)
	for _, offset := range s {
		packed = binary.AppendUvarint(packed, uint64(offset-last))
		last = offset
	}
	return json.Marshal(packed)
}

// UnmarshalJSON unpacks them. It fails if they do not grow.
func (s *samples) UnmarshalJSON(text []byte) error {
	var packed []byte
	if err := json.Unmarshal(text, &packed); err != nil {
		return err
	}
	*s = nil
	for last := int64(0); len(packed) > 0; {
		step, size := binary.Uvarint(packed)
		if size <= 0 || step > 1<<62 || last+int64(step) < last {
			return errors.New("samples of line offsets are damaged")
		}
		last += int64(step)
		*s, packed = append(*s, last), packed[size:]
	}
	return nil
}

// before is the last sample at or before a line.
func (x *index) before(line int64) (sample, offset int64) {
	if len(x.Samples) == 0 {
		return 0, 0
	}
	at := min(line/x.Every, int64(len(x.Samples))-1)
	return at * x.Every, x.Samples[at]
}

// begin notes where the next line begins. When there are too many
// samples every other one goes.
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

// State describes what was counted.
func (l *Lines) State() (json.RawMessage, error) {
	if l.index.Identity == nil {
		return nil, nil
	}
	return json.Marshal(l.index)
}

// Restore takes up where counting was, or the whole count. Whether the content
// is still the same is found when it is read.
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
		return fmt.Errorf("restore %s: the state is damaged; delete it to count the lines again", l.name)
	}
	l.index, l.checked = x, false
	return l.Close()
}

// count reads on from where the index is, block by block, and keeps the state
// now and then.
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
			l.index.Identity.Size = offset // the server may not have said
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

// countBlock is how much is read at once while everything is.
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

// counter finds where lines begin. A line is noted when its end was seen, so
// that the index is always at the start of a line.
type counter struct {
	index   *index
	most    int
	maxLine int
	start   int64 // of the line whose end was not seen
	length  int64 // of it, so far
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

// bound allows one byte more, which may be the CR of an end that was not seen.
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

// end notes a last line without an end.
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
