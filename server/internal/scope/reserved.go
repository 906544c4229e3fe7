package scope

import (
	"fmt"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/reserved"
)

// CheckUnreserved returns an *InvalidError, with field names that begin with the prefix,
// for a job that callers must not create.
func CheckUnreserved(prefix string, job *fairlead.Job) error {
	var refused []fairlead.FieldError
	if reserved.Is(job.Kind) {
		refused = append(refused, fairlead.FieldError{
			Field: prefix + "kind", Message: fmt.Sprintf("is %q, which is reserved: only Fairlead itself creates such jobs; choose another", job.Kind),
		})
	}
	for tenant, of := range map[string]string{reserved.NoticeTenant: "notices", reserved.BulkTenant: "bulks"} {
		if job.Tenant == tenant {
			refused = append(refused, fairlead.FieldError{
				Field: prefix + "tenant", Message: fmt.Sprintf("is %q, which is reserved for %s; choose another", job.Tenant, of),
			})
		}
	}
	return fairlead.Invalid(refused...)
}
