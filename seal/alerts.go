package seal

import (
	"context"

	"github.com/fairlead-io/fairlead/alert"
)

// EndLook is part of alert.Store. Messages are jobs, whose args are sealed.
func (s *Store) EndLook(ctx context.Context, found alert.Found) (bool, error) {
	messages, err := s.sealJobs(found.Messages)
	if err != nil {
		return false, err
	}
	found.Messages = messages
	return s.Store.EndLook(ctx, found)
}
