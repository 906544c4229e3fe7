package console

import (
	"strconv"
	"strings"

	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
)

// RetryTasks returns the link to the form that retries the failed tasks of a list with one
// cause, or an empty string if there are none or the list has several causes.
func (v *visit) RetryTasks(b *fairleadv1.Batch, tasks []*fairleadv1.BatchTask) string {
	if v.Get("like") == "" || !retryable(b) {
		return ""
	}
	var failed []int64
	for _, task := range tasks {
		if task.GetState() == "fail" {
			failed = append(failed, task.GetId())
		}
	}
	return v.retryHref(batchPath(b.GetId()), "tasks", failed)
}

// RetryItems does the same as RetryTasks for the failed items of a sweep.
func (v *visit) RetryItems(s *fairleadv1.Sweep, items []*fairleadv1.FailedItem) string {
	if v.Get("like") == "" || !itemsRetryable(s) {
		return ""
	}
	var failed []int64
	for _, item := range items {
		if !item.GetAgain() {
			failed = append(failed, item.GetIndex())
		}
	}
	return v.retryHref(sweepPath(s), "indexes", failed)
}

// retryHref returns the link to a form with some numbers in a field.
func (v *visit) retryHref(path, field string, numbers []int64) string {
	if len(numbers) == 0 {
		return ""
	}
	var written []string
	for _, n := range numbers {
		written = append(written, strconv.FormatInt(n, 10))
	}
	return v.Href(path+"/retry", field, strings.Join(written, ","))
}

// Chosen returns the number of numbers in a form field.
func (v *visit) Chosen(field string) int {
	return len(numbersIn(v.Entered(field, v.Get(field))))
}

// numbersIn returns the parts of a string, separated by commas, spaces or line breaks.
func numbersIn(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(", ;\t\n", r) })
}
