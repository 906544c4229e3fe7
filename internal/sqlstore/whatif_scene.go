package sqlstore

import (
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/dispatch"
)

// scene is what claims decide by at one moment.
type scene struct {
	sheet    *ruleSheet
	versions map[string]int64 // of the tenants that would change and are declared
	lanes    []*forecastLane  // that have ready jobs
	held     map[LaneKey]int  // jobs that count against limits
	ledger   *dispatch.Ledger // what tenants have had where they share starts

	nodes  []fairlead.Node // live, and starting jobs
	others []fairlead.Node // all the rest
	served map[work]bool
}

// forecastLane is a lane that has ready jobs. Choices share what is read of it.
type forecastLane struct {
	Lane
	keys []dispatch.Key // at first only the first job
	all  bool           // no more of them can start
}

// work is what decides whether a node serves a lane.
type work struct{ queue, kind string }

// meet takes over the nodes.
func (s *scene) meet(nodes []fairlead.Node) {
	s.served = map[work]bool{}
	facts := Facts{Now: s.now()}
	for _, node := range nodes {
		if facts.alive(&node) && !node.Draining {
			s.nodes = append(s.nodes, node)
		} else {
			s.others = append(s.others, node)
		}
	}
}

func (s *scene) now() time.Time { return Time(s.sheet.now) }

// idle is how many slots the nodes have free.
func (s *scene) idle() (slots int) {
	for _, node := range s.nodes {
		slots += max(0, node.Idle)
	}
	return slots
}

// serves reports whether a node runs jobs of a lane.
func (s *scene) serves(lane LaneKey) bool {
	what := work{lane.Queue, lane.Kind}
	served, known := s.served[what]
	if !known {
		served = servedByAny(s.nodes, lane)
		s.served[what] = served
	}
	return served
}

// apply makes a change to a sheet, or fails as saving it would.
func (s *scene) apply(sheet *ruleSheet, change fairlead.RuleChange) error {
	if change.Limit != nil {
		return sheet.setLimit(*change.Limit)
	}
	return sheet.putTenant(*change.Tenant, s.versions[change.Tenant.Name])
}

// prospect is what would start under some rules.
type prospect struct {
	rules  *Rules
	limits map[int32]*dispatch.Limit // as they stand when all that would start has started
	picks  []dispatch.Pick
	token  time.Duration // see dispatch.NextToken
	starts map[int32]laneStarts
}

// laneStarts are the jobs of a lane that would start.
type laneStarts struct {
	jobs  int
	first int // place of the first of them among all, from 1
}

// foresee chooses as one claim of all nodes together does.
func (s *scene) foresee(sheet *ruleSheet, slots int, read func(*forecastLane) error) (*prospect, error) {
	rules := sheet.rules()
	limits := sheet.limits(rules, s.held)
	fair := openAsked(s.ledger.Copy(), rules)
	lanes, of := []*dispatch.Lane{}, map[int32]*forecastLane{}
	for _, lane := range s.lanes {
		if rules.Paused(lane.LaneKey) || !s.serves(lane.LaneKey) {
			continue
		}
		of[lane.ID] = lane
		lanes = append(lanes, govern(lane, rules, limits, fair))
	}
	picks, err := dispatch.ChooseReading(lanes, dispatch.Ask{Max: slots}, func(lane *dispatch.Lane) error {
		from := of[lane.ID]
		if !from.all {
			if err := read(from); err != nil {
				return err
			}
		}
		lane.Keys, lane.All = from.keys, from.all
		return nil
	})
	if err != nil {
		return nil, err
	}
	p := &prospect{rules: rules, limits: limits, picks: picks, token: dispatch.NextToken(lanes, picks), starts: map[int32]laneStarts{}}
	for i, pick := range picks {
		lane := p.starts[pick.Lane.ID]
		if lane.jobs++; lane.first == 0 {
			lane.first = i + 1
		}
		p.starts[pick.Lane.ID] = lane
	}
	for limit, n := range dispatch.Spent(picks) {
		limit.Used, limit.Tokens = limit.Used+n, limit.Tokens-float64(n)
	}
	return p, nil
}

// govern puts a lane under its limits, and gives it the share of its tenant.
func govern(lane *forecastLane, rules *Rules, limits map[int32]*dispatch.Limit, fair *FairClaim) *dispatch.Lane {
	governed := &dispatch.Lane{ID: lane.ID, Kind: lane.Kind, From: lane.keys[0], Keys: lane.keys, All: lane.all, Share: fair.Share(lane.LaneKey)}
	for _, id := range rules.Of(lane.LaneKey) {
		governed.Limits = append(governed.Limits, limits[id])
	}
	if id, limited := rules.Tenant(lane.LaneKey); limited {
		governed.Tenant = limits[id]
	}
	return governed
}
