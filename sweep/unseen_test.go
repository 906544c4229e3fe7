package sweep_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/fairlead-io/fairlead/internal/testdb"
	"github.com/fairlead-io/fairlead/sweep"
)

func TestAShardWhoseJobIsMissingIsGoneOverByAnother(t *testing.T) {
	s := newScrubbing(t)
	sw := s.start(s.put(inShards(2)))
	runs := s.claim(2)
	s.checkpoint(runs[0], 300, 0, false)
	testdb.Lose(t, s.store, runs[0].ID)
	s.wantState(s.look(sw), sweep.Running)
	next := s.claim(2)
	if len(next) != 1 || next[0].Shard != runs[0].Shard || next[0].ID == runs[0].ID {
		t.Fatalf("what was claimed then: %v", next)
	}
	shards, err := s.store.Shards(t.Context(), sw.ID)
	s.ok(err)
	if shards[next[0].Shard].Mark != 300 {
		t.Errorf("the shard goes on at %d, want 300", shards[next[0].Shard].Mark)
	}
	events, err := s.store.SweepEvents(t.Context(), sweep.EventFilter{Sweep: sw.ID, Limit: 1})
	s.ok(err)
	if !strings.Contains(events[0].Note, fmt.Sprint("job ", runs[0].ID)) {
		t.Errorf("the history says %q", events[0].Note)
	}
	s.checkpoint(next[0], 500, 0, true)
	s.checkpoint(runs[1], 500, 0, true)
	s.end(next[0], runs[1])
	s.wantState(s.look(sw), sweep.Finished)
}

func TestTheHistoryNamesSomeOfManyJobsThatAreMissing(t *testing.T) {
	s := newScrubbing(t)
	const many = 22
	sw := s.start(s.put(inShards(many), func(w *sweep.Sweep) { w.InFlight = many }))
	for _, run := range s.claim(many) {
		testdb.Lose(t, s.store, run.ID)
	}
	s.wantState(s.look(sw), sweep.Running)
	if again := len(s.claim(2 * many)); again != many {
		t.Errorf("%d jobs were made again, want %d", again, many)
	}
	events, err := s.store.SweepEvents(t.Context(), sweep.EventFilter{Sweep: sw.ID, Limit: 1})
	s.ok(err)
	if note := events[0].Note; strings.Count(note, "which went over shard") != 20 || !strings.HasSuffix(note, " and 2 more") {
		t.Errorf("the history says %q", note)
	}
}
