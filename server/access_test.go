package server_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"google.golang.org/genproto/googleapis/api/annotations"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/wire"
)

// What a method touches decides what callers see who are bound to tenants.
type touch int

const (
	aJob     touch = iota // or schedule of the tenant acme: to others it does not exist
	jobsOf                // of the tenant acme, by name: it is refused to others
	many                  // whatever is the caller's
	aTenant               // acme: to others it does not exist
	tenantOf              // acme, by name: it is refused to others
	cluster               // what is nobody's: refused to who is bound
	nothing               // it is not about tenants: roles alone count
)

// everyMethod is who may call what. A method that is not in here fails the test:
// think about who may call it, then add it.
var everyMethod = map[protoreflect.Name]struct {
	role    fairlead.Role // the least that may; empty: every
	touch   touch
	request string // JOB is a job of acme, SCHEDULE its schedule, CALENDAR a calendar, TASK a task of theirs, RUN a run of one, BATCH a batch of acme, SWEEP a sweep of theirs, TOKEN a token, NEW a new name, GONE a worker
}{
	"EnqueueJobs":    {fairlead.RoleSubmitter, jobsOf, `{"jobs":[{"kind":"noop","tenant":"acme"}]}`},
	"AssignJobs":     {fairlead.RoleSubmitter, jobsOf, `{"tenant":"acme","start":"2030-01-01T00:00:00Z","end":"2030-01-02T00:00:00Z","jobs":[{"kind":"noop"}]}`},
	"GetJob":         {fairlead.RoleViewer, aJob, `{"id":JOB}`},
	"ListJobs":       {fairlead.RoleViewer, many, `{}`},
	"ListAttempts":   {fairlead.RoleViewer, aJob, `{"id":JOB}`},
	"ExplainJob":     {fairlead.RoleViewer, aJob, `{"id":JOB}`},
	"WatchJob":       {fairlead.RoleViewer, aJob, `{"id":JOB}`},
	"CancelJob":      {fairlead.RoleSubmitter, aJob, `{"id":JOB}`},
	"RetryJob":       {fairlead.RoleSubmitter, aJob, `{"id":JOB}`},
	"RunJob":         {fairlead.RoleSubmitter, aJob, `{"id":JOB}`},
	"RescheduleJob":  {fairlead.RoleSubmitter, aJob, `{"id":JOB,"not_before":"2030-01-01T00:00:00Z"}`},
	"SetJobPriority": {fairlead.RoleOperator, aJob, `{"id":JOB,"priority":1}`},
	"FinishJob":      {fairlead.RoleSubmitter, aJob, `{"id":JOB,"fence":1}`},
	"FailJob":        {fairlead.RoleSubmitter, aJob, `{"id":JOB,"fence":1,"error":"no"}`},
	"DeleteJob":      {fairlead.RoleOperator, aJob, `{"id":JOB}`},
	"BulkJobs":       {fairlead.RoleOperator, many, `{"action":"cancel","filter":{"tenant":["acme"]}}`},

	"CreateTenant":   {fairlead.RoleOperator, cluster, `{"name":"NEW"}`},
	"GetTenant":      {fairlead.RoleViewer, aTenant, `{"name":"acme"}`},
	"ListTenants":    {fairlead.RoleViewer, many, `{}`},
	"UpdateTenant":   {fairlead.RoleOperator, cluster, `{"name":"acme","max_running":7,"version":1}`},
	"DeleteTenant":   {fairlead.RoleOperator, cluster, `{"name":"doomed"}`},
	"PauseTenant":    {fairlead.RoleOperator, tenantOf, `{"name":"acme"}`},
	"ResumeTenant":   {fairlead.RoleOperator, tenantOf, `{"name":"acme"}`},
	"GetTenantStats": {fairlead.RoleViewer, aTenant, `{"name":"acme"}`},

	"GetTenantSigningKey": {fairlead.RoleAdmin, nothing, `{"name":"acme"}`},

	"ListQueues":  {fairlead.RoleViewer, cluster, `{}`},
	"PauseQueue":  {fairlead.RoleOperator, cluster, `{"name":"mail"}`},
	"ResumeQueue": {fairlead.RoleOperator, cluster, `{"name":"mail"}`},
	"ListNodes":   {fairlead.RoleViewer, cluster, `{}`},
	"DrainNode":   {fairlead.RoleOperator, cluster, `{"id":1}`},
	"ListLimits":  {fairlead.RoleViewer, cluster, `{}`},
	"SetLimit":    {fairlead.RoleOperator, cluster, `{"scope":"queue:mail","max_running":3}`},
	"Verify":      {fairlead.RoleOperator, cluster, `{}`},
	"GetStats":    {fairlead.RoleViewer, many, `{}`},
	"WatchEvents": {fairlead.RoleViewer, many, `{}`},

	"CreateToken": {fairlead.RoleAdmin, nothing, `{"name":"NEW","role":"viewer"}`},
	"ListTokens":  {fairlead.RoleAdmin, nothing, `{}`},
	"DeleteToken": {fairlead.RoleAdmin, nothing, `{"id":TOKEN}`},
	"WhoAmI":      {"", nothing, `{}`},
	"ListAudit":   {fairlead.RoleAdmin, nothing, `{}`},

	"CreateSchedule":   {fairlead.RoleOperator, jobsOf, `{"name":"NEW","every":"1h","job":{"kind":"noop","tenant":"acme"}}`},
	"GetSchedule":      {fairlead.RoleViewer, aJob, `{"id":"SCHEDULE"}`},
	"ListSchedules":    {fairlead.RoleViewer, many, `{}`},
	"UpdateSchedule":   {fairlead.RoleOperator, aJob, `{"ref":"SCHEDULE","every":"2h","job":{"kind":"noop","tenant":"acme"}}`},
	"PatchSchedule":    {fairlead.RoleOperator, aJob, `{"ref":"SCHEDULE","every":"2h"}`},
	"DeleteSchedule":   {fairlead.RoleOperator, aJob, `{"id":"SCHEDULE"}`},
	"EnableSchedule":   {fairlead.RoleOperator, aJob, `{"id":"SCHEDULE"}`},
	"DisableSchedule":  {fairlead.RoleOperator, aJob, `{"id":"SCHEDULE","reason":"over"}`},
	"TriggerSchedule":  {fairlead.RoleSubmitter, aJob, `{"id":"SCHEDULE"}`},
	"BackfillSchedule": {fairlead.RoleOperator, aJob, `{"id":"SCHEDULE","from":"2026-01-01T00:00:00Z","to":"2026-01-01T03:00:00Z"}`},
	"PreviewSchedule":  {fairlead.RoleViewer, aJob, `{"id":"SCHEDULE"}`},
	"PreviewTiming":    {fairlead.RoleViewer, nothing, `{"cron":"@daily"}`},
	"ListRuns":         {fairlead.RoleViewer, aJob, `{"id":"SCHEDULE"}`},
	"GetScheduleStats": {fairlead.RoleViewer, aJob, `{"id":"SCHEDULE"}`},

	"CreateCalendar": {fairlead.RoleOperator, cluster, `{"name":"NEW","weekdays":["sunday"]}`},
	"GetCalendar":    {fairlead.RoleViewer, nothing, `{"name":"CALENDAR"}`},
	"ListCalendars":  {fairlead.RoleViewer, nothing, `{}`},
	"UpdateCalendar": {fairlead.RoleOperator, cluster, `{"name":"CALENDAR","dates":["12-25"]}`},
	"DeleteCalendar": {fairlead.RoleOperator, cluster, `{"name":"CALENDAR"}`},

	"CreateTask":    {fairlead.RoleOperator, jobsOf, `{"name":"NEW","cron_expr":"0 0 1 1 *","target_url":"http://svc.internal/","tenant":"acme"}`},
	"GetTask":       {fairlead.RoleViewer, aJob, `{"id":"TASK"}`},
	"ListTasks":     {fairlead.RoleViewer, many, `{}`},
	"UpdateTask":    {fairlead.RoleOperator, aJob, `{"ref":"TASK","name":"NEW","cron_expr":"0 0 1 1 *","target_url":"http://svc.internal/","tenant":"acme"}`},
	"PatchTask":     {fairlead.RoleOperator, aJob, `{"ref":"TASK","description":"changed"}`},
	"DeleteTask":    {fairlead.RoleOperator, aJob, `{"id":"TASK"}`},
	"EnableTask":    {fairlead.RoleOperator, aJob, `{"id":"TASK"}`},
	"DisableTask":   {fairlead.RoleOperator, aJob, `{"id":"TASK"}`},
	"TriggerTask":   {fairlead.RoleSubmitter, aJob, `{"id":"TASK"}`},
	"ListTaskRuns":  {fairlead.RoleViewer, aJob, `{"id":"TASK"}`},
	"GetTaskRun":    {fairlead.RoleViewer, aJob, `{"id":RUN}`},
	"CancelTaskRun": {fairlead.RoleSubmitter, aJob, `{"id":RUN}`},

	"CreateBatch":    {fairlead.RoleSubmitter, jobsOf, `{"name":"NEW","type":"paint","tenant":"acme","tasks":[{"target":{"id":"1","type":"wall"}}]}`},
	"GetBatch":       {fairlead.RoleViewer, aJob, `{"id":BATCH}`},
	"ListBatches":    {fairlead.RoleViewer, many, `{}`},
	"PatchBatch":     {fairlead.RoleSubmitter, aJob, `{"id":BATCH,"max_running":3}`},
	"ListBatchTasks": {fairlead.RoleViewer, aJob, `{"id":BATCH}`},
	"WatchBatch":     {fairlead.RoleViewer, aJob, `{"id":BATCH}`},
	"CancelBatch":    {fairlead.RoleSubmitter, aJob, `{"id":BATCH}`},
	"RetryBatch":     {fairlead.RoleSubmitter, aJob, `{"id":BATCH}`},
	"RollBackBatch":  {fairlead.RoleSubmitter, aJob, `{"id":BATCH}`},
	"ApproveBatch":   {fairlead.RoleSubmitter, aJob, `{"id":BATCH}`},
	"PauseBatch":     {fairlead.RoleSubmitter, aJob, `{"id":BATCH}`},
	"ResumeBatch":    {fairlead.RoleSubmitter, aJob, `{"id":BATCH}`},
	"CreateBatchJob": {fairlead.RoleSubmitter, jobsOf, `{"batch_name":"NEW","batch_type":"paint","tenant":"acme","tasks":[{"target_id":1,"target_type":"wall"}]}`},
	"GetBatchJob":    {fairlead.RoleViewer, aJob, `{"id":BATCH}`},
	"TriggerEvent":   {fairlead.RoleSubmitter, aJob, `{"event_type":1,"batch_id":BATCH}`},

	"CreateSweep":      {fairlead.RoleOperator, jobsOf, `{"name":"NEW","kind":"count","to":9,"tenant":"acme"}`},
	"GetSweep":         {fairlead.RoleViewer, aJob, `{"id":"SWEEP"}`},
	"ListSweeps":       {fairlead.RoleViewer, many, `{}`},
	"PatchSweep":       {fairlead.RoleOperator, aJob, `{"ref":"SWEEP","rate":5}`},
	"DeleteSweep":      {fairlead.RoleOperator, aJob, `{"id":"SWEEP"}`},
	"StartSweep":       {fairlead.RoleOperator, aJob, `{"id":"SWEEP"}`},
	"StopSweep":        {fairlead.RoleSubmitter, aJob, `{"id":"SWEEP","reason":"enough"}`},
	"RetrySweep":       {fairlead.RoleOperator, aJob, `{"id":"SWEEP","indexes":["1",2]}`},
	"OpenSweep":        {fairlead.RoleSubmitter, aJob, `{"id":"SWEEP"}`},
	"SetSweepData":     {fairlead.RoleSubmitter, aJob, `{"id":"SWEEP","args":{"n":1}}`},
	"AddSweepLogs":     {fairlead.RoleSubmitter, aJob, `{"id":"SWEEP","index":1,"text":"hello"}`},
	"ListSweepLogs":    {fairlead.RoleViewer, aJob, `{"id":"SWEEP"}`},
	"ListFailedItems":  {fairlead.RoleViewer, aJob, `{"id":"SWEEP"}`},
	"ListSweepHistory": {fairlead.RoleViewer, aJob, `{"id":"SWEEP"}`},
	"ListShards":       {fairlead.RoleViewer, aJob, `{"id":"SWEEP"}`},
	"WatchSweep":       {fairlead.RoleViewer, aJob, `{"id":"SWEEP"}`},

	"JoinWorker":   {fairlead.RoleWorker, nothing, `{"kinds":["noop"]}`},
	"BeatWorker":   {fairlead.RoleWorker, nothing, `{GONE}`},
	"LeaseJobs":    {fairlead.RoleWorker, nothing, `{GONE}`},
	"StreamJobs":   {fairlead.RoleWorker, nothing, `{GONE}`},
	"ListLeases":   {fairlead.RoleWorker, nothing, `{GONE}`},
	"WatchWorker":  {fairlead.RoleWorker, nothing, `{GONE}`},
	"SaveProgress": {fairlead.RoleWorker, nothing, `{GONE,"job":1,"fence":1}`},
	"LoadShard":    {fairlead.RoleWorker, nothing, `{GONE,"job":1,"fence":1}`},
	"SaveShard":    {fairlead.RoleWorker, nothing, `{GONE,"job":1,"fence":1,"mark":0}`},
	"ListRetries":  {fairlead.RoleWorker, nothing, `{GONE,"job":1,"fence":1}`},
	"NoteItems":    {fairlead.RoleWorker, nothing, `{GONE,"job":1,"fence":1,"stop":"no"}`},
	"SettleJobs":   {fairlead.RoleWorker, nothing, `{GONE,"settlements":[{"id":1,"fence":1,"outcome":"succeed"}]}`},
	"LeaveWorker":  {fairlead.RoleWorker, nothing, `{GONE}`},
}

// What a caller gets to hear.
const (
	through   = "through"
	nobody    = "nobody"
	forbidden = "forbidden"
	hidden    = "hidden"
)

// ruleOf is where a method is served over REST; nil: nowhere.
func ruleOf(method protoreflect.MethodDescriptor) *annotations.HttpRule {
	rule, _ := proto.GetExtension(method.Options(), annotations.E_Http).(*annotations.HttpRule)
	return rule
}

// methods lists every method of the schema.
func methods() []protoreflect.MethodDescriptor {
	var all []protoreflect.MethodDescriptor
	for _, name := range []protoreflect.FullName{"fairlead.v1", "batch_scheduler"} {
		protoregistry.GlobalFiles.RangeFilesByPackage(name, func(file protoreflect.FileDescriptor) bool {
			for i := range file.Services().Len() {
				service := file.Services().Get(i)
				for j := range service.Methods().Len() {
					all = append(all, service.Methods().Get(j))
				}
			}
			return true
		})
	}
	return all
}

func requestOf(t testing.TB, method protoreflect.MethodDescriptor, text string) proto.Message {
	t.Helper()
	kind, err := protoregistry.GlobalTypes.FindMessageByName(method.Input().FullName())
	if err != nil {
		t.Fatal(err)
	}
	message := kind.New().Interface()
	read := wire.Unmarshal
	if ruleOf(method) == nil {
		read = protojson.Unmarshal // only by its name: its JSON is that of all others
	}
	if err := read([]byte(text), message); err != nil {
		t.Fatalf("%s: %v", method.Name(), err)
	}
	return message
}

// restRequest is a request as the schema's annotation says.
func (a *guardedAPI) restRequest(method protoreflect.MethodDescriptor, text string) (verb, path string, body []byte) {
	return a.requestBy(ruleOf(method), text)
}

// requestBy is a request as one binding of an annotation says.
func (a *guardedAPI) requestBy(rule *annotations.HttpRule, text string) (verb, path string, body []byte) {
	var fields map[string]any
	if err := json.Unmarshal([]byte(text), &fields); err != nil {
		a.Fatal(err)
	}
	verb, path = verbAndPath(rule)
	path = withParams(path, fields)
	if rule.GetBody() == "*" {
		var err error
		if body, err = json.Marshal(fields); err != nil {
			a.Fatal(err)
		}
	}
	return verb, path, body
}

// restBy sends a request as a binding of the schema's annotation says.
func (a *guardedAPI) restBy(rule *annotations.HttpRule) sender {
	return func(t *testing.T, _ protoreflect.MethodDescriptor, text, secret string) string {
		t.Helper()
		verb, path, body := a.requestBy(rule, text)
		return a.heard(t, verb, path, "application/json", body, secret)
	}
}

// connect sends a request as Connect has it.
func (a *guardedAPI) connect(t *testing.T, method protoreflect.MethodDescriptor, text, secret string) string {
	t.Helper()
	path := fmt.Sprintf("/%s/%s", method.Parent().FullName(), method.Name())
	kind, body := "application/json", []byte(text)
	if method.IsStreamingServer() {
		kind, body = "application/connect+json", frame(body)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel() // a stream is left as soon as it has begun
	response, err := a.open(ctx, http.MethodPost, path, kind, body, secret)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if !method.IsStreamingServer() && response.StatusCode == http.StatusOK {
		return through
	}
	first, _ := io.ReadAll(io.LimitReader(response.Body, 1))
	if len(first) == 1 && first[0] == 0 {
		return through
	}
	end, _ := io.ReadAll(response.Body)
	for code, what := range map[string]string{"unauthenticated": nobody, "resource_exhausted": nobody, "permission_denied": forbidden, "not_found": hidden, "aborted": through, "failed_precondition": through} {
		if strings.Contains(string(end), `"code":"`+code+`"`) {
			return what
		}
	}
	return string(end)
}

// heard sends a request and tells what its caller gets to hear.
func (a *guardedAPI) heard(t *testing.T, verb, path, kind string, body []byte, secret string) string {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel() // a stream is left as soon as it has begun
	request, err := http.NewRequestWithContext(ctx, verb, a.url+path, bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", kind)
	if secret != "" {
		request.Header.Set("Authorization", "Bearer "+secret)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	switch response.StatusCode {
	case http.StatusUnauthorized:
		if response.Header.Get("WWW-Authenticate") == "" {
			t.Errorf("%s %s: 401 does not say how to authenticate", verb, path)
		}
		return nobody
	case http.StatusTooManyRequests: // one of many unknown tokens
		return nobody
	case http.StatusForbidden:
		return forbidden
	case http.StatusNotFound:
		return hidden
	case http.StatusOK, http.StatusCreated, http.StatusConflict, http.StatusPreconditionFailed:
		return through
	}
	return response.Status
}

// grpc sends a request as gRPC frames it, and reads the status that comes back.
func (a *guardedAPI) grpc(t *testing.T, method protoreflect.MethodDescriptor, text, secret string) string {
	t.Helper()
	return a.framed(t, "application/grpc", method, text, secret)
}

// grpcWeb sends a request as gRPC-Web frames it.
func (a *guardedAPI) grpcWeb(t *testing.T, method protoreflect.MethodDescriptor, text, secret string) string {
	t.Helper()
	return a.framed(t, "application/grpc-web", method, text, secret)
}

// webStatus finds the status in the trailer of gRPC-Web, which ends the body.
var webStatus = regexp.MustCompile(`grpc-status: (\d+)`)

func (a *guardedAPI) framed(t *testing.T, kind string, method protoreflect.MethodDescriptor, text, secret string) string {
	t.Helper()
	raw, err := proto.Marshal(requestOf(t, method, text))
	if err != nil {
		t.Fatal(err)
	}
	frame := frame(raw)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	path := fmt.Sprintf("/%s/%s", method.Parent().FullName(), method.Name())
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, a.url+path, bytes.NewReader(frame))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", kind)
	request.Header.Set("Te", "trailers")
	if secret != "" {
		request.Header.Set("Authorization", "Bearer "+secret)
	}
	response, err := a.http2.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	status := response.Header.Get("Grpc-Status")
	if status == "" {
		first, err := io.ReadAll(io.LimitReader(response.Body, 1))
		if err == nil && len(first) == 1 && first[0] == 0 {
			return through
		}
		if status = response.Trailer.Get("Grpc-Status"); len(first) == 1 {
			rest, _ := io.ReadAll(response.Body)
			if found := webStatus.FindSubmatch(rest); found != nil {
				status = string(found[1])
			}
		}
	}
	switch status {
	case "16", "8": // one of many unknown tokens
		return nobody
	case "7":
		return forbidden
	case "5":
		return hidden
	case "0", "9", "10": // done, or not possible as things are
		return through
	}
	return "status " + status + " " + response.Header.Get("Grpc-Message") + response.Trailer.Get("Grpc-Message")
}
