package access

import (
	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/check"
)

// complaints collects the errors of invalid fields.
type complaints = check.Fields[fairlead.FieldError]
