// Reads YAML documents as kubectl does, for a comparison: one JSON string per line in, one answer per line out.
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"log"
	"os"

	"sigs.k8s.io/yaml"
)

type answer struct {
	JSON  string `json:"json,omitempty"`
	Error string `json:"error,omitempty"`
}

func main() {
	in := json.NewDecoder(bufio.NewReader(os.Stdin))
	buffered := bufio.NewWriter(os.Stdout)
	out := json.NewEncoder(buffered)
	for {
		var text string
		if err := in.Decode(&text); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			log.Fatal(err)
		}
		var said answer
		if data, err := yaml.YAMLToJSON([]byte(text)); err != nil {
			said.Error = err.Error()
		} else {
			said.JSON = string(data)
		}
		if err := out.Encode(said); err != nil {
			log.Fatal(err)
		}
	}
	if err := buffered.Flush(); err != nil {
		log.Fatal(err)
	}
}
