package pipeline

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"connectrpc.com/connect"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/server/internal/caller"
	"github.com/fairlead-io/fairlead/server/internal/overload"
)

// Callers of gRPC learn by the code what to do. Of what they cannot tell apart they learn
// nothing, and the log learns all.
func TestEachErrorHasItsCode(t *testing.T) {
	why := func(err error) error { return fmt.Errorf("disk on fire: %w", err) }
	for _, c := range []struct {
		err              error
		want             connect.Code
		isTold, isLogged bool
	}{
		{why(&fairlead.InvalidError{Fields: []fairlead.FieldError{{Field: "f", Message: "is wrong"}}}), connect.CodeInvalidArgument, true, false},
		{why(fairlead.ErrNotFound), connect.CodeNotFound, true, false},
		{why(fairlead.ErrConflict), connect.CodeFailedPrecondition, true, false},
		{why(fairlead.ErrLeaseLost), connect.CodeAborted, true, false},
		{why(fairlead.ErrExpired), connect.CodeDeadlineExceeded, true, false},
		{why(fairlead.ErrLimit), connect.CodeResourceExhausted, true, false},
		{why(fairlead.ErrUnavailable), connect.CodeUnavailable, false, true},
		{why(caller.ErrNoToken), connect.CodeUnauthenticated, true, false},
		{why(caller.ErrForbidden), connect.CodePermissionDenied, true, false},
		{why(caller.ErrTooManyUnknown), connect.CodeResourceExhausted, true, false},
		{why(caller.ErrNoDatabase), connect.CodeUnavailable, true, false},
		{why(overload.ErrSlowBody), connect.CodeDeadlineExceeded, true, false},
		{why(context.Canceled), connect.CodeCanceled, true, false},
		{why(context.DeadlineExceeded), connect.CodeDeadlineExceeded, true, false},
		{connect.NewError(connect.CodeDataLoss, why(fairlead.ErrConflict)), connect.CodeDataLoss, true, false},
		{why(errors.New("oh")), connect.CodeInternal, false, true},
	} {
		var log bytes.Buffer
		coded := RPC{Log: slog.New(slog.NewTextHandler(&log, nil))}.coded(connect.Spec{Procedure: "/x/Y"}, c.err)
		isTold, isLogged := strings.Contains(coded.Error(), "disk on fire"), strings.Contains(log.String(), "disk on fire")
		if connect.CodeOf(coded) != c.want || isTold != c.isTold || isLogged != c.isLogged {
			t.Errorf("%v: it is %v, and logged is %q", c.err, coded, log.String())
		}
		var own *connect.Error
		if isNamed := errors.As(coded, &own) && len(own.Details()) > 0; isNamed != (c.want == connect.CodeInvalidArgument) {
			t.Errorf("%v: its details are %v", c.err, own.Details())
		}
	}
	if err := (RPC{}).coded(connect.Spec{}, nil); err != nil {
		t.Errorf("what went well is %v", err)
	}
}
