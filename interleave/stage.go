package interleave

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/schedule"
	"github.com/fairlead-io/fairlead/sweep"
)

// A Stage is a database and the processes that act on it.
type Stage struct {
	FirstOnly bool // Explore stops at the first order that breaks a rule

	db         *database
	performers [2]*performer
	store      Store // the process that sets the scenes
	scenes     int   // that it has set

	arrival time.Duration // until the request of an actor has arrived at the writer: see together
}

// NewStage prepares an empty database of the given type: "postgres", "mysql" or
// "sqlite".
func NewStage(ctx context.Context, kind, url string) (*Stage, error) {
	d, known := map[string]dialect{"postgres": postgresDialect{}, "mysql": mysqlDialect{}, "sqlite": &sqliteDialect{}}[kind]
	if !known {
		return nil, fmt.Errorf("database %q is unknown: use postgres, mysql or sqlite", kind)
	}
	db, err := openDatabase(ctx, d, url)
	if err != nil {
		return nil, err
	}
	s := &Stage{db: db}
	if s.store, err = db.open(ctx, url); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	for i, name := range []string{"A", "B"} {
		p := &performer{name: name}
		if p.valve, err = db.newValve(db.url); err != nil {
			return nil, errors.Join(err, s.Close())
		}
		s.performers[i] = p
		through := db.through(p.valve)
		if p.store, err = db.open(ctx, through.String()); err != nil {
			return nil, errors.Join(err, s.Close())
		}
		if p.caller, err = db.connect(through); err != nil {
			return nil, errors.Join(err, s.Close())
		}
	}
	return s, nil
}

// Close ends the processes.
func (s *Stage) Close() error {
	var errs []error
	for _, p := range s.performers {
		if p == nil {
			continue
		}
		if p.caller != nil {
			errs = append(errs, p.caller.Close())
		}
		if p.store != nil {
			errs = append(errs, p.store.Close())
		}
		p.valve.end()
	}
	if s.store != nil {
		errs = append(errs, s.store.Close())
	}
	return errors.Join(append(errs, s.db.admin.Close())...)
}

// scene empties the database and sets a subject.
func (s *Stage) scene(ctx context.Context, subject *Subject) (*scene, error) {
	if err := s.renew(ctx); err != nil {
		return nil, err
	}
	if err := s.db.next(ctx); err != nil {
		return nil, err
	}
	sc := &scene{database: s.db, ctx: asNode(ctx), store: s.store, labels: map[int64]string{}, fences: map[int64]int64{}}
	now, err := s.store.Now(ctx)
	if err != nil {
		return nil, err
	}
	sc.begun = now.UnixMicro()
	err = sc.run(
		func() (err error) {
			sc.holder, err = sc.join("the holder", lease)
			return err
		},
		func() (err error) {
			sc.free, err = sc.join("the free node", lease)
			return err
		},
		func() error { return subject.set(sc) },
		sc.look,
	)
	if err != nil {
		return nil, fmt.Errorf("set %q: %w", subject.Name, err)
	}
	return sc, nil
}

// renew lets another process set the scenes after some time. One that has claimed thousands of
// jobs of a lane looks for earlier ones only once a second.
func (s *Stage) renew(ctx context.Context) (err error) {
	const most = 500
	if s.scenes++; s.scenes%most != 0 {
		return nil
	}
	if err := s.store.Close(); err != nil {
		return err
	}
	s.store, err = s.db.open(ctx, s.db.url.String())
	return err
}

// look reads what actors have seen before they act.
func (s *scene) look() (err error) {
	if s.job != nil {
		if s.seen, err = s.store.Get(s.ctx, s.job.ID); err != nil {
			return err
		}
	}
	if s.schedule != 0 {
		if s.planned, err = schedule.NewClient(s.store).ByID(s.ctx, s.schedule); err != nil {
			return err
		}
	}
	if s.sweep != 0 {
		if s.walked, err = sweep.NewClient(s.store).ByID(s.ctx, s.sweep); err != nil {
			return err
		}
	}
	tenants, err := s.store.Tenants(s.ctx, fairlead.TenantFilter{Names: []string{"acme"}})
	if len(tenants) == 1 {
		s.tenant = tenants[0]
	}
	return err
}

// Play lets two actors meet at a subject in one order.
func (s *Stage) Play(ctx context.Context, subject *Subject, actors [2]*Actor, order Order) (*take, error) {
	return s.playUnless(ctx, subject, actors, order, -1)
}

// playUnless plays like Play, but does not repeat the operation of the dead actor.
func (s *Stage) playUnless(ctx context.Context, subject *Subject, actors [2]*Actor, order Order, dead int) (*take, error) {
	sc, err := s.scene(ctx, subject)
	if err != nil {
		return nil, err
	}
	for _, p := range s.performers {
		if err := s.db.warm(sc.ctx, p.store, sc.free); err != nil {
			return nil, err
		}
	}
	t, err := s.play(ctx, sc, actors, order)
	if err != nil {
		return t, fmt.Errorf("%s: %s and %s, order %s: %w\n%s", subject.Name, actors[0].Name, actors[1].Name, order, err, strings.Join(t.script, "\n"))
	}
	if err := s.settleDown(ctx, sc, t, actors, dead); err != nil {
		return t, err
	}
	problem, err := sc.check(ctx)
	if err != nil {
		return t, err
	}
	if t.problem == "" {
		t.problem = problem
	}
	if len(sc.problems) > 0 && t.problem == "" {
		t.problem = strings.Join(sc.problems, "; ")
	}
	if t.drift, err = sc.recount(ctx); err != nil {
		return t, err
	}
	t.state, err = sc.state(ctx)
	return t, err
}

// settleDown repeats operations that were busy and those that nodes repeat at every poll.
func (s *Stage) settleDown(ctx context.Context, sc *scene, t *take, actors [2]*Actor, dead int) error {
	for i, actor := range actors {
		again := &cue{scene: sc, ctx: asNode(ctx), store: s.store}
		again.caller = s.db.admin
		for try := 0; i != dead && t.results[i] == busy && try < 3; try++ {
			result := actor.Do(again)
			t.results[i], t.repeated = bare(result), true
			t.script = append(t.script, s.performers[i].name+" repeats: "+told(result))
		}
	}
	const rounds = 2 // what one round leaves behind, the next one finds
	for range rounds {
		for i, actor := range actors {
			if !actor.Repeats || i == dead {
				continue
			}
			again := &cue{scene: sc, ctx: asNode(ctx), store: s.store, caller: s.db.admin}
			more := actor.Do(again)
			t.results[i] = combined(t.results[i], bare(more))
			t.script = append(t.script, s.performers[i].name+" is repeated: "+told(more))
		}
	}
	return s.follow(ctx, sc)
}

// follow does what the loops of nodes do with the subject sooner or later. An operation that
// finds a batch or a sweep locked leaves the rest to them.
func (s *Stage) follow(ctx context.Context, sc *scene) error {
	ctx = asNode(ctx)
	if sc.batch != 0 {
		if err := conduct(ctx, s.store, sc.batch); err != nil && !errors.Is(err, fairlead.ErrNotFound) {
			return err
		}
	}
	if sc.sweep != 0 {
		for range 2 {
			if err := sweep.Steer(ctx, s.store, sc.sweep); err != nil && !errors.Is(err, fairlead.ErrNotFound) {
				return err
			}
		}
	}
	_, err := s.store.Promote(ctx, 100)
	return err
}

// combined unites the results of two calls.
func combined(first, second string) string {
	words := append(strings.Split(first, ", "), strings.Split(second, ", ")...)
	words = slices.DeleteFunc(words, func(w string) bool { return w == "" || w == "ok" })
	slices.Sort(words)
	if words = slices.Compact(words); len(words) == 0 {
		return "ok"
	}
	return strings.Join(words, ", ")
}

// check returns a rule that the database breaks, or an empty text.
func (s *scene) check(ctx context.Context) (string, error) {
	places := map[string][]string{}
	jobs := map[string]bool{}
	err := s.rows(ctx, placesOf, func(_ []string, row []sql.NullString) {
		if place, id := row[0].String, row[1].String; place == "job" {
			jobs[id] = true
		} else {
			places[id] = append(places[id], place)
		}
	})
	if err != nil {
		return "", err
	}
	var problems []string
	for _, id := range s.acknowledged {
		if !jobs[strconv.FormatInt(id, 10)] {
			problems = append(problems, "a job whose enqueueing was acknowledged is gone")
		}
	}
	for id := range jobs {
		if len(places[id]) != 1 {
			problems = append(problems, fmt.Sprintf("job %s is in the places %v", s.neutral(id), places[id]))
		}
		delete(places, id)
	}
	for id, in := range places {
		problems = append(problems, fmt.Sprintf("job %s is in the places %v, but its definition is gone", s.neutral(id), in))
	}
	unheard, err := s.unheard(ctx)
	if err != nil {
		return "", err
	}
	problems = append(problems, unheard...)
	err = s.rows(ctx, broken, func(_ []string, row []sql.NullString) {
		problems = append(problems, row[0].String+": "+s.neutral(row[1].String))
	})
	if err != nil {
		return "", err
	}
	slices.Sort(problems)
	return strings.Join(problems, "; "), nil
}

// recount returns how limits and tallies of batches differ from a recount, which corrects them.
func (s *scene) recount(ctx context.Context) (string, error) {
	drift, err := s.store.Verify(asNode(ctx))
	wrong := make([]string, len(drift))
	for i, d := range drift {
		wrong[i] = fmt.Sprintf("%s %s counts %d, found %d", d.Scope, s.neutral(d.Name), d.Counted, d.Found)
	}
	slices.Sort(wrong)
	return strings.Join(wrong, "; "), err
}

// placesOf returns every job and every place of a job.
const placesOf = `
	select 'job', id from fairlead_job
	union all select 'later', id from fairlead_later
	union all select 'parked', id from fairlead_parked
	union all select 'ready', id from fairlead_ready
	union all select 'running', id from fairlead_running
	union all select 'waiting', id from fairlead_waiting
	union all select 'done', id from fairlead_done`

// broken returns rows that must not exist, each with the reason.
const broken = `
	select 'a key belongs to a job that is gone', cast(k.id as char(20))
	from fairlead_jobkey k where not exists (select 1 from fairlead_job j where j.id = k.id)
	union all
	select 'a live job does not hold its key', cast(j.id as char(20))
	from fairlead_job j where j.job_key is not null
		and not exists (select 1 from fairlead_jobkey k where k.id = j.id) and not exists (select 1 from fairlead_done d where d.id = j.id)
	union all
	select 'an ended job holds its key', cast(k.id as char(20))
	from fairlead_jobkey k join fairlead_job j on j.id = k.id join fairlead_done d on d.id = k.id where (j.flags & 1) = 0
	union all
	select 'an ended job has a place at its gate', cast(a.id as char(20))
	from fairlead_admitted a join fairlead_done d on d.id = a.id
	union all
	select 'a job runs on an unknown node', cast(r.id as char(20))
	from fairlead_running r where not exists (select 1 from fairlead_node n where n.id = r.node)`

// reap returns the parameters with which the actors reap.
func (c *cue) reap() driver.Reap { return driver.Reap{By: c.free, MaxCrashes: 3, Limit: 100} }

// keep returns the retention with which the actors prune.
func keep() driver.Retention {
	return driver.Retention{Succeeded: retention, Failed: retention, Cancelled: retention, Skipped: retention}
}

// Replay plays a pair in one order and returns its statements. It returns an error if the
// result is not that of a serial order.
func (s *Stage) Replay(ctx context.Context, pair Pair, order Order) (string, error) {
	var accepted []*take
	for _, o := range serial() {
		t, err := s.Play(ctx, pair.Subject, pair.Actors, o)
		if err != nil {
			return "", err
		}
		accepted = append(accepted, t)
	}
	t, err := s.Play(ctx, pair.Subject, pair.Actors, order)
	if err != nil {
		return "", err
	}
	script := strings.Join(t.script, "\n")
	if what := judge(t, accepted); what != "" && excuse(pair, t, accepted) == nil {
		return script, fmt.Errorf("%v, order %v: %s", pair, order, what)
	}
	return script, nil
}
