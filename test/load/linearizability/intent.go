package main

import "github.com/anishathalye/porcupine"

// One intent: its published status, its amount, and whether a charge is paying for it.
type intent struct {
	status    string
	cents     int64
	isMatched bool
}

var intentModel = porcupine.Model{
	Init: func() interface{} { return intent{} },
	Step: func(state, input, _ interface{}) (bool, interface{}) {
		return stepIntent(state.(intent), input.(operation))
	},
	Equal: func(a, b interface{}) bool { return a.(intent) == b.(intent) },
}

// A refusal is right where the operation could not take effect. One with an unknown outcome takes effect where it can,
// or never.
func stepIntent(now intent, one operation) (bool, intent) {
	next, can := after(now, one)
	switch one.Out {
	case "ok":
		return can, next
	case "refused":
		return !can, now
	}
	if can {
		return true, next
	}
	return true, now
}

func after(now intent, one operation) (intent, bool) {
	is := func(statuses ...string) bool {
		for _, status := range statuses {
			if now.status == status {
				return true
			}
		}
		return false
	}
	next := now
	switch one.Op {
	case "declare":
		next = intent{status: one.Status, cents: one.Cents}
		return next, now.status == ""
	case "approve":
		next.status = "approved"
		return next, is("pending_approval", "approved")
	case "deny":
		next.status = "denied"
		return next, is("pending_approval", "denied")
	case "cancel":
		next.status = "cancelled"
		return next, is("pending_approval", "cancelled") || (is("approved") && !now.isMatched)
	case "authorize":
		next.isMatched = true
		return next, is("approved") && !now.isMatched && one.Cents <= now.cents
	case "clear":
		next.status = "completed"
		return next, is("approved") && now.isMatched
	case "read":
		return now, is(one.Status)
	}
	return now, false
}
