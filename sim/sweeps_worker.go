package sim

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/sweep"
)

// sweepKind is the kind of the items that workers note.
const sweepKind = "sim"

// Notes of what happens to items. Each is written before it counts, with a call of the
// system of its own: what a process has written survives its death.
const (
	noteHandled int64 = iota // an item is about to be done
	noteSent                 // a checkpoint is about to be sent
	noteStored               // it was stored
)

// note is one of them.
type note struct {
	What  int64
	Shard int64 // of checkpoints
	Fence int64 // of checkpoints
	Value int64 // the index of an item, the mark of a checkpoint
	At    int64 // nanoseconds since 1970
}

// itemNotes is the file of a worker. Short appends are whole or not there.
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

// handle registers the handler of items. Some come to nothing.
func (n *itemNotes) handle(mux *fairlead.Mux, store fairlead.Store) {
	options := sweep.Options{Logger: slog.New(slog.NewTextHandler(os.Stderr, nil))}
	sweep.Handle(mux, &notedStore{Store: store, notes: n}, sweepKind, options, func(_ context.Context, item sweep.Item[json.RawMessage]) error {
		if err := n.write(note{What: noteHandled, Value: item.Index}); err != nil {
			return sweep.Stop(err)
		}
		if comesToNothing(item.Index) || string(item.Data) == failAtFirst && item.Index%3 == 0 {
			return sweep.Abandon(errors.New("it comes to nothing"))
		}
		return nil
	})
}

// comesToNothing tells of which items nothing comes.
func comesToNothing(index int64) bool { return index%1000 == 7 }

// notedStore notes checkpoints.
type notedStore struct {
	fairlead.Store
	notes *itemNotes
}

// Checkpoint notes a checkpoint before and after it is stored.
func (s *notedStore) Checkpoint(ctx context.Context, c fairlead.Checkpoint) (fairlead.Orders, error) {
	about := note{What: noteSent, Shard: int64(c.Number), Fence: c.Fence, Value: c.Mark}
	if err := s.notes.write(about); err != nil {
		return fairlead.Orders{}, err
	}
	orders, err := s.Store.Checkpoint(ctx, c)
	if err == nil {
		about.What = noteStored
		err = s.notes.write(about)
	}
	return orders, err
}
