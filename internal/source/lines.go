package source

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"
)

// Options configures how lines are read. With the zero value nothing can be read: files
// require Roots, and URLs require Client.
type Options struct {
	Roots  []string     // directories below which files may be read
	Client *http.Client // for URLs; it restricts the addresses that may be called

	MaxLine int           // bytes in a line; default 64 KiB, at most 1 MiB
	Samples int           // number of offsets to store, regardless of the content's size; default 2048
	Timeout time.Duration // for one call or one block; default 30s

	// Save stores the state while the lines are counted for the first time, about every
	// SaveEvery (default 1s), so that counting does not start over after a crash.
	Save      func(ctx context.Context, state json.RawMessage) error
	SaveEvery time.Duration
}

func (o Options) withDefaults() (Options, error) {
	if o.MaxLine == 0 {
		o.MaxLine = 64 << 10
	}
	if o.Samples == 0 {
		o.Samples = 2048
	}
	if o.Timeout == 0 {
		o.Timeout = 30 * time.Second
	}
	if o.SaveEvery == 0 {
		o.SaveEvery = time.Second
	}
	switch {
	case o.MaxLine < 1 || o.MaxLine > 1<<20:
		return o, fmt.Errorf("source: max_line is %d; it must be between 1 and %d bytes", o.MaxLine, 1<<20)
	case o.Samples < 2 || o.Samples > 1<<16:
		return o, fmt.Errorf("source: samples is %d; it must be between 2 and %d", o.Samples, 1<<16)
	}
	return o, nil
}

// Lines is a source whose items are the lines of a file or of the document at a URL. An
// empty line is an item like any other. Lines end with LF or CRLF, which is not part of the
// item. The last line need not have a line ending.
//
// The first call of Bounds reads the whole content once and stores the offsets of a limited
// number of evenly spaced lines. Read starts at the nearest stored offset before the
// requested line.
type Lines struct {
	name    string
	options Options
	open    func() blob
	index   index
	checked bool      // the content is known to match the index
	cursors []*cursor // most recently used first
}

// maxCursors is the number of positions at which reading continues without seeking: the
// sweep's own, and those of retried items.
const maxCursors = 3

// Bounds returns the range of line numbers. It counts the lines unless the restored state
// already contains a complete count.
func (l *Lines) Bounds(ctx context.Context) (from, to int64, err error) {
	if err := l.check(ctx); err != nil {
		return 0, 0, err
	}
	if !l.index.Complete {
		if err := l.count(ctx); err != nil {
			return 0, 0, err
		}
	}
	return 0, l.index.Lines, nil
}

// check compares the identity of the content with that of the index. Later reads detect
// changes in each response.
func (l *Lines) check(ctx context.Context) error {
	if l.checked {
		return nil
	}
	b := l.open()
	defer b.close()
	now, err := b.identify(ctx)
	if err != nil {
		return fmt.Errorf("read %s: %w", l.name, err)
	}
	if l.index.Identity == nil {
		l.index = index{Identity: &now, Every: 1}
	} else if err := l.index.Identity.mustBe(now); err != nil {
		return fmt.Errorf("read %s: %w", l.name, err)
	}
	l.checked = true
	return nil
}

// Read fills items with the first lines of [from, to). Bounds must have been called.
func (l *Lines) Read(ctx context.Context, from, to int64, items []Item) (n int, next int64, err error) {
	if err := l.check(ctx); err != nil {
		return 0, from, err
	}
	if !l.index.Complete {
		return 0, from, fmt.Errorf("read %s: the lines have not been counted yet; call Bounds first", l.name)
	}
	to = min(to, l.index.Lines)
	if from < 0 || from >= to || len(items) == 0 {
		return 0, max(from, 0), nil
	}
	items = items[:min(int64(len(items)), to-from)]
	c := l.cursorAt(from)
	if err := l.fill(ctx, c, from, items); err != nil {
		l.drop(c)
		if errors.Is(err, io.EOF) {
			err = fmt.Errorf("the file ends before line %d, but had %d lines when the sweep started: %w; restore the file or start a new sweep", from+int64(len(items)), l.index.Lines, ErrChanged)
		}
		return 0, from, fmt.Errorf("read %s: %w", l.name, err)
	}
	return len(items), from + int64(len(items)), nil
}

// fill copies the lines into one allocation.
func (l *Lines) fill(ctx context.Context, c *cursor, from int64, items []Item) error {
	for c.line < from {
		if _, err := c.next(ctx); err != nil {
			return err
		}
	}
	ends := make([]int, len(items))
	all := make([]byte, 0, 32*len(items))
	for i := range items {
		line, err := c.next(ctx)
		if err != nil {
			return err
		}
		all = append(all, line...)
		ends[i] = len(all)
	}
	start := 0
	for i, end := range ends {
		items[i] = Item{Index: from + int64(i), Data: all[start:end:end]}
		start = end
	}
	return nil
}

// cursorAt returns a cursor at the line. It reuses a cursor that is closer to the line than
// the nearest sample or has already read up to that sample. Otherwise, it creates a cursor
// at the sample.
func (l *Lines) cursorAt(line int64) *cursor {
	sample, offset := l.index.before(line)
	best := -1
	for i, c := range l.cursors {
		if c.line <= line && (c.line >= sample || c.offset > offset) && (best < 0 || c.line > l.cursors[best].line) {
			best = i
		}
	}
	var c *cursor
	if best >= 0 {
		c = l.cursors[best]
		l.cursors = append(l.cursors[:best], l.cursors[best+1:]...)
	} else {
		if len(l.cursors) == maxCursors {
			l.drop(l.cursors[maxCursors-1])
		}
		b := l.open()
		b.expect(*l.index.Identity)
		c = &cursor{blob: b, maxLine: l.options.MaxLine, block: b.blockSize(), offset: offset, line: sample}
	}
	l.cursors = append([]*cursor{c}, l.cursors...)
	return c
}

func (l *Lines) drop(c *cursor) {
	c.blob.close()
	for i := range l.cursors {
		if l.cursors[i] == c {
			l.cursors = append(l.cursors[:i], l.cursors[i+1:]...)
			return
		}
	}
}

// Close closes open files and HTTP responses.
func (l *Lines) Close() error {
	for len(l.cursors) > 0 {
		l.drop(l.cursors[0])
	}
	return nil
}

// cursor reads consecutive lines.
type cursor struct {
	blob    blob
	maxLine int
	block   int

	line   int64  // number of the next line
	offset int64  // offset after the buffer
	memory []byte // memory that contains the buffer
	buffer []byte // data read and not yet returned
	ended  bool   // the buffer contains the last data
}

// next returns the next line without its line end. The line is valid until the next call.
func (c *cursor) next(ctx context.Context) ([]byte, error) {
	searched := 0
	for {
		if at := bytes.IndexByte(c.buffer[searched:], '\n'); at >= 0 {
			line := c.buffer[:searched+at]
			c.buffer = c.buffer[searched+at+1:]
			c.line++
			return withoutCR(line), nil
		}
		searched = len(c.buffer)
		if searched > c.maxLine+1 { // the extra byte is a CR
			return nil, tooLong(c.line, c.maxLine)
		}
		if c.ended {
			if searched == 0 {
				return nil, io.EOF
			}
			line := c.buffer
			c.buffer = nil
			c.line++
			return withoutCR(line), nil
		}
		if err := c.more(ctx); err != nil {
			return nil, err
		}
	}
}

// more reads the next block and appends it to the rest of the buffer.
func (c *cursor) more(ctx context.Context) error {
	if need := c.block + c.maxLine + 2; cap(c.memory) < need {
		c.memory = make([]byte, need)
	}
	left := copy(c.memory, c.buffer)
	n, err := c.blob.readAt(ctx, c.memory[left:left+c.block], c.offset)
	c.buffer = c.memory[:left+n]
	c.offset += int64(n)
	if errors.Is(err, io.EOF) {
		c.ended = true
		return nil
	}
	return err
}

func withoutCR(line []byte) []byte { return bytes.TrimSuffix(line, []byte{'\r'}) }

func tooLong(line int64, most int) error {
	return fmt.Errorf("line %d (counted from 0) is longer than %d bytes; shorten it, or raise max_line", line, most)
}
