package callbacks

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/fairlead-io/fairlead/server/internal/rest"
)

// Answers of a target.
const (
	callbackSuccess  = "success"
	callbackFailure  = "failure"
	callbackProgress = "progress"
	callbackExtend   = "extend"
)

// callbackAnswer is the answer of a target.
type callbackAnswer struct {
	Status        string          `json:"status"`
	Output        json.RawMessage `json:"output"`
	Error         string          `json:"error"`
	ExtendSeconds float64         `json:"extend_seconds"`
}

// span returns the requested extension.
func (a callbackAnswer) span() time.Duration {
	const most = 1000 * 24 * time.Hour // longer than any job waits
	return time.Duration(min(a.ExtendSeconds, most.Seconds()) * float64(time.Second))
}

func readCallback(body io.Reader) (answer callbackAnswer, err error) {
	raw, err := io.ReadAll(body)
	var own *rest.Error
	if errors.As(err, &own) {
		return answer, own
	}
	if err != nil {
		return answer, rest.InvalidField("body", fmt.Sprintf("could not be read; at most %d bytes are allowed", MaxBody))
	}
	if err := json.Unmarshal(raw, &answer); err != nil {
		return answer, rest.InvalidField("body", "is not valid JSON such as {\"status\":\"success\",\"output\":{}}")
	}
	final := answer.Status == callbackSuccess || answer.Status == callbackFailure
	switch {
	case !final && answer.Status != callbackProgress && answer.Status != callbackExtend:
		return answer, rest.InvalidField("status", fmt.Sprintf("is %q; it must be success, failure, progress or extend", answer.Status))
	case answer.Status != callbackFailure && answer.Error != "":
		return answer, rest.InvalidField("error", "is allowed only with failure; omit it")
	case final && answer.ExtendSeconds != 0:
		return answer, rest.InvalidField("extend_seconds", "is allowed only with progress and extend; omit it")
	case answer.ExtendSeconds < 0 || answer.Status == callbackExtend && answer.ExtendSeconds == 0:
		return answer, rest.InvalidField("extend_seconds", fmt.Sprintf("is %v; set it to the number of seconds from now that the job should keep waiting", answer.ExtendSeconds))
	case answer.Status == callbackProgress && len(answer.Output) == 0:
		return answer, rest.InvalidField("output", "is missing; set it to the progress of the work")
	case answer.Status == callbackFailure && answer.Error == "":
		answer.Error = "the target reported a failure"
	}
	return answer, nil
}

// callbackReply is the response to a target.
type callbackReply struct {
	Job, Status string
	Deadline    time.Time // zero = the job is not waiting any more, or not yet
}

func (r callbackReply) send(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	deadline := ""
	if !r.Deadline.IsZero() {
		deadline = fmt.Sprintf(",\"deadline\":%q", r.Deadline.UTC().Format("2006-01-02T15:04:05.000000Z07:00"))
	}
	_, _ = fmt.Fprintf(w, "{\"job\":%q,\"status\":%q%s}\n", r.Job, r.Status, deadline) // the caller may have disconnected
}
