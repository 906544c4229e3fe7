package console

import (
	"net/http"
	"net/url"
	"regexp"
	"testing"
)

var problemPattern = regexp.MustCompile(`id="problem">([^<]*)<`)

// TestRefusalsOfTheAPIAreSaidInTheLanguageOfTheViewer asks the API for them: one that says
// something else some day is noticed here.
func TestRefusalsOfTheAPIAreSaidInTheLanguageOfTheViewer(t *testing.T) {
	r := newRig(t, false, nil)
	job := "/jobs/" + text(later(r).ID)
	r.send(http.StatusSeeOther, job+"/cancel", url.Values{})
	r.send(http.StatusSeeOther, "/new/tenant", url.Values{"name": {"acme"}})
	r.send(http.StatusSeeOther, "/new/calendar", url.Values{"name": {"feast"}})
	r.send(http.StatusOK, "/new/token", url.Values{"name": {"robot"}, "role": {"viewer"}})
	for _, test := range []struct {
		path   string
		form   url.Values
		status int
		want   string
	}{
		{job + "/run", url.Values{}, http.StatusConflict, "作业 1 的状态是“已取消”，不能执行此操作（run）"},
		{job + "/priority", url.Values{"priority": {"99999"}}, http.StatusBadRequest, "priority：是 99999，最多为 32000"},
		{job + "/priority", url.Values{"priority": {"x"}}, http.StatusBadRequest, "priority：必须是整数"},
		{"/new/tenant", url.Values{"name": {"acme"}}, http.StatusConflict, "名称 acme 已被使用"},
		{"/new/tenant", url.Values{"name": {""}}, http.StatusBadRequest, "name：缺失，必须填写"},
		{"/new/tenant", url.Values{"name": {"b"}, "burst": {"2"}, "start_url": {"tea"}}, http.StatusBadRequest, "burst：需要同时设置速率，否则请留空；start_url：不是地址，请填写以 http:// 或 https:// 开头的地址"},
		{"/tenants/acme/edit", url.Values{"version": {"7"}}, http.StatusConflict, "acme 已被他人修改"},
		{"/new/calendar", url.Values{"name": {"feast"}}, http.StatusConflict, "名称 feast 已被使用"},
		{"/new/token", url.Values{"name": {"robot"}, "role": {"viewer"}}, http.StatusConflict, "名为 robot 的令牌已存在"},
		{"/jobs/4711/run", url.Values{}, http.StatusNotFound, "找不到作业 4711"},
	} {
		body := r.send(test.status, test.path, test.form, "lang", "zh")
		problem := problemPattern.FindStringSubmatch(body)
		if problem == nil && test.status == http.StatusNotFound {
			r.shows(body, test.want)
			continue
		}
		if problem == nil || problem[1] != test.want {
			t.Errorf("%s %v: %q, want %q", test.path, test.form, problem, test.want)
		}
	}
}

// TestARefusalWithoutATranslationIsSaidInEnglish checks that known parts are still
// translated.
func TestARefusalWithoutATranslationIsSaidInEnglish(t *testing.T) {
	v := &visit{Lang: "zh"}
	for english, want := range map[string]string{
		"the moon is full": "the moon is full",
		"timeout: is -1s; it must be between 1ms and 24h0m0s, or zero for the operation's default": "timeout：是 -1s，必须在 1ms 与 24h0m0s 之间，0 表示默认值",
		"canary.ratio: is 2; it must be between 0 (manual approval) and 1":                         "canary.ratio：是 2，必须在 0 与 1 之间",
		"error_budget.items: is -1; it must be positive, or zero if percent or per_minute is set":  "error_budget.items：是 -1，不能小于 0",
		"page: is not a valid page token; omit it to get the first page":                           "page：不是有效的分页标记；去掉它可回到第一页",
		"name: is empty; set a name; job.moon: is full; wait":                                      "name：为空，请填写名称；job.moon: is full; wait",
	} {
		if got := v.refusalWords(english); got != want {
			t.Errorf("%q is %q, want %q", english, got, want)
		}
	}
}
