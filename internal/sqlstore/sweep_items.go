package sqlstore

import (
	"context"
	"encoding/json"
	"fmt"
)

// A list of items stored with its sweep is split into chunks, each stored under the index
// of its first item, so that a run reads a limited number of items at a time.
const (
	listChunkItems = 1000
	listChunkBytes = 256 << 10
)

// listChunk is a part of a list, as JSON.
type listChunk struct {
	first int64
	items []byte
}

// listChunks splits a list into chunks.
func listChunks(items []string) ([]listChunk, error) {
	var chunks []listChunk
	first, bytes := 0, 0
	for i := range items {
		bytes += len(items[i])
		if last := i == len(items)-1; !last && i-first+1 < listChunkItems && bytes < listChunkBytes {
			continue
		}
		raw, err := json.Marshal(items[first : i+1])
		if err != nil {
			return nil, fmt.Errorf("encode items: %w", err)
		}
		chunks = append(chunks, listChunk{first: int64(first), items: raw})
		first, bytes = i+1, 0
	}
	return chunks, nil
}

// putItems queues the statements that replace the list of a sweep. Each chunk is a separate
// statement, because together they may be megabytes.
func (s *sweepStore) putItems(db DB, sweep int64, chunks []listChunk) {
	db.Queue(s.sql.DropSweepItems, sweep)
	for _, c := range chunks {
		db.Queue(s.sql.AddSweepItems, sweep, c.first, JSON(c.items))
	}
}

// SweepItems returns items of a sweep's list.
func (s *sweepStore) SweepItems(ctx context.Context, sweep, from int64) ([]string, error) {
	found, err := readList(ctx, s.db.Read, "sweep items", scanListChunk, s.sql.SweepItems, sweep, from)
	if err != nil || len(found) == 0 {
		return nil, err
	}
	var items []string
	if err := json.Unmarshal(found[0].items, &items); err != nil {
		return nil, fmt.Errorf("items of sweep %d: %w", sweep, err)
	}
	skip := from - found[0].first
	if skip < 0 || skip >= int64(len(items)) {
		return nil, nil
	}
	return items[skip:], nil
}

func scanListChunk(row Scanner) (c listChunk, err error) {
	err = row.Scan(&c.first, &c.items)
	return c, err
}
