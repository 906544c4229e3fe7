package server_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"google.golang.org/genproto/googleapis/api/annotations"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	"github.com/fairlead-io/fairlead/access"
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
	cluster               // what is no tenant's: refused to callers who are bound
	nothing               // it is not about tenants: roles alone count
)

// everyMethod lists who may call each method. A method that is missing here fails the test:
// decide who may call it, then add it.
var everyMethod = map[protoreflect.Name]struct {
	role    access.Role // the least that may; empty: every
	touch   touch
	request string // JOB is a job of acme, SCHEDULE its schedule, CALENDAR a calendar, ALERT an alert of acme, TASK a task of theirs, RUN a run of one, BATCH a batch of acme, BULK a bulk about its jobs, SWEEP a sweep of theirs, TOKEN a token, NEW a new name, GONE a worker
}{
	"EnqueueJobs":    {access.RoleSubmitter, jobsOf, `{"jobs":[{"kind":"noop","tenant":"acme"}]}`},
	"AssignJobs":     {access.RoleSubmitter, jobsOf, `{"tenant":"acme","start":"2030-01-01T00:00:00Z","end":"2030-01-02T00:00:00Z","jobs":[{"kind":"noop"}]}`},
	"GetJob":         {access.RoleViewer, aJob, `{"id":JOB}`},
	"ListJobs":       {access.RoleViewer, many, `{}`},
	"CountJobs":      {access.RoleViewer, many, `{}`},
	"ListAttempts":   {access.RoleViewer, aJob, `{"id":JOB}`},
	"ExplainJob":     {access.RoleViewer, aJob, `{"id":JOB}`},
	"GetJobHistory":  {access.RoleViewer, aJob, `{"id":JOB}`},
	"WatchJob":       {access.RoleViewer, aJob, `{"id":JOB}`},
	"CancelJob":      {access.RoleSubmitter, aJob, `{"id":JOB}`},
	"RetryJob":       {access.RoleSubmitter, aJob, `{"id":JOB}`},
	"RunJob":         {access.RoleSubmitter, aJob, `{"id":JOB}`},
	"RescheduleJob":  {access.RoleSubmitter, aJob, `{"id":JOB,"not_before":"2030-01-01T00:00:00Z"}`},
	"SetJobPriority": {access.RoleOperator, aJob, `{"id":JOB,"priority":1}`},
	"MoveJob":        {access.RoleOperator, aJob, `{"id":JOB,"queue":"elsewhere"}`},
	"FinishJob":      {access.RoleSubmitter, aJob, `{"id":JOB,"fence":1}`},
	"FailJob":        {access.RoleSubmitter, aJob, `{"id":JOB,"fence":1,"error":"no"}`},
	"DeleteJob":      {access.RoleOperator, aJob, `{"id":JOB}`},
	"BulkJobs":       {access.RoleOperator, many, `{"action":"cancel","filter":{"tenant":["acme"]}}`},

	"CreateTenant":   {access.RoleOperator, cluster, `{"name":"NEW"}`},
	"GetTenant":      {access.RoleViewer, aTenant, `{"name":"acme"}`},
	"ListTenants":    {access.RoleViewer, many, `{}`},
	"UpdateTenant":   {access.RoleOperator, cluster, `{"name":"acme","max_running":7,"version":1}`},
	"PatchTenant":    {access.RoleOperator, cluster, `{"name":"acme","max_running":7}`},
	"DeleteTenant":   {access.RoleOperator, cluster, `{"name":"doomed"}`},
	"PauseTenant":    {access.RoleOperator, tenantOf, `{"name":"acme"}`},
	"ResumeTenant":   {access.RoleOperator, tenantOf, `{"name":"acme"}`},
	"GetTenantStats": {access.RoleViewer, aTenant, `{"name":"acme"}`},

	"GetTenantSigningKey": {access.RoleAdmin, nothing, `{"name":"acme"}`},

	"WhatIf": {access.RoleViewer, tenantOf, `{"changes":[{"tenant":{"name":"acme","max_running":7}}]}`},

	"ListQueues":      {access.RoleViewer, cluster, `{}`},
	"PauseQueue":      {access.RoleOperator, cluster, `{"name":"mail"}`},
	"ResumeQueue":     {access.RoleOperator, cluster, `{"name":"mail"}`},
	"ListKinds":       {access.RoleViewer, cluster, `{}`},
	"PauseKind":       {access.RoleOperator, cluster, `{"name":"mail"}`},
	"ResumeKind":      {access.RoleOperator, cluster, `{"name":"mail"}`},
	"SetKind":         {access.RoleAdmin, cluster, `{"name":"mail","confidential":["args.to"]}`},
	"ListNodes":       {access.RoleViewer, cluster, `{}`},
	"GetNode":         {access.RoleViewer, cluster, `{"id":1}`},
	"DrainNode":       {access.RoleOperator, cluster, `{"id":1}`},
	"ListLimits":      {access.RoleViewer, cluster, `{}`},
	"SetLimit":        {access.RoleOperator, cluster, `{"scope":"queue:mail","max_running":3}`},
	"Verify":          {access.RoleOperator, cluster, `{}`},
	"GetStats":        {access.RoleViewer, many, `{}`},
	"GetStatsHistory": {access.RoleViewer, cluster, `{}`},
	"WatchEvents":     {access.RoleViewer, many, `{}`},

	"ListBreakers": {access.RoleViewer, cluster, `{}`},
	"Erase":        {access.RoleAdmin, tenantOf, `{"tenant":"acme","dry_run":true}`},

	"CreateToken": {access.RoleAdmin, nothing, `{"name":"NEW","role":"viewer"}`},
	"ListTokens":  {access.RoleAdmin, nothing, `{}`},
	"DeleteToken": {access.RoleAdmin, nothing, `{"id":TOKEN}`},
	"WhoAmI":      {"", nothing, `{}`},
	"ListAudit":   {access.RoleAdmin, nothing, `{}`},

	"CreateSchedule":    {access.RoleOperator, jobsOf, `{"name":"NEW","every":"1h","job":{"kind":"noop","tenant":"acme"}}`},
	"GetSchedule":       {access.RoleViewer, aJob, `{"id":"SCHEDULE"}`},
	"ListSchedules":     {access.RoleViewer, many, `{}`},
	"UpdateSchedule":    {access.RoleOperator, aJob, `{"ref":"SCHEDULE","every":"2h","job":{"kind":"noop","tenant":"acme"}}`},
	"PatchSchedule":     {access.RoleOperator, aJob, `{"ref":"SCHEDULE","every":"2h"}`},
	"DeleteSchedule":    {access.RoleOperator, aJob, `{"id":"SCHEDULE"}`},
	"EnableSchedule":    {access.RoleOperator, aJob, `{"id":"SCHEDULE"}`},
	"DisableSchedule":   {access.RoleOperator, aJob, `{"id":"SCHEDULE","reason":"over"}`},
	"TriggerSchedule":   {access.RoleSubmitter, aJob, `{"id":"SCHEDULE"}`},
	"BackfillSchedule":  {access.RoleOperator, aJob, `{"id":"SCHEDULE","from":"2026-01-01T00:00:00Z","to":"2026-01-01T03:00:00Z"}`},
	"PreviewBackfill":   {access.RoleViewer, aJob, `{"id":"SCHEDULE","from":"2026-01-01T00:00:00Z","to":"2026-01-01T03:00:00Z"}`},
	"TestSchedule":      {access.RoleOperator, aJob, `{"id":"TASK","args":{"url":"http://127.0.0.1:1/"}}`},
	"TestScheduleDraft": {access.RoleOperator, jobsOf, `{"job":{"kind":"http","tenant":"acme","args":{"url":"http://127.0.0.1:1/"}}}`},
	"PreviewSchedule":   {access.RoleViewer, aJob, `{"id":"SCHEDULE"}`},
	"PreviewTiming":     {access.RoleViewer, nothing, `{"cron":"@daily"}`},
	"ListRuns":          {access.RoleViewer, aJob, `{"id":"SCHEDULE"}`},
	"GetScheduleStats":  {access.RoleViewer, aJob, `{"id":"SCHEDULE"}`},
	"ExplainSchedule":   {access.RoleViewer, aJob, `{"id":"SCHEDULE"}`},

	"CreateCalendar": {access.RoleOperator, cluster, `{"name":"NEW","weekdays":["sunday"]}`},
	"GetCalendar":    {access.RoleViewer, nothing, `{"name":"CALENDAR"}`},
	"ListCalendars":  {access.RoleViewer, nothing, `{}`},
	"UpdateCalendar": {access.RoleOperator, cluster, `{"name":"CALENDAR","dates":["12-25"]}`},
	"DeleteCalendar": {access.RoleOperator, cluster, `{"name":"CALENDAR"}`},

	"ListHolds": {access.RoleViewer, many, `{"tenant":"acme"}`},

	"SetAlert":    {access.RoleOperator, jobsOf, `{"name":"NEW","scope":"tenant:acme","url":"http://svc.internal/"}`},
	"GetAlert":    {access.RoleViewer, aJob, `{"name":"ALERT"}`},
	"ListAlerts":  {access.RoleViewer, many, `{}`},
	"RemoveAlert": {access.RoleOperator, aJob, `{"name":"ALERT"}`},

	"CreateBulk":     {access.RoleOperator, jobsOf, `{"action":"cancel","filter":{"tenant":["acme"]}}`},
	"GetBulk":        {access.RoleViewer, aJob, `{"id":BULK}`},
	"ListBulks":      {access.RoleViewer, many, `{}`},
	"ListBulkMisses": {access.RoleViewer, aJob, `{"id":BULK}`},
	"WatchBulk":      {access.RoleViewer, aJob, `{"id":BULK}`},
	"StopBulk":       {access.RoleOperator, aJob, `{"id":BULK}`},

	"CreateTask":    {access.RoleOperator, jobsOf, `{"name":"NEW","cron_expr":"0 0 1 1 *","target_url":"http://svc.internal/","tenant":"acme"}`},
	"GetTask":       {access.RoleViewer, aJob, `{"id":"TASK"}`},
	"ListTasks":     {access.RoleViewer, many, `{}`},
	"UpdateTask":    {access.RoleOperator, aJob, `{"ref":"TASK","name":"NEW","cron_expr":"0 0 1 1 *","target_url":"http://svc.internal/","tenant":"acme"}`},
	"PatchTask":     {access.RoleOperator, aJob, `{"ref":"TASK","description":"changed"}`},
	"DeleteTask":    {access.RoleOperator, aJob, `{"id":"TASK"}`},
	"EnableTask":    {access.RoleOperator, aJob, `{"id":"TASK"}`},
	"DisableTask":   {access.RoleOperator, aJob, `{"id":"TASK"}`},
	"TriggerTask":   {access.RoleSubmitter, aJob, `{"id":"TASK"}`},
	"ListTaskRuns":  {access.RoleViewer, aJob, `{"id":"TASK"}`},
	"GetTaskRun":    {access.RoleViewer, aJob, `{"id":RUN}`},
	"CancelTaskRun": {access.RoleSubmitter, aJob, `{"id":RUN}`},

	"CreateBatch":    {access.RoleSubmitter, jobsOf, `{"name":"NEW","type":"paint","tenant":"acme","tasks":[{"target":{"id":"1","type":"wall"}}]}`},
	"GetBatch":       {access.RoleViewer, aJob, `{"id":BATCH}`},
	"ExplainBatch":   {access.RoleViewer, aJob, `{"id":BATCH}`},
	"ListBatches":    {access.RoleViewer, many, `{}`},
	"PatchBatch":     {access.RoleSubmitter, aJob, `{"id":BATCH,"max_running":3}`},
	"ListBatchTasks": {access.RoleViewer, aJob, `{"id":BATCH}`},
	"WatchBatch":     {access.RoleViewer, aJob, `{"id":BATCH}`},
	"CancelBatch":    {access.RoleSubmitter, aJob, `{"id":BATCH}`},
	"RetryBatch":     {access.RoleSubmitter, aJob, `{"id":BATCH}`},
	"RollBackBatch":  {access.RoleSubmitter, aJob, `{"id":BATCH}`},
	"ApproveBatch":   {access.RoleSubmitter, aJob, `{"id":BATCH}`},
	"PauseBatch":     {access.RoleSubmitter, aJob, `{"id":BATCH}`},
	"ResumeBatch":    {access.RoleSubmitter, aJob, `{"id":BATCH}`},
	"CreateBatchJob": {access.RoleSubmitter, jobsOf, `{"batch_name":"NEW","batch_type":"paint","tenant":"acme","tasks":[{"target_id":1,"target_type":"wall"}]}`},
	"GetBatchJob":    {access.RoleViewer, aJob, `{"id":BATCH}`},
	"TriggerEvent":   {access.RoleSubmitter, aJob, `{"event_type":1,"batch_id":BATCH}`},

	"CreateSweep":      {access.RoleOperator, jobsOf, `{"name":"NEW","kind":"count","to":9,"tenant":"acme"}`},
	"GetSweep":         {access.RoleViewer, aJob, `{"id":"SWEEP"}`},
	"ExplainSweep":     {access.RoleViewer, aJob, `{"id":"SWEEP"}`},
	"ListSweeps":       {access.RoleViewer, many, `{}`},
	"PatchSweep":       {access.RoleOperator, aJob, `{"ref":"SWEEP","rate":5}`},
	"DeleteSweep":      {access.RoleOperator, aJob, `{"id":"SWEEP"}`},
	"StartSweep":       {access.RoleOperator, aJob, `{"id":"SWEEP"}`},
	"StopSweep":        {access.RoleSubmitter, aJob, `{"id":"SWEEP","reason":"enough"}`},
	"RetrySweep":       {access.RoleOperator, aJob, `{"id":"SWEEP","indexes":["1",2]}`},
	"OpenSweep":        {access.RoleSubmitter, aJob, `{"id":"SWEEP"}`},
	"SetSweepData":     {access.RoleSubmitter, aJob, `{"id":"SWEEP","args":{"n":1}}`},
	"AddSweepLogs":     {access.RoleSubmitter, aJob, `{"id":"SWEEP","index":1,"text":"hello"}`},
	"ListSweepLogs":    {access.RoleViewer, aJob, `{"id":"SWEEP"}`},
	"ListFailedItems":  {access.RoleViewer, aJob, `{"id":"SWEEP"}`},
	"ListSweepHistory": {access.RoleViewer, aJob, `{"id":"SWEEP"}`},
	"ListShards":       {access.RoleViewer, aJob, `{"id":"SWEEP"}`},
	"WatchSweep":       {access.RoleViewer, aJob, `{"id":"SWEEP"}`},

	"JoinWorker":   {access.RoleWorker, nothing, `{"kinds":["noop"]}`},
	"BeatWorker":   {access.RoleWorker, nothing, `{GONE}`},
	"LeaseJobs":    {access.RoleWorker, nothing, `{GONE}`},
	"StreamJobs":   {access.RoleWorker, nothing, `{GONE}`},
	"ListLeases":   {access.RoleWorker, nothing, `{GONE}`},
	"WatchWorker":  {access.RoleWorker, nothing, `{GONE}`},
	"SaveProgress": {access.RoleWorker, nothing, `{GONE,"job":1,"fence":1}`},
	"LoadShard":    {access.RoleWorker, nothing, `{GONE,"job":1,"fence":1}`},
	"SaveShard":    {access.RoleWorker, nothing, `{GONE,"job":1,"fence":1,"mark":0}`},
	"ListRetries":  {access.RoleWorker, nothing, `{GONE,"job":1,"fence":1}`},

	"ListShardItems": {access.RoleWorker, nothing, `{GONE,"job":1,"fence":1}`},
	"NoteItems":      {access.RoleWorker, nothing, `{GONE,"job":1,"fence":1,"stop":"no"}`},
	"SettleJobs":     {access.RoleWorker, nothing, `{GONE,"settlements":[{"id":1,"fence":1,"outcome":"succeed"}]}`},
	"LeaveWorker":    {access.RoleWorker, nothing, `{GONE}`},
}

// What a caller gets to hear.
const (
	through   = "through"
	nobody    = "nobody"
	forbidden = "forbidden"
	hidden    = "hidden"
)

// ruleOf returns the REST rule of a method, or nil if it has none.
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

// restRequest returns a request according to the schema's annotation.
func (a *guardedAPI) restRequest(method protoreflect.MethodDescriptor, text string) (verb, path string, body []byte) {
	return a.requestBy(ruleOf(method), text)
}

// requestBy returns a request according to one binding of an annotation.
func (a *guardedAPI) requestBy(rule *annotations.HttpRule, text string) (verb, path string, body []byte) {
	var fields map[string]any
	if err := json.Unmarshal([]byte(text), &fields); err != nil {
		a.Fatal(err)
	}
	verb, template := verbAndPath(rule)
	path = withParams(template, fields)
	if rule.GetBody() == "*" {
		var err error
		if body, err = json.Marshal(fields); err != nil {
			a.Fatal(err)
		}
	}
	if verb == http.MethodGet {
		query := url.Values{}
		for name, value := range fields {
			if text, is := value.(string); is && !strings.Contains(template, "{"+name+"}") {
				query.Set(name, text)
			}
		}
		path += "?" + query.Encode()
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

// heard sends a request and returns what its caller gets to hear.
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
