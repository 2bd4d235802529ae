import { createHash, createPublicKey, verify } from "node:crypto";
import { readFileSync } from "node:fs";

const utf8 = new TextDecoder("utf-8", { fatal: true });
const digest = (text) => createHash("sha256").update(text);
const half = (text) => digest(text).digest().subarray(0, 16).toString("base64url");
const requires = (holds) => { if (!holds) throw new Error("refused"); };

function check(group, test) {
  const parts = test.token.split(".");
  requires(parts.length === 3 && parts.every((part) => /^[A-Za-z0-9_-]+$/.test(part)));
  const [header, claims] = parts.slice(0, 2).map((part) => JSON.parse(utf8.decode(Buffer.from(part, "base64url"))));
  const jwk = group.jwks.keys.find((key) => key.kid === header.kid && key.kty === "RSA" && (key.use ?? "sig") === "sig"
    && (key.key_ops ?? ["verify"]).includes("verify") && (key.alg ?? "RS256") === "RS256");
  requires(header.alg === "RS256" && header.crit === undefined && jwk !== undefined);
  requires(verify("RSA-SHA256", parts.slice(0, 2).join("."), createPublicKey({ key: jwk, format: "jwk" }), Buffer.from(parts[2], "base64url")));
  requires(claims.iss === group.issuer && group.audiences.includes(claims.aud) && typeof claims.sub === "string" && claims.sub);
  requires(Number.isSafeInteger(claims.exp) && claims.exp > group.now && !(claims.iat > group.now) && !(claims.nbf > group.now));
  requires(claims.nonce === digest(group.nonce).digest("hex"));
  requires(test.code === undefined || claims.c_hash === half(test.code));
  requires(test.access_token === undefined || claims.at_hash === half(test.access_token));
}

for (const group of JSON.parse(readFileSync(process.argv[2])).testGroups.filter((one) => one.type === "identity-token")) {
  for (const test of group.tests) {
    let accepted = true;
    try { check(group, test); } catch { accepted = false; }
    if (!["acceptable", accepted ? "valid" : "invalid"].includes(test.result)) console.log(test.tcId, ...test.flags, test.comment, accepted ? "accepted" : "refused");
  }
}
