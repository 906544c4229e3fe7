package sim_test

import (
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead/internal/testdb"
	"github.com/fairlead-io/fairlead/sim"
)

// Environment variables that cause histories to be recorded again.
const (
	historiesEnv = "FAIRLEAD_SIM_HISTORIES" // so many of each kind on each database, instead of those in testdata
	keepEnv      = "FAIRLEAD_SIM_RECORD"    // not empty: they replace those in testdata
)

// historiesDir contains the histories, which were recorded with both variables set, the
// first one to 3.
const historiesDir = "testdata/histories"

// recordSuffix is that of files with the record of a run.
const recordSuffix = ".json.gz"

// history is the record of a real run, with nodes in separate processes, some of which were
// killed or paused, and a real database.
type history struct {
	name   string
	record sim.Record
}

// recordingAnew reports whether histories are to be recorded.
func recordingAnew() bool {
	_, anew := os.LookupEnv(historiesEnv)
	return anew
}

// histories reads those that were recorded before, or records others.
func histories(t *testing.T) []history {
	t.Helper()
	if recordingAnew() {
		return recordHistories(t, setting(t, historiesEnv, 1))
	}
	return storedHistories(t, historiesDir)
}

// storedHistories reads the histories in a directory.
func storedHistories(t *testing.T, dir string) (all []history) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*"+recordSuffix))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		record, err := readRecord(file)
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		all = append(all, history{strings.TrimSuffix(filepath.Base(file), recordSuffix), record})
	}
	return all
}

func readRecord(file string) (record sim.Record, err error) {
	stored, err := os.Open(file)
	if err != nil {
		return record, err
	}
	defer stored.Close()
	text, err := gzip.NewReader(stored)
	if err != nil {
		return record, err
	}
	return record, json.NewDecoder(text).Decode(&record)
}

func writeRecord(file string, record *sim.Record) (err error) {
	stored, err := os.Create(file)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stored.Close()) }()
	text, err := gzip.NewWriterLevel(stored, gzip.BestCompression)
	if err != nil {
		return err
	}
	return errors.Join(json.NewEncoder(text).Encode(record), text.Close())
}

// recordHistories plays every kind of run so many times on each database.
func recordHistories(t *testing.T, times int) (all []history) {
	t.Helper()
	for _, db := range []struct {
		name  string
		url   func(t *testing.T) string
		begin func(t *testing.T) (url string, server sim.Server) // nil: there is no server that could crash
	}{
		{"sqlite", func(t *testing.T) string { return "sqlite://" + filepath.Join(t.TempDir(), "jobs.db") }, nil},
		{"postgres", func(t *testing.T) string { return testdb.Postgres(t) }, func(t *testing.T) (string, sim.Server) {
			server := privateServer(t, testdb.StartPostgres)
			return server.URL(), server
		}},
		{"mariadb", func(t *testing.T) string { return testdb.MySQL(t) }, func(t *testing.T) (string, sim.Server) {
			server := privateServer(t, testdb.StartMySQL)
			return newMySQLDatabase(t, server.URL()), server
		}},
	} {
		for kind, scenario := range eventful {
			for i := range times {
				name := fmt.Sprintf("%s-%s-%d", db.name, kind, i+1)
				t.Run("record "+name, func(t *testing.T) {
					if kind == callersKind && db.begin == nil {
						t.Skip("it has one writer, which waits for any open transaction")
					}
					s := scenario()
					if kind != outageKind {
						s.URL = db.url(t)
					} else if db.begin == nil {
						t.Skip("there is no server that could crash")
					} else {
						url, server := db.begin(t)
						s.URL, s.Disturb = url, sim.Outage(server, 0)
					}
					record, _ := play(t, s)
					all = append(all, history{name, record})
				})
			}
		}
	}
	if os.Getenv(keepEnv) != "" && !t.Failed() {
		keepHistories(t, all)
	}
	return all
}

// keepHistories stores them in testdata, instead of those of the same name. With the flag
// -run only some kinds are recorded, and the others stay.
func keepHistories(t *testing.T, all []history) {
	t.Helper()
	if err := os.MkdirAll(historiesDir, 0o700); err != nil {
		t.Fatal(err)
	}
	for i := range all {
		if err := writeRecord(filepath.Join(historiesDir, all[i].name+recordSuffix), &all[i].record); err != nil {
			t.Fatal(err)
		}
	}
}

const (
	outageKind  = "outage"
	callersKind = "callers"
)

// eventful is the kinds of runs in which much happens in few events.
var eventful = map[string]func() sim.Scenario{
	"jobs": func() sim.Scenario { return eventfulJobs(60) },
	"everything": func() sim.Scenario {
		s := eventfulJobs(25)
		s.Schedules, s.Batches = sim.Schedules{Count: 3, Seconds: 3}, sim.Batches{Count: 2, Tasks: 6}
		s.Sweep = sim.Swept{Items: 200, Shards: 2, InFlight: 4, Rate: 60}
		return s
	},
	"caps": func() sim.Scenario {
		s := eventfulJobs(50)
		s.Caps = sim.Caps{Global: 4, Tenants: map[string]int{"a": 1, "b": 1, "c": 2, "d": 3}}
		return s
	},
	"gates": func() sim.Scenario {
		s := eventfulJobs(45)
		s.Caps = sim.Caps{PerKey: 1, Tenants: map[string]int{"a": 0, "b": 0, "c": 0, "d": 0}}
		return s
	},
	"poison": func() sim.Scenario {
		s := eventfulJobs(40)
		s.Node.MaxCrashes, s.Workers = 4, 2
		s.Disturb, s.Every = sim.Replace, 50*time.Millisecond
		drawn, mixed := 0, s.Plan
		s.Plan = func(random *rand.Rand, lease time.Duration) sim.Plan {
			if drawn++; drawn == 10 {
				return sim.Plan{Deadly: true}
			}
			return mixed(random, lease)
		}
		return s
	},
	"standstill": func() sim.Scenario {
		s := eventfulJobs(40)
		s.Schedules = sim.Schedules{Count: 2, Seconds: 4}
		s.Disturb = sim.PauseAll(2 * quickNode.Lease)
		return s
	},
	outageKind: func() sim.Scenario { return eventfulJobs(50) },
	callersKind: func() sim.Scenario { // none stays open for five heartbeats
		s := withCallers(8, time.Second)
		s.Jobs, s.Schedules.Count, s.Every = 30, 2, 4*time.Second
		return s
	},
}

// eventfulJobs returns a scenario with the given number of jobs, most of which do more than
// succeed immediately.
func eventfulJobs(jobs int) sim.Scenario {
	node := quickNode
	node.Slots = 2
	return sim.Scenario{
		Jobs: jobs, Workers: 3, Node: node, Disturb: sim.KillOrPause, Every: 400 * time.Millisecond,
		Plan: func(random *rand.Rand, lease time.Duration) sim.Plan {
			in := func(n int) bool { return random.IntN(n) == 0 }
			p := sim.Plan{Work: time.Duration(random.Int64N(int64(lease / 4))), Stubborn: in(3), Progress: in(3)}
			switch {
			case in(6):
				p.Failures = 1 + random.IntN(2)
			case in(12):
				p.Broken = true
			case in(8):
				p.FirstWork = lease + time.Duration(random.Int64N(int64(lease/2)))
			}
			if in(6) {
				p.Delay = time.Duration(random.Int64N(int64(2 * lease)))
			}
			return p
		},
	}
}
