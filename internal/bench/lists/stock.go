package lists

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/access"
	"github.com/fairlead-io/fairlead/batch"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
	"github.com/fairlead-io/fairlead/schedule"
	"github.com/fairlead-io/fairlead/sweep"
)

// stock is the content of the filled store.
type stock struct {
	*mix
	store     Store
	client    *fairlead.Client
	schedules *schedule.Client
	batches   *batch.Client
	sweeps    *sweep.Client
	into      bulk
	side      int // number of entries, runs, lines and items in addition to the jobs

	earliest  int64             // ID of the first schedule
	schedule  schedule.Schedule // schedule with most of the runs
	sweep     sweep.Sweep       // sweep with lines, items and events
	batch     batch.Batch       // batch with chunks
	openBatch int64             // ID of a batch that has not ended
	tasks     []int64           // IDs of some of its tasks
	ready     int64             // ID of a job
	scheduled int64
	parked    int64
}

// fill stores everything. The store must be empty.
func (s *stock) fill(ctx context.Context, stored func()) error {
	if found, err := s.store.Find(ctx, fairlead.Filter{Limit: 1}); err != nil || len(found) > 0 {
		return errors.Join(err, errors.New("the database already contains jobs: use an empty database"))
	}
	if err := s.storeJobs(ctx, s.into, stored); err != nil {
		return err
	}
	if err := s.into.afterJobs(ctx, (int64(s.jobs)/1000+1)*1000); err != nil {
		return err
	}
	s.ready, s.scheduled, s.parked = s.first[fairlead.Ready], s.first[fairlead.Scheduled], s.first[fairlead.Parked]
	for _, step := range []func(context.Context) error{s.addTenants, s.addCalendar, s.addSchedules, s.addRuns, s.addBatches, s.addChunks, s.addSweeps, s.addLines, s.addEntries, s.addTokens} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return s.into.look(ctx)
}

func (s *stock) addTenants(ctx context.Context) error {
	for i := range s.tenants {
		if _, err := s.client.PutTenant(ctx, fairlead.Tenant{Name: fmt.Sprint("tenant-", i)}); err != nil {
			return err
		}
	}
	return nil
}

// addBatches stores one batch for each day of the mix, and older ones.
func (s *stock) addBatches(ctx context.Context) error {
	model := batch.Batch{Name: "model", Type: "common", Queue: "queue-1", Tenant: commonTenant}
	if err := batch.Normalize(&model); err != nil {
		return err
	}
	first, err := s.store.CreateBatch(ctx, model)
	if err != nil {
		return err
	}
	_, err = s.store.Conduct(ctx, first.ID, true, func(_ context.Context, b *batch.Record, _ batch.Tx) error {
		b.Opened, b.Total = true, max(s.side, 5*batch.ChunkSize)
		b.Passes = []batch.Pass{{Number: 1, Kind: batch.PassForward, Tasks: b.Total}}
		return nil
	})
	if err != nil {
		return err
	}
	const insert = "insert into " + prefix + "batch (id, created_at, ended_at, opened, open, name, type, queue, tenant, state, status, body) " +
		"select %d, %d, %d, 1 = 1, 1 = %d, '%s', '%s', 'queue-%d', 'tenant-%d', '%s', status, body from " + prefix + "batch where id = %d"
	day := 24 * time.Hour
	for i := range min(2000, s.side/5) {
		created := s.began.Add(time.Duration(days-1-i) * day)
		ended, open, state, kind := sqlstore.Micros(created.Add(day+taskHeld)), 0, "success", "common"
		if i == 0 {
			ended, open, state = 0, 1, "running"
		}
		if i%500 == 499 {
			kind = "rare"
		}
		id := first.ID + int64(min(2000, s.side/5)-i)
		if i == 0 {
			s.openBatch = id
		}
		if err := s.into.exec(ctx, fmt.Sprintf(insert, id, sqlstore.Micros(created), ended, open, fmt.Sprint("batch-", i), kind, i%queues, i%s.tenants, state, first.ID)); err != nil {
			return err
		}
	}
	return nil
}

// addChunks adds tasks that are still held to the oldest batch.
func (s *stock) addChunks(ctx context.Context) error {
	found, err := s.store.Batches(ctx, batch.Filter{Names: []string{"model"}})
	if err != nil || len(found) != 1 {
		return errors.Join(err, fmt.Errorf("%d batches are the model", len(found)))
	}
	s.batch = found[0].Batch
	const size = batch.ChunkSize
	for number := 1; number*size <= max(s.side, 5*size); number++ {
		chunk := batch.Chunk{Number: 200_000 + number, Pass: 1, Kind: batch.PassForward, Size: size, Held: size, Marks: batch.NewMarks(size)}
		for i := range size {
			chunk.Tasks = append(chunk.Tasks, batch.ChunkTask{Change: batch.Change{Target: batch.Target{ID: fmt.Sprint(number, ".", i), Type: "box"}}})
		}
		chunks := []batch.Chunk{chunk}
		if err := s.store.AddChunks(ctx, s.batch.ID, chunks); err != nil {
			return err
		}
		s.tasks = append(s.tasks, chunks[0].First)
	}
	return nil
}

func (s *stock) addSweeps(ctx context.Context) (err error) {
	for i := range min(1000, s.side/5) {
		sweep := sweep.Sweep{Name: fmt.Sprint("sweep-", i), Kind: "items", To: 1_000_000, Tenant: fmt.Sprint("tenant-", i%s.tenants)}
		if s.sweep, err = s.sweeps.Put(ctx, sweep); err != nil {
			return err
		}
	}
	return nil
}

// addLines stores lines, failed items and events of a sweep.
func (s *stock) addLines(ctx context.Context) error {
	var lines []sweep.Log
	items := newTable(s.into, "failed_item", "sweep idx at attempts error again")
	events := newTable(s.into, "sweep_event", "sweep at actor action was became note")
	for i := range s.side {
		level := "info"
		if i == 0 {
			level = "error"
		}
		lines = append(lines, sweep.Log{Index: int64(i % 100), Level: level, Text: "a line"})
		if len(lines) == 1000 || i == s.side-1 {
			if err := s.sweeps.Log(ctx, s.sweep.ID, lines...); err != nil {
				return err
			}
			lines = lines[:0]
		}
		if err := items.add(ctx, s.sweep.ID, i, 1, 1, "it failed", i == s.side-1); err != nil {
			return err
		}
		if err := events.add(ctx, s.sweep.ID, 1, "ann", "rate", "running", "running", ""); err != nil {
			return err
		}
	}
	return errors.Join(items.flush(ctx), events.flush(ctx))
}

// addEntries fills the audit log, over the days of the mix.
func (s *stock) addEntries(ctx context.Context) error {
	entries := newTable(s.into, "audit", "id at actor role address action subject tenant error")
	span := days * 24 * time.Hour / time.Duration(s.side)
	for i := range s.side {
		actor, action := "ann", fmt.Sprint("Action", i%10)
		if i == s.side/2 {
			actor, action = "rare", "Rare"
		}
		if err := entries.add(ctx, i+1, sqlstore.Micros(s.began.Add(time.Duration(i)*span)), actor, "admin", "", action, fmt.Sprint("job ", i%1000), commonTenant, ""); err != nil {
			return err
		}
	}
	return entries.flush(ctx)
}

func (s *stock) addTokens(ctx context.Context) error {
	for i := range 20 {
		name := fmt.Sprint("token-", i)
		if _, err := s.store.AddToken(ctx, access.Token{Name: name, Role: access.RoleViewer, Hash: sha256.Sum256([]byte(name))}); err != nil {
			return err
		}
	}
	return nil
}
