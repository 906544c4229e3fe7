package postgres

import (
	"context"
	"errors"

	"github.com/fairlead-io/fairlead"
)

var errUnbuilt = errors.New("not built yet")

func (s *Store) PutSchedule(context.Context, fairlead.Schedule, bool) (fairlead.Schedule, error) {
	return fairlead.Schedule{}, errUnbuilt
}
func (s *Store) DeleteSchedule(context.Context, int64) error { return errUnbuilt }
func (s *Store) Schedules(context.Context, fairlead.ScheduleFilter) ([]fairlead.Schedule, error) {
	return nil, errUnbuilt
}
func (s *Store) Tick(context.Context, int, func(fairlead.Schedule, fairlead.View) fairlead.Plan) (fairlead.Ticked, error) {
	return fairlead.Ticked{}, errUnbuilt
}
func (s *Store) Act(context.Context, int64, func(fairlead.Schedule, fairlead.View) (fairlead.Plan, error)) ([]fairlead.Fire, error) {
	return nil, errUnbuilt
}
func (s *Store) Fires(context.Context, fairlead.FireFilter) ([]fairlead.Fire, error) {
	return nil, errUnbuilt
}
func (s *Store) PutCalendar(context.Context, fairlead.Calendar) (fairlead.Calendar, error) {
	return fairlead.Calendar{}, errUnbuilt
}
func (s *Store) DeleteCalendar(context.Context, string) error           { return errUnbuilt }
func (s *Store) Calendars(context.Context) ([]fairlead.Calendar, error) { return nil, errUnbuilt }
