package bulk

import (
	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/check"
)

// complaints collects the fields that are refused.
type complaints = check.Fields[fairlead.FieldError]
