package console

import (
	"encoding/json"
	"net/http"

	"google.golang.org/protobuf/proto"

	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
)

// testedCall is the result of a test call.
type testedCall struct {
	*httpCall
	Success bool
}

func newTestedCall(tested *fairleadv1.TestScheduleResponse) (*testedCall, error) {
	shown := &testedCall{Success: tested.GetSuccess(), httpCall: &httpCall{}}
	return shown, json.Unmarshal(tested.GetCall(), shown.httpCall)
}

// testSchedule performs the call of a schedule once, and shows the result.
func testSchedule(v *visit) (done, error) {
	tested, err := v.schedules.TestSchedule(v.ctx, &fairleadv1.TestScheduleRequest{Id: v.Value("id")})
	if err != nil {
		return done{}, err
	}
	shown, err := newTestedCall(tested)
	return done{Show: shown}, err
}

// HasTest reports whether the form describes an HTTP request that can be sent before the
// form is saved.
func (a *action) HasTest() bool { return a.test != nil }

// testCall sends the request that a form describes, and shows the form again with the
// response. Nothing is saved.
func (c *Console) testCall(w http.ResponseWriter, v *visit, a *action) {
	draft, err := a.test(v)
	if err != nil {
		c.notDone(w, v, a, err)
		return
	}
	answer, err := v.schedules.TestScheduleDraft(v.ctx, draft)
	if err != nil {
		c.notDone(w, v, a, err)
		return
	}
	tested, err := newTestedCall(answer)
	if err != nil {
		c.refuse(w, v, err)
		return
	}
	data, err := a.load(v)
	if err != nil {
		c.refuse(w, v, err)
		return
	}
	c.renderForm(w, http.StatusOK, v, &actForm{action: a, Tested: tested, Data: data})
}

// scheduleDraft returns the job that the form of a schedule describes. The rest of the form
// may be incomplete.
func scheduleDraft(v *visit) (*fairleadv1.Schedule, error) {
	base, err := v.editedSchedule()
	if err != nil {
		return nil, err
	}
	f := &scheduleFields{parameters: v.fields(), stored: base.GetId() != ""}
	draft := &fairleadv1.Schedule{Ref: base.GetId(), Job: proto.CloneOf(base.GetJob())}
	f.set("name", func(name string) { draft.Name = new(f.text(name)) })
	f.job(draft.GetJob())
	return draft, f.err()
}
