// A phone in the terminal: go run ./sample https://HOST LINK DOMAIN_HASH
package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"os/signal"

	"gatepost.org/device"
)

func main() {
	if len(os.Args) != 4 {
		fmt.Fprintln(os.Stderr, "give the address of the server, the link and the hash of its domain")
		os.Exit(2)
	}
	phone, err := device.New(device.Options{
		URL: os.Args[1],
		Registration: map[string]string{
			"os": "linux", "install_code": os.Args[2], "domain_hash": os.Args[3],
		},
		Store:  device.FileStore("device.json"),
		Locale: "en",
		OnMessage: func(_ context.Context, got device.Delivery) (device.AckState, error) {
			if got.Action == "" {
				fmt.Printf("%s\n%s\n", got.Texts.Title, got.Texts.Plain)
			} else {
				fmt.Printf("%s: %s\n", got.Action, got.Message.Payload)
			}
			return "", nil
		},
		OnStatus: func(got device.Status) { fmt.Printf("(%s) %s\n", got.State, cmp.Or(got.Text, got.Detail)) },
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	fmt.Println("ended:", phone.Run(ctx))
}
