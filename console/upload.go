package console

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/proto"

	"github.com/fairlead-io/fairlead/internal/wire"
)

// uploadPath is the API path for uploading batches line by line, which is not a method of
// the schema.
const uploadPath = "/api/v1/batches/upload"

// fault is an error in an upload.
type fault struct {
	Field   string `json:"field"` // such as "line 3, after"
	Message string `json:"message"`
}

// Place returns the location of a fault for people: its line, then the column or field.
func (v *visit) Place(f fault) string {
	line, is := strings.CutPrefix(f.Field, "line ")
	if !is {
		return f.Field
	}
	number, rest, _ := strings.Cut(line, ",")
	place := v.T("line %s", number)
	if rest != "" {
		place += "," + rest
	}
	return place
}

// refusedUpload is the API's error for an invalid upload.
type refusedUpload struct {
	Status int     `json:"status"`
	Detail string  `json:"detail"`
	Faults []fault `json:"errors"`
}

// Error implements error.
func (r *refusedUpload) Error() string { return r.Detail }

// upload sends lines to the API on behalf of the viewer. It returns a *refusedUpload if the
// API rejects them.
func (v *visit) upload(query url.Values, lines string, into proto.Message) error {
	request, err := http.NewRequestWithContext(v.ctx, http.MethodPost, at+uploadPath+"?"+query.Encode(), strings.NewReader(lines))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "text/csv")
	answer, err := v.client.Do(request)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		return err
	}
	if answer.StatusCode == http.StatusOK {
		return wire.Unmarshal(body, into)
	}
	refused := &refusedUpload{}
	if err := json.Unmarshal(body, refused); err != nil {
		return fmt.Errorf("upload: status %d: %w", answer.StatusCode, err)
	}
	return refused
}

// asRefusal converts the error of an upload to the form used by all other API methods.
func asRefusal(err error) error {
	var refused *refusedUpload
	if !errors.As(err, &refused) {
		return err
	}
	code := connect.CodeUnknown
	switch refused.Status {
	case http.StatusBadRequest, http.StatusUnprocessableEntity, http.StatusRequestEntityTooLarge:
		code = connect.CodeInvalidArgument
	case http.StatusUnauthorized:
		code = connect.CodeUnauthenticated
	case http.StatusForbidden:
		code = connect.CodePermissionDenied
	case http.StatusConflict:
		code = connect.CodeFailedPrecondition
	case http.StatusTooManyRequests:
		code = connect.CodeResourceExhausted
	case http.StatusServiceUnavailable:
		code = connect.CodeUnavailable
	}
	return connect.NewError(code, refused)
}
