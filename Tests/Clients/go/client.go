// golang.org/x/oauth2 and golang-jwt, as Go services use them: the client_secret's aud is an array.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/golang-jwt/jwt"
	"golang.org/x/oauth2"
)

const apple = "https://appleid.apple.com"

type profile struct {
	TeamID     string `json:"team_id"`
	KeyID      string `json:"key_id"`
	ClientID   string `json:"client_id"`
	PrivateKey string `json:"private_key"`
}

func main() {
	log.SetFlags(0)
	web := configured()
	config := oauth2.Config{
		ClientID:     web.ClientID,
		ClientSecret: secret(web),
		RedirectURL:  "https://example.com/callback",
		Scopes:       []string{"name", "email"},
		Endpoint: oauth2.Endpoint{
			AuthURL: apple + "/auth/authorize", TokenURL: apple + "/auth/token",
			AuthStyle: oauth2.AuthStyleInParams,
		},
	}
	callback := signIn(config.AuthCodeURL("s", oauth2.SetAuthURLParam("response_mode", "form_post")))
	ctx := context.Background()
	token, err := config.Exchange(ctx, callback["code"])
	check(err)
	expect(token.TokenType == "Bearer" && token.RefreshToken != "", "an answer with tokens")
	expect(strings.HasPrefix(token.Extra("id_token").(string), "eyJ"), "an identity token")

	refreshed, err := config.TokenSource(ctx, &oauth2.Token{RefreshToken: token.RefreshToken}).Token()
	check(err)
	expect(refreshed.AccessToken != token.AccessToken, "another access token")
	expect(refreshed.RefreshToken == token.RefreshToken, "the same refresh token")

	answer, err := http.PostForm(apple+"/auth/revoke", url.Values{
		"client_id": {config.ClientID}, "client_secret": {config.ClientSecret},
		"token": {token.RefreshToken},
	})
	check(err)
	body, err := io.ReadAll(answer.Body)
	check(err)
	expect(answer.StatusCode == 200 && len(body) == 0, "an empty 200")
	_, err = config.TokenSource(ctx, &oauth2.Token{RefreshToken: token.RefreshToken}).Token()
	expect(err != nil && strings.Contains(err.Error(), "invalid_grant"), "a dead refresh token")
}

func configured() profile {
	text, err := os.ReadFile(os.Getenv("APPLE") + "/config.json")
	check(err)
	var config struct{ Profiles map[string]profile }
	check(json.Unmarshal(text, &config))
	return config.Profiles["web"]
}

// RegisteredClaims of golang-jwt 4 write aud as an array; so does this.
func secret(web profile) string {
	text, err := os.ReadFile(os.Getenv("APPLE") + "/" + web.PrivateKey)
	check(err)
	key, err := jwt.ParseECPrivateKeyFromPEM(text)
	check(err)
	token := jwt.NewWithClaims(jwt.SigningMethodES256, jwt.MapClaims{
		"iss": web.TeamID, "sub": web.ClientID, "aud": []string{apple},
		"iat": time.Now().Unix(), "exp": time.Now().Add(time.Hour).Unix(),
	})
	token.Header["kid"] = web.KeyID
	signed, err := token.SignedString(key)
	check(err)
	return signed
}

func signIn(address string) map[string]string {
	words := append(strings.Fields(os.Getenv("SIGN_IN")), address)
	output, err := exec.Command(words[0], words[1:]...).Output()
	check(err)
	var callback map[string]string
	check(json.Unmarshal(output, &callback))
	expect(callback["state"] == "s", "the state")
	return callback
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

func expect(holds bool, what string) {
	if !holds {
		log.Fatal("missing: " + what)
	}
	fmt.Println("ok: " + what)
}
