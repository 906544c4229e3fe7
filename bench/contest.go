package main

import "github.com/fairlead-io/fairlead/internal/bench"

// contest is a measurement with its participants.
type contest struct {
	name    string // for --only
	title   string
	entries []entry
}

// entry is a system with its task. Each entry is compared with each reference entry.
type entry struct {
	label     string
	reference bool
	system    string
	database  string
	processes int
	spec      bench.Spec
}

// sizes is the amount of work.
type sizes struct {
	jobs    int     // jobs in a backlog
	seconds float64 // duration of sustained work
}

// Slow systems get less work, so that a round ends in minutes. That does not put them at a
// disadvantage: their rates fall with the size of the backlog, if they change at all.
func (s sizes) tenth() int     { return max(1, s.jobs/10) }
func (s sizes) fortieth() int  { return max(1, s.jobs/40) }
func (s sizes) long() float64  { return 3 * s.seconds }
func (s sizes) short() float64 { return s.seconds / 2 }

const callers = 32

func contests(s sizes) []contest {
	jobs := func(workload string, n int) bench.Spec { return bench.Spec{Workload: workload, Jobs: n} }
	time := func(workload string, seconds float64) bench.Spec {
		return bench.Spec{Workload: workload, Seconds: seconds}
	}
	single := func(n int) bench.Spec { return bench.Spec{Workload: bench.Enqueue, Jobs: n, Clients: callers} }
	latency := bench.Spec{Workload: bench.Latency}
	return []contest{
		{"enqueue", "Enqueue in batches of 1000", []entry{
			{label: "Fairlead, PostgreSQL", system: systemFairlead, database: onPostgres, spec: jobs(bench.Enqueue, s.jobs)},
			{label: "River InsertManyFast", reference: true, system: systemRiver, database: onPostgres, spec: jobs(bench.Enqueue, s.jobs)},
			{label: "graphile-worker add_jobs", reference: true, system: systemGraphile, database: onPostgres, spec: jobs(bench.Enqueue, s.jobs)},
			{label: "asynq, 64 callers", reference: true, system: systemAsynq, database: onRedis, spec: jobs(bench.Enqueue, s.tenth())},
		}},
		{"drain", "Drain a backlog", []entry{
			{label: "Fairlead, PostgreSQL", system: systemFairlead, database: onPostgres, spec: jobs(bench.Drain, s.jobs)},
			{label: "River tuned", reference: true, system: systemRiver, database: onPostgres, spec: jobs(bench.Drain, s.jobs)},
			{label: "River defaults", reference: true, system: systemRiverDefaults, database: onPostgres, spec: jobs(bench.Drain, s.fortieth())},
			{label: "graphile-worker tuned", reference: true, system: systemGraphile, database: onPostgres, spec: jobs(bench.Drain, s.jobs)},
			{label: "asynq tuned", reference: true, system: systemAsynq, database: onRedis, spec: jobs(bench.Drain, s.tenth())},
		}},
		{"sustained", "Enqueue and run at the same time", []entry{
			{label: "Fairlead, PostgreSQL", system: systemFairlead, database: onPostgres, spec: time(bench.Sustained, s.seconds)},
			{label: "Fairlead, MariaDB", system: systemFairlead, database: onMariaDB, spec: time(bench.Sustained, s.seconds)},
			{label: "River tuned", reference: true, system: systemRiver, database: onPostgres, spec: time(bench.Sustained, s.seconds)},
			{label: "River defaults", reference: true, system: systemRiverDefaults, database: onPostgres, spec: time(bench.Sustained, s.short())},
			{label: "graphile-worker tuned", reference: true, system: systemGraphile, database: onPostgres, spec: time(bench.Sustained, s.seconds)},
			{label: "asynq tuned", reference: true, system: systemAsynq, database: onRedis, spec: time(bench.Sustained, s.seconds)},
		}},
		{"longtx-drain", "Drain a backlog beside a long open transaction", []entry{
			{label: "Fairlead, PostgreSQL", system: systemFairlead, database: onPostgres, spec: jobs(bench.LongTx, s.jobs)},
			{label: "River tuned", reference: true, system: systemRiver, database: onPostgres, spec: jobs(bench.LongTx, s.jobs)},
		}},
		{"longtx-sustained", "Enqueue and run beside a long open transaction", []entry{
			{label: "Fairlead, PostgreSQL", system: systemFairlead, database: onPostgres, spec: time(bench.LongTx, s.long())},
			{label: "Fairlead, MariaDB", system: systemFairlead, database: onMariaDB, spec: time(bench.LongTx, s.long())},
			{label: "River tuned", reference: true, system: systemRiver, database: onPostgres, spec: time(bench.LongTx, s.long())},
		}},
		{"mariadb-drain", "Drain a backlog on MariaDB", []entry{
			{label: "Fairlead, MariaDB", system: systemFairlead, database: onMariaDB, spec: jobs(bench.Drain, s.jobs)},
			{label: "River tuned, PostgreSQL", reference: true, system: systemRiver, database: onPostgres, spec: jobs(bench.Drain, s.jobs)},
		}},
		{"sqlite-drain", "Drain a backlog on SQLite", []entry{
			{label: "Fairlead, SQLite", system: systemFairlead, database: onSQLite, spec: jobs(bench.Drain, s.jobs)},
			{label: "River, SQLite", reference: true, system: systemRiverSQLite, database: onSQLite, spec: jobs(bench.Drain, s.tenth())},
		}},
		{"sqlite-sustained", "Enqueue and run at the same time on SQLite", []entry{
			{label: "Fairlead, SQLite", system: systemFairlead, database: onSQLite, spec: time(bench.Sustained, s.seconds)},
			{label: "River, SQLite", reference: true, system: systemRiverSQLite, database: onSQLite, spec: time(bench.Sustained, s.short())},
		}},
		{"latency", "Latency on an idle node, default settings", []entry{
			{label: "Fairlead, PostgreSQL", system: systemFairlead, database: onPostgres, spec: latency},
			{label: "Fairlead, MariaDB", system: systemFairlead, database: onMariaDB, spec: latency},
			{label: "Fairlead, SQLite", system: systemFairlead, database: onSQLite, spec: latency},
			{label: "two bare commits, PostgreSQL", reference: true, system: systemFloor, database: onPostgres, spec: latency},
			{label: "River", reference: true, system: systemRiverDefaults, database: onPostgres, spec: latency},
			{label: "graphile-worker", reference: true, system: systemGraphileDefaults, database: onPostgres, spec: latency},
			{label: "asynq", reference: true, system: systemAsynqDefaults, database: onRedis, spec: latency},
		}},
		{"latency-processes", "Latency between two processes, default settings", []entry{
			{label: "Fairlead, PostgreSQL", system: systemFairlead, database: onPostgres, processes: 2, spec: latency},
			{label: "Fairlead, MariaDB", system: systemFairlead, database: onMariaDB, processes: 2, spec: latency},
			{label: "Fairlead, SQLite", system: systemFairlead, database: onSQLite, processes: 2, spec: latency},
			{label: "River", reference: true, system: systemRiverDefaults, database: onPostgres, processes: 2, spec: latency},
			// graphile-worker always has two processes.
			{label: "graphile-worker", reference: true, system: systemGraphileDefaults, database: onPostgres, spec: latency},
		}},
		{"callers", "Enqueue from 32 callers, one job per call", []entry{
			{label: "Fairlead, PostgreSQL", system: systemFairleadHeard, database: onPostgres, spec: single(s.tenth())},
			{label: "Fairlead, no wake-ups", reference: true, system: systemFairleadQuiet, database: onPostgres, spec: single(s.tenth())},
			{label: "River Insert", reference: true, system: systemRiver, database: onPostgres, spec: single(s.tenth())},
		}},
		{"backlog", "Drain a backlog ten times as large", []entry{
			{label: "Fairlead, ten times", system: systemFairlead, database: onPostgres, spec: jobs(bench.Drain, 10*s.jobs)},
			{label: "Fairlead", reference: true, system: systemFairlead, database: onPostgres, spec: jobs(bench.Drain, s.jobs)},
		}},
	}
}
