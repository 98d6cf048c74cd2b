package main

import "github.com/anishathalye/porcupine"

// The wallets of one owner: what can be spent of each, in cents.
type wallets [8]int64

var walletModel = porcupine.Model{
	Init: func() interface{} { return wallets{} },
	Step: func(state, input, _ interface{}) (bool, interface{}) {
		return stepWallets(state.(wallets), input.(operation))
	},
	Equal: func(a, b interface{}) bool { return a.(wallets) == b.(wallets) },
}

// An operation with an unknown outcome takes effect where it can, or never: its return is at the end of time.
func stepWallets(now wallets, one operation) (bool, wallets) {
	switch one.Op {
	case "fund":
		now[one.To] += one.Cents
		return one.Out != "refused", now
	case "transfer":
		isEnough := now[one.From] >= one.Cents
		if isEnough && one.Out != "refused" {
			now[one.From] -= one.Cents
			now[one.To] += one.Cents
			return true, now
		}
		return isEnough == (one.Out == "ok") || one.Out == "unknown", now
	case "read":
		return one.Out == "unknown" || now[one.From] == one.Balance, now
	}
	return false, now
}
