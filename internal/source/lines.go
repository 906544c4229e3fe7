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

// Options are how lines are read. The zero value reads nothing: files need
// Roots, URLs a Client.
type Options struct {
	Roots  []string     // directories below which files may be read
	Client *http.Client // for URLs; it guards which addresses are called

	MaxLine int           // bytes in a line; default 64 KiB, at most 1 MiB
	Samples int           // offsets that are kept, whatever the size; default 2048
	Timeout time.Duration // of one call or one block; default 30s

	// Save keeps the state while the lines are counted for the first time, about
	// every SaveEvery (default 1s), so that a crash does not begin again.
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

// Lines is the lines of a file or URL. An empty line is an item like any
// other; the end of the last line may be missing; line ends are LF or CRLF and
// no part of the item.
//
// The first Bounds reads all of it once and keeps the offsets of a bounded
// number of lines, evenly spread. Read begins at the nearest offset before.
type Lines struct {
	name    string
	options Options
	open    func() blob
	index   index
	checked bool      // the content is known to be what the index describes
	cursors []*cursor // most recently used first
}

// maxCursors is how many places are read from without seeking: the sweep's
// own, and those of items that are tried again.
const maxCursors = 3

// Bounds counts the lines, unless the state has them already.
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

// check compares the content with what the index was made of. Later reads
// notice changes in each answer.
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

// Read returns lines.
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

// fill copies the lines into one piece of memory.
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

// cursorAt finds a cursor that is at the line or less far before it than the
// nearest sample, or that has read up to that sample already, else it makes one
// there.
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

// Close closes files and answers that are being read.
func (l *Lines) Close() error {
	for len(l.cursors) > 0 {
		l.drop(l.cursors[0])
	}
	return nil
}

// cursor reads line after line.
type cursor struct {
	blob    blob
	maxLine int
	block   int

	line   int64  // the number of the next line
	offset int64  // where what follows the buffer begins
	memory []byte // what the buffer is part of
	buffer []byte // read and not yet returned
	ended  bool   // nothing follows the buffer
}

// next returns the next line without its end. It is valid until the next call.
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
		if searched > c.maxLine+1 { // the one is a CR
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

// more reads the next block behind what is left of the buffer.
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
