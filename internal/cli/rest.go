package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"

	"connectrpc.com/connect"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/protobuf/proto"

	"github.com/fairlead-io/fairlead/internal/wire"
)

// restCodes maps HTTP statuses to error codes.
var restCodes = map[int]connect.Code{
	http.StatusBadRequest:            connect.CodeInvalidArgument,
	http.StatusUnauthorized:          connect.CodeUnauthenticated,
	http.StatusForbidden:             connect.CodePermissionDenied,
	http.StatusNotFound:              connect.CodeUnimplemented, // the path does not exist
	http.StatusMethodNotAllowed:      connect.CodeUnimplemented,
	http.StatusConflict:              connect.CodeFailedPrecondition,
	http.StatusRequestEntityTooLarge: connect.CodeInvalidArgument,
	http.StatusUnsupportedMediaType:  connect.CodeInvalidArgument,
	http.StatusTooManyRequests:       connect.CodeResourceExhausted,
	http.StatusServiceUnavailable:    connect.CodeUnavailable,
	http.StatusBadGateway:            connect.CodeUnavailable,
	http.StatusGatewayTimeout:        connect.CodeUnavailable,
}

// exchange makes a call for which there is no API client. Its errors have the same form as
// those of the clients.
func (c *call) exchange(request *http.Request, answer proto.Message) error {
	response, err := c.web.Do(request)
	if err != nil {
		code := connect.CodeUnavailable
		if request.Context().Err() != nil {
			code = connect.CodeDeadlineExceeded
		}
		return connect.NewError(code, err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, maxInput))
	if err != nil {
		return connect.NewError(connect.CodeUnavailable, err)
	}
	if response.StatusCode/100 == 2 {
		if err := wire.Unmarshal(body, answer); err != nil {
			return fmt.Errorf("invalid response from %s: %w", c.url, err)
		}
		return nil
	}
	return refusalOf(response.StatusCode, body)
}

// refusalOf returns the error in a response.
func refusalOf(status int, body []byte) error {
	var problem struct {
		Detail string
		Errors []struct{ Field, Message string }
	}
	if json.Unmarshal(body, &problem) != nil || problem.Detail == "" {
		problem.Detail = http.StatusText(status)
	}
	code, known := restCodes[status]
	if !known {
		code = connect.CodeInternal
	}
	refusal := connect.NewWireError(code, errors.New(problem.Detail))
	fields := &errdetails.BadRequest{}
	for _, f := range problem.Errors {
		fields.FieldViolations = append(fields.FieldViolations, &errdetails.BadRequest_FieldViolation{Field: f.Field, Description: f.Message})
	}
	if detail, err := connect.NewErrorDetail(fields); err == nil && len(fields.GetFieldViolations()) > 0 {
		refusal.AddDetail(detail)
	}
	return refusal
}
