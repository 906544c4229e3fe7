package sqlstore

import (
	"slices"
	"testing"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
)

var (
	mail  = Lane{1, LaneKey{Queue: "default", Kind: "mail"}}
	sms   = Lane{2, LaneKey{Queue: "default", Kind: "sms"}}
	scope = &driver.Scope{Kinds: []string{"mail", "sms"}}
)

func TestALaneThatWasForgottenIsNotServed(t *testing.T) {
	lanes := NewLanes()
	lanes.Add(mail, sms)
	if got := lanes.Served(scope); len(got) != 2 {
		t.Fatalf("serves %v", got)
	}
	lanes.Forget(mail.ID)
	if got := lanes.Served(scope); !slices.Equal(got, []Lane{sms}) {
		t.Errorf("serves %v", got)
	}
	if _, known := lanes.ID(mail.LaneKey); known {
		t.Error("its names are still known")
	}
	lanes.Add(Lane{3, mail.LaneKey})
	if got := lanes.Served(scope); !slices.Equal(got, []Lane{sms, {3, mail.LaneKey}}) {
		t.Errorf("serves %v once it was made again", got)
	}
}

func TestALaneUnderOtherNamesReplacesTheOneThatIsKnown(t *testing.T) {
	lanes := NewLanes()
	lanes.Add(mail, sms)
	_, before := lanes.List()
	lanes.Add(Lane{mail.ID, LaneKey{Queue: "other", Kind: "mail"}}, Lane{4, sms.LaneKey})
	all, after := lanes.List()
	if len(all) != 2 || before == after {
		t.Errorf("knows %v in epoch %d after %d", all, after, before)
	}
	if _, known := lanes.ID(mail.LaneKey); known {
		t.Error("the names that the lane had are still known")
	}
	if id, _ := lanes.ID(sms.LaneKey); id != 4 {
		t.Errorf("the lane has the id %d", id)
	}
}

func TestALaneThatIsKnownIsAddedOnce(t *testing.T) {
	lanes := NewLanes()
	lanes.Add(mail)
	lanes.Add(mail)
	if all, epoch := lanes.List(); len(all) != 1 || epoch != 0 {
		t.Errorf("knows %v in epoch %d", all, epoch)
	}
	lanes.Reset()
	if all := lanes.Known(); len(all) != 0 {
		t.Errorf("knows %v after all were forgotten", all)
	}
}

func TestEachLaneThatIsNotKnownIsMissingOnce(t *testing.T) {
	lanes := NewLanes()
	lanes.Add(mail)
	job := func(kind string) *fairlead.Job { return &fairlead.Job{Queue: "default", Kind: kind} }
	missing := lanes.Missing([]*fairlead.Job{job("sms"), job("mail"), job("sms"), job("fax")})
	if want := []LaneKey{sms.LaneKey, {Queue: "default", Kind: "fax"}}; !slices.Equal(missing, want) {
		t.Errorf("got %v, want %v", missing, want)
	}
}

func TestAFilterChoosesLanesByAllThatItSays(t *testing.T) {
	lanes := NewLanes()
	lanes.Add(Lane{1, LaneKey{"q", "a", "k"}}, Lane{2, LaneKey{"q", "b", "k"}}, Lane{3, LaneKey{"p", "a", "k"}}, Lane{4, LaneKey{"q", "a", "l"}})
	for _, c := range []struct {
		filter fairlead.Filter
		want   []int32
		all    bool
	}{
		{fairlead.Filter{}, nil, true},
		{fairlead.Filter{Queues: []string{"q"}}, []int32{1, 2, 4}, false},
		{fairlead.Filter{Tenants: []string{"a"}}, []int32{1, 3, 4}, false},
		{fairlead.Filter{Kinds: []string{"k", "l"}}, []int32{1, 2, 3, 4}, false},
		{fairlead.Filter{Queues: []string{"q"}, Tenants: []string{"a"}, Kinds: []string{"k"}}, []int32{1}, false},
		{fairlead.Filter{Kinds: []string{"none"}}, nil, false},
	} {
		if ids, all := lanes.Matching(c.filter); !slices.Equal(ids, c.want) || all != c.all {
			t.Errorf("%+v: got %v, %v", c.filter, ids, all)
		}
	}
}
