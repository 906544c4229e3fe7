package message

import (
	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
	"github.com/fairlead-io/fairlead/batch"
)

// ChangeOf converts a task in a request.
func ChangeOf(in *fairleadv1.NewTask) batch.Change {
	target := in.GetTarget()
	return batch.Change{
		Target: batch.Target{ID: target.GetId(), Name: target.GetName(), Type: target.GetType(), Env: target.GetEnv()},
		Before: in.GetBefore(), After: in.GetAfter(),
	}
}
