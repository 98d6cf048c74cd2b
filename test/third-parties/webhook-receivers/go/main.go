// Reads a delivery from standard input and verifies it by the function that the documentation shows.
package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"

	"receiver/receiver"
)

func main() {
	var delivery struct {
		Secret, Body string
		Headers      map[string]string
	}
	if err := json.NewDecoder(os.Stdin).Decode(&delivery); err != nil {
		panic(err)
	}
	headers := http.Header{}
	for name, value := range delivery.Headers {
		headers.Set(name, value)
	}
	if err := receiver.ReadDelivery(delivery.Secret, []byte(delivery.Body), headers); err != nil {
		fmt.Println("refused")
		return
	}
	fmt.Println("genuine")
}
