# The oauth2 and jwt gems, as OmniAuth's Apple strategy uses them.
require "json"
require "jwt"
require "net/http"
require "oauth2"
require "openssl"
require "open3"

APPLE = "https://appleid.apple.com"

def expect(holds, what)
  holds ? puts("ok: #{what}") : abort("missing: #{what}")
end

folder = ENV.fetch("APPLE")
web = JSON.parse(File.read("#{folder}/config.json"))["profiles"]["web"]
key = OpenSSL::PKey::EC.new(File.read("#{folder}/#{web["private_key"]}"))
secret = JWT.encode(
  { iss: web["team_id"], sub: web["client_id"], aud: APPLE, iat: Time.now.to_i,
    exp: Time.now.to_i + 600 },
  key, "ES256", { kid: web["key_id"] })

client = OAuth2::Client.new(
  web["client_id"], secret, site: APPLE, authorize_url: "/auth/authorize",
  token_url: "/auth/token", auth_scheme: :request_body)
redirect = "https://example.com/callback"
url = client.auth_code.authorize_url(
  redirect_uri: redirect, scope: "openid", response_mode: "query", state: "s")
output, status = Open3.capture2(*ENV.fetch("SIGN_IN").split, url)
expect(status.success?, "a sign-in")
callback = JSON.parse(output)
expect(callback["state"] == "s", "the state")

token = client.auth_code.get_token(callback["code"], redirect_uri: redirect)
keys = JSON.parse(Net::HTTP.get(URI("#{APPLE}/auth/keys")), symbolize_names: true)
claims, header = JWT.decode(
  token.params["id_token"], nil, true, algorithms: ["RS256"], jwks: keys, iss: APPLE,
  verify_iss: true, aud: web["client_id"], verify_aud: true)
expect(header.keys == %w[kid alg] && claims["sub"], "a verified identity token")
refreshed = token.refresh!
expect(refreshed.token != token.token, "another access token")

answer = Net::HTTP.post_form(
  URI("#{APPLE}/auth/revoke"),
  client_id: web["client_id"], client_secret: secret, token: token.refresh_token)
expect(answer.code == "200" && answer.body.to_s.empty?, "an empty 200")
begin
  token.refresh!
  abort "missing: a dead refresh token"
rescue OAuth2::Error => error
  expect(error.code == "invalid_grant", "a dead refresh token")
end
