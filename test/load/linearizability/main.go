// Checks histories for linearizability with Porcupine. Reads one operation a line (NDJSON) from standard input, groups
// them by history, and prints one verdict a line: ok, illegal, or unknown where the time was not enough.
package main

import (
	"bufio"
	"encoding/json"
	"log"
	"math"
	"os"
	"time"

	"github.com/anishathalye/porcupine"
)

// What a client saw. Return is null where it does not know the outcome: the operation may take effect at any later
// time, or never.
type operation struct {
	History string `json:"history"`
	Model   string `json:"model"`
	Client  int    `json:"client"`
	Call    int64  `json:"call"`
	Return  *int64 `json:"return"`
	Op      string `json:"op"`
	// Of wallets: their numbers.
	From  int   `json:"from"`
	To    int   `json:"to"`
	Cents int64 `json:"cents"`
	// ok, refused or unknown
	Out string `json:"out"`
	// What a read saw.
	Balance int64  `json:"balance"`
	Status  string `json:"status"`
}

type verdict struct {
	History    string `json:"history"`
	Model      string `json:"model"`
	Operations int    `json:"operations"`
	Unknown    int    `json:"unknown"`
	Verdict    string `json:"verdict"`
}

const checkedWithin = 60 * time.Second

var models = map[string]porcupine.Model{"wallet": walletModel, "intent": intentModel}

func main() {
	histories, order := read()
	output := json.NewEncoder(os.Stdout)
	for _, name := range order {
		if err := output.Encode(check(name, histories[name])); err != nil {
			log.Fatal(err)
		}
	}
}

func read() (map[string][]operation, []string) {
	histories := map[string][]operation{}
	var order []string
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var one operation
		if err := json.Unmarshal(lines.Bytes(), &one); err != nil {
			log.Fatal(err)
		}
		if _, known := models[one.Model]; !known {
			log.Fatalf("no model %q", one.Model)
		}
		if _, known := histories[one.History]; !known {
			order = append(order, one.History)
		}
		histories[one.History] = append(histories[one.History], one)
	}
	if err := lines.Err(); err != nil {
		log.Fatal(err)
	}
	return histories, order
}

func check(name string, found []operation) verdict {
	result := verdict{History: name, Model: found[0].Model, Operations: len(found), Verdict: "unknown"}
	history := make([]porcupine.Operation, 0, len(found))
	for _, one := range found {
		end := int64(math.MaxInt64)
		if one.Return != nil {
			end = *one.Return
		} else {
			result.Unknown++
		}
		history = append(history, porcupine.Operation{
			ClientId: one.Client, Input: one, Call: one.Call, Output: one.Out, Return: end,
		})
	}
	switch porcupine.CheckOperationsTimeout(models[result.Model], history, checkedWithin) {
	case porcupine.Ok:
		result.Verdict = "ok"
	case porcupine.Illegal:
		result.Verdict = "illegal"
	}
	return result
}
