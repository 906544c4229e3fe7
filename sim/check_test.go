package sim

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead"
)

// skew is how far the database's clock is from that of the processes in these
// tests: the checker must not compare one with the other.
const skew = Instant(-3_600_000_000)

// at returns a time on the processes' clock.
func at(ms int64) Instant { return Instant(1_900_000_000_000_000 + ms*1000) }

// db returns the same time on the database's clock.
func db(ms int64) Instant { return at(ms) + skew }

var success = Ending{State: fairlead.Succeeded}

// healthy returns a record without errors. Process a is node 1, process b is node 2, and
// the lease is one second. Job 1 succeeds on node 1. Job 2 starts there too, but then a
// pauses from 1000 to 2600: node 2 takes its job back when the lease has expired, and a's
// late result is rejected. Job 3 fails on node 1 and succeeds on node 2.
func healthy() Record {
	var events []Event
	note := func(ms int64, process string, e Event) {
		e.At, e.Process = at(ms), process
		if e.DB != 0 || e.What == Granted || e.What == Claimed || e.What == Holding {
			e.DB = db(ms)
		}
		if e.What == Saved || e.What == Reaped || e.What == Granted {
			e.Sent = at(ms) - 500
		}
		events = append(events, e)
	}
	for ms := int64(0); ms <= 4000; ms += 200 {
		if ms <= 800 {
			note(ms, "a", Event{What: Granted, Node: 1})
		}
		note(ms, "b", Event{What: Granted, Node: 2})
	}
	run := func(ms int64, process string, node fairlead.NodeID, job, fence int64, attempt int) {
		note(ms, process, Event{What: Claimed, Node: node, Job: job, Fence: fence, Attempt: attempt})
		note(ms+1, process, Event{What: Started, Node: node, Job: job, Fence: fence, Attempt: attempt})
	}
	end := func(ms int64, process string, job, fence int64, move fairlead.Move, ended, answer string) {
		note(ms, process, Event{What: Ended, Job: job, Fence: fence, Result: ended})
		note(ms+1, process, Event{What: Asked, Job: job, Fence: fence, Move: move})
		note(ms+2, process, Event{What: Settled, Job: job, Fence: fence, Move: move, Result: answer})
	}
	run(100, "a", 1, 1, 10, 1)
	end(110, "a", 1, 10, fairlead.Succeed, OK, OK)
	run(100, "a", 1, 3, 10, 1)
	end(120, "a", 3, 10, fairlead.Again, Failing, OK)
	run(200, "b", 2, 3, 11, 2)
	end(220, "b", 3, 11, fairlead.Succeed, OK, OK)
	run(900, "a", 1, 2, 12, 1)
	note(1000, "a", Event{What: Stopped})
	note(1001, "a", Event{What: Holding, Node: 1, Job: 2, Fence: 12, Result: string(Stopped)})
	note(1900, "b", Event{What: Reaped, Node: 2, Nodes: 1, Jobs: 1})
	run(1910, "b", 2, 2, 13, 2)
	note(1920, "b", Event{What: Saved, Job: 2, Fence: 13, Result: OK})
	note(2600, "a", Event{What: Resumed})
	note(2605, "a", Event{What: Saved, Job: 2, Fence: 12, Result: Lost})
	end(2610, "a", 2, 12, fairlead.Succeed, OK, Lost)
	end(2650, "b", 2, 13, fairlead.Succeed, OK, OK)
	slices.SortStableFunc(events, func(a, b Event) int { return int(a.At - b.At) })
	return Record{
		Lease:    time.Second,
		Beat:     200 * time.Millisecond,
		Expected: map[int64]Ending{1: success, 2: success, 3: success},
		Events:   events,
		Samples:  []Sample{{DB: db(1000), Jobs: 3, Running: map[int64]int64{2: 12}}, {DB: db(2000), Jobs: 3, Running: map[int64]int64{2: 13}, Idle: 1}},
		Final: []Final{
			{Job: 1, Ending: success, Fence: 10, Attempt: 1, Finished: db(111)},
			{Job: 2, Ending: success, Fence: 13, Attempt: 2, Progress: 13, Finished: db(2651)},
			{Job: 3, Ending: success, Fence: 11, Attempt: 2, Failures: 1, Finished: db(221)},
		},
	}
}

// the finds an event of the healthy run, to change it.
func the(r *Record, what What, job, fence int64) *Event {
	for i := range r.Events {
		if e := &r.Events[i]; e.What == what && e.Job == job && e.Fence == fence {
			return e
		}
	}
	panic("no such event: " + string(what))
}

// shift moves an event in time, on both clocks.
func shift(r *Record, e *Event, d time.Duration) {
	e.At = e.At.Add(d)
	if e.DB != 0 {
		e.DB = e.DB.Add(d)
	}
	if e.Sent != 0 {
		e.Sent = e.Sent.Add(d)
	}
	slices.SortStableFunc(r.Events, func(a, b Event) int { return int(a.At - b.At) })
}

func TestCheckFindsNothingInAHealthyRun(t *testing.T) {
	verdict := Check(healthy())
	for _, v := range verdict.Violations {
		t.Error(v)
	}
	f := verdict.Figures
	if f.RefusedEnds != 1 || f.RefusedSaves != 1 || f.Held != 1 || f.ReapedJobs != 1 || f.Pauses != 1 || f.Nodes != 2 {
		t.Errorf("figures: %v", f)
	}
	if len(f.Recoveries) != 1 || f.Recoveries[0] != 909*time.Millisecond {
		t.Errorf("recoveries: %v", f.Recoveries)
	}
}

// What looks like a fault at first sight and is none.
func TestCheckAcceptsWhatMayHappen(t *testing.T) {
	for _, odd := range []struct {
		name  string
		alter func(r *Record)
	}{
		{"a node was killed before it could write down its claim", func(r *Record) {
			the(r, Claimed, 2, 12).Job = 0
			the(r, Started, 2, 12).Job = 0
		}},
		{"a node was killed before it could write down an answer", func(r *Record) { the(r, Settled, 3, 10).Job = 0 }},
		{"an answer was lost, and the repeated settlement came after the next claim", func(r *Record) {
			shift(r, the(r, Settled, 3, 10), 200*time.Millisecond)
			r.Events = append(r.Events, Event{At: at(310), What: Asked, Process: "a", Job: 3, Fence: 10, Move: fairlead.Again})
		}},
		{"a repeated settlement was refused", func(r *Record) {
			shift(r, the(r, Settled, 3, 10), 200*time.Millisecond)
			the(r, Settled, 3, 10).Result = Lost
			r.Events = append(r.Events, Event{At: at(310), What: Asked, Process: "a", Job: 3, Fence: 10, Move: fairlead.Again})
			r.Events = append(r.Events, Event{At: at(130), What: Settled, Process: "a", Job: 3, Fence: 10, Move: fairlead.Again, Result: OK})
		}},
		{"a node left, and its jobs were taken before its lease was over", func(r *Record) {
			shift(r, the(r, Claimed, 2, 13), -150*time.Millisecond)
			r.Events = append(r.Events, Event{At: at(1100), What: Leaving, Process: "a", Node: 1})
		}},
		{"a released job kept its attempt number", func(r *Record) {
			the(r, Claimed, 2, 13).Attempt, the(r, Started, 2, 13).Attempt, r.Final[1].Attempt = 1, 1, 1
			r.Events = append(r.Events, Event{At: at(990), What: Asked, Process: "a", Job: 2, Fence: 12, Move: fairlead.MoveRelease})
		}},
		{"a handler started when its process went on", func(r *Record) { shift(r, the(r, Started, 2, 12), 1702*time.Millisecond) }},
		{"the database was silent while a job waited", func(r *Record) {
			r.Events = slices.DeleteFunc(r.Events, func(e Event) bool { return e.What == Granted && e.Node == 2 && e.At > at(1000) && e.At < at(2000) })
			shift(r, the(r, Claimed, 2, 13), 1100*time.Millisecond)
			shift(r, the(r, Started, 2, 13), 1100*time.Millisecond)
			shift(r, the(r, Saved, 2, 12), 1000*time.Millisecond)
			shift(r, the(r, Asked, 2, 12), 1000*time.Millisecond)
			shift(r, the(r, Settled, 2, 12), 1000*time.Millisecond)
		}},
		{"a slow machine, on which a beat takes twice its time, ran a job again later", func(r *Record) {
			r.Events = slices.DeleteFunc(r.Events, func(e Event) bool { return e.What == Granted && e.Node == 2 && e.At > at(1000) && e.At%400_000 != 0 })
			shift(r, the(r, Claimed, 2, 13), 1300*time.Millisecond)
			shift(r, the(r, Started, 2, 13), 1300*time.Millisecond)
			shift(r, the(r, Saved, 2, 12), 1000*time.Millisecond)
			shift(r, the(r, Asked, 2, 12), 1000*time.Millisecond)
			shift(r, the(r, Settled, 2, 12), 1000*time.Millisecond)
		}},
		{"a beat failed just when its node declared others dead", func(r *Record) {
			r.Events = append(r.Events, Event{At: at(1899), What: Unconfirmed, Process: "b", Node: 2})
		}},
		{"a process that stood still ended its job before any lease was confirmed again", func(r *Record) {
			r.Events = slices.DeleteFunc(r.Events, func(e Event) bool {
				return e.Fence == 13 || e.What == Reaped || e.What == Granted && e.At > at(1000) && e.At < at(4000)
			})
			for i := range slices.Backward(r.Events) { // what is shifted moves behind
				if e := &r.Events[i]; e.Process == "a" && e.At > at(2000) {
					shift(r, e, time.Second)
				}
			}
			the(r, Saved, 2, 12).Result, the(r, Settled, 2, 12).Result = OK, OK
			r.Samples = r.Samples[:1]
			r.Final[1].Fence, r.Final[1].Attempt, r.Final[1].Finished = 12, 1, db(3612)
		}},
		{"a job was cancelled after it had been taken back", func(r *Record) {
			r.Events = append(r.Events, Event{At: at(150), DB: db(150), What: Claimed, Process: "a", Node: 1, Job: 9, Fence: 10, Attempt: 1})
			r.Final = append(r.Final, Final{Ending: Ending{State: fairlead.Cancelled}, Job: 9, Attempt: 1, Finished: db(3000), Other: true})
		}},
		{"a crash suspect waited for its turn", func(r *Record) {
			shift(r, the(r, Claimed, 2, 13), 1100*time.Millisecond)
			shift(r, the(r, Started, 2, 13), 1100*time.Millisecond)
			the(r, Claimed, 2, 13).Solo = true
		}},
	} {
		t.Run(odd.name, func(t *testing.T) {
			r := healthy()
			odd.alter(&r)
			slices.SortStableFunc(r.Events, func(a, b Event) int { return int(a.At - b.At) })
			for _, v := range Check(r).Violations {
				t.Error(v)
			}
		})
	}
}

func TestHistorySurvivesAHalfWrittenLine(t *testing.T) {
	dir := t.TempDir()
	recorder, err := NewRecorder(dir, "w1")
	if err != nil {
		t.Fatal(err)
	}
	recorder.Note(Event{What: Started, Job: 7, Fence: 8, Attempt: 1, Node: 2})
	recorder.Note(Event{What: Killed, Process: "w9"})
	if _, err := recorder.file.WriteString(`{"at":17,"wh`); err != nil {
		t.Fatal(err)
	}
	if err := recorder.Close(); err != nil {
		t.Fatal(err)
	}
	events, err := ReadHistory(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(events) != 2 || events[0].Process != "w1" || events[0].Job != 7 || events[1].Process != "w9" {
		t.Errorf("read %v", events)
	}
	if tale := Tale(events, 7); !strings.Contains(tale, `"fence":8`) || strings.Contains(tale, "w9") {
		t.Errorf("tale of job 7: %s", tale)
	}
}
