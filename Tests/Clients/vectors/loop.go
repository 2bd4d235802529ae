package main

import (
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"os"
	"time"

	"github.com/golang-jwt/jwt"
)

type object = map[string]any

func text(value any) string { found, _ := value.(string); return found }

func hash(text string) []byte { sum := sha256.Sum256([]byte(text)); return sum[:] }

func verify(group, test object) error {
	parser := jwt.Parser{ValidMethods: []string{"RS256"}, UseJSONNumber: true}
	claims := jwt.MapClaims{}
	_, err := parser.ParseWithClaims(text(test["token"]), claims, func(token *jwt.Token) (any, error) {
		for _, entry := range group["jwks"].(object)["keys"].([]any) {
			key := entry.(object)
			isForThis := key["kty"] == "RSA" && (key["use"] == nil || key["use"] == "sig") && (key["alg"] == nil || key["alg"] == "RS256") &&
				key["key_ops"] == nil
			if kid := text(token.Header["kid"]); kid != "" && key["kid"] == kid && isForThis && token.Header["crit"] == nil {
				n, _ := base64.RawURLEncoding.DecodeString(text(key["n"]))
				return &rsa.PublicKey{N: new(big.Int).SetBytes(n), E: 65537}, nil
			}
		}
		return nil, errors.New("no such key")
	})
	if err != nil {
		return err
	}
	number, _ := claims["exp"].(json.Number)
	exp, err := number.Int64()
	known := false
	for _, audience := range group["audiences"].([]any) {
		known = known || claims["aud"] == audience
	}
	half := func(name string) string { return base64.RawURLEncoding.EncodeToString(hash(text(test[name]))[:16]) }
	if err != nil || exp <= time.Now().Unix() || !known || claims["iss"] != group["issuer"] || text(claims["sub"]) == "" ||
		claims["nonce"] != hex.EncodeToString(hash(text(group["nonce"]))) ||
		test["code"] != nil && claims["c_hash"] != half("code") ||
		test["access_token"] != nil && claims["at_hash"] != half("access_token") {
		return errors.New("wrong claim")
	}
	return nil
}

func main() {
	bytes, _ := os.ReadFile(os.Args[1])
	document := object{}
	if err := json.Unmarshal(bytes, &document); err != nil {
		panic(err)
	}
	for _, entry := range document["testGroups"].([]any) {
		group := entry.(object)
		for _, entry := range group["tests"].([]any) {
			test := entry.(object)
			said := "invalid"
			if group["type"] == "identity-token" && verify(group, test) == nil {
				said = "valid"
			}
			if group["type"] == "identity-token" && test["result"] != "acceptable" && test["result"] != said {
				fmt.Println(test["tcId"], test["flags"], test["comment"], said)
			}
		}
	}
}
