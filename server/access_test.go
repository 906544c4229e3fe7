package server_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
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

// expected is what a caller in a role, bound to a tenant or to none, hears of a
// method.
func expected(role fairlead.Role, tenant string, needed fairlead.Role, what touch) string {
	switch {
	case role == "":
		return nobody
	case needed != "" && !role.May(needed):
		return forbidden
	case tenant == "" || what == many || what == nothing:
		return through
	case what == cluster:
		return forbidden
	case tenant == "acme":
		return through
	case what == aJob || what == aTenant:
		return hidden
	default:
		return forbidden
	}
}

func TestEveryMethodKnowsItsCallers(t *testing.T) {
	a := newGuardedAPI(t)
	callers := []struct {
		role   fairlead.Role
		tenant string
	}{{}, {role: fairlead.RoleAdmin}, {role: fairlead.RoleWorker}}
	for _, role := range []fairlead.Role{fairlead.RoleViewer, fairlead.RoleSubmitter, fairlead.RoleOperator} {
		for _, tenant := range []string{"", "acme", "zeta"} {
			callers = append(callers, struct {
				role   fairlead.Role
				tenant string
			}{role, tenant})
		}
	}
	for _, method := range methods() {
		row, listed := everyMethod[method.Name()]
		if !listed {
			t.Errorf("%s is not in the table of who may call what", method.FullName())
			continue
		}
		for _, caller := range callers {
			secret := ""
			if caller.role != "" {
				secret = a.token(caller.role, caller.tenant)
			}
			want := expected(caller.role, caller.tenant, row.role, row.touch)
			for protocol, send := range a.protocols(method) {
				name := fmt.Sprintf("%s of %s by %q bound to %q", protocol, method.Name(), caller.role, caller.tenant)
				if got := send(t, method, a.fill(row.request), secret); got != want {
					t.Errorf("%s: %s, want %s", name, got, want)
				}
			}
		}
	}
}

// protocols are the ways to call a method.
func (a *guardedAPI) protocols(method protoreflect.MethodDescriptor) map[string]func(*testing.T, protoreflect.MethodDescriptor, string, string) string {
	all := map[string]func(*testing.T, protoreflect.MethodDescriptor, string, string) string{"gRPC": a.grpc}
	if ruleOf(method) != nil {
		all["REST"] = a.rest
	}
	return all
}

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
	rule := ruleOf(method)
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

// rest sends a request as the schema's annotation says.
func (a *guardedAPI) rest(t *testing.T, method protoreflect.MethodDescriptor, text, secret string) string {
	t.Helper()
	verb, path, body := a.restRequest(method, text)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel() // a stream is left as soon as it has begun
	request, err := http.NewRequestWithContext(ctx, verb, a.url+path, bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
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
	raw, err := proto.Marshal(requestOf(t, method, text))
	if err != nil {
		t.Fatal(err)
	}
	frame := append(binary.BigEndian.AppendUint32([]byte{0}, uint32(len(raw))), raw...)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	path := fmt.Sprintf("/%s/%s", method.Parent().FullName(), method.Name())
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, a.url+path, bytes.NewReader(frame))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/grpc")
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
		if err == nil && len(first) == 1 {
			return through
		}
		status = response.Trailer.Get("Grpc-Status")
	}
	switch status {
	case "16":
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
