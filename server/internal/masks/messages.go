package masks

import (
	"encoding/json"
	"maps"
	"slices"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/fairlead-io/fairlead"
	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
	"github.com/fairlead-io/fairlead/httpcall"
	"github.com/fairlead-io/fairlead/internal/mask"
	"github.com/fairlead-io/fairlead/server/internal/scope"
	"github.com/fairlead-io/fairlead/sweep"
)

// maskers contains the functions that mask the messages with data of jobs.
var maskers = map[protoreflect.FullName]func(fields fairlead.Confidential, message proto.Message){
	nameOf[*fairleadv1.Job]():          masker(maskJob),
	nameOf[*fairleadv1.NewJob]():       masker(maskNewJob),
	nameOf[*fairleadv1.Alert]():        masker(maskAlert),
	nameOf[*fairleadv1.AlertRule]():    masker(maskAlertRule),
	nameOf[*fairleadv1.Task]():         masker(maskTask),
	nameOf[*fairleadv1.Batch]():        masker(maskBatch),
	nameOf[*fairleadv1.BatchTask]():    masker(maskBatchTask),
	nameOf[*fairleadv1.BatchJob]():     masker(maskBatchJob),
	nameOf[*fairleadv1.BatchJobTask](): masker(maskBatchJobTask),
	nameOf[*fairleadv1.Sweep]():        masker(maskSweep),
	nameOf[*fairleadv1.Breaker]():      masker(maskBreaker),
}

func nameOf[Message proto.Message]() protoreflect.FullName {
	var none Message
	return none.ProtoReflect().Descriptor().FullName()
}

func masker[Message proto.Message](mask func(fairlead.Confidential, Message)) func(fairlead.Confidential, proto.Message) {
	return func(fields fairlead.Confidential, message proto.Message) { mask(fields, message.(Message)) }
}

func maskJob(all fairlead.Confidential, job *fairleadv1.Job) {
	shown := mask.Show(mask.Fields(all, job.GetKind(), job.GetArgs()), mask.Job{
		Args: job.GetArgs(), Output: job.GetOutput(), Progress: job.GetProgress(), Reported: job.GetReported(), Memo: job.GetMemo(), Error: job.GetError(),
	})
	job.Args, job.Output, job.Progress, job.Reported, job.Memo, job.Error = shown.Args, shown.Output, shown.Progress, shown.Reported, shown.Memo, shown.Error
}

func maskNewJob(all fairlead.Confidential, job *fairleadv1.NewJob) {
	job.Args = mask.Document(mask.Fields(all, job.GetKind(), job.GetArgs()), "args", job.GetArgs())
}

// maskSweep masks the args of a sweep's items.
func maskSweep(all fairlead.Confidential, s *fairleadv1.Sweep) {
	fields := mask.Fields(all, sweep.KindOf(s.GetKind()), s.GetArgs())
	s.Reason = mask.Secrets(fields, mask.Job{Args: s.GetArgs()}).Text(s.GetReason())
	s.Args = mask.Document(fields, "args", s.GetArgs())
}

// maskAlert masks the parts of an alert that become a job of the kind http.
func maskAlert(all fairlead.Confidential, alert *fairleadv1.Alert) {
	maskCall(all, &alert.Url, &alert.Headers, &alert.Body)
}

func maskAlertRule(all fairlead.Confidential, rule *fairleadv1.AlertRule) {
	maskCall(all, &rule.Url, &rule.Headers, &rule.Body)
}

// maskCall masks a call. It copies the headers, because the message may share its map with
// the alerts to be sent.
func maskCall(all fairlead.Confidential, url *string, headers *map[string]string, body *[]byte) {
	args, _ := scope.AlertDocument("", *headers, nil) // encoding strings cannot fail
	fields := mask.Fields(all, httpcall.Kind, args)
	maskText(fields, "args.url", url)
	*headers = maps.Clone(*headers)
	for name, value := range *headers {
		maskText(fields, "args.headers."+name, &value)
		(*headers)[name] = value
	}
	*body = maskMember(fields, "args.body", *body)
}

// maskTask masks the call of a task.
func maskTask(all fairlead.Confidential, task *fairleadv1.Task) {
	var text string // headers are a JSON document in a string
	_ = json.Unmarshal(task.GetHeadersJson(), &text)
	fields := mask.Fields(all, httpcall.Kind, json.RawMessage(`{"headers":`+text+`}`))
	if task.TargetUrl != nil {
		maskText(fields, "args.url", task.TargetUrl)
	}
	if task.BodyTemplate != nil {
		maskText(fields, "args.body", task.BodyTemplate) // as a whole, because it is a string
	}
	if within := mask.Within(fields, "args.headers", "args"); len(within) > 0 && text != "" {
		task.HeadersJson, _ = json.Marshal(string(mask.Document(within, "args", json.RawMessage(text)))) // encoding a string cannot fail
	}
}

// maskBatch masks the parts of a batch that its tasks receive. Their kinds end with the
// batch's type.
func maskBatch(all fairlead.Confidential, batch *fairleadv1.Batch) {
	batch.Info = maskMember(mask.FieldsLike(all, "", "."+batch.GetType()), "args.extra_info", batch.GetInfo())
}

func maskBatchJob(all fairlead.Confidential, batch *fairleadv1.BatchJob) {
	batch.ExtraInfo = maskMember(mask.FieldsLike(all, "", "."+batch.GetBatchType()), "args.extra_info", batch.GetExtraInfo())
}

// maskBatchTask masks the parameters of a task. The kind begins with the type of the
// target; a field that is confidential in one operation on such targets is treated as
// confidential in all.
func maskBatchTask(all fairlead.Confidential, task *fairleadv1.BatchTask) {
	target := task.GetTarget()
	fields := mask.FieldsLike(all, target.GetType()+".", "")
	if len(fields) == 0 {
		return
	}
	args, _ := json.Marshal(map[string]any{"before": orNull(task.GetBefore()), "after": orNull(task.GetAfter()), "target": map[string]string{"id": target.GetId(), "name": target.GetName()}}) // all are valid JSON
	task.Info = mask.Secrets(fields, mask.Job{Args: args}).Text(task.GetInfo())
	task.Before, task.After = maskMember(fields, "args.before", task.GetBefore()), maskMember(fields, "args.after", task.GetAfter())
	maskText(fields, "args.target.id", &target.Id)
	maskText(fields, "args.target.name", &target.Name)
}

func maskBatchJobTask(all fairlead.Confidential, task *fairleadv1.BatchJobTask) {
	fields := mask.FieldsLike(all, task.GetTargetType()+".", "")
	var param map[string]json.RawMessage
	if len(fields) == 0 || json.Unmarshal(task.GetTargetParam(), &param) != nil {
		return
	}
	args, _ := json.Marshal(map[string]any{"before": orNull(param["before_update"]), "after": orNull(param["after_update"]), "target": map[string]any{"id": orNull(task.GetTargetId()), "name": task.GetTargetName()}}) // all are valid JSON
	if task.Info != nil {
		task.Info = proto.String(mask.Secrets(fields, mask.Job{Args: args}).Text(task.GetInfo()))
	}
	for member, path := range map[string]string{"before_update": "args.before", "after_update": "args.after"} {
		if param[member] != nil {
			param[member] = maskMember(fields, path, param[member])
		}
	}
	task.TargetParam, _ = json.Marshal(param) // decoded values can be encoded
	task.TargetId = maskMember(fields, "args.target.id", task.GetTargetId())
	maskText(fields, "args.target.name", &task.TargetName)
}

// maskBreaker masks the address of a target if URLs of calls are confidential. Breakers do not
// contain the jobs that called the target.
func maskBreaker(all fairlead.Confidential, breaker *fairleadv1.Breaker) {
	maskText(slices.Concat(all[httpcall.Kind], all[sweep.KindOf(httpcall.Kind)]), "args.url", &breaker.Address)
}

func orNull(raw json.RawMessage) json.RawMessage {
	if len(raw) == 0 {
		return json.RawMessage("null")
	}
	return raw
}

// maskMember masks a value that is in a job at the given path, and on its own in the
// message.
func maskMember(fields []string, path string, raw json.RawMessage) json.RawMessage {
	return mask.Document(mask.Within(fields, path, "args"), "args", raw)
}

// maskText masks a string that is in a job at the given path.
func maskText(fields []string, path string, text *string) {
	if *text != "" && len(mask.Within(fields, path, "args")) > 0 {
		*text = mask.Masked
	}
}
