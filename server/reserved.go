package server

import (
	"fmt"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/reserved"
)

// checkUnreserved returns an *InvalidError, whose fields begin with the prefix, for a job
// that is not for callers to make.
func checkUnreserved(prefix string, job *fairlead.Job) error {
	var refused []fairlead.FieldError
	if reserved.Is(job.Kind) {
		refused = append(refused, fairlead.FieldError{
			Field: prefix + "kind", Message: fmt.Sprintf("is %q, which is reserved: only Fairlead itself makes such jobs; choose another", job.Kind),
		})
	}
	if job.Tenant == reserved.NoticeTenant {
		refused = append(refused, fairlead.FieldError{
			Field: prefix + "tenant", Message: fmt.Sprintf("is %q, which is reserved for notices; choose another", job.Tenant),
		})
	}
	return fairlead.Invalid(refused...)
}
