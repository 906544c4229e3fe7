package console

import (
	"regexp"
	"testing"
	"time"
)

func TestTimingsAreSaidInTheLanguageOfTheViewer(t *testing.T) {
	v := &visit{Lang: "zh"}
	for english, want := range map[string]string{
		"every 10s":                                       "每 10秒",
		"every 1m30s":                                     "每 1分30秒",
		"every hour (UTC)":                                "每小时（UTC）",
		"every 5 minutes (UTC)":                           "每 5 分钟（UTC）",
		"at 02:30 every day (Europe/Paris)":               "每天 02:30（Europe/Paris）",
		"at 06:00 and 18:00 every day (Etc/GMT+5)":        "每天 06:00、18:00（Etc/GMT+5）",
		"at 12:05 on Monday to Friday (Europe/London)":    "星期一至星期五 12:05（Europe/London）",
		"at 00:00 on Monday and Wednesday":                "星期一、星期三 00:00",
		"every 15 minutes from 09:00 to 17:59 on Sunday":  "星期日 09:00 至 17:59 每 15 分钟",
		"on the 1st and the 15th of every month at 00:00": "每月 1 日、15 日 00:00",
		"on the last day of every month at 18:00":         "每月 最后一天 18:00",
		"at minutes 1 to 3 and 10 of every hour":          "每小时第 1 至 3、10 分钟",
		"30m0s after the end of each run":                 "每次运行结束后 30分",
		"once, at 2026-01-01 00:00:00 UTC":                "一次，2026-01-01 00:00:00 UTC",
	} {
		if got := v.TimingWords(english); got.Text != want || got.English {
			t.Errorf("%q is %q, want %q", english, got.Text, want)
		}
	}
}

// TestATimingIsTranslatedAsAWholeOrNotAtAll covers timings without a translation.
func TestATimingIsTranslatedAsAWholeOrNotAtAll(t *testing.T) {
	v := &visit{Lang: "zh"}
	for _, english := range []string{
		"never", "on the last Friday of every month at 18:00 (UTC)", "at 00:00 on Monday in June to August", "every 7 minutes from the start of every hour",
		"on the weekday nearest the 15th and the last weekday of January at 00:00", "every 2 hours, 3 minutes, 4 seconds and 5 milliseconds",
	} {
		if got := v.TimingWords(english); got.Text != english || !got.English {
			t.Errorf("%q is %q", english, got.Text)
		}
	}
}

func TestLengthsOfTimeAreSaidInTheLanguageOfTheViewer(t *testing.T) {
	latin := regexp.MustCompile(`[A-Za-z ]`)
	for _, english := range []string{"0s", "340ms", "1.5s", "12s", "3m5s", "2h10m", "100h"} {
		length, _ := time.ParseDuration(english)
		zh := (&visit{Lang: "zh"}).Dur(length)
		if latin.MatchString(zh) {
			t.Errorf("%s is %q", english, zh)
		}
		if got := (&visit{Lang: "en"}).Dur(length); got != shortDuration(length) {
			t.Errorf("%s is %q", english, got)
		}
	}
}
