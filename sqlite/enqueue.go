package sqlite

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
)

// Enqueue stores either all jobs or none. It returns ErrConflict if a key is taken, and
// ErrLimit if a tenant would exceed its MaxPending. It runs in one transaction, which blocks
// all other writes. A call with a million jobs blocks them for seconds, so enqueue about ten
// thousand jobs per call.
func (s *Store) Enqueue(ctx context.Context, jobs []*fairlead.Job) error {
	if len(jobs) == 0 {
		return nil
	}
	fresh := newJobs(jobs)
	ids, err := inTx(ctx, s, "enqueue", func(t *txn) ([]int64, error) { return t.enqueueBounded(fresh) })
	if err != nil {
		return err
	}
	for i, id := range ids {
		jobs[i].ID = id
	}
	return nil
}

// newJob is a job to be stored. It is a copy, because the caller may change its own
// after it stops waiting.
type newJob struct {
	id                 int64 // 0: the next free one
	lane               sqlstore.LaneKey
	turn               int
	startBy, notBefore int64
	flags              int16
	gate               int64 // 0: none
	key                string
	onDuplicate        fairlead.OnDuplicate
	policy, trace      any
	args               any
}

func newJobs(jobs []*fairlead.Job) []newJob {
	fresh := make([]newJob, len(jobs))
	for i, job := range jobs {
		fresh[i] = newJob{
			lane:        sqlstore.KeyOf(job),
			turn:        -job.Priority,
			startBy:     sqlstore.Micros(job.StartBy),
			notBefore:   sqlstore.Micros(job.NotBefore),
			flags:       sqlstore.Flags(job),
			gate:        sqlstore.GateOf(job),
			key:         job.Key,
			onDuplicate: job.OnDuplicate,
			policy:      text(sqlstore.Policy(job)),
			trace:       text(job.Trace),
			args:        text(job.Args),
		}
	}
	return fresh
}

// enqueue stores jobs and returns their ids, or those of the jobs that hold their keys.
func (t *txn) enqueue(jobs []newJob) ([]int64, error) {
	ids := make([]int64, 0, len(jobs))
	inOrder := func() error {
		for part := jobs; len(part) > 0; {
			store, n := t.enqueueKeyed, 1
			if part[0].key == "" {
				store, n = t.insert, slices.IndexFunc(part, newJob.keyed)
			}
			if n < 0 {
				n = len(part)
			}
			stored, err := store(part[:n])
			if err != nil {
				return err
			}
			ids, part = append(ids, stored...), part[n:]
		}
		return nil
	}
	if len(jobs) > 1 && slices.ContainsFunc(jobs, newJob.keyed) {
		// The last key may turn out to be taken after the others are stored.
		err := t.inSavepoint(inOrder)
		return ids, err
	}
	err := inOrder()
	return ids, err
}

func (j newJob) keyed() bool { return j.key != "" }

// insert stores jobs whose keys, if any, are free, and returns their ids.
func (t *txn) insert(jobs []newJob) ([]int64, error) {
	ids, lanes, err := t.describe(jobs)
	if err != nil {
		return nil, err
	}
	for from := 0; from < len(ids); {
		to := from + 1
		for to < len(ids) && ids[to] == ids[to-1]+1 {
			to++
		}
		if err := t.placeRun(jobs[from:to], ids[from:to], lanes[from:to]); err != nil {
			return nil, err
		}
		from = to
	}
	return ids, nil
}

// placeRun puts new jobs with consecutive ids into their places.
func (t *txn) placeRun(jobs []newJob, ids []int64, lanes []int32) error {
	var places newPlaces
	for i, job := range jobs {
		places.gated = places.gated || job.gate != 0
		switch {
		case job.notBefore > t.now:
			places.later++
		case job.gate != 0:
			places.parked++
			t.noteGate(job.gate)
		default:
			places.ready++
			t.wakes.addWork(lanes[i], job.lane)
		}
	}
	return t.place(ids, places)
}

// describe stores jobs without a place, and returns their ids and lanes.
func (t *txn) describe(jobs []newJob) (ids []int64, lanes []int32, err error) {
	if ids, err = t.number(jobs); err != nil {
		return nil, nil, err
	}
	lanes = make([]int32, 0, len(jobs))
	laneIDs := map[sqlstore.LaneKey]int32{}
	var gates [][2]int64
	for chunk := range slices.Chunk(jobs, insertChunk) {
		args := make([]any, 0, jobColumns*len(chunk))
		for _, job := range chunk {
			lane, known := laneIDs[job.lane]
			if !known {
				if lane, err = t.laneOf(job.lane); err != nil {
					return nil, nil, err
				}
				laneIDs[job.lane] = lane
			}
			id := ids[len(lanes)]
			lanes = append(lanes, lane)
			if job.gate != 0 {
				gates = append(gates, [2]int64{id, job.gate})
			}
			args = append(args, id, lane, job.turn, cmp.Or(job.startBy, job.notBefore, t.now), job.notBefore, t.now,
				text(job.key), job.flags, job.policy, job.trace, job.args)
		}
		if err := t.insertRows(args); err != nil {
			return nil, nil, err
		}
	}
	if n := len(gates); n > 0 {
		err = t.must(int64(n), t.sql.SetGates, jsonOf(gates))
	}
	return ids, lanes, err
}

// number gives jobs the next free ids, unless they have reserved ones.
func (t *txn) number(jobs []newJob) ([]int64, error) {
	ids := make([]int64, len(jobs))
	if jobs[0].id != 0 {
		for i, job := range jobs {
			ids[i] = job.id
		}
		return ids, nil
	}
	first, err := t.next(jobCounter, int64(len(jobs)))
	for i := range ids {
		ids[i] = first + int64(i)
	}
	return ids, err
}

// newPlaces counts the places that new jobs go to.
type newPlaces struct {
	gated                bool // some of them have a gate
	ready, parked, later int  // how many go there
}

// place puts new jobs into ready, parked and later.
func (t *txn) place(ids []int64, places newPlaces) error {
	toReady := t.sql.PlaceDue
	if places.gated {
		toReady = t.sql.PlaceUngated
	}
	t.wakes.later = t.wakes.later || places.later > 0
	for _, place := range []struct {
		jobs  int
		query string
	}{
		{places.ready, toReady},
		{places.parked, t.sql.PlaceGated},
		{places.later, t.sql.PlaceUndue},
	} {
		if place.jobs == 0 {
			continue
		}
		if err := t.must(int64(place.jobs), place.query, ids[0], ids[len(ids)-1], t.now); err != nil {
			return err
		}
	}
	return nil
}

const (
	// jobColumns is how many arguments a job has in insert_jobs.
	jobColumns = 11
	// insertChunk is how many jobs' arguments are held in memory at once.
	insertChunk = 1024
)

// insertSizes are the numbers of jobs that one statement can store: a few prepared
// statements serve any number of jobs.
func insertSizes() []int { return []int{64, 16, 4, 1} }

// insertTexts returns insert_jobs with its tuple repeated, once for each size.
func insertTexts(query string) []string {
	tuple := query[strings.LastIndex(query, "("):]
	var texts []string
	for _, n := range insertSizes() {
		texts = append(texts, query+strings.Repeat(", "+tuple, n-1))
	}
	return texts
}

func (t *txn) insertRows(args []any) error {
	for i, n := range insertSizes() {
		for width := n * jobColumns; len(args) >= width; args = args[width:] {
			if err := t.must(int64(n), t.inserts[i], args[:width]...); err != nil {
				return err
			}
		}
	}
	return nil
}
