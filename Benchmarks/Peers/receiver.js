// receiver.js PORT JWKS FILE: what a team would write in Node in place of siwa-server, for notifications. Each is written
// to FILE and synced before it is answered.
const http = require("node:http");
const fs = require("node:fs");
const crypto = require("node:crypto");

const [port, keySet, path] = process.argv.slice(2);
const keys = new Map(JSON.parse(fs.readFileSync(keySet)).keys.map(
  (key) => [key.kid, crypto.createPublicKey({ key, format: "jwk" })]));
const file = fs.openSync(path, "a");
const known = new Set();
const part = (text) => JSON.parse(Buffer.from(text, "base64url"));

function claims(token) {
  const [header, payload, signature] = token.split(".");
  const { alg, kid } = part(header);
  const signed = Buffer.from(`${header}.${payload}`);
  const key = keys.get(kid);
  if (alg !== "RS256" || !key ||
    !crypto.verify("RSA-SHA256", signed, key, Buffer.from(signature, "base64url"))) return null;
  const found = part(payload);
  const now = Date.now() / 1000;
  const isOurs = found.iss === "https://appleid.apple.com" && found.aud === "com.example.app";
  return isOurs && found.exp > now - 60 && found.iat < now + 60 ? found : null;
}

http.createServer((request, response) => {
  const chunks = [];
  const answer = (status) => response.writeHead(status, { "Content-Length": 0 }).end();
  request.on("data", (chunk) => chunks.push(chunk));
  request.on("end", () => {
    let found;
    try {
      found = claims(JSON.parse(Buffer.concat(chunks)).payload);
    } catch {
      return answer(400);
    }
    if (!found) return answer(401);
    if (known.has(found.jti)) return answer(200);
    fs.write(file, JSON.stringify(found) + "\n", (failure) => {
      if (failure) return answer(503);
      fs.fdatasync(file, (failure) => {
        if (!failure) known.add(found.jti);
        answer(failure ? 503 : 200);
      });
    });
  });
}).listen(Number(port), "127.0.0.1");
