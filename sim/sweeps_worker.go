package sim

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/sweep"
	"github.com/fairlead-io/fairlead/sweep/items"
)

// sweepKind is the kind of the items that workers record.
const sweepKind = "sim"

// Types of notes. Each is written before the event takes effect, with a separate system
// call, so that it survives the death of the process.
const (
	ItemBegun        int64 = iota // an item is about to be handled
	CheckpointSent                // a checkpoint is about to be sent
	CheckpointStored              // the checkpoint was stored
)

// note is a record in the file of a worker.
type note struct {
	What  int64
	Shard int64 // in notes on checkpoints
	Fence int64 // in notes on checkpoints
	Value int64 // index of an item, or mark of a checkpoint
	At    int64 // nanoseconds since 1970
}

// Note is a note with the worker that wrote it.
type Note struct {
	Process string
	note
}

// itemNotes is the file of a worker. Short appends are atomic.
type itemNotes struct{ file *os.File }

const notesSuffix = ".items"

func newItemNotes(dir, name string) (*itemNotes, error) {
	file, err := os.OpenFile(filepath.Join(dir, name+notesSuffix), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	return &itemNotes{file: file}, err
}

func (n *itemNotes) write(note note) error {
	note.At = time.Now().UnixNano()
	encoded, err := binary.Append(nil, binary.LittleEndian, note)
	if err != nil {
		return err
	}
	_, err = n.file.Write(encoded)
	return err
}

// readNotes reads the notes of all workers, ordered by time.
func readNotes(dir string) ([]Note, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*"+notesSuffix))
	if err != nil {
		return nil, err
	}
	var notes []Note
	for _, file := range files {
		name := filepath.Base(file)
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		for reader := bytes.NewReader(text); ; {
			n := Note{Process: strings.TrimSuffix(name, notesSuffix)}
			err := binary.Read(reader, binary.LittleEndian, &n.note)
			if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
				break
			}
			if err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
			notes = append(notes, n)
		}
	}
	slices.SortStableFunc(notes, func(a, b Note) int { return cmp.Compare(a.At, b.At) })
	return notes, nil
}

// handle registers the handler of items. Some items fail for good.
func (n *itemNotes) handle(mux *fairlead.Mux, store driver.Store) {
	options := items.Options{Logger: slog.New(slog.NewTextHandler(os.Stderr, nil))}
	items.Handle(mux, &notedStore{Store: store, notes: n}, sweepKind, options, func(_ context.Context, item items.Item[json.RawMessage]) error {
		if err := n.write(note{What: ItemBegun, Value: item.Index}); err != nil {
			return items.Stop(err)
		}
		if comesToNothing(item.Index) || string(item.Data) == failAtFirst && item.Index%3 == 0 {
			return items.Abandon(errors.New("it fails for good"))
		}
		return nil
	})
}

// comesToNothing reports whether an item fails for good.
func comesToNothing(index int64) bool { return index%1000 == 7 }

// notedStore records checkpoints.
type notedStore struct {
	driver.Store
	notes *itemNotes
}

// Checkpoint records a checkpoint before and after it is stored.
func (s *notedStore) Checkpoint(ctx context.Context, c sweep.Checkpoint) (sweep.Orders, error) {
	about := note{What: CheckpointSent, Shard: int64(c.Number), Fence: c.Fence, Value: c.Mark}
	if err := s.notes.write(about); err != nil {
		return sweep.Orders{}, err
	}
	orders, err := s.Store.Checkpoint(ctx, c)
	if err == nil {
		about.What = CheckpointStored
		err = s.notes.write(about)
	}
	return orders, err
}
