package console

import (
	"encoding/json"

	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
)

// testedCall is the result of a test call.
type testedCall struct {
	*httpCall
	Success bool
}

// testSchedule performs the call of a schedule once, and shows the result.
func testSchedule(v *visit) (done, error) {
	tested, err := v.schedules.TestSchedule(v.ctx, &fairleadv1.TestScheduleRequest{Id: v.Value("id")})
	if err != nil {
		return done{}, err
	}
	shown := &testedCall{Success: tested.GetSuccess(), httpCall: &httpCall{}}
	if err := json.Unmarshal(tested.GetCall(), shown.httpCall); err != nil {
		return done{}, err
	}
	return done{Show: shown}, nil
}
