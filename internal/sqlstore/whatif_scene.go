package sqlstore

import (
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/dispatch"
)

// scene holds the data that claims use, at one moment.
type scene struct {
	data       *limitData
	versions   map[string]int64     // versions of the declared tenants to be changed
	lanes      []*forecastLane      // lanes with ready jobs
	held       map[LaneKey]int      // jobs that count against limits
	pastStarts *dispatch.PastStarts // recent starts of tenants that share starts

	nodes  []fairlead.Node // live nodes that accept jobs
	others []fairlead.Node // all other nodes
	served map[work]bool
}

// forecastLane is a lane with ready jobs. The prospects share the keys read for it.
type forecastLane struct {
	Lane
	keys []dispatch.Key // initially only the first job
	all  bool           // no further jobs can start
}

// work is the part of a lane that decides whether a node serves it.
type work struct{ queue, kind string }

// meet sets the nodes.
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

func (s *scene) now() time.Time { return Time(s.data.now) }

// idle returns the number of free slots of the nodes.
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

// apply makes a change to a sheet, or fails as saving the change would.
func (s *scene) apply(data *limitData, change fairlead.RuleChange) error {
	if change.Limit != nil {
		return data.setLimit(*change.Limit)
	}
	return data.putTenant(*change.Tenant, s.versions[change.Tenant.Name])
}

// prospect holds the jobs that would start under some limits.
type prospect struct {
	config *LimitConfig
	limits map[int32]*dispatch.Limit // state after all these jobs have started
	picks  []dispatch.Pick
	token  time.Duration // see dispatch.NextToken
	starts map[int32]laneStarts
}

// laneStarts describes the jobs of a lane that would start.
type laneStarts struct {
	jobs  int
	first int // position of the first of them among all, from 1
}

// foresee chooses jobs as one claim of all nodes together would.
func (s *scene) foresee(data *limitData, slots int, read func(*forecastLane) error) (*prospect, error) {
	config := data.config()
	limits := data.limits(config, s.held)
	fair := openAsked(s.pastStarts.Copy(), config)
	lanes, of := []*dispatch.Lane{}, map[int32]*forecastLane{}
	for _, lane := range s.lanes {
		if config.Paused(lane.LaneKey) || !s.serves(lane.LaneKey) {
			continue
		}
		of[lane.ID] = lane
		lanes = append(lanes, limitedLane(lane, config, limits, fair))
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
	p := &prospect{config: config, limits: limits, picks: picks, token: dispatch.NextToken(lanes, picks), starts: map[int32]laneStarts{}}
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

// limitedLane returns a lane with its limits and the share of its tenant.
func limitedLane(lane *forecastLane, config *LimitConfig, limits map[int32]*dispatch.Limit, fair *FairClaim) *dispatch.Lane {
	governed := &dispatch.Lane{ID: lane.ID, Kind: lane.Kind, From: lane.keys[0], Keys: lane.keys, All: lane.all, Share: fair.Share(lane.LaneKey)}
	for _, id := range config.Of(lane.LaneKey) {
		governed.Limits = append(governed.Limits, limits[id])
	}
	if id, limited := config.Tenant(lane.LaneKey); limited {
		governed.Tenant = limits[id]
	}
	return governed
}
